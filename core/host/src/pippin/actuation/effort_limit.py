"""Largest effort of an actuator: that of its table, else that of the asset."""

from __future__ import annotations

from collections.abc import Sequence

import newton
import numpy as np
import warp as wp
from newton.actuators import ClampingBase, ClampingMaxEffort
from pippin.arrays import on_host
from pippin.labels import name_of
from pippin.spelling import listed
from pippin.support.features import NO_LIMIT

from .config import ActuatorConfig
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
