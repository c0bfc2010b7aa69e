"""Conversion of plain data to the configuration classes, by a strict cattrs converter.

cattrs walks the classes and collects every fault with its path. The hooks here make cattrs strict: a scalar must have
the right type (an integer may stand for a float), a table must be a table, and a list must have the right length.
Validators run field by field, so that every wrong field of a table is reported, not only the first.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from numbers import Integral, Real
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import attrs
from cattrs import ClassValidationError, Converter
from cattrs.cols import homogenous_tuple_structure_factory, mapping_structure_factory
from cattrs.gen import make_dict_structure_fn, make_hetero_tuple_structure_fn, override
from pippin.catalog.entries import Catalog
from pippin.catalog.entry import Entry
from pippin.catalog.kind import Kind
from pippin.catalog.outside import is_file_reference
from pippin.errors import PluginError
from pippin.labels import label_fault
from pippin.spelling import did_you_mean

from .component import ComponentConfig, Unread
from .faults import (
    MissingKeyError,
    UnexpectedNameError,
    UnexpectedValueError,
    expected_text,
    shape_of,
    under_key,
    union_members,
    value_text,
)
from .fields import NOT_A_KEY, fields_of
from .files import anchored, is_file_path

Hook = Callable[[Any, Any], Any]


@lru_cache(maxsize=4)
def make_converter(catalog: Catalog) -> Converter:
    """Return a converter that structures configurations strictly and finds plugins in `catalog`.

    The converter of an equal catalog is used again: to generate its functions costs more than to structure a file.
    """
    converter = Converter(forbid_extra_keys=True, detailed_validation=True)
    hooks = {bool: _scalar(bool, bool, bool), int: _scalar(int, Integral, int), float: _float, str: _str}
    for scalar, hook in hooks.items():
        converter.register_structure_hook(scalar, hook)
    factories: list[tuple[Callable[[Any], bool], Callable[[Any, Converter], Hook]]] = [
        (lambda kind: shape_of(kind) == "list", _list_hook),
        (lambda kind: shape_of(kind) == "table", _mapping_hook),
        (attrs.has, _class_hook),
        (lambda kind: get_origin(kind) is Literal, lambda kind, _: partial(_literal, get_args(kind))),
        (lambda kind: union_members(kind) != [kind], _union_hook),
        (is_component, partial(_component_hook, catalog)),
        (is_file_path, lambda _, __: _scalar(str, str, anchored)),
    ]
    for predicate, factory in factories:  # cattrs takes the last predicate that is true
        converter.register_structure_hook_factory(predicate)(factory)
    return converter


def _scalar(kind: type, accepted: type, convert: Callable[[Any], Any]) -> Hook:

    def structure_scalar(value: Any, _: Any) -> Any:
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            raise UnexpectedValueError(expected_text(kind), value)
        return convert(value)

    return structure_scalar


_str = _scalar(str, str, str)


def _float(value: Any, _: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise UnexpectedValueError(expected_text(float), value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UnexpectedValueError("a finite number", value)
    return number


def _literal(choices: tuple[Any, ...], value: Any, kind: Any) -> Any:
    value = str(value) if isinstance(value, str) else value
    for choice in choices:
        if type(value) is type(choice) and value == choice:  # True == 1
            return choice
    raise UnexpectedValueError(expected_text(kind), value, did_you_mean(str(value), map(str, choices)))


def _list_hook(kind: Any, converter: Converter) -> Hook:
    items = get_args(kind) or (Any, ...)
    length = len(items) if get_origin(kind) is tuple and items[-1] is not Ellipsis else None
    factory = homogenous_tuple_structure_factory if length is None else make_hetero_tuple_structure_fn
    structure = factory(kind, converter)

    def structure_list(value: Any, _: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) != (length or len(value)):
            is_one = isinstance(value, str) and items[0] is str and length is None
            raise UnexpectedValueError(expected_text(kind), value, f"; write [{value_text(value)}]" if is_one else "")
        return structure(value, kind)

    return structure_list


def _mapping_hook(kind: Any, converter: Converter) -> Hook:
    """Structure tables by key; the keys of components and of tables of components are labels, or patterns of labels."""
    structure, values = mapping_structure_factory(kind, converter), _values_of(kind)
    is_of_tables = attrs.has(values) or (shape_of(values) == "table" and attrs.has(_values_of(values)))
    if getattr(values, "is_by_pattern", False) or not (is_component(values) or is_of_tables):
        return _only_tables(kind, structure)

    def structure_labelled(value: Mapping[str, Any], _: Any) -> Any:
        for label in value:
            if fault := label_fault(str(label)):
                raise under_key(label, ValueError(fault))
        return structure(value, kind)

    return _only_tables(kind, structure_labelled)


def _values_of(kind: Any) -> Any:
    return (*get_args(kind), Any)[1]


def _class_hook(cls: Any, converter: Converter) -> Hook:
    overrides: dict[str, Any] = {
        field.name: override(struct_hook=_field_hook(field, converter)) for field in fields_of(cls)
    }
    overrides |= {field.name: override(omit=True) for field in attrs.fields(cls) if NOT_A_KEY in field.metadata}
    return _only_tables(cls, make_dict_structure_fn(cls, converter, **overrides))


@lru_cache(maxsize=4)
def file_hook(catalog: Catalog, cls: Any) -> Hook:
    """Return the function that structures a file: the tables of its class, and those that are registered."""
    converter = make_converter(catalog)
    structure, own = _class_hook(cls, converter), {field.name for field in fields_of(cls)}

    def structure_file(value: Mapping[str, Any], _: Any) -> Any:
        registered = {} if own >= value.keys() else catalog.tables
        tables, faults = dict[str, Any](), list[Exception]()
        for name in (name for name in registered if value.get(name) is not None and name not in own):
            try:
                annotation = type_of_table(registered[name])
                tables[name] = converter.structure(value[name], annotation)
            except Exception as error:  # as cattrs does for each field of a class
                faults.append(under_key(name, error))
        others = {key: each for key, each in value.items() if key in own or key not in registered}
        config = None
        try:
            config = structure(others, cls)
        except ClassValidationError as error:
            faults += error.exceptions
        if config is None or faults:
            raise ClassValidationError("", faults, cls)  # pyrefly: ignore[bad-argument-count]
        return attrs.evolve(config, tables=tables)

    return _only_tables(cls, structure_file)


def type_of_table(table: Kind | Entry) -> Any:
    """Return the type of a registered table."""
    if isinstance(table, Entry):
        return table.load_table()
    plugin = Annotated[ComponentConfig, table.name]
    return Mapping[str, plugin] if table.is_labelled else plugin


def _only_tables(kind: Any, structure: Hook) -> Hook:
    def structure_table(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise UnexpectedValueError(expected_text(kind), value)
        return structure(value, kind)

    return structure_table


class _ReadsOtherFieldsError(Exception):
    """A validator asks for a field of an instance that does not exist yet."""


class _Unmade:
    """An instance that does not exist yet: no AttributeError, which may be a fault of the validator's own."""

    def __getattribute__(self, name: str) -> Any:
        raise _ReadsOtherFieldsError(name)


