"""Layers of a configuration: a file over the files that it extends, and single values on top, `solver.iterations=8`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
from pippin.errors import ConfigError

from .documents import KEY, read, split_key
from .faults import value_text
from .tree import KeyPath, Node, path_text


def merge(lower: Node, upper: Node) -> Node:
    """Return `upper` merged over `lower`: tables merge key by key, lists and scalars are replaced.

    If `upper` changes the `type` of a table, the lower keys stay, and the new type refuses those that it does not have.
    A table with `extends = false` replaces the lower table.
    """
    if not isinstance(upper.value, dict):
        return upper
    stop = upper.child("extends")
    is_alone = stop is not None and stop.value is False
    own = {key: child for key, child in upper.value.items() if child is not stop or not is_alone}
    kept = _kept(lower, upper) if isinstance(lower.value, dict) and not is_alone else {}
    merged = {key: merge(kept.get(key, Node(None, child.origin)), child) for key, child in own.items()}
    return Node({**kept, **merged}, upper.origin)


def _kept(lower: Node, upper: Node) -> dict[str, Node]:
    """Return the keys of a lower table; they know the type that they were written for if `upper` changes it."""
    old, new = lower.child("type"), upper.child("type")
    if old is None or new is None or old.value == new.value:
        return lower.value
    return {key: attrs.evolve(child, written_for=child.written_for or old.value) for key, child in lower.value.items()}


_LONGEST_CHAIN = 100
"""Most files that extend each other one after the other."""


def read_layers(path: Path, above: tuple[Path, ...] = (), known: dict[Path, Node] | None = None) -> Node:
    """Return a file merged over the files that its `extends` lists; a later file overrides an earlier one.

    Paths in a file, and names in its `extends`, are relative to its folder. `above` are the files that led here, and
    `known` those that were read on the way: a file that several ones extend is read once.

    Raises:
        ConfigError: A file cannot be read, `extends` is not a list of names, or a file extends itself.
    """
    known = {} if known is None else known
    place = path.resolve()
    if place in known:
        return known[place]
    chain = (*above, path)
    if len(chain) > _LONGEST_CHAIN:
        raise ConfigError(f"{path}: more than {_LONGEST_CHAIN} files extend each other in a chain; merge some of them")
    node = read(path)
    extends = node.value.pop("extends", Node([], node.origin))
    node.value.pop("$schema", None)  # for editors: a JSON file has no other place to name its schema
    layers = [read_layers(base, chain, known) for base in _bases(extends, path, chain)]
    merged = Node({}, node.origin)
    for layer in (*layers, node):
        merged = merge(merged, layer)
    known[place] = merged
    return merged


def _bases(extends: Node, path: Path, chain: tuple[Path, ...]) -> list[Path]:
    names = extends.plain()
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"{extends.origin}: extends: expected a list of file names, got {value_text(names)}")
    bases = [path.parent / name for name in names]
    for item, base in zip(extends.value, bases, strict=True):
        _check_base(item, base, chain)
    return bases


def _check_base(item: Node, base: Path, chain: tuple[Path, ...]) -> None:
    if not base.is_file():
        raise ConfigError(f"{item.origin}: extends: no such file: '{base}'")
    resolved = [file.resolve() for file in chain]
    if base.resolve() in resolved:
        cycle = (*chain[resolved.index(base.resolve()) :], base)
        raise ConfigError(f"{item.origin}: extends: the files extend each other: {' -> '.join(map(str, cycle))}")


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
