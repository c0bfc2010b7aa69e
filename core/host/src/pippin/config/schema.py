"""Content of a configuration file: a JSON Schema for editors, and the tables of a class of settings.

The schema is draft 7, which taplo, the engine of the usual TOML extensions of editors, supports best. Required keys are
stated apart from allowed keys, because a file that `extends` others need not be complete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

import attrs
from pippin.catalog.entries import Catalog
from pippin.catalog.entry import Entry
from pippin.catalog.kind import Kind
from pippin.catalog.outside import ANYWHERE
from pippin.errors import PluginError

from .converter import is_component, tag_of, type_of_table
from .faults import shape_of, union_members
from .fields import default_of, field_texts, fields_of
from .files import is_file_path
from .loading import unstructure
from .model import SimulationConfig

Schema = dict[str, Any]

_SCALARS = {bool: "boolean", int: "integer", float: "number", str: "string"}
_BOUNDS = {">=": "minimum", ">": "exclusiveMinimum", "<=": "maximum", "<": "exclusiveMaximum"}


def json_schema(catalog: Catalog, only: Collection[Entry] | None = None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the schema of a configuration file, and one line for each broken plugin that the schema leaves out.

    It has all installed plugins, or `only` some.
    """
    plugins, problems = _load(catalog, only)
    tables, faults = _tables(catalog)
    allowed = _Allowed(catalog, plugins).file(SimulationConfig, tables)
    required = _Required(catalog, plugins).file(SimulationConfig, tables)
    own_keys = {
        "$schema": {"type": "string", "description": "The schema an editor checks the file against."},
        "extends": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Files this one is merged over, relative to it; the last is on top.",
        },
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Pippin simulation",
        **allowed,
        "properties": {**own_keys, **allowed["properties"]},
        "if": {"not": {"required": ["extends"]}},
        "then": required,
    }, (*problems, *faults)


def table_schema(config: type) -> dict[str, Any]:
    """Return the schema of a plugin's table, by the class of its settings.

    Args:
        config: The class.

    Raises:
        PluginError: An annotation of the class cannot be resolved, or has no schema.
    """
    return _Allowed(Catalog.installed(), {}).table(config, whole=True)


@attrs.frozen
class _Plugin:
    names: tuple[str, ...]
    config: type


def _load(catalog: Catalog, only: Collection[Entry] | None) -> tuple[dict[str, list[_Plugin]], tuple[str, ...]]:
    plugins: dict[str, list[_Plugin]] = {}
    problems = []
    for entry in catalog.entries if only is None else only:
        if entry.provides != "configuration":
            continue
        try:
            config = entry.load_config()
            table_schema(config)
        except PluginError as error:
            problems.append(str(error))
        else:
            plugins.setdefault(entry.kind, []).append(_Plugin(_names(entry), config))
    return plugins, tuple(problems)


def _tables(catalog: Catalog) -> tuple[dict[str, tuple[Any, str]], tuple[str, ...]]:
    found: dict[str, tuple[Any, str]] = {}
    problems = []
    for name, table in catalog.tables.items():
        try:
            found[name] = type_of_table(table), table.meaning if isinstance(table, Kind) else ""
        except PluginError as error:
            problems.append(str(error))
    return found, tuple(problems)


def _names(entry: Entry) -> tuple[str, ...]:
    qualified = f"{entry.distribution}:{entry.name}"
    return (qualified,) if entry.state == "duplicate" else (entry.name, qualified)


