"""Trial of motions in simulation: the limits that they reach, before a robot does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin import ConfigError, Simulation, SimulationConfig, labels
from pippin.arrays import on_host

from .replay_checks import Touching
from .robot_joints import RobotJoint, robot_joints

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

    times: np.ndarray
    """Times of the commands [s], shape [steps]."""

    positions: np.ndarray
    """Positions at these times [rad or m], shape [worlds, steps, joints]."""

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
            times=np.arange(steps) * simulation.control_dt,
            positions=positions[:, :, coordinates],
            velocities=velocities[:, :, dofs],
            is_saturated=np.stack(rows[2]).swapaxes(0, 1),
        )

    def _saturated(self) -> np.ndarray:
        columns = []
        for group, lane in self._lanes.values():
            computed, applied = getattr(group, "computed_effort", None), getattr(group, "applied_effort", None)
            if isinstance(computed, wp.array) and isinstance(applied, wp.array) and computed is not applied:
                columns.append(on_host(computed)[:, lane] != on_host(applied)[:, lane])
            else:
                columns.append(np.zeros(self.simulation.world_count, dtype=bool))
        return np.stack(columns, axis=1)

    def excess(self, motion: TriedMotion) -> Mapping[str, np.ndarray]:
        """Return by how much each joint exceeds its limits of position, speed and effort, shape [worlds, joints] each.

        Up to 1 is within the limit. Positions count from the targets at the start; an effort at its limit is 1.5.
        """
        low, high = (np.array([getattr(joint, name) for joint in self.joints]) for name in ("low", "high"))
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
        steps = len(motion.times)
        for step in range(0, steps, -(-steps // _TOUCHES)):
            if (bodies := self._touching.bodies(motion.positions[world, step])) is not None:
                return float(motion.times[step]), bodies
        return None


def _lanes(simulation: Simulation, known: Sequence[str], patterns: Sequence[str]) -> dict[str, tuple[Any, int]]:
    """Return the actuator and the lane of each joint that patterns choose."""
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
