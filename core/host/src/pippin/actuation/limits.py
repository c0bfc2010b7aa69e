"""Largest effort and velocity of an actuator: those of its table, else those of the asset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from newton.actuators import ClampingBase, ClampingDCMotor, ClampingMaxEffort
from pippin.arrays import on_host, present
from pippin.binding import Host
from pippin.labels import name_of
from pippin.spelling import listed
from pippin.support.features import NO_LIMIT

from .config import ActuatorConfig
from .kernels import limit_speeds
from .parameters import Lanes


def build_effort_limit(
    config: ActuatorConfig, model: newton.Model, lanes: Lanes, others: Sequence[ClampingBase]
) -> tuple[list[ClampingBase], tuple[str, ...]]:
    """Return the limit that follows the other clampings, and a note if it is the asset's; the note may be missing.

    Without `effort_limit`, the asset's limits hold unless one of the other clampings is such a limit. Without either,
    the limit is infinite, and a parameter all the same.
    """
    if config.effort_limit is not None:
        own = lanes.per_lane(config.effort_limit, "effort_limit", minimum=0.0, attribute="max_effort")
        return [ClampingMaxEffort(own)], ()
    limits = stated_limits(model.joint_effort_limit, lanes.dofs)
    if any(isinstance(other, ClampingMaxEffort) for other in others):
        limits = np.full_like(limits, np.inf)
    note = (note_on_limits("effort_limit", lanes.labels, limits[0]),) if np.isfinite(limits).any() else ()
    return [ClampingMaxEffort(lanes.own(limits, "effort_limit", minimum=0.0, attribute="max_effort"))], note


def stated_limits(array: wp.array | None, dofs: np.ndarray) -> np.ndarray:
    """Return limits of DOFs from the array of all DOFs, infinite without one, in the shape of `dofs`."""
    limits = on_host(array)[dofs]
    return np.where((limits > 0.0) & (limits < NO_LIMIT), limits, np.inf)


def note_on_limits(key: str, labels: Sequence[str], limits: np.ndarray) -> str:
    """Return the note that limits are those of the asset, and which."""
    by_limit: dict[float, list[str]] = {}
    for label, limit in zip(labels, limits.tolist(), strict=True):
        if np.isfinite(limit):
            by_limit.setdefault(limit, []).append(name_of(label))
    shown = "; ".join(f"{limit:g} for {listed(names)}" for limit, names in by_limit.items())
    return f"{key}: that of the asset, {shown or 'in other worlds'}; give the key to set another"


class VelocityClamping(ClampingBase):
    """Effort in the direction of motion is at most `I (V - v) / dt`, and zero from the velocity limit V on.

    v is the joint's speed in the direction of the effort. I is its inertia at the start pose, so that the effort alone
    takes the joint to its limit within the step and not beyond. Effort that brakes is left alone.

    Args:
        limits: The model's velocity limits of all DOFs [m/s or rad/s], read anew in each step.
        impulses: I / dt of each lane [N·s/m or N·m·s/rad], infinite for an inertia that is not known.
    """

    def __init__(self, limits: wp.array, impulses: wp.array) -> None:
        self._limits, self._impulses = limits, impulses

    def modify_forces(
        self,
        src_forces: wp.array,
        dst_forces: wp.array,
        positions: wp.array,
        velocities: wp.array,
        pos_indices: wp.array,
        vel_indices: wp.array,
        device: Any = None,
    ) -> None:
        """Write the limited efforts; see `ClampingBase.modify_forces`."""
        inputs = [vel_indices, velocities, self._limits, self._impulses, src_forces, dst_forces]
        wp.launch(limit_speeds, len(src_forces), inputs, device=device)


def build_velocity_limit(
    config: ActuatorConfig, host: Host, lanes: Lanes, others: Sequence[ClampingBase]
) -> tuple[list[ClampingBase], tuple[str, ...]]:
    """Return the limit that follows the other clampings, and a note if it is the asset's; both may be empty.

    The curve of a DC motor is such a limit, and replaces that of the asset.
    """
    of_model = present(host.model.joint_velocity_limit)
    limits = stated_limits(of_model, lanes.dofs)
    is_given = config.velocity_limit is not None and getattr(config, "limits_joint_speed", True)
    has_curve = any(isinstance(other, ClampingDCMotor) for other in others)
    if not np.isfinite(limits).any() or (has_curve and not is_given):
        return [], ()
    impulses = wp.array(_inertias(host, lanes).ravel() / lanes.dt, dtype=float, device=lanes.device)
    note = () if is_given else (note_on_limits("velocity_limit", lanes.labels, limits[0]),)
    found: list[ClampingBase] = [VelocityClamping(of_model, impulses)]
    return found, note


def _inertias(host: Host, lanes: Lanes) -> np.ndarray:
    """Return the inertia of each lane at the start pose, all other joints free [kg or kg·m²]; infinite if unknown."""
    model, found = host.model, np.full(lanes.dofs.shape, np.inf)
    start = model.state(
        requires_grad=False
    )  # at the origin: on a patch of a terrain, its place would round the numbers
    newton.eval_fk(model, present(start.joint_q), present(start.joint_qd), start)
    matrices = newton.eval_mass_matrix(model, start)
    if matrices is None:
        return found
    prototypes = host.prototype_of_world[lanes.worlds]
    starts, articulations = on_host(model.joint_qd_start), on_host(model.joint_articulation)
    for prototype in np.unique(prototypes):
        rows = np.flatnonzero(prototypes == prototype)  # these worlds have the inertias of the first of them
        joints = np.searchsorted(starts, lanes.dofs[rows[0]], side="right") - 1
        for articulation in np.unique(articulations[joints][articulations[joints] >= 0]).tolist():
            columns = np.flatnonzero(articulations[joints] == articulation)
            first, last = (on_host(each)[articulation] for each in (model.articulation_start, model.articulation_end))
            own = matrices[articulation].numpy()[: starts[last] - starts[first], : starts[last] - starts[first]]
            response = np.diag(np.linalg.pinv(own.astype(float), hermitian=True))
            with np.errstate(divide="ignore"):
                inertias = 1.0 / np.maximum(response[lanes.dofs[rows[0]][columns] - starts[first]], 0.0)
            found[np.ix_(rows, columns)] = inertias
    return found
