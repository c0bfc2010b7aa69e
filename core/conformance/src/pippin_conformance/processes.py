"""What takes long with a solver, in processes beside the checks of the step: benches of features and trials of runtime
changes in one, and a rollout with gradients in another.

A process that has built a simulation without gradients has no backward kernels.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin import PluginError
from pippin.arrays import on_host, present
from pippin.workers import WorkerProcess

from . import scenes
from .kinds import merged
from .plugin_under_test import PluginUnderTest
from .trials import answers, measured_features, refusals, trusted

TRIALS = {"features": measured_features, "answers": answers, "refusals": refusals, "trusted": trusted}
"""What the process of benches does, by the attribute of `Runs` that has the results."""

_STEPS = 5
"""Control steps of the rollout."""

TIMEOUT = 600.0
"""Longest wait for the process, which compiles kernels of both directions [s]."""


def begin_benches(subject: PluginUnderTest) -> WorkerProcess:
    """Start the trials of a solver in a process of its own, which sends the results, or an error in place of each."""
    return _begun(subject, _results, preload=())


def begin_rollout(subject: PluginUnderTest) -> WorkerProcess:
    """Start a rollout in a process of its own, which sends its `Runs.slope`."""
    tables = merged(subject.tables, {"simulation": {"requires_grad": True}})
    return _begun(attrs.evolve(subject, tables=tables), _slope, requires_grad=True)


def _begun(subject: PluginUnderTest, find: Callable[[PluginUnderTest], Any], **options: Any) -> WorkerProcess:
    settings = {"config": dict(subject.config), "tables": dict(subject.tables), "dt": subject.dt}
    return WorkerProcess(str(subject), _send, find, subject.name, settings, **options)


def _send(connection: Connection, find: Callable[[PluginUnderTest], Any], name: str, settings: dict[str, Any]) -> None:
    connection.send(find(PluginUnderTest(kind="solver", name=name, **settings)))


def _results(subject: PluginUnderTest) -> dict[str, Any]:
    return {trial: _tried(run, subject) for trial, run in TRIALS.items()}


def _tried(run: Callable[[PluginUnderTest], Any], subject: PluginUnderTest) -> Any:
    try:
        results = run(subject)
    except Exception as error:  # a plugin may raise anything
        return _plain(error)
    return {name: _plain(found) if isinstance(found, Exception) else found for name, found in results.items()}


def _plain(error: Exception) -> PluginError:
    """Return an error that can be sent, whatever the other one has in it."""
    return PluginError(str(error) or type(error).__name__)


def _slope(subject: PluginUnderTest) -> float | str:
    """Return the derivative of the way by the velocity, in units of the duration; or the error, as text."""
    try:
        return _share(subject)
    except Exception as error:  # a plugin may raise anything
        return f"{type(error).__name__}: {error}"


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
