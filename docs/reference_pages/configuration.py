"""Page *Configuration*: every table and key of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs
from pippin.catalog.entries import Catalog
from pippin.config import ShapeConfig
from pippin.config.schema import json_schema

from .keys import Schema, key_row

CONFIGURATION = """\
# Configuration

<!-- Written by docs/write_reference.py from the configuration classes. Change those, then run it. -->

This page lists every table and key of a configuration file, with the plugins of this repository.
A file is TOML, YAML or JSON; the [examples](../examples) are TOML.
`pippin show FILE` prints a file with every default. `pippin schema` writes these tables as a JSON Schema for editors.

Values are not converted: `"3"`, `2.7` and `true` are not integers.
A key that is not listed here is an error, and so are NaN and infinity.
If a key has neither a default nor "required", you may leave it out; its meaning describes the effect.
Patterns are explained in the [glossary](glossary.md#label-pattern).

Besides the tables, a file may begin with `extends`, a list of base files. The file is merged over them:
tables are merged key by key, lists and scalars are replaced. A table whose `type` changes keeps its keys, and the new
type refuses those that it does not have. A table with `extends = false` replaces the table below it, with all keys.

Two environment variables act like the table `[catalog]`, for every file. `PIPPIN_CATALOG_BLOCK` contains the names of
blocked plugins or distributions, separated by commas; `PIPPIN_CATALOG_ALLOW` contains the only allowed ones.
[Find out what is wrong with a plugin](../how-to/debug-plugin.md#keep-a-plugin-out) has examples.
"""


MENTIONED = 500
"""Length of a section from which its repetition is left out."""

SHAPE_KEYS = {field.name for field in attrs.fields(ShapeConfig)}
"""Keys of `[scene.shapes]`, which each shape of an object has too."""


def page() -> str:
    """Return the page of every table and key, from the JSON Schema of all installed plugins."""
    schema, problems = json_schema(Catalog.installed())
    if problems:
        raise RuntimeError("\n".join(problems))
    tables = {key: value for key, value in schema["properties"].items() if key not in ("$schema", "extends")}
    sections = [part for key, value in tables.items() for part in _sections(key, value, _demanded(schema["then"], key))]
    page = "\n".join([CONFIGURATION, *sections]).rstrip() + "\n"
    return "\n## ".join(_without_repetition(part.rstrip("\n") + "\n" for part in page.split("\n## ")))


def _without_repetition(sections: Iterable[str]) -> Iterator[str]:
    """Yield each section once; one that has the keys of another one names that."""
    shown: dict[str, str] = {}
    for section in dict.fromkeys(sections):
        title, _, text = section.partition("\n")
        first = shown.setdefault(text, title)
        yield section if first == title or len(text) < MENTIONED else f"{title}\n\nThe keys of {first}.\n"


def _sections(path: str, value: Schema, demands: Schema) -> Iterator[str]:
    """Yield the section of the tables at a path, then those of the tables inside them."""
    if value.get("type") == "array" and "allOf" in value["items"]:
        yield from _plugins(f"[{path}]", value["items"], {})
    elif value.get("type") == "array":
        yield from _table(f"[[{path}]]", value["items"], {}, lead=value.get("description"))
    elif "allOf" in value:
        yield from _plugins(path, value, demands)
    elif "properties" in value:
        yield from _table(f"[{path}]", value, demands)
    else:
        yield from _sections(f"{path}.LABEL", value["additionalProperties"], demands.get("additionalProperties", {}))


def _plugins(path: str, value: Schema, demands: Schema) -> Iterator[str]:
    """Yield one section for each plugin that a table may choose."""
    required = {case["if"]["properties"]["type"]["enum"][0]: case["then"] for case in demands.get("allOf", ())}
    plugins = [case["then"] for case in value["allOf"] if "title" in case["then"]]
    for table in plugins:
        yield from _table(f"[{path}]", table, required.get(table["title"], {}), plugin=table["title"])
    if not plugins:
        yield f"## `[{path}]`\n\nPlugins of other packages. This repository has none.\n"


def _table(
    path: str, table: Schema, demands: Schema, lead: str | None = None, plugin: str | None = None
) -> Iterator[str]:
    texts = [text for text in (lead, table.get("description")) if text]
    title = f"`{path}` with type `{plugin}`" if plugin else f"`{path}`"
    yield f"## {title}\n\n{' '.join(texts)}\n"
    keys = {key: value for key, value in table["properties"].items() if not (plugin and key in ("type", "extends"))}
    if keys.keys() > SHAPE_KEYS:
        yield "All keys of [`[scene.shapes]`](#sceneshapes), and:\n"
        keys = {key: value for key, value in keys.items() if key not in SHAPE_KEYS}
    required = {*table.get("required", ()), *demands.get("required", ())}
    rows = [key_row(key, value, key in required) for key, value in keys.items() if not _opens_tables(value)]
    if rows:
        yield "| key | type | unit | default | meaning |\n|---|---|---|---|---|"
        yield "\n".join(rows) + "\n"
    for key, value in keys.items():
        if _opens_tables(value):
            yield from _sections(f"{path.strip('[]')}.{key}", value, _demanded(demands, key))


def _opens_tables(value: Schema) -> bool:
    """Return whether a key holds tables with keys of their own."""
    held = value["items"] if value.get("type") == "array" else value
    return "properties" in held or "allOf" in held


def _demanded(demands: Schema, key: str) -> Schema:
    return demands.get("properties", {}).get(key, {})
