"""Single values set on top of a file: `solver.iterations=8`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
from pippin.errors import ConfigError

from .merging import merge
from .positions import KEY, split_key
from .tree import KeyPath, Node, path_text
from .wording import value_text

_ASSIGNMENT = re.compile(rf"\s*(?P<new>\+?)(?P<key>{KEY})\s*=(?P<value>.*)", re.DOTALL)


@attrs.frozen
class Override:
    """One value and the key path at which it is set."""

    path: tuple[str, ...]
    value: Any
    source: str
    is_new: bool = False
    """Whether nothing may stand at the path already."""


def overridden(tables: Mapping[str, Any], overrides: Mapping[str, Any] | Iterable[str]) -> dict[str, Any]:
    """Return the tables of a configuration with values set on top of them, as plain data.

    Args:
        tables: The tables; they stay as they are.
        overrides: The values, as for `pippin.load`.

    Raises:
        ConfigError: A key or a value is wrong, or a table on the way is none.
    """
    return apply(Node.build(tables), parse(overrides)).plain()


def parse(overrides: Mapping[str, Any] | Iterable[str]) -> list[Override]:
    """Return overrides as given in Python (key to value) or on the command line (`key=value`).

    A value on the command line is a TOML value; a bare word is a string, so `solver.type=xpbd` works. Keys are TOML's
    dotted keys: quote a part that contains a dot or a regular expression, as in `kp.".*hip.*"=40`. With a plus in
    front, `+key=value`, the key must be new.
    """
    if isinstance(overrides, str):
        overrides = [overrides]
    faults, parsed = [], []
    pairs = overrides.items() if isinstance(overrides, Mapping) else [(text, None) for text in overrides]
    for text, value in pairs:
        try:
            is_python = isinstance(overrides, Mapping)
            parsed.append(Override(_keys(text, "overrides"), value, "overrides") if is_python else _from_text(text))
        except ConfigError as error:
            faults.extend(error.faults)
    if faults:
        raise ConfigError(*faults)
    return parsed


def _from_text(text: str) -> Override:
    match = _ASSIGNMENT.fullmatch(text)
    if match is None:
        raise ConfigError(f'--set: expected KEY=VALUE, got {text!r}; quote parts of the key as in a.".*b.*"=1')
    value, is_new = _value(match["value"].strip(), match["key"]), bool(match["new"])
    return Override(_keys(match["key"], "--set"), value, "--plugin" if is_new else "--set", is_new=is_new)


def _keys(text: str, source: str) -> tuple[str, ...]:
    try:
        return split_key(text)
    except ValueError as error:
        raise ConfigError(f'{source}: {text!r} is not a dotted key; quote parts of it as in a.".*b.*"') from error


def _value(text: str, key: str) -> Any:
    try:
        document = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError as error:
        if not text or text[0] in "\"'[{":
            raise ConfigError(f"--set: {key}: {text!r} is not a TOML value") from error
        return text
    if document.keys() != {"value"}:
        raise ConfigError(f"--set: {key}: expected one value, got {text!r}")
    return document["value"]


def apply(tree: Node, overrides: Iterable[Override]) -> Node:
    """Return the tree with each value set; missing tables on the way are created, and tables merge as in `extends`.

    Tables are set before their contents, and a `type` before its siblings: after a change of `type`, the keys of the
    old plugin stay, and the new one refuses those that it does not have.
    """
    faults = []
    for override in sorted(overrides, key=lambda item: (len(item.path), item.path[-1] != "type")):
        try:
            _refuse_taken(tree, override)
            tree = _assign(tree, (), override.path, Node.build(override.value, override.source, folder=Path()))
        except ConfigError as error:
            faults.append(f"{override.source}: {path_text(override.path)}: {error}")
    if faults:
        raise ConfigError(*faults)
    return tree


def _refuse_taken(tree: Node, override: Override) -> None:
    path = override.path[:-1] if override.path[-1] == "type" else override.path
    taken = tree.find(path) if override.is_new else None
    if taken is not None:
        raise ConfigError(f"{path_text(path)} exists already, {taken.origin}; choose another key")


def _assign(node: Node, path: KeyPath, keys: tuple[str, ...], new: Node) -> Node:
    """Return `node`, which is at `path`, with `new` set at `keys` below it."""
    if not keys:
        if new.value == {} and node.value:
            raise ConfigError("an empty table changes nothing; extends = false in it leaves out what the file has")
        return merge(node, new)
    if isinstance(node.value, list):
        index = _index(keys[0], len(node.value), path)
        items = list(node.value)
        items[index] = _assign(items[index], (*path, index), keys[1:], new)
        return Node(items, node.origin)
    if not isinstance(node.value, dict):
        raise ConfigError(f"{path_text(path)} is not a table, but {value_text(node.value)}")
    if keys == ("type",):
        return merge(node, Node({"type": new}, node.origin))
    child = node.value.get(keys[0], Node({}, new.origin))
    return Node({**node.value, keys[0]: _assign(child, (*path, keys[0]), keys[1:], new)}, node.origin)


def _index(key: str, length: int, path: KeyPath) -> int:
    if not key.isdecimal():
        raise ConfigError(f"{path_text(path)} is a list; name an item by its position, counted from 0")
    if int(key) >= length:
        raise ConfigError(f"{path_text(path)} has {length} items, counted from 0; set the whole list to add one")
    return int(key)