@attrs.frozen
class _Allowed:
    """Schemas of allowed content: closed tables, types, bounds, defaults and descriptions."""

    catalog: Catalog
    plugins: Mapping[str, list[_Plugin]]
    within: tuple[str, ...] = ()
    """Kinds of the plugins around the content: a solver inside a solver is a reference to the table of solvers."""

    def value(self, annotation: Any, whole: bool) -> Schema:
        """Return the schema of a type. A whole value is not merged with another file's, so its keys are required."""
        members = union_members(annotation)
        if len(members) > 1 and all(map(attrs.has, members)):
            tagged = [(tag_of(member), member) for member in members]
            schema = _choice([([tag], {**self.table(member, whole), "title": tag}) for tag, member in tagged])
            return {**schema, "required": ["type"]} if whole else schema
        if len(members) > 1:
            return {"anyOf": [self.value(member, whole) for member in members]}
        (annotation,) = members
        if is_component(annotation):
            kind: str = get_args(annotation)[1]
            return _again(self.catalog.kind(kind)) if kind in self.within else self.component_or_name(kind, whole)
        if is_file_path(annotation):
            return {"type": "string"}
        if get_origin(annotation) is Literal:
            return {"enum": list(get_args(annotation))}
        match shape_of(annotation):
            case "list":
                return self.sequence(get_args(annotation))
            case "table" if attrs.has(annotation):
                return self.table(annotation, whole)
            case "table":
                return {"type": "object", "additionalProperties": self.value(_mapped(annotation), whole)}
        return {"type": _SCALARS[annotation]} if annotation in _SCALARS else {}

    def sequence(self, items: tuple[Any, ...]) -> Schema:
        """Return the schema of a list; a list of fixed length with items of one type needs no schema per position."""
        if len(items) < 2 or items[-1] is Ellipsis:
            return {"type": "array", "items": self.value(items[0], whole=True) if items else {}}
        schemas = [self.value(item, whole=True) for item in items]
        same = all(schema == schemas[0] for schema in schemas)
        return {
            "type": "array",
            "items": schemas[0] if same else schemas,
            "minItems": len(items),
            "maxItems": len(items),
        }

    def table(self, cls: type, whole: bool) -> Schema:
        """Return the schema of a configuration class."""
        texts = field_texts(cls)
        properties = {field.name: self.field(field, texts.get(field.name), whole) for field in fields_of(cls)}
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        if cls.__doc__:
            schema["description"] = " ".join(cls.__doc__.split())
        if whole and (required := _required_names(cls)):
            schema["required"] = required
        return schema

    def file(self, cls: type, tables: Mapping[str, tuple[Any, str]]) -> Schema:
        """Return the schema of a whole file: the tables of its class, and the registered ones."""
        schema = self.table(cls, whole=False)
        for name, (annotation, text) in tables.items():
            own = self.value(annotation, whole=False)
            schema["properties"][name] = {**own, "description": text} if text else own
        return schema

    def field(self, field: attrs.Attribute[Any], text: str | None, whole: bool) -> Schema:
        """Return the schema of one key: its type, the bounds of its validators, its description and its default."""
        schema = _narrowed(self.value(field.type, whole), _keywords(field.validator))
        if text:
            schema["description"] = text
        default = default_of(field)
        return schema if default is None else {**schema, "default": unstructure(default)}

    def component_or_name(self, kind: str, whole: bool) -> Schema:
        """Return the schema of a component; of some kinds, a name stands for a table with nothing but its `type`."""
        schema = self.component(kind, whole)
        if not self.catalog.kind(kind).is_named_alone:
            return schema
        names = [name for plugin in self.plugins.get(kind, ()) for name in plugin.names]
        return {"anyOf": [_types(names, is_open=True), schema]}

    def component(self, kind: str, whole: bool) -> Schema:
        """Return the schema of a component: one closed table per plugin, chosen by `type`.

        A table without `type` may hold any plugin's keys, because a file that extends another one changes single keys.
        In a list it may not, because lists are replaced as a whole.
        """
        inner = attrs.evolve(self, within=(*self.within, kind))
        tables = [(plugin, inner.table(plugin.config, whole)) for plugin in self.plugins.get(kind, ())]
        cases: list[tuple[Sequence[str], Schema]] = [
            (plugin.names, _with_type(plugin, table, whole)) for plugin, table in tables
        ]
        schema = _choice(cases, is_open=True)
        if whole:
            return {**schema, "required": ["type"]}
        untyped = {"if": {"not": {"required": ["type"]}}, "then": _any_of_these(table for _, table in tables)}
        return {**schema, "allOf": [*schema.get("allOf", ()), untyped]}


def _choice(cases: Sequence[tuple[Sequence[str], Schema]], *, is_open: bool = False) -> Schema:
    """Return the schema of a table whose `type` determines its other keys.

    With `if` and `then`, a validator names the wrong key; with `oneOf` it would only report that no alternative fits.
    If it is open, the type may also be a class of a file or of a module, whose keys nothing here knows.
    taplo completes keys found under `anyOf`. This `anyOf` rejects nothing, because its last alternative is empty.
    """
    return {
        "type": "object",
        "properties": {"type": _types([name for names, _ in cases for name in names], is_open=is_open)},
        **({"allOf": [{"if": _has_type(names), "then": schema} for names, schema in cases]} if cases else {}),
        "anyOf": [*(schema for _, schema in cases), {}],
    }


def _types(names: list[str], *, is_open: bool) -> Schema:
    """Return the schema of a `type`; editors complete names found under `anyOf`, and the condition gives the fault."""
    known: Schema = {"enum": names}
    return {"anyOf": [known, {}], "if": {"not": {"pattern": ANYWHERE}}, "then": known} if is_open else known


def _has_type(names: Iterable[str]) -> Schema:
    return {"properties": {"type": {"enum": list(names)}}, "required": ["type"]}


def _with_type(plugin: _Plugin, table: Schema, whole: bool) -> Schema:
    text = table.get("description", "")
    properties = {"type": {"enum": list(plugin.names), "description": text}, **table["properties"]}
    if not whole:
        properties["extends"] = {"const": False, "description": "The keys of the files below are left out."}
    return {**table, "title": plugin.names[0], "properties": properties}


def _any_of_these(tables: Iterable[Schema]) -> Schema:
    variants: dict[str, list[Schema]] = {}
    for table in tables:
        for key, schema in table["properties"].items():
            variants.setdefault(key, []).append(schema)
    properties = {key: schemas[0] if len(schemas) == 1 else {"anyOf": schemas} for key, schemas in variants.items()}
    return {"properties": properties, "additionalProperties": False}


