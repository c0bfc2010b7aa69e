"""`pippin excite`: motions of a robot that tell its parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import click
from pippin.console import PATH, changes, json_line, new_table, out, print_table, shown_progress

from pippin_fit.config import MotionKind

MOTIONS = click.Choice(get_args(MotionKind))


@click.command()
@click.argument("file", type=PATH)
@click.option("--kind", type=MOTIONS, default="multisine", show_default=True, help="The kind of motion.")
@click.option("--joints", metavar="PATTERN", multiple=True, help="Joints that move; by default all with targets.")
@click.option(
    "--band", type=float, nargs=2, default=(0.1, 5.0), show_default=True, metavar="LOW HIGH", help="Frequencies [Hz]."
)
@click.option("--duration", type=float, default=20.0, show_default=True, help="Length of the motion [s].")
@click.option("--amplitude", type=float, help="Largest swing [rad or m]; by default 0.5 rad or 0.1 m.")
@click.option("--separate", "is_separate", is_flag=True, help="Move one joint after the other, each for the duration.")
@click.option("--candidates", type=click.IntRange(min=1), default=16, show_default=True, help="Motions of optimal.")
@changes(has_worlds=False)
@out()
@json_line()
def excite(file: Path, overrides: tuple[str, ...], out: Path | None, as_json: bool, **settings: Any) -> None:
    """Write motions of the joints of FILE that tell its parameters, for a robot to run and `pippin fit` to read.

    A multisine moves all joints at once by frequencies of their own, a chirp sweeps one joint after the other, steps
    jump, and optimal takes the most telling of several random multisines for the parameters of the table [fit].

    The motion is tried in simulation first. Swings become smaller until positions, speeds and efforts keep nine tenths
    of their limits and nothing touches; what cannot is refused by name. With a table [fit], the intervals that a fit to
    a log of this motion would reach are listed, if the values of the file are about right.

    The folder, by default runs/NAME-DATE-TIME, has the targets at each control step (targets.csv, targets.npz), and a
    configuration that extends FILE, plays them and records what a fit needs (excite.toml).
    """
    with shown_progress(is_stdout_reserved=as_json):
        from pippin_fit.excitation import ExciteSettings
        from pippin_fit.excitation import excite as excite_file

        result = excite_file(file, overrides, ExciteSettings(**settings), out=out)
    if as_json:
        click.echo(json.dumps(result.summary()))
    else:
        _print(result)


def _print(result: Any) -> None:
    swings = new_table("joint", "swing")
    for joint, swing in zip(result.joints, result.amplitudes, strict=True):
        swings.add_row(joint.rpartition("/")[2], f"{swing:.3g}")
    print_table(swings, result.notes)
    if result.verdicts:
        from pippin_fit.report import expectations

        print_table(expectations(result.verdicts), [f"with a noise of {result.noise:g} rad or m of the positions"])
    click.echo(f"run it: pippin run {result.file} --duration {result.times[-1]:g}")
