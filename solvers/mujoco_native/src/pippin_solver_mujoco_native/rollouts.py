"""Control steps whose inputs are known, in one call of MuJoCo: each thread takes a world through all of them."""

from __future__ import annotations

from typing import Any

import mujoco as _mujoco
import numpy as np
from mujoco.batch import Batch

__all__ = ["Rollouts"]

mujoco: Any = _mujoco
"""MuJoCo; most of it is an extension without type stubs."""

_INPUTS = int(mujoco.mjtState.mjSTATE_CTRL) | int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)


class Rollouts:
    """Inputs of control steps, and the steps.

    Args:
        batch: MuJoCo's worlds.
        substeps: Substeps of a control step.
        worlds: Which worlds take them, in order, shape [worlds].
    """

    def __init__(self, batch: Batch, substeps: int, worlds: np.ndarray) -> None:
        self._batch, self._substeps, self._worlds = batch, substeps, worlds
        self._fields = [batch.bind(name) for name in ("ctrl", "qfrc_applied", "qpos", "qvel")]
        self._inputs: list[np.ndarray] = []

    def add(self) -> None:
        """Add a control step, with the inputs that the worlds have now."""
        self._inputs.append(np.concatenate([field[self._worlds] for field in self._fields[:2]], axis=1))

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """Take the control steps, and return `qpos` and `qvel` after each, shape [steps, worlds, numbers]."""
        inputs, self._inputs = self._inputs, []
        batch, substeps = self._batch, self._substeps
        before, warned = batch.state.copy(), batch.warning.copy()
        controls = np.repeat(np.stack(inputs, axis=1), substeps, axis=1)
        found = batch.rollout(len(inputs) * substeps, controls, _INPUTS, ("qpos", "qvel"), self._worlds)
        qpos, qvel = (found[name][:, substeps - 1 :: substeps].swapaxes(0, 1) for name in ("qpos", "qvel"))
        if (stopped := (batch.warning != warned).reshape(len(warned), -1).any(axis=1)).any():
            # A rollout ends at a warning, and steps go on.
            batch.state[stopped] = before[stopped]
            rows = np.flatnonzero(stopped[self._worlds])
            ids = self._worlds[rows]
            for number, values in enumerate(inputs):
                self._fields[0][ids], self._fields[1][ids] = np.split(values[rows], [self._fields[0].shape[1]], axis=1)
                batch.step(ids, substeps)
                qpos[number, rows], qvel[number, rows] = self._fields[2][ids], self._fields[3][ids]
        return qpos, qvel
