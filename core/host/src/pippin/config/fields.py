"""Configuration classes: their fields, with types, defaults and docstrings, and the keys that the host knows."""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import attrs
from pippin.catalog.source import first_party_distribution
from pippin.errors import PluginError

NOT_A_KEY = "pippin_not_a_key"
"""Metadata of a field that no file may set: the host gives its value."""


def fields_of(cls: type) -> list[attrs.Attribute[Any]]:
    """Return the fields that a file may set, in order, with their annotations resolved to types."""
    try:
        attrs.resolve_types(cls)
    except (NameError, TypeError) as error:
        raise PluginError(
            f"class {cls.__qualname__}: an annotation cannot be resolved ({error}); "
            f"import what it names at the top of {cls.__module__}, not under TYPE_CHECKING"
        ) from error
    return [field for field in attrs.fields(cls) if field.init and NOT_A_KEY not in field.metadata]


def default_of(field: attrs.Attribute[Any]) -> Any:
    """Return a field's default; None if there is none, or if it depends on the other fields."""
    if field.default is attrs.NOTHING:
        return None
    factory = getattr(field.default, "factory", None)
    if factory is None:
        return field.default
    return None if getattr(field.default, "takes_self", False) else factory()


def field_texts(cls: type) -> dict[str, str]:
    """Return the docstring of each field that has one: the string after the field in the class body."""
    texts: dict[str, str] = {}
    for ancestor in reversed(cls.__mro__[:-1]):
        texts.update(_own_field_texts(ancestor))
    return texts


@lru_cache(maxsize=512)  # reading a source takes milliseconds, and a schema has some classes in dozens of places
def _own_field_texts(cls: type) -> dict[str, str]:
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    except (OSError, TypeError, SyntaxError):  # made at run time, or shipped without source
        return {}
    statements = body.body if isinstance(body, ast.ClassDef) else []
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in itertools.pairwise(statements)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def joints_of(config: Any) -> Sequence[str]:
    """Return the patterns of an actuator's key `joints`, by which a file takes joints over from a USD stage."""
    return getattr(config, "joints", ())


def has_deterministic(config: Any) -> bool:
    """Tell whether a solver has the key `deterministic`, which `simulation.determinism` sets to true on a GPU."""
    return attrs.has(type(config)) and hasattr(config, "deterministic")


def replaced_keys_of(cls: type) -> Mapping[str, str]:
    """Return the class attribute `replaced_keys`: keys of an earlier version, with what to do instead."""
    return getattr(cls, "replaced_keys", {})


def other_keys_of(cls: type) -> Mapping[str, Any]:
    """Return what the method `other_keys` of a class says: keys besides its fields, such as the tables of packages."""
    return getattr(cls, "other_keys", dict)()


def needs_of(cls: type) -> Sequence[str]:
    """Return the class attribute `needs` of a table's class: other tables, of which the components come first."""
    return getattr(cls, "needs", ())


def missing_distribution_of(cls: type, key: str) -> str | None:
    """Return the distribution of Pippin's own that has a table of a file and is not installed; None if none has it."""
    return first_party_distribution("tables", key) if hasattr(cls, "other_keys") else None
