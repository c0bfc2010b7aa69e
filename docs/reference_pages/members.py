"""Page *Members*: the members of the objects that plugins are handed, from their docstrings."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from .rows import named_row

sys.path.append(str(Path(__file__).parents[1] / "site"))  # what the documentation site reads the same sources with

from api import PUBLIC, content_of

MEMBERS = """\
# Members

<!-- Written by docs/write_reference.py from the docstrings of these classes. Change those, then run it. -->

The hooks and the base classes of plugins hand these objects to their authors. Each has its attributes, properties and
methods here. Arrays are read and written in place, and are on `device` unless a type says NumPy.
[Public names](public-names.md) lists all classes, and the [documentation site](../how-to/build-the-site.md) has every
argument and every error.
"""

CLASSES = {
    "The simulation": (("pippin", "Host"), ("pippin", "Services"), ("pippin", "Binding"), ("pippin", "DoubleBuffer")),
    "Actuators": (("pippin.actuation", "Lanes"), ("pippin.actuation", "Parameters")),
    "Sensors and stages": (("pippin.sensing", "Output"), ("pippin.sensing", "OutputLanes")),
    "Solvers": (("pippin.solving", "Capacity"), ("pippin.solving", "ContactSource")),
    "Tasks": (("pippin_task", "TermContext"), ("pippin.state", "Draws")),
    "Recorders and readers": (
        ("pippin.recording", "Header"),
        ("pippin.recording", "Column"),
        ("pippin.recording", "RecordingFile"),
        ("pippin.recording", "Series"),
    ),
    "Viewers": (("pippin.matter", "RenderShape"), ("pippin.matter", "RenderMatter"), ("pippin.matter", "RenderTendon")),
}
"""Module and name of each class, by the heading that it stands under."""


def page() -> str:
    """Return a table of the members of each class."""
    parts = [MEMBERS]
    for heading, classes in CLASSES.items():
        parts.append(f"\n## {heading}\n")
        parts += [_section(module, name) for module, name in classes]
    return "".join(parts)


def _section(module: str, name: str) -> str:
    home, found, _ = PUBLIC["home_of"](module, name)
    text = (ast.get_docstring(found) or "").partition("\n\n")[0]
    members, _, bases = content_of(home, found)
    rows = "".join(_row(member) for member in members if member.text)
    derived = f" It has the members of {', '.join(f'`{base}`' for base in bases)}, too." if bases else ""
    return f"\n### `{module}.{name}`\n\n{text}{derived}\n\n| member | type | meaning |\n|---|---|---|\n{rows}"


def _row(member: object) -> str:
    shown, returned = member.name, member.type
    if member.kind == "method" and member.function is not None:
        arguments = ast.unparse(member.function.args)
        own = arguments.partition(", ")[2] if arguments.partition(",")[0] in ("self", "cls") else arguments
        shown = f"{member.name}({own})"
    texts = [" ".join(part.split()) for part in member.text.split("\n\n")]
    kept = [text for text in texts if not text.startswith(("Args:", "Raises:", "Returns:"))]
    return named_row(_cell(shown), f"`{_cell(returned)}`" if returned else "", _cell(" ".join(kept)))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
