"""Places of worlds on a terrain: the patch of each world, and the move of its start to that patch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present

from . import kernels


class Places:
    """The patches of the worlds. A world starts with its free bodies and particles at the place of its patch.

    Args:
        spawns: Where worlds start on each patch [m], shape [levels, columns, 3].
        levels: Level of the patch on which each world starts first, shape [worlds].
        columns: Column of that patch, shape [worlds].
        labels: The labels of the columns.
        size: Lengths of a patch along x and y [m].
        model: The model of all worlds.
    """

    def __init__(
        self,
        spawns: np.ndarray,
        levels: np.ndarray,
        columns: np.ndarray,
        labels: Sequence[str],
        size: tuple[float, float],
        model: newton.Model,
    ) -> None:
        device = model.device
        self.labels, self.size, self.level_count = tuple(labels), size, len(spawns)
        #: Level and column of the patch of each world, shape [worlds].
        self.levels: Any = wp.array(levels, dtype=int, device=device)
        self.columns: Any = wp.array(columns, dtype=int, device=device)
        #: Where each world starts [m], and how far this is from its first start, shape [worlds].
        self.places: Any = wp.array(spawns[levels, columns], dtype=wp.vec3, device=device)
        self.shifts: Any = wp.zeros(len(levels), dtype=wp.vec3, device=device)
        #: Whether something moves worlds to other patches while the simulation runs.
        self.are_changed: bool = False
        self._first_places: Any = wp.clone(self.places)
        self._spawns: Any = wp.array(spawns, dtype=wp.vec3, ndim=2, device=device)
        kinds, parents, worlds = (on_host(each) for each in (model.joint_type, model.joint_parent, model.joint_world))
        is_free = (kinds == int(newton.JointType.FREE)) & (parents < 0) & (worlds >= 0)
        starts = on_host(model.joint_q_start)[: len(kinds)][is_free]
        self._joint_worlds, self._joint_starts = (
            wp.array(each, dtype=int, device=device) for each in (worlds[is_free], starts)
        )
        self._particle_worlds = model.particle_world

    @property
    def extent(self) -> tuple[float, float]:
        """Lengths of all patches together along x and y [m], without the border."""
        return self.size[0] * self.level_count, self.size[1] * len(self.labels)

    def place_all(self, model: newton.Model, state: newton.State) -> None:
        """Move the start of all worlds from the origin to their places, bodies included.

        Args:
            model: The model of all worlds.
            state: Its state, in which all worlds stand at the origin.
        """
        everywhere: Any = wp.full(len(self.levels) + 1, value=True, dtype=bool, device=model.device)
        self._shift(state, everywhere, self.places)
        bodies: Any = state.body_q
        if bodies is not None and len(bodies):
            poses, worlds = on_host(bodies).copy(), on_host(model.body_world)
            is_loose = (worlds >= 0) & ~np.isin(np.arange(len(poses)), on_host(model.joint_child))
            poses[is_loose, :3] += on_host(self.places)[worlds[is_loose]]
            bodies.assign(poses)
        if model.joint_count:
            newton.eval_fk(model, present(state.joint_q), present(state.joint_qd), state)

    def update(self) -> None:
        """Look up the places of the present levels and columns. May be recorded."""
        inputs = [self.levels, self.columns, self._spawns, self._first_places, self.places, self.shifts]
        wp.launch(kernels.find_places, len(self.levels), inputs, device=self.levels.device)

    def start(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Move the restored start of the masked worlds to their present places; mask of shape [worlds + 1]. May be
        recorded. The bodies have to be computed from the joints afterwards.
        """
        self._shift(state, world_mask, self.shifts)

    def _shift(self, state: newton.State, world_mask: wp.array[wp.bool], by: wp.array) -> None:
        device = self.levels.device
        if count := len(self._joint_starts):
            inputs = [world_mask, by, self._joint_worlds, self._joint_starts, state.joint_q]
            wp.launch(kernels.shift_joints, count, inputs, device=device)
        if state.particle_q is not None and (count := len(state.particle_q)):
            inputs = [world_mask, by, self._particle_worlds, state.particle_q]
            wp.launch(kernels.shift_particles, count, inputs, device=device)
