"""Motions that excite joints: waves, their trial in simulation, and a search for the largest swings within limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin import ConfigError, Simulation, SimulationConfig, labels
from pippin.arrays import on_host
from pippin.studies import RunProgress

from pippin_fit.config import ExciteSettings

from .log import RobotJoint, robot_joints
from .replay_checks import Touching, limited_efforts

_EDGE = 1.0
"""Time in which a motion begins and ends [s]."""


def edge_of(duration: float) -> float:
    """Return the time in which a motion begins, and that in which it ends [s]."""
    return min(_EDGE, 0.1 * duration)


def envelope(times: np.ndarray, duration: float) -> np.ndarray:
    """Return a factor from 0 to 1 and back to 0, which begins and ends without a jump of speed."""
    share = np.clip(np.minimum(times, duration - times) / edge_of(duration), 0.0, 1.0)
    return 0.5 - 0.5 * np.cos(np.pi * share)


def harmonics(count: int, band: tuple[float, float], duration: float) -> list[np.ndarray]:
    """Return the harmonics of each joint: all in a band [Hz], dealt out in turn, so that no two joints share one.

    Their period is the time between the two edges of a motion [s]. A band with too few of them is refused.
    """
    period = duration - 2.0 * edge_of(duration)
    first, last = int(np.ceil(band[0] * period - 1e-9)), int(np.floor(band[1] * period + 1e-9))
    known = np.arange(max(first, 1), last + 1)
    if len(known) < 2 * count:
        raise ConfigError(
            f"excite: {len(known)} harmonics from {band[0]:g} to {band[1]:g} Hz in {duration:g} s, and {count} joints"
            " need two each; make it longer, widen the band, or use --separate"
        )
    return [known[joint::count] for joint in range(count)]


def multisine(
    times: np.ndarray, own: np.ndarray, duration: float, slope: float = 1.0, phases: np.ndarray | None = None
) -> np.ndarray:
    """Return a sum of sines of one joint with its own harmonics, at times of a motion [s]; the largest value is 1.

    Harmonic k has the amplitude k to the power of minus the slope: 1 gives all the same speed. Phases [rad] are by
    default Schroeder's, which keep the peak low.
    """
    edge, order = edge_of(duration), np.arange(1, len(own) + 1)
    if phases is None:
        phases = -np.pi * order * (order - 1) / len(own)
    turns = 2.0 * np.pi * own * (times - edge)[:, None] / (duration - 2.0 * edge)
    values = (own**-slope * np.sin(turns + phases)).sum(axis=1)
    return envelope(times, duration) * values / np.abs(values).max()


def chirp(times: np.ndarray, band: tuple[float, float], duration: float) -> np.ndarray:
    """Return a sine whose frequency rises by equal ratios in equal times; its swing falls with the root of it."""
    low, high = band
    ratio = np.log(high / low)
    rise = np.exp(ratio * times / duration)
    return envelope(times, duration) * np.sin(2.0 * np.pi * low * duration / ratio * (rise - 1.0)) / np.sqrt(rise)


def steps(times: np.ndarray, band: tuple[float, float], duration: float, random: np.random.Generator) -> np.ndarray:
    """Return levels of alternating signs, each held for half a period of a frequency of the band."""
    begins, levels = [0.0, edge_of(duration)], [0.0]
    while begins[-1] < duration - edge_of(duration):
        sign = -1.0 if levels[-1] > 0.0 else 1.0
        levels.append(sign * random.uniform(0.3, 1.0))
        begins.append(begins[-1] + 0.5 / np.exp(random.uniform(*np.log(band))))
    levels.append(0.0)
    found = np.array(levels)[np.searchsorted(begins, times, side="right") - 1]
    return np.where(times < duration - 0.5 * edge_of(duration), found, 0.0)


_SWING = 0.5
"""Amplitude by default [rad], if the limits leave room; a fifth of it for slides [m]."""

_MARGIN = 0.9
"""Share of a limit that a motion may reach in simulation."""

_ROUNDS = 15

_TOUCHES = 400
"""Poses of a motion that are looked at for contacts."""

_BEYOND = 0.01
"""How far a position may lie beyond a limit on which the joint starts, as a share of the way between both limits: the
drive sags there.
"""

_SETTLING = 5
"""Control steps at the start whose efforts do not count."""


@attrs.frozen(kw_only=True, eq=False)
class TriedMotion:
    """Motions in simulation, one in each world."""

    positions: np.ndarray
    """Positions at the times of the commands [rad or m], shape [worlds, steps, joints]."""

    velocities: np.ndarray
    """Velocities [rad/s or m/s], of the same shape."""

    is_saturated: np.ndarray
    """Whether a limit changed the effort after the command, of the same shape."""


class MotionTrial:
    """A simulation that plays motions of joints, by default of all with position targets, a different one in each
    world.
    """

    def __init__(self, config: SimulationConfig, patterns: Sequence[str], worlds: int) -> None:
        if not config.scene.has_equal_worlds:
            raise ConfigError("excite: the worlds of the file differ; leave 'worlds' of assets out")
        config = config.with_tables(task=None, policy=None, motions=None, controllers=None)
        scene = attrs.evolve(config.scene, first_world=0, total_worlds=None)
        self._first = Simulation(attrs.evolve(config, scene=attrs.evolve(scene, worlds=1)))
        self.simulation = Simulation(attrs.evolve(config, scene=attrs.evolve(scene, worlds=worlds)))
        known = robot_joints(self._first.model)
        self._lanes = _lanes(self.simulation, list(known), patterns)
        #: The joints that move.
        self.joints: tuple[RobotJoint, ...] = tuple(known[label] for label in self._lanes)
        dofs = [joint.dof for joint in self.joints]
        speeds = on_host(self._first.model.joint_velocity_limit)[dofs].astype(float)
        #: Largest speed of each joint [rad/s or m/s]; infinite without a limit.
        self.speeds: np.ndarray = np.where((speeds > 0.0) & (speeds < 1e5), speeds, np.inf)
        #: Targets at a reset [rad or m], shape [joints].
        self.start: np.ndarray = np.array(
            [float(on_host(group.position_targets)[0, lane]) for group, lane in self._lanes.values()]
        )
        #: Limits of their positions [rad or m], shape [joints]; infinite without any.
        self.low, self.high = (np.array([getattr(joint, name) for joint in self.joints]) for name in ("low", "high"))
        self._touching = Touching(self._first.model, self.joints)

    def close(self) -> None:
        """Close the simulations."""
        self._first.close()
        self.simulation.close()

    def owners(self) -> Mapping[str, list[str]]:
        """Return the labels of the joints of each actuator that move."""
        labels = {id(group): label for label, group in self.simulation.actuators.items()}
        found: dict[str, list[str]] = {}
        for joint, (group, _) in self._lanes.items():
            found.setdefault(labels[id(group)], []).append(joint)
        return found

    def play(self, commands: np.ndarray) -> TriedMotion:
        """Return the motions of commands [rad or m], shape [worlds, steps, joints]."""
        simulation, model = self.simulation, self.simulation.model
        worlds, steps, _ = commands.shape
        shape = (steps, worlds, -1)
        simulation.reset()
        rows: tuple[list[np.ndarray], ...] = ([], [], [])
        targets = {id(group): (group, on_host(group.position_targets).copy()) for group, _ in self._lanes.values()}
        for step in range(steps):
            state = simulation.state
            rows[0].append(on_host(state.joint_q).copy())
            rows[1].append(on_host(state.joint_qd).copy())
            for column, (group, lane) in enumerate(self._lanes.values()):
                targets[id(group)][1][:, lane] = commands[:, step, column]
            for group, values in targets.values():
                group.position_targets.assign(values)
            simulation.step()
            rows[2].append(self._saturated())
        coordinates, dofs = ([getattr(joint, name) for joint in self.joints] for name in ("coordinate", "dof"))
        assert model.joint_coord_count % worlds == 0, "worlds are equal"
        positions, velocities = (np.stack(each).reshape(shape).swapaxes(0, 1).astype(float) for each in rows[:2])
        return TriedMotion(
            positions=positions[:, :, coordinates],
            velocities=velocities[:, :, dofs],
            is_saturated=np.stack(rows[2]).swapaxes(0, 1),
        )

    def _saturated(self) -> np.ndarray:
        columns = []
        for group, lane in self._lanes.values():
            efforts = limited_efforts(group)
            if efforts is None:
                columns.append(np.zeros(self.simulation.world_count, dtype=bool))
            else:
                columns.append(np.not_equal(*(on_host(each)[:, lane] for each in efforts)))
        return np.stack(columns, axis=1)

    def excess(self, motion: TriedMotion) -> Mapping[str, np.ndarray]:
        """Return by how much each joint exceeds its limits of position, speed and effort, shape [worlds, joints] each.

        Up to 1 is within the limit. Positions count from the targets at the start; an effort at its limit is 1.5.
        """
        low, high = self.low, self.high
        widths = np.where(np.isfinite(high - low), high - low, 1.0)
        passed = np.stack([(low - motion.positions).max(axis=1), (motion.positions - high).max(axis=1)]) / widths
        starts_there = np.stack([self.start - low, high - self.start]) < _BEYOND * widths
        beyond = np.where(passed > _BEYOND * starts_there[:, None], passed, 0.0).max(axis=0)
        return {
            "position": np.where(beyond > 0.0, 1.05 + beyond, 0.0),
            "speed": np.abs(motion.velocities).max(axis=1) / self.speeds,
            "effort": np.where(motion.is_saturated[:, _SETTLING:].any(axis=1), 1.5, 0.0),
        }

    def touch(self, motion: TriedMotion, world: int) -> tuple[float, tuple[str, str]] | None:
        """Return when a motion touches something first [s], and the names of the two bodies; None if it does not."""
        steps = motion.positions.shape[1]
        for step in range(0, steps, -(-steps // _TOUCHES)):
            if (bodies := self._touching.bodies(motion.positions[world, step])) is not None:
                return step * self.simulation.control_dt, bodies
        return None


def _lanes(simulation: Simulation, known: Sequence[str], patterns: Sequence[str]) -> dict[str, tuple[Any, int]]:
    found: dict[str, tuple[Any, int]] = {}
    for group in simulation.actuators.values():
        if "position_targets" in getattr(group, "unread_targets", {}):
            continue
        if isinstance(getattr(group, "position_targets", None), wp.array):
            own: Sequence[str] = getattr(group, "joint_labels", ())
            found |= {label: (group, lane) for lane, label in enumerate(own) if label in known}
    if not found:
        raise ConfigError('excite: no actuator takes position targets; give the file one, such as type = "pd"')
    names = list(found)
    chosen = labels.match(patterns or [".*"], names, what="joint", where="--joints")
    return {names[index]: found[names[index]] for index in chosen}


@attrs.frozen(kw_only=True, eq=False)
class Motions:
    """Motions that keep the limits."""

    times: np.ndarray
    motion: TriedMotion
    commands: np.ndarray
    amplitudes: np.ndarray
    notes: list[tuple[str, ...]]


class MotionSearch:
    """Looks for the largest swings that keep all limits in simulation."""

    def __init__(self, trial: MotionTrial, settings: ExciteSettings, progress: RunProgress) -> None:
        self._trial, self._settings, self._progress = trial, settings, progress
        self._is_separate = settings.is_separate or settings.kind == "chirp"
        joints, dt = trial.joints, trial.simulation.control_dt
        self._times = np.arange(round((len(joints) if self._is_separate else 1) * settings.duration / dt) + 1) * dt
        worlds, random = trial.simulation.world_count, np.random.default_rng(settings.seed)
        self._waves = np.stack([self._wave(random, world > 0) for world in range(worlds)])
        rates = np.abs(np.gradient(self._waves, dt, axis=1)).max(axis=1)
        wanted = [settings.amplitude or (_SWING if joint.is_turning else _SWING / 5.0) for joint in joints]
        rooms = _MARGIN * 0.5 * (trial.high - trial.low)
        self._most = np.minimum(np.minimum(wanted, rooms), _MARGIN * trial.speeds / np.maximum(rates, 1e-9))

    def _wave(self, random: np.random.Generator, is_random: bool) -> np.ndarray:
        """Return a motion of all joints between -1 and 1, shape [steps, joints]."""
        own, count = self._settings, len(self._trial.joints)
        is_of_sines = own.kind in ("multisine", "optimal")
        kept = harmonics(1 if self._is_separate else count, own.band, own.duration) if is_of_sines else []
        columns = []
        for joint in range(count):
            begin = joint * own.duration if self._is_separate else 0.0
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

    def run(self, stop_if_asked: Callable[[], None]) -> Motions:
        """Return motions within all limits, one in each world; refuse joints whose small swings reach one, or touch."""
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
            for world in np.flatnonzero((factors == 1.0).all(axis=1)).tolist():
                if (touch := trial.touch(motion, world)) is not None:
                    factors[world] = 0.7
                    reasons[world][f"{touch[1][0]} and {touch[1][1]} touched at {touch[0]:.3g} s"] = None
            if (factors == 1.0).all():
                notes = [tuple(f"scaled down: {reason}" for reason in each) for each in reasons]
                return Motions(times=self._times, motion=motion, commands=commands, amplitudes=amplitudes, notes=notes)
            amplitudes = amplitudes * factors
            self._progress.update(f"scaled to {(amplitudes / self._most).min():.0%}")
        text = "; ".join(dict.fromkeys(reason for each in reasons for reason in each))
        raise ConfigError(f"excite: even small swings reach {text}; change the start pose, or choose --joints")

    def _commands(self, amplitudes: np.ndarray) -> np.ndarray:
        """Return targets about centres that leave room for the swings, shape [worlds, steps, joints]."""
        trial, start, swing = self._trial, self._trial.start, amplitudes / _MARGIN
        centres = np.minimum(np.maximum(start, trial.low + swing), trial.high - swing)
        shift = envelope(self._times, self._times[-1])[None, :, None] * (centres - start)[:, None]
        return start + shift + amplitudes[:, None] * self._waves