@attrs.frozen
class _Required:
    """Schemas of required content, for merged files; they do not restrict other content."""

    catalog: Catalog
    plugins: Mapping[str, list[_Plugin]]
    within: tuple[str, ...] = ()
    """Kinds of the plugins around the content; a plugin inside one of its own kind has no demands."""

    def value(self, annotation: Any) -> Schema:
        """Return the demands on a type; empty if there are none, and for lists, whose items are always whole."""
        tables = [member for member in union_members(annotation) if shape_of(member) == "table"]
        if len(tables) > 1 and not all(map(attrs.has, tables)):
            return {}
        if len(tables) > 1:
            return _demands_by_type(([tag_of(table)], self.table(table)) for table in tables)
        if not tables:
            return {}
        (annotation,) = tables
        if is_component(annotation):
            kind: str = get_args(annotation)[1]
            if self.catalog.kind(kind).is_named_alone or kind in self.within:
                return {}
            inside = attrs.evolve(self, within=(*self.within, kind))
            return _demands_by_type(
                (plugin.names, inside.table(plugin.config)) for plugin in self.plugins.get(kind, ())
            )
        if attrs.has(annotation):
            return self.table(annotation)
        inner = self.value(_mapped(annotation))
        return {"additionalProperties": inner} if inner else {}

    def table(self, cls: type) -> Schema:
        """Return the demands on a table and on those inside it."""
        inner = {field.name: schema for field in fields_of(cls) if (schema := self.value(field.type))}
        required = _required_names(cls)
        return {**({"required": required} if required else {}), **({"properties": inner} if inner else {})}

    def file(self, cls: type, tables: Mapping[str, tuple[Any, str]]) -> Schema:
        """Return the demands on a whole file."""
        own = self.table(cls)
        inner = {name: schema for name, (annotation, _) in tables.items() if (schema := self.value(annotation))}
        return {**own, "properties": {**own.get("properties", {}), **inner}}


def _again(kind: Kind) -> Schema:
    """Return the schema of a plugin inside one of its own kind; beside `$ref`, draft 7 reads no other keyword."""
    if kind.place is None or kind.is_named_alone or "[]" in kind.place:
        return {"type": "object"}
    keys = ("additionalProperties" if key == "*" else f"properties/{key}" for key in kind.place.split("."))
    return {"allOf": [{"$ref": f"#/{'/'.join(keys)}"}]}


def _demands_by_type(demands: Iterable[tuple[Iterable[str], Schema]]) -> Schema:
    cases = [{"if": _has_type(names), "then": schema} for names, schema in demands if schema]
    return {"required": ["type"], **({"allOf": cases} if cases else {})}


def _mapped(annotation: Any) -> Any:
    return (*get_args(annotation), Any, Any)[1]


def _required_names(cls: type) -> list[str]:
    return [field.name for field in fields_of(cls) if field.default is attrs.NOTHING]


def _narrowed(schema: Schema, keywords: Schema) -> Schema:
    merged = dict(schema)
    for key, value in keywords.items():
        old = merged.get(key)
        merged[key] = _narrowed(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _keywords(validator: Any) -> Schema:
    """Return the checks of a validator as keywords of JSON Schema, as far as the keywords can express them.

    A validator may have its own keywords (`pippin.validators.in_schema`). attrs' own validators are known by class
    name and fields, because their classes are private; an unknown validator only makes the schema more permissive.
    """
    match type(validator).__name__:
        case "_AndValidator":
            schema: Schema = {}
            for part in validator._validators:
                schema = _narrowed(schema, _keywords(part))
            return schema
        case "_OptionalValidator":
            return _keywords(validator.validator)
        case "_NumberValidator":
            return {_BOUNDS[validator.compare_op]: validator.bound}
        case "_InValidator":
            return {"enum": list(validator.options)}
        case "_MinLengthValidator":
            return {"minLength": validator.min_length, "minItems": validator.min_length}
        case "_MaxLengthValidator":
            return {"maxLength": validator.max_length, "maxItems": validator.max_length}
        case "_DeepIterable":
            return {"items": inner} if (inner := _keywords(validator.member_validator)) else {}
        case "_DeepMapping":
            return {"additionalProperties": inner} if (inner := _keywords(validator.value_validator)) else {}
    return getattr(validator, "json_schema", {})


_Keys = tuple[tuple[str, int], ...]


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
    yield from _tables_in(config, (), frozenset())


def _tables_in(config: type, path: _Keys, above: frozenset[type]) -> Iterator[InnerTable]:
    fields = fields_of(config)
    yield InnerTable(
        path=path, config=config, types={each.name: each.type for each in fields}, texts=field_texts(config)
    )
    for field in fields:
        for member, depth in _members(field.type):
            inner = (*path, (field.name, depth))
            if attrs.has(member):
                yield from () if member in above else _tables_in(member, inner, above | {config})
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
