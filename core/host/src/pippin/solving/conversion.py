"""Parts that Newton's conversion to MuJoCo leaves out: limits of ball joints, weights of bodies that only slide, and
options that MuJoCo Warp does not have.
"""

from __future__ import annotations

import math
from typing import Any

import newton

_NAMESPACE, _NAME = "pippin", "is_slider"

_OPTIONS = {"noslip_iterations": "noslip_iterations", "constraint_solver": "solver"}
"""Options that MuJoCo Warp lacks, by the names of the attributes in which `mujoco-native` keeps what a file states."""


def mark_sliders(builder: newton.ModelBuilder, bodies: list[int]) -> None:
    """For the core: note that MuJoCo takes some bodies of an asset for simple ones that only slide."""
    attribute = newton.ModelBuilder.CustomAttribute(
        name=_NAME, namespace=_NAMESPACE, dtype=int, default=0, frequency=newton.Model.AttributeFrequency.BODY
    )
    builder.add_custom_attribute(attribute)
    values: Any = builder.custom_attributes[attribute.key].values
    values.update(dict.fromkeys(bodies, 1))


def complete_conversion(solver: newton.solvers.SolverMuJoCo) -> tuple[dict[int, float], list[int]]:
    """Write into `solver.mj_model` what Newton's conversion leaves out, and return what that is.

    A limited ball joint gets its largest angle of rotation, the upper limit of the joint's DOFs; from π on, it has no
    effect. A body of an MJCF file that is on the world, and only slides along the axes of its inertia, gets the
    inverse weights of MuJoCo's compiler, by which contacts and limits are softened: 1 / mass [1/kg], without armature.
    Options that MuJoCo Warp lacks have the values that the file states, if the model has kept them.

    Returns:
        The angle of each limited ball joint [rad], and the bodies that only slide, by MuJoCo's indices.
    """
    own: Any = solver
    model, limits = own.mj_model, _ball_limits(own)
    for joint, angle in limits.items():
        model.jnt_limited[joint], model.jnt_range[joint] = 1, (0.0, angle)
    kept = getattr(own.model, _NAMESPACE, None)
    for name, option in _OPTIONS.items():
        if hasattr(kept, name) and (value := int(getattr(kept, name).numpy()[0])) >= 0:
            setattr(model.opt, option, value)
    marks = getattr(kept, _NAME, None)
    if marks is None:
        return limits, []
    is_slider = marks.numpy()
    sliders = [index for index, body in enumerate(own.mjc_body_to_newton.numpy()[0]) if body >= 0 and is_slider[body]]
    for body in sliders:
        weight = 1.0 / model.body_mass[body]
        model.body_invweight0[body] = weight, 0.0
        model.dof_invweight0[model.dof_bodyid == body] = weight
    return limits, sliders


def _ball_limits(solver: Any) -> dict[int, float]:
    model, mapping = solver.model, solver.mjc_jnt_to_newton_jnt
    if mapping is None or not mapping.size:
        return {}
    kinds, starts, upper = model.joint_type.numpy(), model.joint_qd_start.numpy(), model.joint_limit_upper.numpy()
    balls = {
        place: joint for place, joint in enumerate(mapping.numpy()[0]) if kinds[joint] == int(newton.JointType.BALL)
    }
    limits = {place: float(upper[starts[joint]]) for place, joint in balls.items()}
    return {place: limit for place, limit in limits.items() if limit < math.pi}
