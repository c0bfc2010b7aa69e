"""Articulations of all worlds as rows: their DOFs, roots and links, and the terms of their equations of motion."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np
from pippin.arrays import on_host, present
from pippin.axes import axis_labels
from pippin.binding import Host
from pippin.devices import WARP_LOCK

from .body_rows import BodyRowView
from .dynamics import Dynamics
from .errors import RowError
from .memory import Array, deliver
from .metatype import ArticulationMetatype
from .quantities import ARTICULATION, Element, ViewQuantity
from .quantity_buffer import Balls
from .rows import accessors, getter
from .structure import PADDING, ArticulationIndices, of_articulation


class ArticulationView(BodyRowView):
    """One row for each articulation, padded to the longest: with -1 in the index maps, and with 0 in the values.

    Links are the bodies that the joints of the tree move, in the order of the joints, the root first. DOFs are those of
    the joints, without the six of a free root. Generalized DOFs are the six of a free root, then the others: as many
    columns as any row needs. `SimulationView.articulations` makes this view.

    A getter raises a `ViewError` if `out` does not fit. A setter raises a `ViewError` if the data does not fit, or may
    not be set now or under this solver, and a `RowError` for an index without a row. After a call of
    `SimulationView.invalidate`, every method raises a `SimulationError`.

    Args:
        host: The simulation.
        articulations: Articulation of each row, shape [count], int32.
    """

    quantities: ClassVar[Mapping[str, ViewQuantity]] = ARTICULATION

    def __init__(self, host: Host, articulations: np.ndarray) -> None:
        model = host.model
        self._indices = indices = ArticulationIndices.of(model, articulations)
        labels = [model.articulation_label[index] for index in articulations]
        maps = {
            "dof": indices.dofs,
            "dof_coord": indices.dof_coords,
            "coordinate": indices.coords,
            "root": indices.links[:, :1],
            "link": indices.links,
            "joint": indices.joints,
        }
        balls = Balls(indices, present(model.device)) if indices.ball_coords.size else None
        joints, worlds = indices.joints[:, 0], on_host(model.articulation_world)[articulations].astype(np.int32)
        super().__init__(host, labels, worlds, articulations, maps, joints, balls, _quaternion(indices))
        self._dynamics = Dynamics(host, articulations, indices, self._row_flags.world_of)

    def _name_of(self, element: Element, row: int, column: int) -> str:
        structure = of_articulation(self._host.model, int(self.articulation_indices[row]))
        if element == "dof":
            return f"DOF {structure.dof_names[column]!r}"
        if element == "link":
            return f"link {structure.link_names[column]!r}"
        if element == "coordinate":
            ends = np.cumsum(structure.joint_coord_counts)
            return f"joint {structure.joint_names[int(np.searchsorted(ends, column, side='right'))]!r}"
        return ""

    # The structure of the rows.

    @property
    def max_links(self) -> int:
        """The number of links of the row with the most links."""
        return self._indices.links.shape[1]

    @property
    def max_dofs(self) -> int:
        """The number of DOFs of the row with the most DOFs, without those of free roots."""
        return self._indices.dofs.shape[1]

    @property
    def max_coords(self) -> int:
        """The number of coordinates of the row with the most: a ball joint has four coordinates and three DOFs."""
        return self._indices.coords.shape[1]

    @property
    def is_homogeneous(self) -> bool:
        """Whether all rows have the same number of links and of DOFs."""
        return bool(self.link_mask.all() and self.dof_mask.all())

    @property
    def body_indices(self) -> np.ndarray:
        """Body of each link, shape [count, max_links]."""
        return self._indices.links

    @property
    def dof_indices(self) -> np.ndarray:
        """Index of each DOF in the model, shape [count, max_dofs]."""
        return self._indices.dofs

    @property
    def coord_indices(self) -> np.ndarray:
        """Index of each coordinate in the model, shape [count, max_coords]."""
        return self._indices.coords

    @property
    def generalized_indices(self) -> np.ndarray:
        """Index of each generalized DOF in the model, shape [count, columns]."""
        return self._indices.generalized

    @property
    def link_mask(self) -> np.ndarray:
        """True for links and False for padding, shape [count, max_links]."""
        return self._indices.links != PADDING

    @property
    def dof_mask(self) -> np.ndarray:
        """True for DOFs and False for padding, shape [count, max_dofs]."""
        return self._indices.dofs != PADDING

    @property
    def dof_types(self) -> np.ndarray:
        """`DofType` of each DOF, shape [count, max_dofs], uint8; padding is 0."""
        return self._indices.dof_types

    def get_dof_types(self) -> np.ndarray:
        """Return `dof_types`; Isaac's name."""
        return self.dof_types

    def metatype(self, row: int) -> ArticulationMetatype:
        """Return the structure of the articulation of a row.

        Raises:
            RowError: There is no such row.
        """
        if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < self.count:
            raise RowError(f"metatype: {row!r} is not a row; the view has {self.count}, counted from 0")
        return of_articulation(self._host.model, int(self.articulation_indices[row]))

    get_metatype = metatype

    @cached_property
    def shared_metatype(self) -> ArticulationMetatype:
        """The structure of the first row, which all rows share if the view is homogeneous."""
        return self.metatype(0)

    @cached_property
    def link_labels(self) -> list[list[str]]:
        """Labels of the links of each row."""
        names = self._host.model.body_label
        return [[names[link] for link in row if link != PADDING] for row in self._indices.links]

    @property
    def link_paths(self) -> list[list[str]]:
        """Isaac's name of `link_labels`."""
        return self.link_labels

    @property
    def link_names(self) -> tuple[str, ...]:
        """Last segments of the labels of the first row's links."""
        return self.shared_metatype.link_names

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the first row's joints with DOFs, without a free root."""
        return self.shared_metatype.joint_names

    @property
    def dof_names(self) -> tuple[str, ...]:
        """Names of the first row's DOFs."""
        return self.shared_metatype.dof_names

    @cached_property
    def dof_labels(self) -> list[list[str]]:
        """Labels of the DOFs of each row: of the axis if it has a name, else of the joint."""
        model, dofs = self._host.model, self._indices.dofs
        joints = np.searchsorted(on_host(model.joint_qd_start), dofs, side="right") - 1
        owners = [dict.fromkeys(row[is_dof].tolist()) for row, is_dof in zip(joints, dofs != PADDING, strict=True)]
        return [axis_labels(model, row) for row in owners]

    @property
    def dof_paths(self) -> list[list[str]]:
        """Isaac's name of `dof_labels`."""
        return self.dof_labels

    @property
    def jacobian_shape(self) -> tuple[int, int, int]:
        """Shape of a row of `get_jacobians`: links, 6, generalized DOFs."""
        return self.max_links, 6, self._indices.generalized.shape[1]

    @property
    def generalized_mass_matrix_shape(self) -> tuple[int, int]:
        """Shape of a row of `get_mass_matrices`: generalized DOFs twice."""
        return (self._indices.generalized.shape[1],) * 2

    # Getters and setters of the quantities.

    get_dof_positions, set_dof_positions = accessors(ARTICULATION["dof_positions"])
    get_dof_velocities, set_dof_velocities = accessors(ARTICULATION["dof_velocities"])
    get_joint_coords, set_joint_coords = accessors(ARTICULATION["joint_coords"])
    get_dof_position_targets, set_dof_position_targets = accessors(ARTICULATION["dof_position_targets"])
    get_dof_velocity_targets, set_dof_velocity_targets = accessors(ARTICULATION["dof_velocity_targets"])
    get_dof_forces, set_dof_forces = accessors(ARTICULATION["dof_forces"])
    get_dof_limits, set_dof_limits = accessors(ARTICULATION["dof_limits"])
    get_dof_stiffnesses, set_dof_stiffnesses = accessors(ARTICULATION["dof_stiffnesses"])
    get_dof_dampings, set_dof_dampings = accessors(ARTICULATION["dof_dampings"])
    get_dof_max_forces, set_dof_max_forces = accessors(ARTICULATION["dof_max_forces"])
    get_dof_max_velocities, set_dof_max_velocities = accessors(ARTICULATION["dof_max_velocities"])
    get_dof_armatures, set_dof_armatures = accessors(ARTICULATION["dof_armatures"])
    get_dof_frictions, set_dof_frictions = accessors(ARTICULATION["dof_frictions"])
    get_root_transforms, set_root_transforms = accessors(ARTICULATION["root_transforms"])
    get_root_velocities, set_root_velocities = accessors(ARTICULATION["root_velocities"])
    get_link_transforms = getter(ARTICULATION["link_transforms"])
    get_link_velocities = getter(ARTICULATION["link_velocities"])
    get_link_accelerations = getter(ARTICULATION["link_accelerations"])
    get_link_incoming_joint_force = getter(ARTICULATION["link_incoming_joint_force"])

    # Isaac's names of some methods.

    get_dof_actuation_forces = get_dof_forces
    set_dof_actuation_forces = set_dof_forces
    get_link_incoming_joint_forces = get_link_incoming_joint_force

    # Terms of the equations of motion.

    def get_jacobians(self, out: Array | None = None) -> Array:
        """Return the velocity of each link per velocity of each generalized DOF, shape [count, max_links, 6, columns].

        Velocities are linear of the centre of mass, then angular, in the world. A free root's six columns come first,
        then those of the DOFs; without a free root in any row, there are no columns for roots. The first call
        allocates.
        """
        return self._compute("jacobians", out)

    def get_mass_matrices(self, out: Array | None = None) -> Array:
        """Return the inertia that couples generalized DOFs [kg, kg·m, kg·m²], shape [count, columns, columns].

        It includes the armature. The first call allocates.
        """
        return self._compute("mass_matrices", out)

    def get_gravity_forces(self, out: Array | None = None) -> Array:
        """Return the effort that holds each row still against gravity [N or N·m], shape [count, columns].

        The first call allocates.
        """
        return self._compute("gravity_forces", out)

    def get_coriolis_forces(self, out: Array | None = None) -> Array:
        """Return the effort that Coriolis and centrifugal accelerations need [N or N·m], shape [count, columns].

        Newton computes this effort, and on the CPU allocates in every call.
        """
        return self._compute("coriolis_forces", out)

    get_generalized_mass_matrices = get_mass_matrices
    get_gravity_compensation_forces = get_gravity_forces
    get_coriolis_and_centrifugal_compensation_forces = get_coriolis_forces

    def _compute(self, name: str, out: Array | None) -> Array:
        with WARP_LOCK:
            self._refuse_invalid(f"get_{name}")
            state = self._host.stepped_state or self._host.state
            return deliver(getattr(self._dynamics, name)(state), out, f"get_{name}")


def _quaternion(indices: ArticulationIndices) -> np.ndarray | None:
    """Return the position of each coordinate in the quaternion of its ball joint, -1 for others; None without balls."""
    firsts = indices.ball_coords[indices.ball_coords != PADDING]
    if not firsts.size:
        return None
    position = np.full(int(indices.coords.max()) + 1, PADDING, dtype=np.int32)
    for k in range(4):
        position[firsts + k] = k
    return np.where(indices.coords == PADDING, PADDING, position[indices.coords])
