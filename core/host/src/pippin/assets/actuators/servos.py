"""Servos of a file as parts of their joints, for solvers that read joints and their drives alone."""

from __future__ import annotations

import newton
import numpy as np
from pippin.attribute_rows import numbers, write

from .asset_actuators import OFF, AssetActuators


def fold_servos(builder: newton.ModelBuilder) -> None:
    """Give the joints of a builder what their actuators have besides their law.

    These are rotor inertias and damping, seen through the gear, limits of the force of servos, and first targets within
    the ranges of their inputs. MuJoCo's solvers read all of it from the actuators.
    """
    own = AssetActuators(builder)
    if not len(own):
        return
    gears, armature, damping = (numbers(builder, f"mujoco:actuator_{name}") for name in ("gear", "armature", "damping"))
    limits = np.abs(own.force_ranges).max(axis=1)
    for actuator in range(len(own)):
        if (dof := own.transmissions.axis(actuator)) is None:
            continue
        ratio = float(gears[actuator][0]) ** 2
        builder.joint_armature[dof] += ratio * float(armature[actuator])
        write(builder, "mujoco:actuator_armature", actuator, None)
        if own.is_servo[actuator] and own.owners[actuator] != OFF:
            builder.joint_damping[dof] += ratio * float(damping[actuator])
            builder.joint_effort_limit[dof] = min(builder.joint_effort_limit[dof], float(limits[actuator]))
    for name, bounds in target_ranges(builder).items():
        targets = getattr(builder, name)
        targets[:] = np.clip(targets, *bounds.T).tolist()


def target_ranges(of: newton.ModelBuilder | newton.Model) -> dict[str, np.ndarray]:
    """Return the least and the largest value that servos of a file allow each target of positions and velocities.

    The arrays have the names of Newton's targets and the shape [targets, 2]; a target without bounds has infinite ones.
    """
    own, inputs = AssetActuators(of), AssetActuators(of).ctrl_ranges
    sizes = {"joint_target_q": of.joint_coord_count, "joint_target_qd": of.joint_dof_count}
    found = {name: np.tile([-np.inf, np.inf], (size, 1)) for name, size in sizes.items()}
    for actuator in np.flatnonzero(own.is_servo & (own.owners != OFF) & np.isfinite(inputs).any(axis=1)).tolist():
        dof, coordinate = own.transmissions.axis(actuator), own.transmissions.coordinate(actuator)
        if own.is_velocity[actuator]:
            found["joint_target_qd"][dof] = inputs[actuator]
        else:
            found["joint_target_q"][coordinate] = inputs[actuator] - own.transmissions.reference(actuator)
    return {name: bounds for name, bounds in found.items() if np.isfinite(bounds).any()}
