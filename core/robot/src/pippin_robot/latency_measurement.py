"""`pippin latency`: the time from a target to its effect on a robot, from steps and from noise."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import load
from pippin.labels import match
from pippin.recording import Recording
from pippin.studies import RunFolder, current_progress
from pippin_fit import fit

from .contract import RobotFault
from .drive_result import DriveResult
from .driving import drive
from .emulating import plugin_of
from .pace import RealTime
from .sources import DriveSource

_HOLD, _NOISE = (0.3, 0.5), 4.0
"""Shortest and longest time of a step, and time of the noise [s]. Holds of one length would meet the robot's own loop
at a few of its phases."""

_TIMES = 2
"""How often a joint steps there and back: each step meets another phase, and their mean is what counts."""

_FINE = 2.5e-4
"""Longest physics step of the fit [s]."""

_LONGEST = 0.2
"""Longest time from a target to its effect that is looked for [s]."""

_SWEEP = 0.973
"""Share of `robot.rate` at which the loop runs: its phase to the robot's own loop sweeps, and its mean is found."""

_SHORTEST, _WAY = 0.04, 0.15
"""Shortest and longest time that a target of the noise holds [s]."""


@attrs.frozen(kw_only=True, eq=False)
class LatencyResult:
    """The times that were measured."""

    folder: Path
    """The folder of the files."""
    found: Mapping[str, tuple[float, float, float]]
    """From `steps` and from `noise`: the time from a written target to its effect [s], half of its interval of 95 %
    [s], and what the model leaves unexplained [σ]."""
    turnaround: float
    """Time from a state to the target that answers it, which is the loop's and the bus's, in the mean [s]."""
    delay_steps: int
    """Both times in physics steps: the delay that a simulation of the file has with `latency.toml`."""
    drive: DriveResult
    """The drive that measured it."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data, for JSON."""
        own = attrs.asdict(self, recurse=False)
        return own | {"folder": str(self.folder), "drive": self.drive.summary()}


def latency(
    file: Path,
    overrides: Any = None,
    *,
    amplitude: float = 0.1,
    joints: tuple[str, ...] = (".*",),
    realtime: RealTime = "try",
    out: Path | None = None,
    seed: int = 0,
    confirm: Callable[[str], None] | None = None,
) -> LatencyResult:
    """Move the robot of a file by steps and by noise, and fit the delay of its model to each.

    The numbers of `[fit.parameters]` of the file vary too. The folder has a file that extends it with the delay.

    Args:
        file: The configuration file, with a table `[robot]`.
        overrides: Values on top of it, as for `pippin.load`.
        amplitude: Way of each move from the start of the file [rad or m].
        joints: Patterns of the joints that move.
        realtime: Whether the system is asked to run it before other programs.
        out: The folder, new or empty.
        seed: Seed of the noise.
        confirm: Called with what will happen; it raises if the user says no.

    Raises:
        ConfigError: The file or an argument does not fit.
        KeyboardInterrupt: The user ended it.
        RobotFault: The robot does not answer, or a fault ended the drive.
    """
    config, folder = load(file, overrides), RunFolder.chosen(out, file)
    own = plugin_of(config).config
    chosen, rate = match(joints, list(own.joints), "joint", "--joints"), _SWEEP * own.rate
    config = config.with_tables(robot=attrs.evolve(config.robot, config=attrs.evolve(own, rate=rate)))
    moves, until = _moves(len(own.joints), chosen, amplitude, rate, seed)
    result = drive(
        config, DriveSource(moves=moves), name=str(file), realtime=realtime, out=folder.path / "drive", confirm=confirm
    )
    if result.kind == "interrupt":
        raise KeyboardInterrupt
    if result.fault is not None:
        raise RobotFault(f"the drive ended early, and nothing was measured: {result.fault}", result.kind or "stop")
    groups, noise, turnaround = _split(folder, until)
    folder.write_text("fit.toml", _fit_file(file, config, folder.path, noise))
    found = {}
    for name in ("steps", "noise"):
        with current_progress().phase(name):
            fitted = fit(folder.path / "fit.toml", [folder.path / f"{name}.npz"], overrides, out=folder.path / name)
        (verdict,) = (each for each in fitted.verdicts if each.key == "signals.delay")
        own = verdict.value - turnaround  # the fit's is from the state
        found[name] = (own, verdict.block_half_width or verdict.half_width, fitted.costs[-1])
    steps = max(0, round((found["noise"][0] + turnaround) / config.simulation.dt))
    folder.write_text("latency.toml", _overlay(file, folder.path, groups, steps, found))
    return LatencyResult(folder=folder.path, found=found, turnaround=turnaround, delay_steps=steps, drive=result)


