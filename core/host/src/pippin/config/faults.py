"""Faults of a configuration: exceptions of cattrs, attrs and the catalog in words, each with its place."""

from __future__ import annotations

import functools
import reprlib
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import attrs
from cattrs.errors import (
    AttributeValidationNote,
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationError,
    StructureHandlerNotFoundError,
)
from pippin.errors import ConfigError, PluginError
from pippin.spelling import did_you_mean, key_elsewhere

from .fields import fields_of, missing_distribution_of, other_keys_of, replaced_keys_of
from .files import is_file_path
from .tree import KeyPath, Node, path_text

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


_LISTED_KEYS = 100
"""Most unknown keys of one table that are reported one by one."""


class UnexpectedValueError(ValueError):
    """An unacceptable value: of the wrong type, not finite, or not one of the choices."""

    def __init__(self, expected: str, value: Any, cure: str = "") -> None:
        super().__init__(f"expected {expected}, got {value_text(value)}{cure}")
        self.value = value


class UnexpectedNameError(UnexpectedValueError):
    """The name of a plugin in place of its table."""


class MissingKeyError(ValueError):
    """A missing key without a default."""

    def __init__(self, expected: str) -> None:
        super().__init__(f"missing; expected {expected}")


@attrs.frozen
class ConfigFault:
    """One fault, at one key path."""

    path: KeyPath
    text: str
    error: Exception

    def lines(self, tree: Node) -> list[str]:
        """Return the fault as lines for the user, with file and line if `tree` knows them."""
        origin = tree.nearest_origin(self.path)
        place = [part for part in (str(origin), path_text(self.path)) if part]
        cure = _number_cure(self.error, origin.source) + self._type_cure(tree)
        return [": ".join([*place, f"{line}{cure}"]) for line in self.text.splitlines()]

    def _type_cure(self, tree: Node) -> str:
        if isinstance(self.error, UnexpectedNameError):
            return f"; set {path_text((*self.path, 'type'))}"
        node = tree.find(self.path)
        if node is None or node.written_for is None or not isinstance(self.error, ForbiddenExtraKeysError):
            return ""
        kept, table = value_text(node.written_for), path_text(self.path[:-1])
        return (
            f"; it was written for type {kept}: write extends = false beside the new type in a file, or"
            f" --set '{table}={{extends=false, type=...}}', to leave the keys of {kept} out"
        )


def under_key(key: str, error: Exception) -> ClassValidationError:
    """Return `error` as the fault of one key of a table, in cattrs' own form."""
    error.add_note(AttributeValidationNote(f"at {key}", key, None))
    return ClassValidationError(f"at {key}", [error], dict)  # pyrefly: ignore[bad-argument-count]


def faults_of(error: Exception, path: KeyPath = ()) -> Iterator[ConfigFault]:
    """Yield every fault inside an exception that a converter raised for the value at `path`."""
    match error:
        case ClassValidationError():
            noted, bare = error.group_exceptions()
            for inner, note in noted:
                missing = isinstance(inner, KeyError) and inner.args == (note.name,)
                yield from faults_of(
                    MissingKeyError(expected_text(note.type)) if missing else inner, (*path, note.name)
                )
            for inner in bare:
                yield from faults_of(inner, (*path, *_field_of(inner, error.cl)))
        case IterableValidationError():
            noted, bare = error.group_exceptions()
            for inner, note in noted:
                yield from faults_of(inner, (*path, note.index))
            for inner in bare:
                yield from faults_of(inner, path)
        case ForbiddenExtraKeysError():
            unknown = sorted(error.extra_fields, key=str)
            for key in unknown[:_LISTED_KEYS]:
                yield ConfigFault((*path, key), _unknown_key(key, error.cl), error)
            if len(unknown) > _LISTED_KEYS:
                yield ConfigFault(path, f"{len(unknown) - _LISTED_KEYS} more unknown keys; leave them out", error)
        case StructureHandlerNotFoundError():
            yield ConfigFault(
                path, f"the plugin's configuration asks for {error.type_!r}, which no file can hold", error
            )
        case _:
            yield ConfigFault(path, _text(error, path), error)


def fault_error(faults: Iterable[ConfigFault], tree: Node) -> ConfigError | PluginError:
    """Return all faults as one error, ordered by file and line.

    The error is a `PluginError` if every fault is a plugin's, so that a program can tell a wrong file from a wrong
    installation.
    """
    ordered = sorted(faults, key=lambda fault: _place(fault, tree))
    lines = [line for fault in ordered for line in fault.lines(tree)]
    if all(isinstance(fault.error, PluginError | StructureHandlerNotFoundError) for fault in ordered):
        return PluginError("\n".join(lines))
    return ConfigError(*lines)


def _place(fault: ConfigFault, tree: Node) -> tuple[str, int]:
    origin = tree.nearest_origin(fault.path)
    return origin.source, origin.line or 0


def _unknown_key(key: Any, cls: type) -> str:
    replaced = replaced_keys_of(cls).get(key)
    if replaced is not None:
        return f"not a key any more; {replaced}"
    known = [*(field.name for field in fields_of(cls)), *other_keys_of(cls)]
    if own := missing_distribution_of(cls, key):
        return f"no installed package has this table; install it by `uv pip install {own}`"
    suggestion = key_elsewhere(str(key), known) or did_you_mean(str(key), known)
    return "unknown key" + (
        suggestion or (f"; known keys: {', '.join(known)}" if known else "; this table has no keys")
    )


def _field_of(error: Exception, cls: type) -> KeyPath:
    """Return the name of the field that a constructor's error is about, attached or at the start; empty if unknown."""
    names = [field.name for field in attrs.fields(cls)] if attrs.has(cls) else []
    attached = [arg.name for arg in error.args if isinstance(arg, attrs.Attribute)]
    named = [name for name in names if str(error).startswith(f"'{name}'")]
    return tuple([*attached, *named][:1])


def _text(error: Exception, path: KeyPath) -> str:
    """Return an error's first argument, its message, without the leading field name, which `path` gives already."""
    text = str(error.args[0]) if error.args else ""
    if not text or not isinstance(error, ValueError | TypeError | PluginError):
        return f"{type(error).__name__}: {text}".rstrip(": ")  # a configuration class that raises an error of its own
    return text.removeprefix(f"'{path[-1]}' ") if path else text


def _number_cure(error: Exception, source: str) -> str:
    if not (isinstance(error, UnexpectedValueError) and isinstance(error.value, str)):
        return ""
    try:
        number = float(error.value)
    except ValueError:
        return ""
    if source.endswith((".yaml", ".yml")) and "e" in error.value.lower():
        return f"; YAML reads this as text, write {number:.1e}"
    return "; remove the quotes"