_UNMADE = _Unmade()


def _field_hook(field: attrs.Attribute[Any], converter: Converter) -> Hook:
    """Structure one field and run its validator at once, so that cattrs notes a fault at the field.

    Two kinds of validators must wait for the constructor, which runs every validator: those that read other fields
    need the instance, and those after an attrs converter need the converted value.
    """
    structure = converter.get_structure_hook(field.type or Any)
    validate = None if field.converter else field.validator

    def structure_field(value: Any, _: Any) -> Any:
        structured = structure(value, field.type)
        if validate is not None:
            with contextlib.suppress(_ReadsOtherFieldsError):
                validate(_UNMADE, field, structured)
        return structured

    return structure_field


def _union_hook(union: Any, converter: Converter) -> Hook:
    """Structure a value as the union member of the same shape: a table, a list or a scalar."""
    members: dict[str, list[Any]] = {"table": [], "list": [], "scalar": []}
    for member in union_members(union):
        members[shape_of(member)].append(member)

    def structure_union(value: Any, _: Any) -> Any:
        if value is None and NoneType in get_args(union):
            return None
        if len(union_members(union)) == 1:
            return converter.structure(value, *union_members(union))
        if isinstance(value, Mapping) and members["table"]:
            return converter.structure(value, _tagged(value, members["table"]))
        if isinstance(value, list | tuple) and len(members["list"]) == 1:
            return converter.structure(value, *members["list"])
        for member in members["scalar"]:
            with contextlib.suppress(UnexpectedValueError):
                return converter.structure(value, member)
        if float in members["scalar"] and isinstance(value, float):
            return _float(value, float)  # raises, because the value is not finite
        raise UnexpectedValueError(expected_text(union), value)

    return structure_union


