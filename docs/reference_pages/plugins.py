"""Page *Plugins*: every plugin of this repository, kind by kind."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pippin.catalog.entries import Catalog
from pippin.catalog.entry import Entry

from . import configuration, tasks
from .kinds import kinds
from .rows import summary

PLUGINS = """\
# List of plugins

<!-- Written by docs/write_reference.py from the catalog and docstrings of settings. Change those, then run it. -->

The packages of this repository bring {count} plugins of {kinds} kinds, {commands} commands, and {tables} tables of a
file. A file chooses a plugin by its name, mostly as the key `type` of a table; the links lead to the keys. `pippin
plugins` lists what is installed, also of other packages, which register in the same
[groups of entry points](../how-to/publish-a-plugin.md), or [bring a kind of their own](../how-to/bring-a-kind.md).

| kind | group of entry points | plugins |
|---|---|---|
"""


def page() -> str:
    """Return the table of kinds, then a table of plugins for each kind that has some."""
    entries = Catalog.installed().entries
    links = {**_sections_of("configuration", configuration.page()), **_sections_of("tasks", tasks.page())}
    found = {kind: [entry for entry in entries if entry.kind == kind] for kind in kinds()}
    of = {what: [each for each in entries if each.provides == what] for what in ("configuration", "command", "table")}
    plugins, commands, tables = of.values()
    numbers = {"count": len(plugins), "commands": len(commands), "tables": len(tables)}
    parts = [PLUGINS.format(kinds=len({each.kind for each in plugins}), **numbers)]
    for kind, plural in kinds().items():
        name = f"[{kind}](#{plural})" if found[kind] else kind
        parts.append(f"| {name} | `pippin.{plural}` | {len(found[kind]) or 'of other packages'} |\n")
    for kind, plural in kinds().items():
        if found[kind]:
            parts += [f"\n## {plural.capitalize()}\n\n| name | package | meaning |\n|---|---|---|\n"]
            parts += [_row(entry, plural, links) for entry in found[kind]]
    return "".join(parts)


def _row(entry: Entry, plural: str, links: Mapping[str, str]) -> str:
    """Return the row of a plugin; its name leads to its keys, if a page has them."""
    target = next((links[title] for title in _titles(entry, plural) if title in links), None)
    name = f"[`{entry.name}`]({target})" if target else f"`{entry.name}`"
    return f"| {name} | `{entry.distribution}` | {_meaning(entry)} |\n"


def _titles(entry: Entry, plural: str) -> tuple[str, ...]:
    """Return headings that a plugin may have its keys below, the most fitting one first."""
    return (f"{entry.kind} {entry.name}", f"{plural} {entry.name}", plural)


def _meaning(entry: Entry) -> str:
    if entry.kind == "subcommand":
        return (entry.load_command().help or "").partition("\n")[0].rstrip(".")
    found = entry.load_table() if entry.provides == "table" else entry.load_config()
    return summary(found).replace("|", "\\|")


def _sections_of(name: str, page: str) -> dict[str, str]:
    """Return the links to the sections of a page: by the table and the type, or by the heading in small letters."""
    found = {}
    for heading in re.findall(r"^## (.*)$", page, re.MULTILINE):
        typed = re.fullmatch(r"`\[+([\w.]+?)(?:\.LABEL)?\]+` with type `([\w-]+)`", heading)
        title = f"{typed[1].rpartition('.')[2]} {typed[2]}" if typed else heading.lower()
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.setdefault(title, f"{name}.md#{anchor}")
    return found
