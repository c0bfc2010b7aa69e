"""Places of the joints of a robot in a simulation: groups of actuators, columns, places in the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import newton
import numpy as np
from pippin import ConfigError, Simulation, did_you_mean
from pippin.arrays import on_host, present

from .config import RobotConfig
from .contract import DrivenJoint

_NONE = 1e6
"""Number from which on a limit of the model stands for none."""


@attrs.frozen(kw_only=True, eq=False)
class RobotPlan:
    """The driven joints of one robot in the order of `robot.joints`, and where a simulation has them."""

    joints: tuple[DrivenJoint, ...]
    """The joints."""
    labels: tuple[str, ...]
    """Their labels in the model."""
    groups: Mapping[str, tuple[np.ndarray, np.ndarray]]
    """For each group of actuators: the places of its joints in the robot's order, and their columns in the group."""
    coordinates: np.ndarray
    """Places of the joints in `joint_q`, shape [joints]."""
    dofs: np.ndarray
    """Places in `joint_qd`, shape [joints]."""
    is_floating: bool
    """Whether the robot has a free base."""

    @classmethod
    def of(cls, simulation: Simulation, config: RobotConfig) -> RobotPlan:
        """Return the plan.

        Raises:
            ConfigError: There is more than one world, a driven joint is not in the table, or the table has another one.
        """
        if simulation.world_count != 1:
            raise ConfigError(f"scene.worlds: a robot is one world, got {simulation.world_count}; set it to 1")
        driven = dict(_driven(simulation))
        names = _names(list(driven), config.joints)
        order = [names[name] for name in config.joints]
        model, groups = simulation.model, {}
        for label in dict.fromkeys(driven[full][0] for full in order):
            rows = [number for number, full in enumerate(order) if driven[full][0] == label]
            groups[label] = np.array(rows), np.array([driven[order[number]][1] for number in rows])
        dofs, coordinates = (np.array([driven[full][place] for full in order]) for place in (2, 3))
        free = on_host(model.joint_type)[: int(on_host(model.joint_world_start)[1])] == int(newton.JointType.FREE)
        return cls(
            labels=tuple(order),
            joints=tuple(_joints(simulation, config, dofs, coordinates, groups)),
            groups=groups,
            coordinates=coordinates,
            dofs=dofs,
            is_floating=bool(free.any()),
        )

    def place(
        self,
        simulation: Simulation,
        position: np.ndarray,
        velocity: np.ndarray,
        chosen: np.ndarray | slice = slice(None),
    ) -> None:
        """Put the chosen joints of a simulation somewhere.

        Args:
            simulation: The simulation.
            position: Positions of all joints [rad or m], shape [joints].
            velocity: Velocities [rad/s or m/s]; NaN is zero.
            chosen: Which joints; by default all.
        """
        for array, places, values in (
            (present(simulation.state.joint_q), self.coordinates, position),
            (present(simulation.state.joint_qd), self.dofs, np.nan_to_num(velocity)),
        ):
            whole = on_host(array).copy()
            whole[places[chosen]] = values[chosen]
            array.assign(whole)
        simulation.invalidate("joints")


def driven_names(simulation: Simulation) -> list[str]:
    """Return the names of the joints that follow positions, as the table `robot.joints` may have them.

    Args:
        simulation: The simulation.
    """
    return [label.rpartition("/")[2] for label, _ in _driven(simulation)]


def _driven(simulation: Simulation) -> Any:
    """Yield the label of each driven axis, with its group, its column there, and its places in the state."""
    model = simulation.model
    starts, coordinates = on_host(model.joint_qd_start)[:-1], on_host(model.joint_q_start)
    for label, group in simulation.actuators.items():
        if "position_targets" not in getattr(group, "unread_targets", {"position_targets": ""}):
            for column, name in enumerate(group.joint_labels):
                dof = int(on_host(group.actuated_dofs)[column])  # those of the first world come first
                joint = int(np.searchsorted(starts, dof, side="right")) - 1
                yield name, (label, column, dof, int(coordinates[joint] + dof - starts[joint]))


def _names(driven: Sequence[str], wanted: Mapping[str, Any]) -> dict[str, str]:
    """Return the label of each name of the table, whole or its last part."""
    found = {}
    for name in wanted:
        labels = [label for label in driven if name in (label, label.rpartition("/")[2])]
        if len(labels) != 1:
            short = [label.rpartition("/")[2] for label in driven]
            raise ConfigError(
                f"robot.joints.{name}: {len(labels)} joints that follow positions have this name"
                f"{did_you_mean(name, short)}; they are: {', '.join(short) or 'none'}"
            )
        found[name] = labels[0]
    for label in driven:
        if label not in found.values():
            raise ConfigError(
                f"robot.joints: {label.rpartition('/')[2]!r} is driven in the file and has no table here; add"
                f" [robot.joints.{label.rpartition('/')[2]}], or leave it out of the actuators"
            )
    return found


def _joints(
    simulation: Simulation, config: RobotConfig, dofs: np.ndarray, coordinates: np.ndarray, groups: Mapping[str, Any]
) -> Any:
    model = simulation.model
    low, high, speed = (
        on_host(getattr(model, f"joint_{name}"))[dofs] for name in ("limit_lower", "limit_upper", "velocity_limit")
    )
    start = on_host(model.joint_q)[coordinates]
    efforts = np.full(len(dofs), np.inf)
    for label, (rows, columns) in groups.items():
        efforts[rows] = _largest(simulation.actuators[label], columns)
    slides = _slides(model, dofs)
    for number, name in enumerate(config.joints):
        yield DrivenJoint(
            name=name,
            lower=-np.inf if low[number] < -_NONE else float(low[number]),
            upper=np.inf if high[number] > _NONE else float(high[number]),
            velocity_limit=np.inf if not 0.0 < speed[number] < _NONE else float(speed[number]),
            effort_limit=float(efforts[number]),
            start=float(start[number]),
            is_angle=not slides[number],
        )


def _largest(group: Any, columns: np.ndarray) -> np.ndarray:
    """Return the largest effort of motors: that of their limit, or of a servo that stands still under its voltage."""
    limits = _parameter(group, "effort_limit", columns, np.inf)
    volts, torque, ohms = (_parameter(group, name, columns, np.nan) for name in ("voltage", "kt", "resistance"))
    return np.fmin(limits, volts * torque / ohms)


def _parameter(group: Any, name: str, columns: np.ndarray, missing: float) -> np.ndarray:
    if name not in getattr(group, "parameters", ()):
        return np.full(len(columns), missing)
    values = on_host(group.get(name))[0][columns].astype(np.float64)
    return np.where(np.abs(values) > 1e30, missing, values)


def _slides(model: newton.Model, dofs: np.ndarray) -> np.ndarray:
    """Return for each DOF whether it is a translation."""
    starts, counts = on_host(model.joint_qd_start)[:-1], on_host(model.joint_dof_dim)
    joint = np.searchsorted(starts, dofs, side="right") - 1
    return dofs - starts[joint] < counts[joint, 0]
