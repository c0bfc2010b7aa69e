"""Parsing of one file into a tree with the line of every value: TOML, YAML or JSON, by the file's suffix."""

from __future__ import annotations

import bisect
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import attrs
from pippin.errors import ConfigError
from pippin.spelling import did_you_mean

from .faults import repeated_key, value_text
from .tree import KeyPath, Node

_KEY_PART = r"""(?:"(?:\\.|[^"\\])*"|'[^']*'|[A-Za-z0-9_-]+)"""
KEY = rf"{_KEY_PART}(?:[ \t]*\.[ \t]*{_KEY_PART})*"
"""A dotted key, quoted if needed, as a regular expression."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_GAP = re.compile(r"(?:[\s,]|\#[^\n]*)*")
_HEADER = re.compile(rf"\[(?P<array>\[)?[ \t]*(?P<key>{KEY})[ \t]*\]\]?")
_PAIR = re.compile(rf"(?P<key>{KEY})\s*[=:]\s*")
_SCALAR = re.compile(
    r"""
    "{3}(?:\\.|[^\\])*?"{3,5}         # multi-line strings may end in one or two quotes of their own
    | '{3}.*?'{3,5}
    | "(?:\\.|[^"\\])*" | '[^']*'
    | \d{4}-\d\d-\d\d[ ]\d[^\s,\]}]*  # a date and a time with a blank between
    | [^\s,\]}\#]+
    """,
    re.VERBOSE | re.DOTALL,
)


def split_key(text: str) -> tuple[str, ...]:
    """Return the parts of a dotted TOML key."""
    if _BARE.fullmatch(text):
        return (text,)
    if not re.fullmatch(KEY, text):
        raise ValueError(f"expected a dotted key, got {text!r}")
    tree, keys = tomllib.loads(f"{text} = 0"), []
    while isinstance(tree, dict):
        key, tree = tree.popitem()
        keys.append(key)
    return tuple(keys)


def toml_lines(text: str) -> dict[KeyPath, int]:
    """Return the line of every key, table header and list item of a valid TOML document, counted from 1."""
    walk = _Walk(text, split_key)
    walk.document()
    return walk.lines


def json_lines(text: str) -> tuple[dict[KeyPath, int], dict[KeyPath, int]]:
    """Return the first line of every key and list item of a valid JSON document, and the line of each repeated key."""
    walk = _Walk(text, lambda key: (json.loads(key),))
    walk.gap()
    walk.value(())
    return walk.lines, walk.repeated


@attrs.define(eq=False)
class _Walk:
    """One pass over a document, with the lines found so far."""

    text: str
    split: Callable[[str], tuple[str, ...]]
    at: int = 0
    lines: dict[KeyPath, int] = attrs.field(factory=dict, init=False)
    repeated: dict[KeyPath, int] = attrs.field(factory=dict, init=False)
    _lengths: dict[KeyPath, int] = attrs.field(factory=dict, init=False)
    _line_ends: list[int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._line_ends = [match.start() for match in re.finditer("\n", self.text)]

    def document(self) -> None:
        """Walk the statements of a TOML document: headers and pairs."""
        table: KeyPath = ()
        self.gap()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)
            self.gap()

    def header(self) -> KeyPath:
        """Walk `[table]` or `[[table]]` and return its path, with the position inside every array of tables."""
        line, match = self.line(), self.take(_HEADER)
        keys, path = self.split(match["key"]), ()
        for count, key in enumerate(keys, start=1):
            path = (*path, key)
            self.lines.setdefault(path, line)
            if path in self._lengths and not (match["array"] and count == len(keys)):
                path = (*path, self._lengths[path] - 1)
        if match["array"]:
            self._lengths[path] = self._lengths.get(path, 0) + 1
            path = (*path, self._lengths[path] - 1)
        self.lines[path] = line
        return path

    def pair(self, table: KeyPath) -> None:
        """Walk `key = value` inside `table`."""
        line, path = self.line(), table
        for key in self.split(self.take(_PAIR)["key"]):
            path = (*path, key)
            if self.lines.setdefault(path, line) != line:
                self.repeated[path] = line
        self.value(path)

    def value(self, path: KeyPath) -> None:
        """Walk one value: a list, an inline table or a scalar."""
        opening = self.text[self.at]
        if opening not in "[{":
            self.take(_SCALAR)
            return
        self.at += 1
        self.gap()
        index = 0
        while self.text[self.at] not in "]}":
            if opening == "{":
                self.pair(path)
            else:
                self.lines[*path, index] = self.line()
                self.value((*path, index))
            index += 1
            self.gap()
        self.at += 1

    def gap(self) -> None:
        """Skip blanks, line ends, commas and comments."""
        self.take(_GAP)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """Match `pattern`, which a valid document has at this position, and move past it."""
        match = pattern.match(self.text, self.at)
        assert match, f"a valid document has no {pattern.pattern!r} at {self.at}"
        self.at = match.end()
        return match

    def line(self) -> int:
        """Return the line of the current position."""
        return bisect.bisect_left(self._line_ends, self.at) + 1


ROBOTS = (".xml", ".mjcf", ".urdf", ".xacro", ".usd", ".usda", ".usdc", ".usdz")
"""Suffixes of robot files."""


def read(path: Path) -> Node:
    """Return the top-level table of a file."""
    suffix = path.suffix.lower()
    if suffix in ROBOTS:
        raise ConfigError(f"{path}: a robot, and no configuration; write one by `pippin init {path}`")
    if suffix not in _PARSERS:
        near = next((f"; did you mean '{path}{each}'?" for each in _PARSERS if Path(f"{path}{each}").is_file()), "")
        raise ConfigError(
            f"{path}: unknown suffix {path.suffix!r}; a configuration is .toml, .yaml, .yml or .json{near}"
        )
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
        node = _PARSERS[suffix](text, path)
    except RecursionError as error:
        raise ConfigError(f"{path}: nested too deeply to be read; flatten it") from error
    if not isinstance(node.value, dict):
        raise ConfigError(f"{path}: expected a table at the top, got {value_text(node.plain())}")
    return node


def _parse_toml(text: str, path: Path) -> Node:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_toml_fault(str(error), text, str(path))) from error
    return Node.build(data, str(path), toml_lines(text), path.parent)


def _toml_fault(message: str, text: str, source: str) -> str:
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