def tag_of(cls: type) -> str:
    """Return the value of the key `type` that selects `cls` in a union: the literal of its field `type`.

    Raises:
        PluginError: The class has no field `type: Literal["..."]`, so it cannot be told from the others of its union.
    """
    for field in fields_of(cls):
        if field.name == "type" and get_origin(field.type) is Literal:
            return get_args(field.type)[0]
    raise PluginError(f"class {cls.__qualname__}: one of several must have a field `type: Literal['...']`")


def _tagged(table: Mapping[str, Any], classes: list[Any]) -> Any:
    if len(classes) == 1:
        return classes[0]
    # Beside a mapping, a class is chosen only if the table is not empty and has no keys but the class's.
    for mapping in (each for each in classes if not attrs.has(each)):
        tables = [cls for cls in classes if attrs.has(cls) and table]
        return next((cls for cls in tables if table.keys() <= {field.name for field in fields_of(cls)}), mapping)
    by_tag = {tag_of(cls): cls for cls in classes}
    expected = "one of " + ", ".join(map(value_text, by_tag))
    if "type" not in table:
        raise under_key("type", MissingKeyError(expected))
    tag = table["type"]
    if not isinstance(tag, str) or tag not in by_tag:
        raise under_key("type", UnexpectedValueError(expected, tag, did_you_mean(str(tag), by_tag)))
    return by_tag[tag]


def is_component(kind: Any) -> bool:
    """Return whether a type is a component of some kind: `Annotated[ComponentConfig, "solver"]`."""
    return get_origin(kind) is Annotated and get_args(kind)[0] is ComponentConfig


def _unread(table: Mapping[str, Any]) -> type:
    """Return a class that holds the values of a table as they are: the plugin that knows them must not run."""
    fields = {key: attrs.field(type=Any) for key in table if key != "type" and key.isidentifier()}
    return attrs.make_class("UnreadConfig", fields, bases=(Unread,), frozen=True, kw_only=True)


def _component_hook(catalog: Catalog, annotated: Any, converter: Converter) -> Hook:
    """Structure a table into the configuration of the plugin that its `type` names."""
    kind: str = get_args(annotated)[1]

    def structure_component(table: Any, _: Any) -> ComponentConfig:
        if isinstance(table, str) and catalog.kind(kind).is_named_alone:
            table = {"type": table}
        if not isinstance(table, Mapping):
            refused = UnexpectedNameError if isinstance(table, str) else UnexpectedValueError
            raise refused(expected_text(annotated), table)
        if "type" not in table:
            installed = ", ".join(map(value_text, catalog.names(kind))) or "none"
            raise under_key("type", MissingKeyError(f"the name of a plugin, installed: {installed}"))
        try:
            name = _str(table["type"], str)
            if is_file_reference(name):  # its path does not depend on the current folder
                name = anchored(table["type"])
            entry = catalog.find(kind, name)
            config_class = _unread(table) if entry.is_unread else entry.load_config()
            structure = converter.get_structure_hook(config_class)
        except (UnexpectedValueError, PluginError) as error:
            raise under_key("type", error) from error
        settings = {key: value for key, value in table.items() if key != "type"}
        return ComponentConfig(type=name, config=structure(settings, config_class))

    return structure_component
