"""`pippin optimise`: lower the loss of a file by gradients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from pippin.console import PATH, changes, json_line, out, shown_progress
from pippin.studies import RunProgress


@click.command()
@click.argument("file", type=PATH)
@changes()
@click.option("--iterations", type=click.IntRange(min=1), help="Iterations, in place of optimise.iterations.")
@out()
@json_line()
def optimise(file: Path, overrides: tuple[str, ...], iterations: int | None, out: Path | None, as_json: bool) -> None:
    """Lower the loss of FILE by gradients, as its table [optimise] says: variables, a loss of quantities, a method.

    The solver must be differentiable: featherstone or semi-implicit. The first gradient is compared with differences of
    rollouts, and refused if it is wrong, or zero. Each world has its own values; with a `spread`, the worlds start from
    different ones, and the best world counts. With `moves`, it plans anew after each control step.

    The folder, by default runs/NAME-DATE-TIME, has a configuration that extends FILE and plays what was found
    (optimised.toml), the values (optimised.npz), the losses of each iteration (losses.csv), a summary (summary.json)
    and a page with the curve of the loss (report.html). Ctrl-C ends the optimisation, and the best values are written.
    """
    chosen = [*overrides, *([] if iterations is None else [f"optimise.iterations={iterations}"])]
    with shown_progress(is_stdout_reserved=as_json) as progress:
        with progress.phase("read"):
            from pippin_optimise.run_optimise import optimise as optimise_file
        try:
            result = optimise_file(file, chosen, out=out)
        except KeyboardInterrupt as error:
            if error.args:
                _note(progress, error.args[0])
            raise
        _note(progress, result)
    if as_json:
        click.echo(json.dumps(result.summary()))


def _note(progress: RunProgress, result: Any) -> None:
    from pippin_optimise.run_optimise import play_command

    first = f" from {result.losses[0].min():.4g}" if len(result.losses) else ""
    course = f"{result.iterations} iterations" if result.moves is None else f"{result.moves} moves"
    progress.note(
        f"loss {result.loss:.6g}{first}, {course}, {result.rollouts} rollouts in {result.seconds:.1f} s: {result.ended}"
    )
    for name, points in result.values.items():
        if points.size <= 6:
            progress.note(f"{name}: {', '.join(f'{each:.6g}' for each in points.ravel())}")
    progress.note(f"states kept for the gradient: {result.kept_bytes / 1e6:.1f} MB")
    progress.note(f"play it: {play_command(result)}")
    progress.note(f"run folder: {result.folder}")
