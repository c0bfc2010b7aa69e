"""What servos of a file give to their joints, for solvers that read joints and their drives alone."""

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
    armatures, dampings, gears = (
        numbers(builder, f"mujoco:actuator_{name}") for name in ("armature", "damping", "gear")
    )
    forces, inputs = np.abs(own.force_ranges).max(axis=1), own.ctrl_ranges
    for actuator in range(len(own)):
        dof, coordinate = own.transmissions.axis(actuator), own.transmissions.coordinate(actuator)
        if dof is None or coordinate is None:
            continue
        ratio = float(gears[actuator][0]) ** 2
        builder.joint_armature[dof] += ratio * float(armatures[actuator])
        write(builder, "mujoco:actuator_armature", actuator, None)
        if not own.is_servo[actuator] or own.owners[actuator] == OFF:
            continue
        builder.joint_damping[dof] += ratio * float(dampings[actuator])
        write(builder, "mujoco:actuator_damping", actuator, None)
        builder.joint_effort_limit[dof] = min(builder.joint_effort_limit[dof], float(forces[actuator]))
        targets, place, reference = builder.joint_target_qd, dof, 0.0
        if not own.is_velocity[actuator]:
            targets, place, reference = builder.joint_target_q, coordinate, own.transmissions.reference(actuator)
        targets[place] = float(np.clip(targets[place] + reference, *inputs[actuator])) - reference
