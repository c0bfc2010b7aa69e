"""Motions that tell the parameters of a robot: made, tried in simulation, and written for it."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError, SimulationConfig
from pippin.labels import name_of
from pippin.studies import Overlay, RunFolder, RunProgress, Study, run_study

from pippin_fit.config import NOTED, ExciteSettings, FitConfig, FitSignalConfig

from .least_squares import Point
from .verdicts import FitVerdict

_NOISE = 5e-4
"""Noise of positions that is assumed without `fit.signals.position.std` [rad or m]."""


@attrs.frozen(kw_only=True, eq=False)
class Excitation:
    """A motion that was written, and what a log of it would tell."""

    folder: Path
    """The folder of its files."""

    joints: tuple[str, ...]
    """Labels of the joints that move."""

    times: np.ndarray
    """Times of the targets [s], shape [steps]."""

    targets: np.ndarray
    """Targets [rad or m], shape [steps, joints]."""

    amplitudes: tuple[float, ...]
    """Swing of each joint about its centre [rad or m]."""

    notes: tuple[str, ...]
    """What was scaled down, and why."""

    verdicts: tuple[FitVerdict, ...]
    """What a fit to such a log would say of each parameter of `[fit]`; empty without this table."""

    noise: float
    """Noise of positions that this assumes [rad or m]."""

    @property
    def file(self) -> Path:
        """The configuration that plays the motion, and records what a fit needs."""
        return self.folder / "excite.toml"

    def summary(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        return {
            "folder": str(self.folder),
            "file": str(self.file),
            "seconds": float(self.times[-1]),
            "amplitudes": dict(zip(self.joints, self.amplitudes, strict=True)),
            "notes": list(self.notes),
            "noise": self.noise,
            "expected": [each.plain() for each in self.verdicts],
        }


def excite(
    file: str | os.PathLike[str],
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    settings: ExciteSettings | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
) -> Excitation:
    """Write targets that excite the joints of a robot, after they were tried in simulation.

    Args:
        file: The configuration file.
        overrides: Values on top of the file, as for `pippin.load`.
        settings: The kind of motion.
        out: The folder, new or empty; by default `runs/NAME-DATE-TIME`.

    Raises:
        ConfigError: The file is wrong, or no motion keeps the limits.
        SimulationError: The simulation diverges.
    """
    return run_study(ExciteStudy(settings or ExciteSettings()), file, overrides, out=out)


class ExciteStudy(Study[Excitation]):
    """A motion for the joints of a file."""

    kind = "excitation"

    def __init__(self, settings: ExciteSettings) -> None:
        self._settings = settings
        self._trial: Any = None
        self._config: Any = None
        self._found: Excitation | None = None

    def prepare(self, config: SimulationConfig, file: Path) -> SimulationConfig:
        """Return the configuration without viewers and recorders."""
        if self._settings.kind == "optimal" and config.fit is None:
            raise ConfigError("--kind optimal: the file has no table [fit] with the parameters to tell; add it")
        return config.unobserved()

    def build(self, config: SimulationConfig, folder: RunFolder) -> None:
        """Build a world for each motion."""
        from .trial import MotionTrial

        self._config, own = config, self._settings
        self._trial = MotionTrial(config, own.joints, own.candidates if own.kind == "optimal" else 1)

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Find motions within all limits, and the one that tells most."""
        from .trial import MotionSearch

        trial, config = self._trial, self._config
        with progress.phase("try"):
            found = MotionSearch(trial, self._settings, progress).run(stop_if_asked)
        best, verdicts = 0, ()
        if config.fit is not None:
            with progress.phase("expect"):
                best, verdicts = _expected(config, config.fit, trial, found)
        self._found = Excitation(
            folder=Path(),
            joints=tuple(joint.label for joint in trial.joints),
            times=found.times,
            targets=found.commands[best],
            amplitudes=tuple(found.amplitudes[best].tolist()),
            notes=found.notes[best],
            verdicts=verdicts,
            noise=_noise(config.fit),
        )

    def result(self, folder: Path) -> Excitation | None:
        """Return the motion; None before there is one."""
        return None if self._found is None else attrs.evolve(self._found, folder=folder)

    def write(self, result: Excitation, folder: RunFolder) -> None:
        """Write the targets, for a simulation and for the robot."""
        names = [name_of(label) for label in result.joints]
        if len(set(names)) < len(names):
            names = list(result.joints)
        folder.write_arrays("targets.npz", {"times": result.times, "values": result.targets, "joints": np.array(names)})
        lines = [",".join(["time", *(f"command.{name}" for name in names)])]
        rows = np.column_stack([result.times, result.targets])
        lines += [",".join(f"{number:.9g}" for number in row) for row in rows]
        folder.write_text("targets.csv", "\n".join(lines) + "\n")

    def overlay(self, result: Excitation) -> Overlay:
        """Return the file that plays the motion, and records what a fit needs."""
        owners, motions = self._trial.owners(), {}
        for actuator, joints in owners.items():
            motions[f"excite-{actuator}"] = {
                "type": "file",
                "actuator": actuator,
                "joints": [re.escape(joint) for joint in joints],
                "path": "targets.npz",
                "columns": [result.joints.index(joint) + 1 for joint in joints],
                "interpolation": "step",
            }
        channels = ["joint_q", "joint_qd", *(f"actuators/{actuator}/position_targets" for actuator in owners)]
        recorders = {"log": {"type": "npz", "series": channels}}
        return Overlay(name=result.file.name, tables={"motions": {"extends": False, **motions}, "recorders": recorders})

    def close(self) -> None:
        """Close the simulation."""
        if self._trial is not None:
            self._trial.close()


