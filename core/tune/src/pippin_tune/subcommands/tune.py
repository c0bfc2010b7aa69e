"""`pippin tune`: gains of joint drives, from inertias, loads and the step."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
from pippin import ConfigError, SimulationConfig, load
from pippin.config import overridden, toml_text
from pippin.console import PATH, changes, new_table, print_table, shown_progress
from pippin.labels import name_of

if TYPE_CHECKING:
    from pippin_tune.tuning import Proposal

CONFIGURATIONS = (".toml", ".yaml", ".yml", ".json")


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
@click.option("--out", type=PATH, metavar="FILE", help="A new configuration file to write.")
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

    With --out, a configuration is written that extends FILE. For a robot file it is a configuration that runs. The
    values of --set are part of it.
    """
    if not frequency > 0.0 or not sag > 0.0:
        raise ConfigError(f"tune: --frequency {frequency:g} and --sag {sag:g} must be above 0; give positive numbers")
    with shown_progress(is_stdout_reserved=True) as progress:
        with progress.phase("read"):
            config = load(file if _is_configuration(file) else _base(file), overrides)
        _refuse(file, config, out)
        from pippin.studies import import_newton

        import_newton(config, progress)
        from pippin.assembly import first_world, limit_notes

        from pippin_tune.gain_tables import gain_notes, group_table
        from pippin_tune.tuning import tune as propose

        with progress.phase("tune"):
            model = first_world(config)
            found = propose(config, frequency=frequency, sag=sag, is_implicit=implicit, model=model)
    notes = [note for each in found for note in gain_notes(each, config.simulation.dt)] + limit_notes(model)
    actuators = {"actuators": {each.name: group_table(each) for each in found}}
    if as_json:
        click.echo(json.dumps([_fields(each) for each in found], indent=2))
    else:
        _print(found, notes)
    if out is not None:
        whole = overridden(overridden(_base(file, out), overrides), actuators)
        out.write_text("".join(f"# {note}\n" for note in notes) + toml_text(whole), encoding="utf-8")
        click.echo(f"{out}: written", err=True)
    elif not as_json:
        click.echo("\n" + toml_text(actuators), nl=False)


def _base(file: str, out: Path | None = None) -> dict[str, Any]:
    """Return tables with FILE: a scene with a robot, or nothing but the name of a configuration to extend.

    Args:
        file: The configuration or the robot.
        out: The file that the tables are for; without it, the path of the robot is absolute.
    """
    path = file if out is None else Path(os.path.relpath(file, out.parent)).as_posix()
    if _is_configuration(file):
        return {"extends": [path]}
    if not Path(file).exists():  # it begins in a package or in the cache of Newton
        path = file
    elif out is None:
        path = str(Path(file).absolute())
    return {"simulation": {"dt": 0.002}, "scene": {"assets": [{"path": path}]}, "solver": {"type": "mujoco"}}


def _is_configuration(file: str) -> bool:
    return Path(file).suffix.lower() in CONFIGURATIONS


def _refuse(file: str, config: SimulationConfig, out: Path | None) -> None:
    """Refuse a file to write that exists, or in which the gains would be mixed with those of the file below."""
    if out is None:
        return
    if out.exists() or not out.parent.is_dir():
        raise ConfigError(f"--out: '{out}' exists already, or its folder does not; name a new file in a folder")
    for name, group in config.actuators.items():
        for key in ("kp", "kd"):
            if isinstance(getattr(group.config, key, None), Mapping):
                raise ConfigError(
                    f"--out: actuators.{name}.{key} of '{file}' is a table, and a file that extends it cannot replace"
                    " tables; leave --out out, and put the printed tables into the file"
                )


def _print(found: Sequence[Proposal], notes: Sequence[str]) -> None:
    table = new_table("joint")
    for column in ("inertia", "holds", "limit", "frequency", "damping", "kp", "kd", "sag"):
        table.add_column(column, justify="right")
    for proposal in found:
        for gain in proposal.gains:
            load = gain.load
            limit = "" if math.isinf(load.effort_limit) else f"{load.effort_limit:.3g}"
            numbers = (gain.damping, gain.kp, gain.kd, gain.sag)
            table.add_row(
                name_of(load.label),
                f"{load.inertia:.3g}",
                f"{load.gravity:.3g}",
                limit,
                f"{gain.frequency:.3g} Hz",
                *(f"{number:.3g}" for number in numbers),
                style="yellow" if gain.is_limited or gain.is_too_weak else None,
            )
    print_table(table, notes)


def _fields(proposal: Proposal) -> dict[str, Any]:
    gains = []
    for gain in proposal.gains:
        fields = attrs.asdict(gain.load)
        fields["effort_limit"] = None if math.isinf(gain.load.effort_limit) else gain.load.effort_limit
        own = {"frequency": gain.frequency, "damping": gain.damping, "kp": gain.kp, "kd": gain.kd, "sag": gain.sag}
        gains.append({**fields, **own, "is_limited": gain.is_limited, "is_too_weak": gain.is_too_weak})
    return {"group": proposal.name, "is_implicit": proposal.is_implicit, "gains": gains}
