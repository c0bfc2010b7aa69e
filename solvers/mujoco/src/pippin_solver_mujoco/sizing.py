"""Sizes of MuJoCo Warp's buffers, from a fall of one world in MuJoCo's C engine."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

if TYPE_CHECKING:
    import newton

    from . import MuJoCoConfig

__all__ = ["Need", "enlarged", "need_of", "own_contacts_hint"]

_STEPS_MAX = 500
"""Longest fall [steps]."""

_WORK_MAX = 50_000
"""Bound on steps × (DOFs + geoms) of a fall: a tenth of a second for a robot."""

_HEAD_ROOM = {"njmax": 2.0, "nconmax": 3.0}
"""Room in the buffers, relative to the largest need seen in a fall. Pairs that may touch count as contacts."""

_ACCELERATION_MAX = 1e6
"""Acceleration from which a fall is not worth continuing [m/s², rad/s²]: MuJoCo is about to diverge."""


@attrs.frozen(kw_only=True)
class Need:
    """The largest need of one world in a fall."""

    rows: int
    contacts: int


def enlarged(solver: newton.solvers.SolverMuJoCo, config: MuJoCoConfig, dt: float) -> dict[str, Any]:
    """Return larger sizes for the buffers that Newton's estimate leaves too small; empty if all of them suffice.

    A size that the configuration gives stays. If Newton detects the contacts, its estimate counts the pairs of shapes,
    and stays too.

    Args:
        solver: The solver with the sizes that Newton estimated.
        config: Its configuration.
        dt: Length of a substep [s]: longer ones sink deeper into contacts.
    """
    if not config.use_mujoco_contacts or None not in (config.njmax, config.nconmax):
        return {}
    data = solver.mjw_data
    need = need_of(solver.mj_model, solver.mj_data, dt)
    sizes = {"njmax": (need.rows, data.njmax), "nconmax": (need.contacts, data.naconmax // data.nworld)}
    return {
        key: _rounded(_HEAD_ROOM[key] * needed)
        for key, (needed, allocated) in sizes.items()
        if getattr(config, key) is None and _HEAD_ROOM[key] * needed > allocated
    }


def need_of(model: Any, start: Any, dt: float) -> Need:
    """Return the largest numbers of constraint rows and contacts of a world that falls without control.

    Args:
        model: MuJoCo's model.
        start: MuJoCo's data in the start pose, with the contacts found.
        dt: Length of a step [s].
    """
    import mujoco

    model, data = copy.copy(model), mujoco.MjData(model)
    model.opt.timestep = dt
    data.qpos[:], data.qvel[:] = start.qpos, start.qvel
    rows, contacts, acceleration = start.nefc, start.ncon, start.qacc
    for _ in range(min(_STEPS_MAX, _WORK_MAX // (model.nv + model.ngeom + 1))):
        if not np.abs(acceleration).max(initial=0.0) < _ACCELERATION_MAX:
            break
        mujoco.mj_step(model, data)
        rows, contacts, acceleration = max(rows, data.nefc), max(contacts, data.ncon), data.qacc
    return Need(rows=rows, contacts=contacts)


def own_contacts_hint(model: Any, start: Any) -> str | None:
    """Return the remedy for buffers that an asset fills with contacts of its own; None if most contacts are others.

    Args:
        model: MuJoCo's model.
        start: MuJoCo's data in the start pose, with the contacts found.
    """
    bodies = model.geom_bodyid[start.contact.geom.reshape(-1, 2)]
    roots = model.body_rootid[bodies]
    own = int(np.count_nonzero((roots[:, 0] == roots[:, 1]) & (roots[:, 0] > 0)))
    if own <= start.ncon - own:
        return None
    return f"set self_collisions = false: {own} of {start.ncon} contacts at the start are of an asset with itself"


def _rounded(size: float) -> int:
    """Return the next size among 16, 24, 32, 48, 64 and so on, as MuJoCo Warp does: few sizes share their kernels."""
    power = 2 ** max(4, math.ceil(math.log2(size)))
    return power * 3 // 4 if size <= power * 3 // 4 else power
