"""`pippin convert-task`: tasks of other libraries as files of Pippin."""

from __future__ import annotations

from pathlib import Path

import click
from pippin.console import PATH, shown_progress


@click.command()
@click.argument("source", metavar="mjlab:NAME")
@click.option("--out", "folder", type=PATH, required=True, metavar="FOLDER", help="Where to write; made if needed.")
@click.option(
    "--environment", type=PATH, default=Path("envs/mjlab"), show_default=True, metavar="FOLDER",
    help="A Python environment with mjlab.",
)  # fmt: skip
def convert_task(source: str, folder: Path, environment: Path) -> None:
    """Write the task NAME of mjlab as FOLDER/task.toml, with the files of its robots.

    Each term that has a twin is written; the others are named at the end, and in a comment of the file. mjlab runs in
    an environment of its own: `uv venv envs/mjlab`, then `uv pip install --python envs/mjlab mjlab`.
    """
    library, _, name = source.partition(":")
    if library != "mjlab" or not name:
        raise click.UsageError(f"expected mjlab:NAME, such as mjlab:Mjlab-Cartpole-Balance, got {source!r}")
    with shown_progress() as progress, progress.phase("convert"):
        from pippin_convert.convert import convert_mjlab

        task = convert_mjlab(name, folder, environment)
    click.echo(f"{folder / 'task.toml'}: {_count(task.tables['task'])}")
    for note in task.notes:
        click.echo(f"note: {note}")
    for each in task.left:
        click.echo(f"left out: {each}")


def _count(task: dict) -> str:
    kinds = ("actions", "commands", "rewards", "terminations", "events", "curricula", "metrics")
    seen = sum(len(group) for group in task.get("observations", {}).values())
    counts = [f"{seen} observations", *(f"{len(task[kind])} {kind}" for kind in kinds if task.get(kind))]
    return ", ".join(counts)
