"""Checks of a plugin's entry point and settings: found, imported, documented, written and read."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from multiprocessing.connection import Connection
from typing import Any

import warp
from pippin import ConfigError, PippinError, PluginError
from pippin.catalog import Catalog
from pippin.config import InnerTable, inner_tables, json_schema, table_schema, toml_text, unstructure
from pippin.workers import WorkerProcess

from .plugin_under_test import PluginUnderTest
from .runs import Runs


def check_entry_point(runs: Runs) -> None:
    """Exactly one distribution has the entry point, and the entry point leads to a configuration whose
    implementation has known hooks.
    """
    entry = runs.subject.entry
    if entry.problem:
        raise PluginError(f"{entry}: {entry.problem}")
    _ = runs.subject.plugin


def check_light_import(runs: Runs) -> None:
    """The class can be imported in a process of its own without a visible GPU, and the import does not start Warp."""
    entry = runs.subject.entry
    with WorkerProcess(str(entry), _import, entry.kind, runs.subject.name, preload=()) as process:
        try:
            has_started = process.receive()
        except PippinError as error:
            raise PluginError(f"{entry}: cannot be imported in a process of its own: {error}") from error
    if has_started:
        raise PluginError(f"{entry}: its import starts Warp; make arrays in bind or build_solver, not in the module")


def _import(connection: Connection, kind: str, name: str) -> None:
    """Import a plugin, and send whether Warp has started: it greets once, and still does if the import did not."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    Catalog.installed().find(kind, name).load()
    warp.config.log_level = warp.LOG_INFO
    with redirect_stdout(StringIO()) as greeting:
        warp.init()
    connection.send(not greeting.getvalue())


def check_documented_keys(runs: Runs) -> None:
    """The configuration has a docstring, and each of its keys has a type and a docstring."""
    config = runs.subject.entry.load_config()
    faults = []
    for table in inner_tables(config):
        place = ".".join((config.__name__, *(key for key, _ in table.path)))
        if table.config is not None and not (table.config.__doc__ or "").strip():
            faults.append(f"{place}: class {table.config.__name__} has no docstring; say in a line what it describes")
        for name, annotation in table.types.items():
            if not table.texts.get(name):
                faults.append(f"{place}.{name}: no docstring; write one below the field, with the unit")
            if annotation in (None, Any):
                faults.append(f"{place}.{name}: no type; annotate it, so that wrong values are refused")
    _refuse(runs.subject, faults)


def check_round_trip(runs: Runs) -> None:
    """A configuration that is written as TOML, with every default, is read back unchanged."""
    written = runs.subject.structured()
    try:
        read = runs.subject.structured(tomllib.loads(toml_text(unstructure(written))))
    except (ConfigError, tomllib.TOMLDecodeError) as error:
        raise runs.fault(f"what is written of its table cannot be read back: {error}") from error
    if read != written:
        raise runs.fault("its table is read back as another one; give fields values that compare by ==")


def check_unknown_keys(runs: Runs) -> None:
    """An unknown key is refused, in the plugin's table and in every table inside it."""
    subject = runs.subject
    faults = []
    for table in inner_tables(subject.entry.load_config()):
        place = ".".join((*(key for key, _ in table.path), "no_such_key"))
        try:
            subject.structured({**subject.table, **_nested(table, {"no_such_key": "no such value"})})
        except ConfigError:
            continue
        faults.append(f"{place}: accepted; type the field by an attrs class, or its values by what they are")
    _refuse(subject, faults)


def check_schema(runs: Runs) -> None:
    """The JSON Schema for editors contains the plugin's table, gives the type of each key, and is valid JSON."""
    schema, problems = json_schema(Catalog.installed(), [runs.subject.entry])
    _refuse(runs.subject, [f"it has no schema: {problem}" for problem in problems])
    try:
        json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise runs.fault(f"its schema is not JSON ({error}); use defaults that TOML can hold") from error
    keys = dict.fromkeys(_untyped_keys([schema, table_schema(runs.subject.entry.load_config())]))
    _refuse(runs.subject, [f"{key}: any value would do; annotate it as a scalar, a list or a table" for key in keys])


def _refuse(subject: PluginUnderTest, faults: list[str]) -> None:
    if faults:
        raise PluginError("\n".join(f"{subject}: {fault}" for fault in faults))


def _nested(place: InnerTable, content: Any) -> Any:
    """Return the content of the outermost table that has some content in an inner table."""
    for key, depth in reversed(place.path):
        for _ in range(depth):
            content = [content]
        content = {key: content}
    return content


def _untyped_keys(schema: Any) -> Iterator[str]:
    """Yield the keys that a schema says nothing about."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            yield from (key for key, value in properties.items() if not value.keys() - {"description", "default"})
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _untyped_keys(part)
