"""Names of values and types in error messages."""

from __future__ import annotations

import functools
import reprlib
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import attrs

from .paths import is_file_path
from .tree import KeyPath, path_text

Shape = Literal["table", "list", "scalar"]

_SCALARS = {int: "an integer", float: "a number", bool: "true or false", str: "a string"}
_ITEMS = {int: "integers", float: "numbers", bool: "booleans", str: "strings"}

_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = 60


def value_text(value: Any) -> str:
    """Return a value in the notation of a configuration file, shortened if it is long."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return _brief.repr(value)


def repeated_key(source: str, line: int, path: KeyPath, first_line: int) -> str:
    """Return the fault of a key that occurs twice in one table."""
    return f"{source}:{line}: {path_text(path)}: the key stands in line {first_line} already; keep one"


@functools.lru_cache(maxsize=1024)  # a converter asks a dozen times for each type
def union_members(annotation: Any) -> list[Any]:
    """Return the members of a union without None; a type that is not a union is its own only member."""
    if get_origin(annotation) not in (Union, types.UnionType):
        return [annotation]
    return [member for member in get_args(annotation) if member is not types.NoneType]


def shape_of(annotation: Any) -> Shape:
    """Return the shape of a type's values: a table, a list or a scalar."""
    if get_origin(annotation) is Annotated:
        return shape_of(get_args(annotation)[0])
    origin = get_origin(annotation) or annotation
    if not isinstance(origin, type) or issubclass(origin, str):
        return "scalar"
    if attrs.has(origin) or issubclass(origin, Mapping):
        return "table"
    return "list" if issubclass(origin, Sequence) else "scalar"


def expected_text(annotation: Any) -> str:
    """Return the words for a type: `an integer`, `a list of 3 numbers`, `a number or a table`."""
    members = union_members(annotation)
    if len(members) > 1:
        return " or ".join(dict.fromkeys(expected_text(member) for member in members))
    (annotation,) = members
    annotation = str if is_file_path(annotation) else annotation
    if get_origin(annotation) is Literal:
        choices = get_args(annotation)
        return ("one of " if len(choices) > 1 else "") + ", ".join(value_text(choice) for choice in choices)
    match shape_of(annotation):
        case "table":
            return "a table"
        case "list":
            return _list_text(get_args(annotation))
    return _SCALARS.get(annotation, "a value")


def _list_text(items: tuple[Any, ...]) -> str:
    if not items:
        return "a list"
    words = _ITEMS.get(items[0]) or {"table": "tables", "list": "lists", "scalar": "items"}[shape_of(items[0])]
    if len(items) == 1 or items[-1] is Ellipsis:
        return f"a list of {words}"
    return f"a list of {len(items)} {words if len(set(items)) == 1 else 'items'}"