def _noise(table: FitConfig | None) -> float:
    signal = None if table is None else table.signals.get("position")
    return _NOISE if signal is None or signal.std is None else signal.std


def _expected(config: SimulationConfig, table: FitConfig, trial: Any, found: Any) -> tuple[int, tuple[FitVerdict, ...]]:
    """Return the index of the motion that tells most, and what a fit to its log would say."""
    from .fit_run import FitRun

    random, noise = np.random.default_rng(0), _noise(table)
    known: dict[str, Any] = {"logs": (), "reader": None, "units": "rad", "signs": {}, "joints": {}, "accept": NOTED}
    known |= {"validation": 0.0, "validation_logs": (), "signals": {"position": FitSignalConfig(std=noise)}}
    table = attrs.evolve(table, **known, command="position_targets")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        files = [str(Path(folder) / f"motion {world}.npz") for world in range(len(found.commands))]
        joints = [joint.label for joint in trial.joints]
        for world, file in enumerate(files):
            measured = found.motion.positions[world]
            arrays = {
                "position": measured + noise * random.normal(size=measured.shape),
                "command": found.commands[world],
            }
            np.savez(file, time=found.times, joints=joints, **arrays)
        best = 0
        if len(files) > 1:
            with FitRun(config, table, files, None) as course:
                best = _most_telling(course.look(), course.problem.logs_of_rows(), len(files))
        with FitRun(config, table, [files[best]], None) as course:
            return best, course.expect(is_right=True)


def _most_telling(point: Point, logs: np.ndarray, count: int) -> int:
    rows, sizes = len(logs), []
    priors = point.jacobian[rows:]
    for log in range(count):
        own, residuals = point.jacobian[:rows][logs == log], point.residuals[:rows][logs == log]
        # The noise of the measured starts grows in some motions, and counts as any other.
        variance = max(float(residuals @ residuals) / len(residuals), 1e-300)
        information = own.T @ own / variance + priors.T @ priors
        sizes.append(np.linalg.slogdet(information + 1e-9 * np.eye(len(information)))[1])
    return int(np.argmax(sizes))
