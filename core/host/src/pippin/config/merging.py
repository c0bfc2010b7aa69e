"""Merging of layers: a file over the files that it extends."""

from __future__ import annotations

from pathlib import Path

import attrs
from pippin.errors import ConfigError

from .documents import read
from .tree import Node
from .wording import value_text


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
