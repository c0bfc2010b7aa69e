"""Single bodies of all worlds as rows: their poses, velocities and masses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import newton
import numpy as np
from pippin.arrays import on_host
from pippin.binding import Host
from pippin.labels import name_of

from .body_rows import BodyRowView
from .exchange import Array
from .indexing import PADDING
from .quantities import RIGID_BODY, ViewQuantity


class RigidBodyView(BodyRowView):
    """One row for each body, free or a link of an articulation; a body held by a joint cannot be moved freely.

    `SimulationView.rigid_bodies` makes this view. Errors are those of `ArticulationView`.

    Args:
        host: The simulation.
        bodies: Body of each row, shape [count], int32.
    """

    quantities: ClassVar[Mapping[str, ViewQuantity]] = RIGID_BODY

    def __init__(self, host: Host, bodies: np.ndarray) -> None:
        model = host.model
        #: Body of each row, shape [count].
        self.body_indices: np.ndarray = bodies
        joints, articulations = movers(model, bodies)
        labels = [model.body_label[body] for body in bodies]
        worlds = on_host(model.body_world)[bodies].astype(np.int32)
        super().__init__(host, labels, worlds, articulations, {"body": bodies[:, None], "joint": joints}, joints)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Last segment of each row's label."""
        return tuple(map(name_of, self.labels))

    @property
    def body_paths(self) -> list[str]:
        """Isaac's name of `labels`."""
        return list(self.labels)

    def get_transforms(self, out: Array | None = None) -> Array:
        """Return the pose [m, 1], shape [count, 7].

        It can be set only for a free body. Frame: world; position of the body's origin, quaternion (x, y, z, w).
        """
        return self._get("transforms", out)

    def set_transforms(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the pose [m, 1], shape [count, 7].

        It can be set only for a free body. Frame: world; position of the body's origin, quaternion (x, y, z, w).
        """
        self._set("transforms", data, indices, mask, compact)

    def get_velocities(self, out: Array | None = None) -> Array:
        """Return the velocity [m/s, rad/s], shape [count, 6].

        It can be set only for a free body. Frame: world; linear of the centre of mass, then angular.
        """
        return self._get("velocities", out)

    def set_velocities(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the velocity [m/s, rad/s], shape [count, 6].

        It can be set only for a free body. Frame: world; linear of the centre of mass, then angular.
        """
        self._set("velocities", data, indices, mask, compact)

    def get_accelerations(self, out: Array | None = None) -> Array:
        """Return the acceleration in the last substep [m/s², rad/s²], shape [count, 6].

        Frame: world; linear of the centre of mass, then angular.
        """
        return self._get("accelerations", out)


def movers(model: newton.Model, bodies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the joint that moves each body, and the articulation of this joint; -1 for none."""
    joint_of, tree_of = (np.full(model.body_count, PADDING, dtype=np.int32) for _ in range(2))
    if model.joint_count:
        articulations = on_host(model.joint_articulation)
        joints = np.flatnonzero(articulations >= 0)
        ends = on_host(model.articulation_end)[articulations[joints]]
        joints = joints[joints < ends][::-1]  # the first joint of a body is the one that moves it
        children = on_host(model.joint_child)[joints]
        joint_of[children], tree_of[children] = joints, articulations[joints]
    return joint_of[bodies], tree_of[bodies]
