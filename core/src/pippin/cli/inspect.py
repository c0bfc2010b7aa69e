"""`pippin inspect`: the contents of a robot file, by name, as tables, as JSON, or as an image."""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import click
import pippin

from ._options import PATH, changes, json_list
from ._progress import shown_progress
from ._table import new_table, print_table

LISTS = ("bodies", "joints", "shapes", "sites", "actuators", "sensors", "cameras", "keyframes")


@click.command()
@click.argument("file", type=PATH)
@changes("Replace a value of the file; scene.assets.0.KEY=VALUE is an option of a robot file.")
@click.option("--draw", "image", type=PATH, metavar="IMAGE.png", help="Draw the start pose.")
@json_list
def inspect(file: Path, overrides: tuple[str, ...], image: Path | None, as_json: bool) -> None:
    """List what FILE has, by name: bodies, joints, shapes, sites, actuators, sensors, cameras and keyframes.

    FILE is a robot file (MJCF, URDF, xacro, USD, or a format of an installed importer), or a configuration, whose
    assets are listed one after the other, as their options place and change them. Lengths are in metres, angles in
    radians.
    """
    # The result is the tables: progress goes to standard error.
    with shown_progress(is_stdout_reserved=True):
        found = pippin.inspect(file, overrides, draw=image)
    if as_json:
        click.echo(json.dumps([attrs.asdict(contents) for contents in found], indent=2, ensure_ascii=False))
    else:
        for contents in found:
            _print(contents)


def _print(contents: pippin.AssetContents) -> None:
    counts = ", ".join(f"{name} {len(getattr(contents, name))}" for name in LISTS if getattr(contents, name))
    loops = f" and {len(contents.loops)} loops" if contents.loops else ""
    mass, dofs = f"{contents.total_mass:.6g} kg", f"{contents.dof_count} degrees of freedom{loops}"
    click.echo(f"{_short(Path(contents.file))} ({contents.format}): {mass}, {dofs}; {counts}")
    if contents.refusal:
        click.echo(f"refused: {contents.refusal}")
    for name in LISTS:
        rows = getattr(contents, name)
        if rows:
            click.echo()
            _print_list(rows)


def _short(file: Path) -> Path:
    """Return the path of a file below the folder of installed packages or the working directory, if it is there."""
    for folder in (*(Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")), Path.cwd()):
        if file.is_relative_to(folder):
            return file.relative_to(folder)
    return file


def _print_list(rows: Sequence[Any]) -> None:
    """Print a table of rows, without columns in which every cell is empty."""
    from pippin.analysis.inspection.rows import heading_of, is_nothing
    from rich.markup import escape

    columns = [
        (heading, ["" if is_nothing(field, value := getattr(row, field.name)) else _text(value) for row in rows])
        for field in attrs.fields(type(rows[0]))
        if (heading := heading_of(field)) is not None
    ]
    shown = [(heading, cells) for heading, cells in columns if any(cells)]
    table = new_table(*(escape(heading) for heading, _ in shown))
    for cells in zip(*(map(escape, cells) for _, cells in shown), strict=True):
        table.add_row(*cells)
    print_table(table)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_text(each)}" for name, each in value.items())
    if isinstance(value, tuple):
        return " ".join(f"{number:.4g}" for number in value)
    return f"{value:.5g}" if isinstance(value, float) else str(value)
