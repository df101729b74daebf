"""Reads a configuration file, applies overrides, and says precisely what is wrong with it."""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from features.atomic import write_text
from features.config import Config
from features.errors import ConfigError

__all__ = ["load_config", "parse_config", "shipped_configs", "store_config"]

DATASETS = Path(__file__).parent / "datasets"
_OVERRIDE_HINT = "write --set section.key=value, for example --set model.embedding_dim=32"


def shipped_configs() -> dict[str, Path]:
    """Return the configurations that come with the project, by name."""
    return {path.stem: path for path in sorted(DATASETS.glob("*.toml"))}


def load_config(path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Read a TOML file into a configuration.

    Args:
        path: The file, or the name of a configuration that comes with the project.
        overrides: `key.path=value` each; a value is read as TOML, or else taken as a string.

    Raises:
        ConfigError: The file cannot be read, or a key or value is wrong.
    """
    file = shipped_configs().get(str(path), Path(path))
    tree = _read_toml(file)
    for override in overrides:
        _apply_override(tree, override)
    return parse_config(tree, str(file))


def parse_config(tree: dict[str, Any], where: str) -> Config:
    """Validate a configuration given as nested dictionaries.

    Args:
        tree: Sections and keys, as TOML gives them.
        where: Name of its source, for messages.

    Raises:
        ConfigError: A key or value is wrong, or features contradict each other.
    """
    from features.check import check_config

    try:
        config = Config.model_validate(tree)
    except ValidationError as error:
        raise _explain(error, where) from error
    check_config(config, where)
    return config


def store_config(config: Config, out: str | Path) -> None:
    """Store the effective configuration as `OUT/config.json`.

    Raises:
        ConfigError: The directory cannot be written.
    """
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
        write_text(Path(out) / "config.json", config.model_dump_json(indent=2) + "\n")
    except OSError as error:
        raise ConfigError(
            "the output directory can be written",
            received=error.strerror or error,
            where=f"OUT={out}",
            remedy="choose another OUT or mend its permissions",
        ) from error


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        nearest = _nearest(str(file), shipped_configs())
        raise ConfigError(
            "a configuration file can be read",
            received=error.strerror or error,
            where=str(file),
            remedy=f"give a TOML file, or one of {', '.join(shipped_configs())}{nearest}",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            "a configuration file is valid TOML in UTF-8",
            received=str(error),
            where=str(file),
            remedy="mend the syntax at that line",
        ) from error


def _apply_override(tree: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    steps = key.strip().split(".")
    if not equals or not all(steps):
        raise ConfigError(
            "an override is key.path=value", received=override, where="--set", remedy=_OVERRIDE_HINT
        )
    node: Any = tree
    for step in steps[:-1]:
        node = _child(node, step, override)
    if isinstance(node, list):
        raise ConfigError(
            "an override names a key", received=override, where="--set", remedy=_OVERRIDE_HINT
        )
    node[steps[-1]] = _override_value(text.strip())


def _child(node: Any, step: str, override: str) -> Any:
    """Descend one step: into a section, or into the list entry with that name or index."""
    if isinstance(node, dict):
        child = node.setdefault(step, {})
        if isinstance(child, dict | list):
            return child
    if isinstance(node, list):
        named = {str(entry.get("name", at)): entry for at, entry in enumerate(node)}
        indexed = {str(at): entry for at, entry in enumerate(node)}
        if (found := named.get(step, indexed.get(step))) is not None:
            return found
    raise ConfigError(
        "an override names a section, a key, or a list entry by name or index",
        received=override,
        where=f"--set, at {step!r}",
        remedy=_OVERRIDE_HINT,
    )


def _override_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _explain(error: ValidationError, where: str) -> ConfigError:
    """Turn the first fault of a validation into one message; say how many more there are."""
    faults = error.errors(include_url=False)
    fault = faults[0]
    more = f" (and {len(faults) - 1} more faults)" if len(faults) > 1 else ""
    path = ".".join(str(step) for step in fault["loc"])
    where = f"{where}, key {path}{more}"
    if fault["type"] == "extra_forbidden":
        allowed = _allowed_keys(fault["loc"])
        return ConfigError(
            "every key is one the configuration knows",
            received=fault["loc"][-1],
            where=where,
            remedy=f"use one of {', '.join(allowed)}{_nearest(str(fault['loc'][-1]), allowed)}",
        )
    received = "nothing" if fault["type"] == "missing" else json.dumps(fault["input"], default=str)
    return ConfigError(
        f"a value is as the configuration defines it: {fault['msg']}",
        received=received[:200],
        where=where,
        remedy=_value_remedy(fault),
    )


def _value_remedy(fault: Any) -> str:
    allowed = fault.get("ctx", {}).get("expected_tags") or fault.get("ctx", {}).get("expected")
    if allowed is None:
        return "give a value of that type and range"
    choices = str(allowed).replace("'", "").replace(" or ", ", ").split(", ")
    given = fault["input"]
    word = given.get("kind", "") if isinstance(given, dict) else given
    return f"give one of {', '.join(choices)}{_nearest(str(word), choices)}"


def _allowed_keys(path: Sequence[int | str]) -> list[str]:
    """Return the keys of the section in which the last step of a path is unknown."""
    section: type[BaseModel] = Config
    for step in path[:-1]:
        field = section.model_fields.get(str(step))
        candidates = [section] if field is None else list(_sections(field.annotation))
        tagged = [c for c in _tagged(section, path) if str(step) in _kinds(c)]
        section = (tagged or candidates or [section])[0]
    return list(section.model_fields)


def _tagged(section: type[BaseModel], path: Sequence[int | str]) -> Iterable[type[BaseModel]]:
    field = Config.model_fields.get(str(path[0]))
    return () if field is None else _sections(field.annotation)


def _kinds(section: type[BaseModel]) -> tuple[object, ...]:
    kind = section.model_fields.get("kind")
    return () if kind is None else get_args(kind.annotation)


def _sections(annotation: Any) -> Iterable[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _sections(argument)


def _nearest(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else ""
