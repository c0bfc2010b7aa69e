"""Joints that can be set at run time: `scene.settable_joints` gives each what the solver cannot add to it later."""

from __future__ import annotations

from collections.abc import Collection

import newton

_JOINTS = (newton.JointType.REVOLUTE, newton.JointType.PRISMATIC, newton.JointType.D6)

FAR = 1e7
"""Limit of a position that no joint reaches [m or rad]: limited for a solver, and unlimited for everything else."""

LARGE = 9e5
"""Limit of an effort that no drive reaches [N or N·m], below the one that Newton takes for none."""

SMALL = 1e-9
"""Armature, friction or damping without an effect on a motion [kg, N, N·s/m, or times m or m²]."""


def make_settable(builder: newton.ModelBuilder, fixed: Collection[str], kept: Collection[str]) -> None:
    """Give each hinge, slider and joint of several axes the features that the solver cannot add to it.

    Drives have no gains, and limits are out of reach, so that the motion is the same until something is set. A feature
    that the solver cannot take away, of those `kept`, gets a small value where it would get zero.
    """
    for dof in _dofs(builder):
        if "joint_drives" in fixed:
            builder.joint_target_mode[dof] = int(newton.JointTargetMode.POSITION_VELOCITY)
            if "joint_drives" in kept and not builder.joint_target_kd[dof]:
                builder.joint_target_kd[dof] = SMALL
        if "joint_limits" in fixed:
            builder.joint_limit_lower[dof] = max(builder.joint_limit_lower[dof], -FAR)
            builder.joint_limit_upper[dof] = min(builder.joint_limit_upper[dof], FAR)
        if "effort_limits" in fixed:
            builder.joint_effort_limit[dof] = min(builder.joint_effort_limit[dof], LARGE)
        for name in {"armature", "joint_damping", "joint_friction"}.intersection(fixed):
            values = getattr(builder, f"joint_{name.removeprefix('joint_')}")
            values[dof] = values[dof] or SMALL


def _dofs(builder: newton.ModelBuilder) -> list[int]:
    return [
        dof
        for kind, start, axes in zip(builder.joint_type, builder.joint_qd_start, builder.joint_dof_dim, strict=True)
        if kind in _JOINTS
        for dof in range(start, start + sum(axes))
    ]
