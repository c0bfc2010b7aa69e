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
from attrs.validators import ge, in_
from pippin import ConfigError, SimulationConfig
from pippin.studies import Overlay, RunFolder, RunProgress, Study, run_study
from pippin.validators import positive

from pippin_fit.config import NOTED, FitConfig, FitSignalConfig

from .least_squares import Point
from .verdicts import FitVerdict
from .waveforms import Kind, chirp, envelope, harmonics, multisine, steps

_SWING = 0.5
"""Amplitude by default [rad], if the limits leave room; a fifth of it for slides [m]."""

_MARGIN = 0.9
"""Share of a limit that a motion may reach in simulation."""

_ROUNDS = 15
_NOISE = 5e-4
"""Noise of positions that is assumed without `fit.signals.position.std` [rad or m]."""


@attrs.frozen(kw_only=True)
class ExciteSettings:
    """Settings of a motion of joints."""

    kind: Kind = attrs.field(default="multisine", validator=in_(("multisine", "chirp", "steps", "optimal")))
    """Sum of sines, sweep, levels, or the best of random sums of sines."""

    joints: tuple[str, ...] = ()
    """Patterns of labels of the joints; by default all that take position targets."""

    band: tuple[float, float] = (0.1, 5.0)
    """Lowest and highest frequency [Hz]."""

    duration: float = attrs.field(default=20.0, validator=positive)
    """Length of the motion, or of that of each joint [s]."""

    amplitude: float | None = None
    """Largest swing from the centre [rad or m]; by default 0.5 rad or 0.1 m."""

    is_separate: bool = False
    """Whether one joint moves after the other; a chirp always does."""

    candidates: int = attrs.field(default=16, validator=ge(1))
    """Motions among which `optimal` chooses."""

    seed: int = 0
    """Seed of random phases and levels."""

    def __attrs_post_init__(self) -> None:
        if not 0.0 < self.band[0] < self.band[1]:
            raise ConfigError(f"--band: {self.band[0]:g} to {self.band[1]:g} Hz must ascend from above 0")
        if self.amplitude is not None and not self.amplitude > 0.0:
            raise ConfigError(f"--amplitude: {self.amplitude:g} must be above 0")


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
        rows = [
            attrs.asdict(each) | {"half_width": each.half_width if np.isfinite(each.half_width) else None}
            for each in self.verdicts
        ]
        names = zip(self.joints, self.amplitudes, strict=True)
        return {
            "folder": str(self.folder),
            "file": str(self.file),
            "seconds": float(self.times[-1]),
            "amplitudes": dict(names),
            "notes": list(self.notes),
            "noise": self.noise,
            "expected": rows,
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
        trial, config = self._trial, self._config
        with progress.phase("try"):
            found = _Search(trial, self._settings, progress).run(stop_if_asked)
        best, verdicts = 0, ()
        if config.fit is not None:
            with progress.phase("expect"):
                best, verdicts = _expected(config, config.fit, trial, found)
        self._found = Excitation(
            folder=Path(),
            joints=tuple(joint.label for joint in trial.joints),
            times=found.motion.times,
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
        names = _names(result)
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
        return Overlay(name=result.file.name, tables={"motions": motions, "recorders": recorders})

    def close(self) -> None:
        """Close the simulation."""
        if self._trial is not None:
            self._trial.close()


def _names(result: Excitation) -> list[str]:
    short = [label.rpartition("/")[2] for label in result.joints]
    return short if len(set(short)) == len(short) else list(result.joints)


@attrs.frozen(kw_only=True, eq=False)
class _Motions:
    """Motions that keep the limits."""

    motion: Any
    commands: np.ndarray
    amplitudes: np.ndarray
    notes: list[tuple[str, ...]]


class _Search:
    """Looks for the largest swings that keep all limits in simulation."""

    def __init__(self, trial: Any, settings: ExciteSettings, progress: RunProgress) -> None:
        self._trial, self._settings, self._progress = trial, settings, progress
        self._is_separate = settings.is_separate or settings.kind == "chirp"
        joints, dt = trial.joints, trial.simulation.control_dt
        slots = len(joints) if self._is_separate else 1
        self._times = np.arange(round(slots * settings.duration / dt) + 1) * dt
        worlds, random = trial.simulation.world_count, np.random.default_rng(settings.seed)
        self._waves = np.stack([self._wave(random, world > 0) for world in range(worlds)])
        rates = np.abs(np.gradient(self._waves, dt, axis=1)).max(axis=1)
        wanted = [settings.amplitude or (_SWING if joint.is_turning else _SWING / 5.0) for joint in joints]
        rooms = [_MARGIN * 0.5 * (joint.high - joint.low) for joint in joints]
        self._most = np.minimum(np.minimum(wanted, rooms), _MARGIN * trial.speeds / np.maximum(rates, 1e-9))

    def _wave(self, random: np.random.Generator, is_random: bool) -> np.ndarray:
        """Return a motion of all joints between -1 and 1, shape [steps, joints]."""
        own, count = self._settings, len(self._trial.joints)
        slots = count if self._is_separate else 1
        kept = harmonics(1 if self._is_separate else count, own.band, own.duration) if own.kind in _SINES else []
        columns = []
        for joint in range(count):
            begin = joint * own.duration if slots > 1 else 0.0
            local = np.clip(self._times - begin, 0.0, own.duration)
            if own.kind == "chirp":
                values = chirp(local, own.band, own.duration)
            elif own.kind == "steps":
                values = steps(local, own.band, own.duration, random)
            else:
                ks = kept[joint % len(kept)]
                phases = random.uniform(0.0, 2.0 * np.pi, len(ks)) if is_random else None
                values = multisine(local, ks, own.duration, random.uniform(-0.5, 1.5) if is_random else 1.0, phases)
            columns.append(values)
        return np.stack(columns, axis=1)

    def run(self, stop_if_asked: Callable[[], None]) -> _Motions:
        """Return motions within all limits, one in each world.

        Raises:
            ConfigError: Even small swings reach a limit, or touch something.
        """
        trial, amplitudes = self._trial, self._most.copy()
        worlds = len(amplitudes)
        reasons: list[dict[str, None]] = [{} for _ in range(worlds)]
        for _ in range(_ROUNDS):
            stop_if_asked()
            commands = self._commands(amplitudes)
            motion = trial.play(commands)
            if not np.isfinite(motion.positions).all():
                raise ConfigError("excite: the simulation diverges; shorten simulation.dt, or lower --amplitude")
            factors = np.ones_like(amplitudes)
            for what, excess in trial.excess(motion).items():
                is_beyond = excess > _MARGIN
                factors = np.where(
                    is_beyond, np.minimum(factors, np.minimum(_MARGIN / np.maximum(excess, 1e-9), 0.9)), factors
                )
                for world, joint in np.argwhere(is_beyond):
                    reasons[world][f"the limit of {what} of {trial.joints[joint].label}"] = None
            for world in np.flatnonzero((factors == 1.0).all(axis=1)):
                if (touch := trial.touch(motion, world)) is not None:
                    factors[world] = 0.7
                    reasons[world][f"{touch[1][0]} and {touch[1][1]} touched at {touch[0]:.3g} s"] = None
            if (factors == 1.0).all():
                notes = [tuple(f"scaled down: {reason}" for reason in each) for each in reasons]
                return _Motions(motion=motion, commands=commands, amplitudes=amplitudes, notes=notes)
            amplitudes = amplitudes * factors
            self._progress.update(f"scaled to {(amplitudes / self._most).min():.0%}")
        text = "; ".join(dict.fromkeys(reason for each in reasons for reason in each))
        raise ConfigError(f"excite: even small swings reach {text}; change the start pose, or choose --joints")

    def _commands(self, amplitudes: np.ndarray) -> np.ndarray:
        """Return targets about centres that leave room for the swings, shape [worlds, steps, joints]."""
        start, joints = self._trial.start, self._trial.joints
        low, high = (np.array([getattr(joint, name) for joint in joints]) for name in ("low", "high"))
        swing = amplitudes / _MARGIN
        centres = np.minimum(np.maximum(start, low + swing), high - swing)
        shift = envelope(self._times, self._times[-1])[None, :, None] * (centres - start)[:, None]
        return start + shift + amplitudes[:, None] * self._waves


_SINES = ("multisine", "optimal")


def _noise(table: FitConfig | None) -> float:
    signal = None if table is None else table.signals.get("position")
    return _NOISE if signal is None or signal.std is None else signal.std


def _expected(
    config: SimulationConfig, table: FitConfig, trial: Any, found: _Motions
) -> tuple[int, tuple[FitVerdict, ...]]:
    """Return the index of the motion that tells most, and what a fit to its log would say."""
    from .fit_run import FitRun

    random, noise = np.random.default_rng(0), _noise(table)
    known: dict[str, Any] = {
        "logs": (),
        "reader": None,
        "units": "rad",
        "signs": {},
        "joints": {},
        "validation": 0.0,
        "validation_logs": (),
        "accept": NOTED,
        "signals": {"position": FitSignalConfig(std=noise)},
    }
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
            np.savez(file, time=found.motion.times, joints=joints, **arrays)
        best = 0
        if len(files) > 1:
            course = FitRun(config, table, files, None)
            with course.simulation:
                best = _most_telling(course.look(), course.problem.logs_of_rows(), len(files))
        course = FitRun(config, table, [files[best]], None)
        with course.simulation:
            return best, course.expect(is_right=True)


def _most_telling(point: Point, logs: np.ndarray, count: int) -> int:
    """Return the index of the log whose information about all unknowns has the largest determinant."""
    rows, sizes = len(logs), []
    priors = point.jacobian[rows:]
    for log in range(count):
        own, residuals = point.jacobian[:rows][logs == log], point.residuals[:rows][logs == log]
        # The noise of the measured starts grows in some motions, and counts as any other.
        variance = max(float(residuals @ residuals) / len(residuals), 1e-300)
        information = own.T @ own / variance + priors.T @ priors
        sizes.append(np.linalg.slogdet(information + 1e-9 * np.eye(len(information)))[1])
    return int(np.argmax(sizes))
