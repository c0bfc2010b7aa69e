"""`pippin warmup`: compile the kernels of files, so that later runs start at once."""

from __future__ import annotations

from pathlib import Path

import click
from pippin.config import load


@click.command()
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="FILE...")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Replace a value of every file.")
def warmup(files: tuple[Path, ...], overrides: tuple[str, ...]) -> None:
    """Compile and cache the kernels that each FILE needs. This simulates a single step."""
    from ._progress import shown_progress
    from .run import build, import_newton, prepare

    configs = {file: load(file, overrides) for file in files}
    with shown_progress() as progress:
        for file, config in configs.items():
            progress.note(str(file))
            import_newton(config, progress)
            with build(config, progress) as simulation:
                prepare(simulation, progress)