def _moves(count: int, chosen: Any, amplitude: float, rate: float, seed: int) -> tuple[np.ndarray, float]:
    """Return ways from the start, shape [periods, joints]: steps of each joint there and back, then noise of all; and
    the time of the steps [s].
    """
    periods, draws, rows = round(_NOISE * rate), np.random.default_rng(seed), []
    for joint, way in itertools.product(chosen, (amplitude, 0.0) * _TIMES):
        rows.append(np.zeros((round(draws.uniform(*_HOLD) * rate), count)))
        rows[-1][:, joint] = way
    until = sum(map(len, rows)) / rate
    noise = np.zeros((periods, count))
    for joint in chosen:
        begin = 0
        while begin < periods:
            end = begin + max(1, round(draws.uniform(_SHORTEST, _WAY) * rate))
            noise[begin:end, joint] = amplitude * draws.uniform(-1.0, 1.0)
            begin = end
    return np.concatenate([*rows, noise]), until


def _split(folder: RunFolder, end: float) -> tuple[list[str], float, float]:
    """Write the parts of the recording as logs; return the labels of the groups of actuators, the noise of the
    positions, which is that of their counts [rad or m], and the time from a state to its targets [s].
    """
    with Recording(folder.path / "drive" / "series.npz") as recording:
        time, labels = np.asarray(recording.time), list(recording["joint_q"].labels)
        targets = {name: recording[name] for name in recording if name.endswith("/position_targets")}
        command = np.zeros((len(time), len(labels)))
        for series in targets.values():
            for number, label in enumerate(series.labels):
                command[:, labels.index(label)] = series.values[:, 0, number]
        command = np.concatenate([command[1:], command[-1:]])  # a row has the targets that led to it
        position = recording["joint_q"].values[:, 0]
        turnaround = float(recording["robot/turnaround"].values.mean())
    for name, part in (("steps", time < end), ("noise", time >= end)):
        arrays = {"time": time[part], "position": position[part], "command": command[part]}
        folder.write_arrays(f"{name}.npz", arrays | {"joints": np.array(labels)})
    changes = np.abs(np.diff(position, axis=0))
    count = float(changes[changes > 1e-6].min()) if (changes > 1e-6).any() else 1e-6
    return [name.split("/")[1] for name in targets], count / math.sqrt(12.0), turnaround


def _fit_file(file: Path, config: Any, folder: Path, noise: float) -> str:
    own = config.fit
    accepted = sorted({"clock", "stale", "lag", *(own.accept if own is not None else ())})  # we made these moves
    start = own.start if own is not None else "estimated"
    given = f"[fit]\nstart = {json.dumps(start)}\naccept = {json.dumps(accepted)}\n"
    if own is None or "position" not in own.signals:
        given += f"\n[fit.signals.position]\nstd = {noise!r}\n"
    delay = f'[fit.parameters."signals.delay"]\nrange = [-0.02, {_LONGEST}]\nscale = "linear"\n'
    step = config.simulation  # a delay is found to a part of a step: steps are short
    parts = max(1, math.ceil(step.dt / _FINE - 1e-6))
    fine = f"[simulation]\ndt = {step.dt / parts!r}\ndecimation = 1\n"
    none = "".join(
        f"[actuators.{label}.delay]\nextends = false\nsteps = 0\n"
        for label, group in config.actuators.items()
        if getattr(group.config, "delay", None) is not None
    )
    return f"{_extends(file, folder)}\n{fine}\n{none}\n{given}\n{delay}"


def _overlay(file: Path, folder: Path, groups: list[str], steps: int, found: Mapping[str, Any]) -> str:
    told = ", ".join(f"{1e3 * value[0]:.2f} ms by {name}" for name, value in found.items())
    tables = "".join(f"\n[actuators.{label}.delay]\nsteps = {steps}\n" for label in groups)
    return f"# From a target to its effect: {told}.\n{_extends(file, folder)}{tables}"


def _extends(file: Path, folder: Path) -> str:
    return f"extends = [{json.dumps(Path(os.path.relpath(file, folder)).as_posix())}]\n"
