"""Jacobians, mass matrices and the forces of inverse dynamics, computed by Newton and copied into a view's rows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.binding import Host

from .errors import ViewError
from .kernels import dynamics as kernels
from .kernels.gather_scatter import GATHER
from .structure import PADDING, ArticulationIndices


class Dynamics:
    """Jacobians, mass matrices and forces of some articulations, by row.

    The memory is allocated at the first call of each kind. If the rows are all articulations of the model, and the
    columns are theirs, Newton's own matrices are the rows of the view, and nothing is copied.
    """

    def __init__(self, host: Host, articulations: np.ndarray, indices: ArticulationIndices, world_of: wp.array) -> None:
        self._host, self._world_of = host, world_of
        self._shape = (len(articulations), indices.links.shape[1], indices.generalized.shape[1])
        model = host.model
        chosen = np.zeros(model.articulation_count, dtype=bool)
        chosen[articulations] = True

        def on_device(array: np.ndarray, dtype: Any = int) -> wp.array:
            return wp.array(array, dtype=dtype, device=model.device)

        self._chosen = on_device(chosen, bool)
        self._articulations = on_device(articulations.astype(np.int32))
        self._links, self._dofs = on_device(indices.links), on_device(indices.generalized)
        dof_starts = on_host(model.joint_qd_start)[on_host(model.articulation_start)[:-1]].astype(np.int32)
        self._dof_starts = on_device(dof_starts)
        self._parents = on_device(_parents(model, indices.joints))
        self._carriers = on_device(_carriers(model, indices))
        columns = indices.generalized - dof_starts[articulations][:, None]
        is_in_place = (columns == np.arange(columns.shape[1]))[indices.generalized != PADDING].all()
        self._is_whole = np.array_equal(articulations, np.arange(model.articulation_count)) and bool(is_in_place)

    def jacobians(self, state: newton.State) -> wp.array:
        """Return the velocity of each link by each generalized DOF, shape [count, max_links, 6, 6 + max_dofs]."""
        values = self._jacobian_rows
        whole = self._evaluated_jacobians(state)
        if whole.ptr != values.ptr:
            inputs = [whole, self._articulations, self._dof_starts, self._links, self._dofs, values]
            wp.launch(kernels.gather_jacobians, values.shape[:2], inputs, device=values.device)
        return values

    def mass_matrices(self, state: newton.State) -> wp.array:
        """Return the inertia by pairs of generalized DOFs, shape [count, 6 + max_dofs, 6 + max_dofs]."""
        whole, inertias, motions, values = self._matrices
        model = self._host.model
        newton.eval_mass_matrix(model, state, whole, body_I_s=inertias, joint_S_s=motions, mask=self._chosen)
        if whole is not values:
            inputs = [whole, self._articulations, self._dof_starts, self._dofs, values]
            wp.launch(kernels.gather_mass_matrices, values.shape[:2], inputs, device=values.device)
        return values

    def gravity_forces(self, state: newton.State) -> wp.array:
        """Return the effort that holds each row still, shape [count, 6 + max_dofs].

        The weight of bodies without gravity is left out.
        """
        (moments, values), model = self._gravity_forces, self._host.model
        whole = self._evaluated_jacobians(state)
        rows = [self._articulations, self._dof_starts, self._links, self._parents, self._dofs, self._carriers]
        compensation = getattr(getattr(model, "mujoco", None), "gravcomp", None)
        bodies = [self._world_of, state.body_q, model.body_com, model.body_mass, compensation, model.gravity]
        inputs = [whole, *rows, *bodies, moments, values]
        wp.launch(kernels.gravity_effort, len(values), inputs, device=values.device)
        return values

    def coriolis_forces(self, state: newton.State) -> wp.array:
        """Return the effort that velocities alone need, shape [count, 6 + max_dofs]. Newton allocates in it."""
        whole, values = self._coriolis_forces
        newton.eval_inverse_dynamics_passive(self._host.model, state, coriolis_force=whole, mask=self._chosen)
        inputs = [whole, self._dofs.flatten(), values.flatten()]
        wp.launch(GATHER[wp.float32], values.size, inputs, device=values.device)
        return values

    def _evaluated_jacobians(self, state: newton.State) -> wp.array:
        """Return Newton's Jacobians of the chosen articulations, shape [articulations, 6 * joints, DOFs]."""
        whole, motions = self._jacobians
        newton.eval_jacobian(self._host.model, state, whole, joint_S_s=motions, mask=self._chosen)
        return whole

    @cached_property
    def _jacobians(self) -> tuple[wp.array, wp.array]:
        model = self._host.model
        whole = (model.articulation_count, 6 * model.max_joints_per_articulation, model.max_dofs_per_articulation)
        return self._zeros(whole), self._zeros(model.joint_dof_count, wp.spatial_vector)

    @cached_property
    def _jacobian_rows(self) -> wp.array:
        rows, links, dofs = self._shape
        whole, _ = self._jacobians
        if self._is_whole and whole.shape == (rows, 6 * links, dofs):
            return whole.reshape((rows, links, 6, dofs))
        return self._zeros((rows, links, 6, dofs))

    @cached_property
    def _matrices(self) -> tuple[wp.array, wp.array, wp.array, wp.array]:
        model = self._host.model
        rows, _, dofs = self._shape
        inertias = self._zeros(model.body_count, wp.spatial_matrix)
        motions = self._zeros(model.joint_dof_count, wp.spatial_vector)
        dof_count = model.max_dofs_per_articulation
        whole = self._zeros((model.articulation_count, dof_count, dof_count))
        is_whole = self._is_whole and whole.shape == (rows, dofs, dofs)
        return whole, inertias, motions, whole if is_whole else self._zeros((rows, dofs, dofs))

    @cached_property
    def _gravity_forces(self) -> tuple[wp.array, wp.array]:
        rows, links, dofs = self._shape
        return self._zeros((rows, links), wp.vec4), self._zeros((rows, dofs))

    @cached_property
    def _coriolis_forces(self) -> tuple[wp.array, wp.array]:
        return self._zeros(self._host.model.joint_dof_count), self._zeros((self._shape[0], self._shape[2]))

    def _zeros(self, shape: int | tuple[int, ...], dtype: Any = float) -> wp.array:
        device = self._host.model.device
        if device.is_capturing:
            raise ViewError("dynamics: the first call allocates; make it before the capture")
        return wp.zeros(shape, dtype=dtype, device=device)


def _parents(model: newton.Model, joints: np.ndarray) -> np.ndarray:
    """Return the column of the link that carries each link, shape [count, max_links]; padding for the first."""
    ancestors = on_host(model.joint_ancestor)[joints]
    is_carried = (joints != PADDING) & (ancestors != PADDING)
    return np.where(is_carried, ancestors - joints[:, :1], PADDING).astype(np.int32)


def _carriers(model: newton.Model, indices: ArticulationIndices) -> np.ndarray:
    """Return the column of the link that each generalized DOF moves, shape [count, columns]; padding for none."""
    dofs = indices.generalized
    joints = np.searchsorted(on_host(model.joint_qd_start), dofs, side="right") - 1
    return np.where(dofs == PADDING, PADDING, joints - indices.joints[:, :1]).astype(np.int32)
