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
        room: Number of control steps that there is room for.
    """

    def __init__(self, batch: Batch, substeps: int, worlds: np.ndarray, room: int) -> None:
        self._batch, self._worlds = batch, worlds
        # NumPy copies a slice several times as fast.
        self._index: Any = slice(None) if len(worlds) == batch.nsim else worlds
        self._fields = [batch.bind(name) for name in ("ctrl", "qfrc_applied", "qpos", "qvel")]
        self._split = self._fields[0].shape[1]
        self._inputs = np.empty((len(worlds), room, substeps, self._split + self._fields[1].shape[1]))
        self._count = 0

    def add(self) -> None:
        """Add a control step, with the inputs that the worlds have now."""
        inputs = self._inputs[:, self._count]
        inputs[..., : self._split] = self._fields[0][self._index, None]
        inputs[..., self._split :] = self._fields[1][self._index, None]
        self._count += 1

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """Take the control steps, and return `qpos` and `qvel` after each, shape [steps, worlds, numbers]."""
        inputs, self._count = self._inputs[:, : self._count], 0
        batch, (worlds, count, substeps, width) = self._batch, inputs.shape
        before, warned = batch.state.copy(), batch.warning.copy()
        controls = inputs.reshape(worlds, count * substeps, width)
        found = batch.rollout(count * substeps, controls, _INPUTS, ("qpos", "qvel"), self._worlds)
        qpos, qvel = (found[name][:, substeps - 1 :: substeps].swapaxes(0, 1) for name in ("qpos", "qvel"))
        if (stopped := (batch.warning != warned).reshape(len(warned), -1).any(axis=1)).any():
            # A rollout ends at a warning, and steps go on.
            batch.state[stopped] = before[stopped]
            rows = np.flatnonzero(stopped[self._worlds])
            ids = self._worlds[rows]
            for number in range(count):
                values = inputs[rows, number, 0]
                self._fields[0][ids], self._fields[1][ids] = values[:, : self._split], values[:, self._split :]
                batch.step(ids, substeps)
                qpos[number, rows], qvel[number, rows] = self._fields[2][ids], self._fields[3][ids]
        return qpos, qvel
