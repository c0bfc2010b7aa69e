"""YAML text as a tree. Only this module imports PyYAML, and it is only imported for a YAML file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pippin.errors import ConfigError
from yaml.nodes import MappingNode, SequenceNode

from .faults import repeated_key
from .tree import KeyPath, Node, path_text

_MOST_VALUES = 1_000_000
"""Most values of a document, each alias counted as what it stands for."""


def parse_yaml(text: str, path: Path) -> Node:
    """Return a YAML document as a tree."""
    source = str(path)
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        if _count(root, {}) > _MOST_VALUES:
            raise ConfigError(f"{source}: its aliases stand for more than {_MOST_VALUES} values; write them out")
        faults = list(_key_faults(root, source))
        if faults:
            raise ConfigError(*faults)
        data = loader.construct_document(root) if root else {}
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise ConfigError(f"{source}{place}: {error.problem}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{source}: {error}") from error
    finally:
        loader.dispose()
    return Node.build(data, source, dict(_lines(root, ())), path.parent)


def _count(node: Any, known: dict[int, int]) -> int:
    """Return how many values a node is, with aliases written out; each node is counted once."""
    if id(node) not in known:
        known[id(node)] = 1  # of a node that refers to itself, which is refused later
        inner = node.value if isinstance(node, SequenceNode | MappingNode) else ()
        parts = (each for item in inner for each in (item if isinstance(item, tuple) else (item,)))
        known[id(node)] = 1 + sum(_count(part, known) for part in parts)
    return known[id(node)]


def _key_faults(node: Any, source: str, path: KeyPath = (), above: tuple[int, ...] = ()) -> Iterator[str]:
    """Yield the faults that YAML allows and a configuration does not: repeated keys, keys of other types, cycles."""
    if id(node) in above:
        yield f"{source}:{node.start_mark.line + 1}: {path_text(path)}: refers to itself"
        return
    above = (*above, id(node))
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            yield from _key_faults(item, source, (*path, index), above)
    if not isinstance(node, MappingNode):
        return
    first_lines: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        where = f"{source}:{line}: {path_text((*path, str(key.value)))}"
        if key.tag not in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"):
            yield f"{where}: a key must be a string; put it in quotes"
        elif key.value in first_lines:
            yield repeated_key(source, line, (*path, key.value), first_lines[key.value])
        first_lines.setdefault(str(key.value), line)
        yield from _key_faults(value, source, (*path, str(key.value)), above)


def _lines(node: Any, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
    """Yield each key path with its line; PyYAML has already replaced the merge keys `<<` by their contents."""
    if isinstance(node, MappingNode):
        for key, value in node.value:
            yield (*path, key.value), key.start_mark.line + 1
            yield from _lines(value, (*path, key.value))
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            yield (*path, index), item.start_mark.line + 1
            yield from _lines(item, (*path, index))
