"""Jacobians, mass matrices and the forces of inverse dynamics, computed by Newton and put into the rows of a view."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.binding import Host

from .errors import ViewError
from .indexing import ArticulationIndices
from .kernels import dynamics as kernels

__all__ = ["Dynamics"]


class Dynamics:
    """Jacobians, mass matrices and forces of some articulations, by row.

    The memory is allocated at the first call of each kind.

    Args:
        host: The simulation.
        articulations: Articulation of each row, shape [count].
        indices: Their links and DOFs.
        world_of: World of each row on the device, shape [count].
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
        self._joints, self._links = on_device(indices.joints), on_device(indices.links)
        self._dofs = on_device(indices.generalized)
        first_joints = on_host(model.articulation_start)[:-1].astype(np.int32)
        self._joint_starts = on_device(first_joints)
        self._dof_starts = on_device(on_host(model.joint_qd_start)[first_joints].astype(np.int32))

    def jacobians(self, state: newton.State) -> wp.array:
        """Return the velocity of each link by each generalized DOF, shape [count, max_links, 6, 6 + max_dofs]."""
        whole, scratch, values = self._jacobians
        newton.eval_jacobian(self._host.model, state, whole, joint_S_s=scratch, mask=self._chosen)
        inputs = [whole, self._articulations, self._dof_starts, self._joint_starts, self._joints, self._dofs, values]
        wp.launch(kernels.gather_jacobians, values.shape, inputs, device=values.device)
        return values

    def mass_matrices(self, state: newton.State) -> wp.array:
        """Return the inertia by pairs of generalized DOFs, shape [count, 6 + max_dofs, 6 + max_dofs]."""
        whole, inertias, motions, values = self._matrices
        model = self._host.model
        newton.eval_mass_matrix(model, state, whole, body_I_s=inertias, joint_S_s=motions, mask=self._chosen)
        inputs = [whole, self._articulations, self._dof_starts, self._dofs, values]
        wp.launch(kernels.gather_mass_matrices, values.shape, inputs, device=values.device)
        return values

    def gravity_forces(self, state: newton.State) -> wp.array:
        """Return the effort that holds each row still, shape [count, 6 + max_dofs]."""
        values, model = self._gravity_forces, self._host.model
        inputs = [self.jacobians(state), self._links, self._world_of, model.body_mass, model.gravity, values]
        wp.launch(kernels.gather_gravity_forces, values.shape, inputs, device=values.device)
        return values

    def coriolis_forces(self, state: newton.State) -> wp.array:
        """Return the effort that velocities alone need, shape [count, 6 + max_dofs]. Newton allocates in it."""
        whole, values = self._coriolis_forces
        newton.eval_inverse_dynamics_passive(self._host.model, state, coriolis_force=whole, mask=self._chosen)
        wp.launch(kernels.gather_coriolis, values.shape, [whole, self._dofs, values], device=values.device)
        return values

    @cached_property
    def _jacobians(self) -> tuple[wp.array, wp.array, wp.array]:
        model = self._host.model
        rows, links, dofs = self._shape
        whole = (model.articulation_count, 6 * model.max_joints_per_articulation, model.max_dofs_per_articulation)
        scratch = self._zeros(model.joint_dof_count, wp.spatial_vector)
        return self._zeros(whole), scratch, self._zeros((rows, links, 6, dofs))

    @cached_property
    def _matrices(self) -> tuple[wp.array, wp.array, wp.array, wp.array]:
        model = self._host.model
        rows, _, dofs = self._shape
        whole = (model.articulation_count, model.max_dofs_per_articulation, model.max_dofs_per_articulation)
        inertias = self._zeros(model.body_count, wp.spatial_matrix)
        motions = self._zeros(model.joint_dof_count, wp.spatial_vector)
        return self._zeros(whole), inertias, motions, self._zeros((rows, dofs, dofs))

    @cached_property
    def _gravity_forces(self) -> wp.array:
        return self._zeros((self._shape[0], self._shape[2]))

    @cached_property
    def _coriolis_forces(self) -> tuple[wp.array, wp.array]:
        return self._zeros(self._host.model.joint_dof_count), self._zeros((self._shape[0], self._shape[2]))

    def _zeros(self, shape: int | tuple[int, ...], dtype: Any = float) -> wp.array:
        device = self._host.model.device
        if device.is_capturing:
            raise ViewError("dynamics: the first call allocates; make it before the capture")
        return wp.zeros(shape, dtype=dtype, device=device)
