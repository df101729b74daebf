"""Names of things in a log: distinct, pronounceable, and as awkward as real ones."""

from __future__ import annotations

__all__ = ["CATEGORIES", "COUNTRIES", "DEVICES", "brand_name", "city_name", "tag_name"]

CATEGORIES = (
    "electronics", "fashion", "home & garden", "beauty", "sports", "toys", "books", "groceries",
    "automotive", "games", "travel", "café & thé",
)  # fmt: skip
COUNTRIES = (
    "US", "IN", "BR", "DE", "GB", "JP", "FR", "ID", "MX", "IT", "ES", "TR", "KR", "CA", "PL", "AU",
    "NL", "AR", "TH", "VN", "PH", "SE", "BE", "CO", "EG", "CH", "AT", "CZ", "PT", "RO", "GR", "NO",
    "DK", "FI", "IE", "HU", "CL", "PE", "NZ", "NG",
)  # fmt: skip
DEVICES = ("android_phone", "ios_phone", "desktop", "tablet", "smart_tv", "console")

_HEADS = (
    "Ka", "Lo", "Mi", "Na", "Pe", "Ro", "Sa", "Te", "Vi", "Zo", "Bel", "Cor", "Dan", "Fen", "Gal",
    "Hol", "Jun", "Kir", "Lan", "Mor", "Nor", "Ost", "Pra", "Quin", "Ri", "Sel", "Tor", "Ul", "Ver",
    "Wes", "Ya", "Ös",
)  # fmt: skip
_TAILS = (
    "ba", "dor", "na", "ra", "to", "ville", "burg", "ton", "mar", "lin", "sk", "grad", "ham",
    "wick", "mouth", "ford", "stad", "polis", "pur", "bad", "cester", "sø", "más", "ção", "ria",
    "ndo", "vik", "tal", "heim", "dale", "port", "wa",
)  # fmt: skip


def _word(number: int) -> str:
    """Return the word of a number below 1024; different numbers have different words."""
    return _HEADS[number % 32] + _TAILS[(number // 32 + number) % 32]


def city_name(number: int) -> str:
    """Return the name of a city; one in twenty has a comma.

    >>> [city_name(n) for n in (0, 1, 19)]
    ['Kaba', 'Lodor', 'Morbad, North']
    """
    return _word(number) + (", North" if number % 20 == 19 else "")


def brand_name(number: int) -> str:
    """Return the name of a brand; some have commas, some quotation marks.

    >>> [brand_name(n) for n in (0, 15, 31)]
    ['Kaba', 'Holford & Co., Ltd.', 'Öswa "Pro"']
    """
    word = _word(number)
    if number % 16 == 15:
        return f"{word} & Co., Ltd." if number % 32 == 15 else f'{word} "Pro"'
    return word


def tag_name(number: int) -> str:
    """Return the name of a tag.

    >>> tag_name(3)
    'nara'
    """
    return _word(number).lower()
