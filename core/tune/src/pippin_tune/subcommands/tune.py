"""`pippin tune`: gains of joint drives, from inertias, loads and the step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from pippin import ConfigError
from pippin.config import toml_text
from pippin.console import changes, new_table, out, print_table, shown_progress


@click.command()
@click.argument("file")
@click.option(
    "--frequency", type=float, default=5.0, metavar="HZ", show_default=True, help="Natural frequency of each axis [Hz]."
)
@click.option(
    "--sag",
    type=float,
    default=0.05,
    metavar="RAD",
    show_default=True,
    help="Largest sag of a drive under its load [rad or m].",
)
@click.option("--implicit", is_flag=True, help="Propose a group with implicit efforts, which no step limits.")
@out("A folder for a configuration with the gains (tuned.toml) and a page")
@changes()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of tables.")
def tune(
    file: str, frequency: float, sag: float, implicit: bool, out: Path | None, overrides: tuple[str, ...], as_json: bool
) -> None:
    """Propose the gains kp and kd of the joints of FILE, a configuration or a robot file, and print them as TOML.

    Each axis gets a natural frequency and critical damping, from its inertia at the start pose. The frequency is higher
    if the axis would sag more under its weight. It is lower, and so is the damping, if an explicit effort would be
    unstable with simulation.dt. The gains of groups of FILE are proposed with the effort mode of the group. Legs that
    carry a body need a higher frequency, since the inertia is that of the leg alone.

    With --out, a folder gets a configuration that extends FILE (tuned.toml), a summary (summary.json) and a page
    (report.html). For a robot file it is a configuration that runs. The values of --set are part of it.
    """
    if not frequency > 0.0 or not sag > 0.0:
        raise ConfigError(f"tune: --frequency {frequency:g} and --sag {sag:g} must be above 0; give positive numbers")
    with shown_progress(is_stdout_reserved=True) as progress:
        with progress.phase("read"):
            from pippin_tune.run_tune import propose_gains
        found = propose_gains(file, overrides, frequency=frequency, sag=sag, is_implicit=implicit, out=out)
        if out is not None:
            progress.note(f"next: pippin run {out / 'tuned.toml'}")
    if as_json:
        click.echo(json.dumps(found.groups(), indent=2))
        return
    _print(found)
    if out is None:
        click.echo("\n" + toml_text(found.tables), nl=False)


def _print(found: Any) -> None:
    from pippin_tune.run_tune import GAIN_COLUMNS, gain_row

    table = new_table(GAIN_COLUMNS[0])
    for column in GAIN_COLUMNS[1:]:
        table.add_column(column, justify="right")
    for proposal in found.proposals:
        for gain in proposal.gains:
            table.add_row(*gain_row(gain), style="yellow" if gain.is_limited or gain.is_too_weak else None)
    print_table(table, found.notes)
