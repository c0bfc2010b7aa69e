"""The file of the host that names the plugins of Pippin's other distributions, from their `pyproject.toml`.

`write_reference.py` writes it, and `tests/project/test_requirements.py` compares it.
"""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATH = ROOT / "core" / "host" / "src" / "pippin" / "catalog" / "first_party.toml"

HEAD = (
    "# Names of the plugins of each distribution of Pippin's own, by group of entry points: docs/write_reference.py.\n"
)
WIDTH = 118


def projects() -> list[dict]:
    """Return the tables `[project]` of all distributions besides the host, in the order of their folders."""
    folders = ("core", "solvers", "actuators", "sensors")
    paths = sorted(path for folder in folders for path in ROOT.glob(f"{folder}/*/pyproject.toml"))
    found = [tomllib.loads(path.read_text(encoding="utf-8"))["project"] for path in paths]
    return [project for project in found if project["name"] != "pippin"]


def groups(project: Mapping) -> dict[str, list[str]]:
    """Return the names of a distribution's plugins, by kind in the plural."""
    points = project.get("entry-points", {})
    kinds = sorted(points.keys() - {"pippin.contract", "pippin.kinds"})
    return {group.removeprefix("pippin."): sorted(points[group]) for group in kinds if group.startswith("pippin.")}


def text() -> str:
    """Return the file."""
    blocks = [
        "\n".join([f"\n[{project['name']}]", *(_line(*each) for each in found.items())]) + "\n"
        for project in projects()
        if (found := groups(project))
    ]
    return HEAD + "".join(blocks)


def _line(kind: str, names: list[str]) -> str:
    line = f'{kind} = "{" ".join(names)}"'
    if len(line) <= WIDTH:
        return line
    return "\n".join([f'{kind} = """', *textwrap.wrap(" ".join(names), WIDTH, break_on_hyphens=False)]) + '"""'
