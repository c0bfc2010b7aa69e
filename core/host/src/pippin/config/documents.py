"""Parsing of one file into a tree with the line of every value: TOML, YAML or JSON, by the file's suffix."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

from pippin.errors import ConfigError
from pippin.spelling import did_you_mean

from .positions import json_lines, toml_lines
from .tree import Node
from .wording import repeated_key, value_text

ROBOTS = (".xml", ".mjcf", ".urdf", ".xacro", ".usd", ".usda", ".usdc", ".usdz")
"""Suffixes of robot files."""


def read(path: Path) -> Node:
    """Return the top-level table of a file."""
    parse = _parser(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        siblings = [entry.name for entry in path.parent.glob("*") if entry.suffix in _PARSERS]
        raise ConfigError(f"{path}: no such file{did_you_mean(path.name, siblings)}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        node = parse(text, path)
    except RecursionError as error:
        raise ConfigError(f"{path}: nested too deeply to be read; flatten it") from error
    if not isinstance(node.value, dict):
        raise ConfigError(f"{path}: expected a table at the top, got {value_text(node.plain())}")
    return node


def _parser(path: Path) -> Callable[[str, Path], Node]:
    if path.suffix.lower() in ROBOTS:
        raise ConfigError(f"{path}: a robot, and no configuration; write one by `pippin init {path}`")
    if path.suffix.lower() not in _PARSERS:
        near = next((f"; did you mean '{path}{each}'?" for each in _PARSERS if Path(f"{path}{each}").is_file()), "")
        raise ConfigError(
            f"{path}: unknown suffix {path.suffix!r}; a configuration is .toml, .yaml, .yml or .json{near}"
        )
    return _PARSERS[path.suffix.lower()]


def _parse_toml(text: str, path: Path) -> Node:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_toml_fault(str(error), text, str(path))) from error
    return Node.build(data, str(path), toml_lines(text), path.parent)


def _toml_fault(message: str, text: str, source: str) -> str:
    """Move the place that `tomllib` puts at the end of its message to the front."""
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    if place is None:
        return f"{source}: {message}"
    problem = message[: place.start()]
    at = f"{place[1]}:{place[2]}" if place[1] else len(text.splitlines())
    return f"{source}:{at}: {problem[:1].lower()}{problem[1:]}"


def _parse_json(text: str, path: Path) -> Node:
    source = str(path)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{source}:{error.lineno}:{error.colno}: {error.msg[:1].lower()}{error.msg[1:]}") from error
    lines, repeated = json_lines(text)
    if repeated:
        raise ConfigError(*(repeated_key(source, line, path, lines[path]) for path, line in repeated.items()))
    return Node.build(data, source, lines, path.parent)


def _parse_yaml(text: str, path: Path) -> Node:
    from .yaml_document import parse_yaml

    return parse_yaml(text, path)


_PARSERS: dict[str, Callable[[str, Path], Node]] = {
    ".toml": _parse_toml,
    ".yaml": _parse_yaml,
    ".yml": _parse_yaml,
    ".json": _parse_json,
}
