"""`pippin inspect`: the contents of a robot file or the memory of a simulation, as tables, JSON, or an image."""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import click
import pippin
from pippin.catalog.outside import untrusted
from pippin.console import PATH, changes, new_table, print_table, shown_progress
from pippin.console.options import json_list, trust

LISTS = ("bodies", "joints", "shapes", "sites", "matter", "tendons", "attachments", "motions")
LISTS += ("actuators", "sensors", "cameras", "keyframes")


@click.command()
@click.argument("file", type=PATH)
@changes("Replace a value of the file; scene.assets.0.KEY=VALUE is an option of a robot file.")
@click.option("--draw", "image", type=PATH, metavar="IMAGE.png", help="Draw the start pose.")
@click.option("--memory", "is_memory", is_flag=True, help="Print bytes of a world, and worlds that fit a GPU.")
@trust
@json_list
def inspect(
    file: Path, overrides: tuple[str, ...], image: Path | None, is_memory: bool, trust: bool, as_json: bool
) -> None:
    """List what FILE has, by name: bodies, joints, shapes, sites, actuators, sensors, cameras and keyframes.

    FILE is a robot file (MJCF, URDF, xacro, USD, or a format of an installed importer), or a configuration, whose
    assets are listed one after the other, as their options place and change them. What its scene lists itself follows:
    objects, matter, tendons, attachments and motions. Lengths are in metres, angles in radians. --memory builds the
    simulation with a few numbers of worlds, steps it, and counts the bytes of its arrays.
    """
    # The result is the tables: progress goes to standard error.
    with shown_progress(is_stdout_reserved=True), untrusted(*overrides, is_trusted=trust):
        found = pippin.inspect(file, overrides, draw=image, memory=is_memory)
    if as_json:
        click.echo(json.dumps([attrs.asdict(contents) for contents in found], indent=2, ensure_ascii=False))
    elif is_memory:
        _print_memory(found[0].memory)
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


def _print_memory(memory: Any) -> None:
    """Print the memory by owner, the largest arrays, the worlds that fit, and the buffers with too much room."""
    counts = ", ".join(map(str, memory.worlds))
    click.echo(f"{_size(memory.per_world)} for each world and {_size(memory.fixed)} fixed")
    click.echo(f"counted from the arrays on {memory.device} with {counts} worlds\n")
    table = new_table("owner", "per world", "share", "fixed", "")
    for owner in memory.owners:
        share = f"{100 * owner.per_world / memory.per_world:.1f} %"
        line = "" if owner.is_linear else "not in a line: from the two largest counts"
        table.add_row(owner.name, _size(owner.per_world), share, _size(owner.fixed), line)
    print_table(table)
    click.echo()
    table = new_table("largest arrays", f"shape with {memory.worlds[1]} worlds", "per world")
    for array in memory.arrays:
        table.add_row(array.name, str(list(array.shape)), _size(array.per_world))
    print_table(table)
    click.echo()
    table = new_table("memory", "worlds that fit")
    for gigabytes, count in memory.fits.items():
        table.add_row(f"{gigabytes} GB", f"{count:,}")
    print_table(table)
    total = memory.fixed + memory.file_worlds * memory.per_world
    for waste in memory.wastes:
        click.echo(
            f"\n{waste.key}: room for {waste.room} {waste.holds}, {waste.used} needed in {memory.steps} steps from the"
            f" start without actions; {waste.key} = {waste.enough} is enough for them and saves {_size(waste.saved)} of"
            f" {_size(total)} with {memory.file_worlds} worlds"
        )


def _size(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(count) >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def _short(file: Path) -> Path:
    """Return the path of a file below the folder of installed packages or the working directory, if it is there."""
    for folder in (*(Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")), Path.cwd()):
        if file.is_relative_to(folder):
            return file.relative_to(folder)
    return file


def _print_list(rows: Sequence[Any]) -> None:
    from pippin.inspection.rows import heading_of, is_nothing
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
        return ", ".join(value) if value and isinstance(value[0], str) else " ".join(f"{each:.4g}" for each in value)
    return f"{value:.5g}" if isinstance(value, float) else str(value)
