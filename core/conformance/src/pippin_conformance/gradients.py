"""A rollout with gradients, in a process of its own.

A process that has built a simulation without gradients has no backward kernels.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.workers import WorkerProcess

from . import scenes
from .kinds import merged
from .plugin_under_test import PluginUnderTest

_STEPS = 5
"""Control steps of the rollout."""

TIMEOUT = 600.0
"""Longest wait for the process, which compiles kernels of both directions [s]."""


def begin_rollout(subject: PluginUnderTest) -> WorkerProcess:
    """Start a rollout in a process of its own, which sends its `Runs.slope`."""
    tables = dict(subject.config), dict(subject.tables)
    return WorkerProcess(str(subject), _send_share, subject.name, *tables, subject.dt, requires_grad=True)


def _send_share(connection: Connection, name: str, config: Any, tables: Mapping[str, Any], dt: float) -> None:
    """Send the derivative of the way by the velocity, in units of the duration; or the error, as text."""
    with_gradients = merged(tables, {"simulation": {"requires_grad": True}})
    subject = PluginUnderTest(kind="solver", name=name, config=config, tables=with_gradients, dt=dt)
    try:
        connection.send(_share(subject))
    except Exception as error:  # a plugin may raise anything
        connection.send(f"{type(error).__name__}: {error}")


def _share(subject: PluginUnderTest) -> float:
    has_bodies = "rigid_bodies" in (subject.features or ())
    scene = functools.partial(scenes.add_ball, height=5.0, is_solid=False) if has_bodies else subject.scene()
    with subject.build(count=1, scene=scene, is_on_ground=False, world_count=1) as simulation, wp.Tape() as tape:
        states = simulation.rollout(_STEPS)
        first, last = states[0], states[-1]
        places = present(last.body_q if has_bodies else last.particle_q)
        speeds = (first.body_qd, first.joint_qd) if has_bodies else (first.particle_qd,)
        weights = np.zeros((len(places), 7 if has_bodies else 3), dtype=np.float32)
        weights[:, 0] = 1.0 / len(places)
        tape.backward(grads={places: wp.array(weights, dtype=places.dtype, device=places.device)})
        slopes = [on_host(present(each).grad).reshape(-1, 3)[:: 2 if has_bodies else 1, 0].sum() for each in speeds]
        return float(sum(slopes)) / (_STEPS * simulation.control_dt)
