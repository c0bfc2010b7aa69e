"""Kinds of plugins, in their order, as the pages have them."""

from __future__ import annotations

import re
from pathlib import Path

from pippin.catalog import Catalog, Kind

NAMING = Path(__file__).parents[1] / "how-to" / "publish-a-plugin.md"

GUIDES = {
    "reader": "record-a-run.md#write-a-recorder",
    "trainer": "train-a-policy.md",
    "logger": "log-a-training.md",
    "log": "fit-a-robot.md#read-other-logs",
    "problem": "add-a-benchmark-problem.md",
    "robot": "write-a-robot.md",
    "importer": "bring-a-scene.md#an-importer",
    "object": "add-objects.md#write-a-kind-of-objects",
    "terrain": "rough-ground.md",
    "subcommand": "add-a-command.md",
    "table": "bring-a-table.md",
}
"""Page on writing a plugin of a kind, if it is another one than the usual page."""


def kinds() -> dict[str, str]:
    """Return the plural of each kind of plugins, by its name."""
    return {name: kind.plural for name, kind in Catalog.installed().kinds.items()}


def naming() -> str:
    """Return the page on publishing with the names that plugins of each kind have, as the registered kinds say."""
    lines = ["| kind | group | distribution | in a file | what it does |", "|---|---|---|---|---|"]
    for kind in Catalog.installed().kinds.values():
        name = f"[{kind.name}]({GUIDES[kind.name]})" if kind.name in GUIDES else kind.name
        folder = (kind.template or f":{kind.name}").rpartition(":")[2]
        cells = (f"`{kind.group}`", f"`pippin-{folder}-NAME`", _place(kind), kind.meaning.rstrip("."))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    text = "\n".join(["<!-- kinds, by docs/write_reference.py -->", "", *lines, "", "<!-- end of kinds -->"])
    return re.sub(r"(?s)<!-- kinds, .*<!-- end of kinds -->", lambda _: text, NAMING.read_text(encoding="utf-8"))


def _place(kind: Kind) -> str:
    """Return how a file names a plugin: the header of its table, or its key in one."""
    if kind.place is None:
        return {"command": "none: `pippin NAME`", "table": "`[NAME]`"}.get(kind.provides, "none")
    table, _, key = kind.place.rpartition(".")
    if key == "*" or not table or (key.endswith("[]") and "*" not in table):
        return f"`{_header(kind.place)}`"
    return f"`{key.removesuffix('[]')}` of `{_header(table)}`"


def _header(place: str) -> str:
    labelled = place.replace("*", "LABEL")
    return f"[[{labelled.removesuffix('[]')}]]" if place.endswith("[]") else f"[{labelled}]"
