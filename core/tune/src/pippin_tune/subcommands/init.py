"""`pippin init`: the first configuration of a robot file."""

from __future__ import annotations

import os
from pathlib import Path

import click
from pippin import ConfigError, find_file, structure
from pippin.console import PATH, shown_progress

_CURES = "give another keyframe, other joint_positions or stiffer gains"
"""What to do about a robot that does not hold its pose."""


@click.command()
@click.argument("robot")
@click.option("--out", type=PATH, metavar="FILE.toml", show_default="ROBOT.toml", help="A new file to write.")
@click.option("--solver", default="mujoco-native", metavar="NAME", show_default=True, help="Solver to simulate with.")
@click.option(
    "--floating/--fixed", "is_floating", default=None, help="Whether the base is free; by default as the file says."
)
@click.option("--dt", type=float, default=0.002, metavar="SECONDS", show_default=True, help="Physics step [s].")
@click.option("--armature", type=float, metavar="INERTIA", help="Rotor inertia of joints without one [kg·m²].")
def init(
    robot: str, out: Path | None, solver: str, is_floating: bool | None, dt: float, armature: float | None
) -> None:
    """Write a configuration that runs for ROBOT, an MJCF, URDF, xacro or USD file.

    It has the robot above a ground, joints within their limits, feet below the centre of mass, and gains as `pippin
    tune` proposes them. Files with servos and keyframes keep these. A URDF does not say whether its base is free: it
    is, if names of links or joints speak of legs.

    The file is simulated for two seconds before it is written, and says if the robot stood or held its pose. If not,
    stiffer drives, rotor inertias and a shorter step are tried in turn.
    """
    source = find_file(robot, "init")
    out = Path(f"{source.stem}.toml") if out is None else out
    if out.exists() or not out.parent.is_dir() or out.suffix != ".toml":
        raise ConfigError(f"--out: '{out}' exists, its folder does not, or it is no .toml; name a new .toml file")
    path = Path(os.path.relpath(robot, out.parent)).as_posix() if Path(robot).exists() else robot
    with shown_progress() as progress:
        from pippin.studies import import_newton

        import_newton(structure({}), progress)
        with progress.phase("try"):
            from pippin_tune.first_file import first_file

            text, trial = first_file(
                str(source), path, solver=solver, is_floating=is_floating, dt=dt, armature=armature
            )
        out.write_text(text, encoding="utf-8")
        progress.note(f"{out}: written; {trial}")
        progress.note(f"next: pippin run {out}" if trial.holds else f"next: pippin view {out}; {_CURES}")
