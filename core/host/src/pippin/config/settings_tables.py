"""The tables that a class of settings has, its own and those inside it, with what is written of their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

import attrs

from .converter import is_component
from .faults import shape_of, union_members
from .fields import field_texts, fields_of

Path = tuple[tuple[str, int], ...]


@attrs.frozen(kw_only=True)
class InnerTable:
    """A table of a class of settings."""

    path: tuple[tuple[str, int], ...]
    """Keys from the outermost table on, each with the number of lists around its value."""

    config: type | None
    """Class of the table; None if its keys are free."""

    types: Mapping[str, Any]
    """Annotation of each key."""

    texts: Mapping[str, str]
    """Docstring of each key that has one."""


def inner_tables(config: type) -> Iterator[InnerTable]:
    """Yield the tables that a class of settings may hold; the first is its own. Those of other plugins are left out.

    Args:
        config: Class of the settings of a plugin.

    Raises:
        PluginError: An annotation cannot be resolved.
    """
    yield from _tables(config, (), frozenset())


def _tables(config: type, path: Path, above: frozenset[type]) -> Iterator[InnerTable]:
    fields = fields_of(config)
    yield InnerTable(
        path=path, config=config, types={each.name: each.type for each in fields}, texts=field_texts(config)
    )
    for field in fields:
        for member, depth in _members(field.type):
            inner = (*path, (field.name, depth))
            if attrs.has(member):
                yield from () if member in above else _tables(member, inner, above | {config})
            elif member is Any or shape_of(member) == "table":
                yield InnerTable(path=inner, config=None, types={}, texts={})


def _members(annotation: Any, depth: int = 0) -> Iterator[tuple[Any, int]]:
    """Yield the types that a field may hold, and the types of a list's items, with the number of lists around them."""
    for member in union_members(annotation):
        if shape_of(member) == "list":
            for item in dict.fromkeys(get_args(member)):
                yield from () if item is Ellipsis else _members(item, depth + 1)
        elif not is_component(member):
            yield member, depth
