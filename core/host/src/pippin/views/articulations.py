"""Articulations of all worlds as rows: their DOFs, roots and links, and the terms of their equations of motion."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

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

    def get_dof_positions(self, out: Array | None = None) -> Array:
        """Return the position [m or rad], shape [count, max_dofs]. Of a ball joint, its rotation vector."""
        return self._get("dof_positions", out)

    def set_dof_positions(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the position [m or rad], shape [count, max_dofs]. Of a ball joint, its rotation vector."""
        self._set("dof_positions", data, indices, mask, compact)

    def get_dof_velocities(self, out: Array | None = None) -> Array:
        """Return the velocity [m/s or rad/s], shape [count, max_dofs]. Of a ball joint, its angular velocity."""
        return self._get("dof_velocities", out)

    def set_dof_velocities(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the velocity [m/s or rad/s], shape [count, max_dofs]. Of a ball joint, its angular velocity."""
        self._set("dof_velocities", data, indices, mask, compact)

    def get_joint_coords(self, out: Array | None = None) -> Array:
        """Return the joint coordinate [m or rad], shape [count, max_coords]. Of a ball joint, its quaternion."""
        return self._get("joint_coords", out)

    def set_joint_coords(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the joint coordinate [m or rad], shape [count, max_coords]. Of a ball joint, its quaternion."""
        self._set("joint_coords", data, indices, mask, compact)

    def get_dof_position_targets(self, out: Array | None = None) -> Array:
        """Return the position that the solver's own drives pull to [m or rad], shape [count, max_dofs]."""
        return self._get("dof_position_targets", out)

    def set_dof_position_targets(
        self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False
    ) -> None:
        """Set the position that the solver's own drives pull to [m or rad], shape [count, max_dofs]."""
        self._set("dof_position_targets", data, indices, mask, compact)

    def get_dof_velocity_targets(self, out: Array | None = None) -> Array:
        """Return the velocity that the solver's own drives pull to [m/s or rad/s], shape [count, max_dofs]."""
        return self._get("dof_velocity_targets", out)

    def set_dof_velocity_targets(
        self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False
    ) -> None:
        """Set the velocity that the solver's own drives pull to [m/s or rad/s], shape [count, max_dofs]."""
        self._set("dof_velocity_targets", data, indices, mask, compact)

    def get_dof_forces(self, out: Array | None = None) -> Array:
        """Return the effort in addition to the drives [N or N·m], shape [count, max_dofs].

        The effort is kept until it is set again. An actuator owns its DOFs: do not set them here.
        """
        return self._get("dof_forces", out)

    def set_dof_forces(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the effort in addition to the drives [N or N·m], shape [count, max_dofs].

        The effort is kept until it is set again. An actuator owns its DOFs: do not set them here.
        """
        self._set("dof_forces", data, indices, mask, compact)

    def get_dof_limits(self, out: Array | None = None) -> Array:
        """Return the lowest and highest position [m or rad], shape [count, max_dofs, 2]."""
        return self._get("dof_limits", out)

    def set_dof_limits(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the lowest and highest position [m or rad], shape [count, max_dofs, 2]. The solver is notified."""
        self._set("dof_limits", data, indices, mask, compact)

    def get_dof_stiffnesses(self, out: Array | None = None) -> Array:
        """Return the stiffness of the drive [N/m or N·m/rad], shape [count, max_dofs]."""
        return self._get("dof_stiffnesses", out)

    def set_dof_stiffnesses(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the stiffness of the drive [N/m or N·m/rad], shape [count, max_dofs]. The solver is notified."""
        self._set("dof_stiffnesses", data, indices, mask, compact)

    def get_dof_dampings(self, out: Array | None = None) -> Array:
        """Return the damping of the drive [N·s/m or N·m·s/rad], shape [count, max_dofs]."""
        return self._get("dof_dampings", out)

    def set_dof_dampings(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the damping of the drive [N·s/m or N·m·s/rad], shape [count, max_dofs]. The solver is notified."""
        self._set("dof_dampings", data, indices, mask, compact)

    def get_dof_max_forces(self, out: Array | None = None) -> Array:
        """Return the largest effort of the drive [N or N·m], shape [count, max_dofs]."""
        return self._get("dof_max_forces", out)

    def set_dof_max_forces(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the largest effort of the drive [N or N·m], shape [count, max_dofs]. The solver is notified."""
        self._set("dof_max_forces", data, indices, mask, compact)

    def get_dof_max_velocities(self, out: Array | None = None) -> Array:
        """Return the highest speed [m/s or rad/s], shape [count, max_dofs]."""
        return self._get("dof_max_velocities", out)

    def set_dof_max_velocities(
        self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False
    ) -> None:
        """Set the highest speed [m/s or rad/s], shape [count, max_dofs]. The solver is notified."""
        self._set("dof_max_velocities", data, indices, mask, compact)

    def get_dof_armatures(self, out: Array | None = None) -> Array:
        """Return the armature [kg or kg·m²], shape [count, max_dofs]."""
        return self._get("dof_armatures", out)

    def set_dof_armatures(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the armature [kg or kg·m²], shape [count, max_dofs]. The solver is notified."""
        self._set("dof_armatures", data, indices, mask, compact)

    def get_dof_frictions(self, out: Array | None = None) -> Array:
        """Return the friction [N or N·m], shape [count, max_dofs]."""
        return self._get("dof_frictions", out)

    def set_dof_frictions(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the friction [N or N·m], shape [count, max_dofs]. The solver is notified."""
        self._set("dof_frictions", data, indices, mask, compact)

    def get_root_transforms(self, out: Array | None = None) -> Array:
        """Return the pose of the root [m, 1], shape [count, 7].

        Setting it for a fixed root moves its anchor. Frame: world; position of the body's origin, quaternion
        (x, y, z, w).
        """
        return self._get("root_transforms", out)

    def set_root_transforms(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the pose of the root [m, 1], shape [count, 7].

        Setting it for a fixed root moves its anchor. Frame: world; position of the body's origin, quaternion
        (x, y, z, w). The solver is notified.
        """
        self._set("root_transforms", data, indices, mask, compact)

    def get_root_velocities(self, out: Array | None = None) -> Array:
        """Return the velocity of the root [m/s, rad/s], shape [count, 6].

        It can be set only for a free root. Frame: world; linear of the centre of mass, then angular.
        """
        return self._get("root_velocities", out)

    def set_root_velocities(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the velocity of the root [m/s, rad/s], shape [count, 6].

        It can be set only for a free root. Frame: world; linear of the centre of mass, then angular.
        """
        self._set("root_velocities", data, indices, mask, compact)

    def get_link_transforms(self, out: Array | None = None) -> Array:
        """Return the pose of each link [m, 1], shape [count, max_links, 7].

        Frame: world; position of the body's origin, quaternion (x, y, z, w).
        """
        return self._get("link_transforms", out)

    def get_link_velocities(self, out: Array | None = None) -> Array:
        """Return the velocity of each link [m/s, rad/s], shape [count, max_links, 6].

        Frame: world; linear of the centre of mass, then angular.
        """
        return self._get("link_velocities", out)

    def get_link_accelerations(self, out: Array | None = None) -> Array:
        """Return the acceleration of each link in the last substep [m/s², rad/s²], shape [count, max_links, 6].

        Frame: world; linear of the centre of mass, then angular.
        """
        return self._get("link_accelerations", out)

    def get_link_incoming_joint_force(self, out: Array | None = None) -> Array:
        """Return the wrench that a link's own joint exerted on it in the last substep [N, N·m].

        Shape [count, max_links, 6]. Frame: world; force, then torque about the centre of mass.
        """
        return self._get("link_incoming_joint_force", out)

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
