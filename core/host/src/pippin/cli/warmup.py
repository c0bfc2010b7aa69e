"""`pippin warmup`: compile the kernels of files, so that later runs start at once."""

from __future__ import annotations

from pathlib import Path

import click
from pippin.config import load
from pippin.console import PATH, changes, shown_progress
from pippin.studies import import_newton


@click.command()
@click.argument("files", type=PATH, nargs=-1, required=True, metavar="FILE...")
@changes("Replace a value of every file.")
@click.option("--arch", metavar="SM[,SM]...", help="Compile for these GPUs, such as sm_90, and simulate nothing.")
def warmup(files: tuple[Path, ...], overrides: tuple[str, ...], arch: str | None) -> None:
    """Compile and cache the kernels that each FILE needs. This simulates a single step.

    With --arch, neither a GPU nor its driver is needed: a login node or the build of a container can compile.
    """
    with shown_progress() as progress:
        with progress.phase("read"):
            configs = {file: load(file, overrides).unobserved() for file in files}
        for file, config in configs.items():
            progress.note(str(file))
            import_newton(config, progress)
            from pippin.runs.loop import compile_for_gpus, prepared

            if arch is not None:
                compile_for_gpus(config, arch, progress)
                continue
            with prepared(config, progress):
                pass
