"""Long tails: ranks under a bounded Zipf law, and runs of rows that belong together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["run_starts", "zipf_ranks"]


def zipf_ranks(uniforms: NDArray[np.float64], size: int, exponent: float) -> NDArray[np.int64]:
    """Return ranks from 0 to `size - 1` whose frequency falls as `(rank + 1) ** -exponent`.

    It inverts the integral of `x ** -exponent` from 1 to `size + 1`, the continuous stand-in for
    the Zipf sum, so a draw costs one power whatever the size.

    Args:
        uniforms: `(n,)` in `[0, 1)`.
        size: Number of ranks.
        exponent: Of the law, not negative.

    >>> zipf_ranks(np.array([0.0, 0.5, 0.999]), 1000, 1.0).tolist()
    [0, 30, 993]
    """
    if exponent == 1.0:
        reached = np.exp(uniforms * np.log(size + 1.0))
    else:
        rest = 1.0 - exponent
        reached = (((size + 1.0) ** rest - 1.0) * uniforms + 1.0) ** (1.0 / rest)
    ranks: NDArray[np.int64] = np.minimum(reached.astype(np.int64) - 1, size - 1)
    return ranks


def run_starts(lengths: NDArray[np.int64], rows: int) -> tuple[NDArray[np.int64], ...]:
    """Lay runs of the given lengths over `rows` rows, the last one cut short.

    Args:
        lengths: `(r,)`, at least `rows` in sum.
        rows: Rows to cover.

    Returns:
        The first row of each run `(r',)`, and of each row the run it belongs to `(rows,)`.

    >>> starts, run_of_row = run_starts(np.array([2, 3, 4]), 6)
    >>> starts.tolist(), run_of_row.tolist()
    ([0, 2, 5], [0, 0, 1, 1, 1, 2])
    """
    ends = np.cumsum(lengths)
    count = int(np.searchsorted(ends, rows)) + 1
    run_of_row = np.repeat(np.arange(count), lengths[:count])[:rows]
    return np.concatenate(([0], ends[: count - 1])), run_of_row
