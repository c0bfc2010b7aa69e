"""Joints of the simulation that logs may have, and their limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import newton
from pippin.arrays import on_host
from pippin.axes import choose_axes


@attrs.frozen(kw_only=True)
class RobotJoint:
    """A joint with one coordinate."""

    label: str

    dof: int
    """Index of its degree of freedom in the model."""

    coordinate: int
    """Index of its coordinate."""

    is_turning: bool
    """Whether it turns, and its numbers are angles; otherwise it slides."""

    low: float
    """Lower limit [rad or m]; minus infinity without one."""

    high: float
    """Upper limit [rad or m]."""


_NO_LIMIT = 1e6
"""Limits from which on there are none, as Newton writes them [rad or m]."""


def robot_joints(model: newton.Model) -> Mapping[str, RobotJoint]:
    """Return the joints of a model by label."""
    axes, _ = choose_axes(model, ".*", "fit.logs")
    starts, coordinates = on_host(model.joint_qd_start), on_host(model.joint_q_start)
    low, high = on_host(model.joint_limit_lower), on_host(model.joint_limit_upper)
    dimensions: Any = on_host(model.joint_dof_dim)
    found = {}
    for (joint, axis), label in axes.items():
        dof = int(starts[joint]) + axis
        ends = (float(low[dof]), float(high[dof]))
        has_limits = ends[0] < ends[1] and max(map(abs, ends)) < _NO_LIMIT
        found[label] = RobotJoint(
            label=label,
            dof=dof,
            coordinate=int(coordinates[joint]) + axis,
            is_turning=axis >= int(dimensions[joint, 0]),
            low=ends[0] if has_limits else -float("inf"),
            high=ends[1] if has_limits else float("inf"),
        )
    return found
