"""Views of bodies, single or linked: their inertial properties, the forces on them, and the rows of single bodies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, get_args

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.binding import Host
from pippin.devices import WARP_LOCK
from pippin.labels import name_of
from pippin.state.snapshot import Scratch

from .attributes import shapes_of
from .errors import ViewError
from .host_checks import HostCheck
from .kernels.rows import DirtyFlags
from .kernels.wrenches import WrenchData, add_wrenches
from .launching import PreparedLaunch, update
from .memory import Array, Staging, WarpArrayCache
from .placement import Placement
from .quantities import RIGID_BODY, Element, ViewQuantity
from .quantity_buffer import Balls
from .row_selection import RowSelection
from .rows import RowView
from .structure import PADDING, index_map

Frame = Literal["world", "body"]

_APPLY = "apply_forces"


class BodyRowView(RowView):
    """Rows of articulations, single bodies or cables: what their bodies have in common."""

    _calls = (_APPLY,)

    def __init__(
        self,
        host: Host,
        labels: Sequence[str],
        world_ids: np.ndarray,
        articulation_indices: np.ndarray,
        indices: Mapping[str, np.ndarray],
        joints: np.ndarray,
        balls: Balls | None = None,
        quaternion: np.ndarray | None = None,
    ) -> None:
        super().__init__(host, labels, world_ids, articulation_indices, indices, balls, quaternion)
        element: Element = "link" if "link" in indices else "body"
        bodies = indices[element]
        describe = partial(self._described, element)
        force_check = HostCheck(components=3, is_used=bodies != PADDING, describe=describe)
        vectors = self._shape(element, bodies.shape, 3)
        self._wrenches = Wrenches(host, bodies, vectors, force_check, self._faults.of(_APPLY))
        self._placement = Placement(
            host=host,
            flags=self._row_flags,
            moves_anchor=any(quantity.moves_anchor for quantity in self.quantities.values()),
            labels=self.labels,
            bodies=indices["root" if "root" in indices else element][:, :1].max(axis=1, initial=PADDING),
            joints=joints,
        )

    def _elements(self, indices: Mapping[str, np.ndarray]) -> dict[str, Callable[[], np.ndarray]]:
        bodies = indices["link" if "link" in indices else "body"]
        of_bodies = bodies if "link" in indices else bodies[:, 0]
        model, articulations, worlds = self._host.model, self.articulation_indices, self.world_ids
        found: dict[str, Callable[[], np.ndarray]] = {
            "BODY": lambda: of_bodies,
            "JOINT": lambda: indices["joint"],
            "SHAPE": lambda: shapes_of(model, bodies),
            "ARTICULATION": lambda: articulations,
            "WORLD": lambda: worlds,
        }
        if "dof" in indices:
            found |= {"JOINT_DOF": lambda: indices["dof"], "JOINT_COORD": lambda: indices["coordinate"]}
        return found

    # Inertial properties of bodies.

    def get_masses(self, out: Array | None = None) -> Array:
        """Return the mass [kg], shape [count, max_links], or [count] for single bodies. Its inverse follows."""
        return self._get("masses", out)

    def set_masses(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the mass [kg], shape [count, max_links], or [count] for single bodies.

        Its inverse follows. The solver is notified.
        """
        self._set("masses", data, indices, mask, compact)

    def get_inv_masses(self, out: Array | None = None) -> Array:
        """Return the inverse mass [1/kg], shape [count, max_links], or [count] for single bodies.

        0 if nothing moves the body.
        """
        return self._get("inv_masses", out)

    def get_coms(self, out: Array | None = None) -> Array:
        """Return the centre of mass [m], shape [count, max_links, 7], or [count, 7] for single bodies.

        The quaternion after it is the identity. Frame: body.
        """
        return self._get("coms", out)

    def set_coms(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the centre of mass [m], shape [count, max_links, 7], or [count, 7] for single bodies.

        The quaternion after it is the identity. Frame: body. The solver is notified.
        """
        self._set("coms", data, indices, mask, compact)

    def get_inertias(self, out: Array | None = None) -> Array:
        """Return the inertia [kg·m²], shape [count, max_links, 9], or [count, 9] for single bodies.

        Its inverse follows. Frame: body axes, about the centre of mass.
        """
        return self._get("inertias", out)

    def set_inertias(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the inertia [kg·m²], shape [count, max_links, 9], or [count, 9] for single bodies.

        Its inverse follows. Frame: body axes, about the centre of mass. The solver is notified.
        """
        self._set("inertias", data, indices, mask, compact)

    def get_inv_inertias(self, out: Array | None = None) -> Array:
        """Return the inverse inertia [1/(kg·m²)], shape [count, max_links, 9], or [count, 9] for single bodies.

        0 if singular. Frame: body axes, about the centre of mass.
        """
        return self._get("inv_inertias", out)

    def get_disable_gravities(self, out: Array | None = None) -> Array:
        """Return the mark of bodies without gravity, shape [count, max_links], or [count] for single bodies. 1 or 0."""
        return self._get("disable_gravities", out)

    def set_disable_gravities(
        self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False
    ) -> None:
        """Set the mark of bodies without gravity, shape [count, max_links], or [count] for single bodies.

        1 or 0. The solver is notified.
        """
        self._set("disable_gravities", data, indices, mask, compact)

    # Forces.

    def apply_forces(
        self,
        forces: Array | None = None,
        indices: Any = None,
        mask: Any = None,
        *,
        torques: Array | None = None,
        positions: Array | None = None,
        compact: bool = False,
        frame: Frame = "world",
    ) -> None:
        """Add forces on the bodies, for the whole next control step.

        The forces of several calls and those in `state.body_f` add up. If the method is called inside a step, in a
        phase before a substep, the forces act in that substep only.

        Args:
            forces: Forces [N], shape [count, max_links, 3], or [count, 3] for single bodies.
            indices: Rows of the view.
            mask: Whether each row is written, shape [count].
            torques: Torques [N·m], in the shape of the forces.
            positions: Points of attack of the forces [m], in the same shape; by default the centres of mass.
            compact: Whether the data has one row per index.
            frame: Frame of all three: the world, or each body with positions measured from its origin.

        Raises:
            ViewError: A shape, type or frame is wrong, or positions come without forces.
            RowError: An index is out of range.
        """
        Wrenches.refuse(_APPLY, forces, positions, frame)
        with WARP_LOCK:
            self._refuse_unwritable(_APPLY)
            selection = self._selector.select(_APPLY, indices, mask, compact)
            data = {"forces": forces, "torques": torques, "positions": positions}
            self._wrenches.add(_APPLY, selection, frame, **data)

    def apply_forces_and_torques_at_position(
        self,
        forces: Array | None = None,
        torques: Array | None = None,
        positions: Array | None = None,
        indices: Any = None,
        is_global: bool = True,
    ) -> None:
        """Add forces on the bodies; Isaac's name and arguments of `apply_forces`.

        Args:
            forces: As for `apply_forces`.
            torques: As for `apply_forces`.
            positions: As for `apply_forces`.
            indices: As for `apply_forces`.
            is_global: Whether all are in the world frame; else in that of each body.
        """
        frame: Frame = "world" if is_global else "body"
        self.apply_forces(forces, indices, torques=torques, positions=positions, frame=frame)


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

    body_paths = RowView.prim_paths

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


class Wrenches(Scratch):
    """Adds forces and torques on the bodies of each row, padded with -1; data has three numbers for each body."""

    def __init__(
        self, host: Host, bodies: np.ndarray, shape: tuple[int, ...], check: HostCheck, faults: wp.array
    ) -> None:
        device = present(faults.device)
        self._host, self._shape, self._check, self._faults = host, shape, check, faults
        self._index, self._no_flags = index_map(bodies, device), DirtyFlags()
        self._data: Any = WrenchData()
        self._staging = [Staging(3 * bodies.size, "float32", device) for _ in range(3)]
        self._launch = PreparedLaunch(add_wrenches, device, bodies.shape[1])
        self._aliases = WarpArrayCache()

    @staticmethod
    def refuse(where: str, forces: Any, positions: Any, frame: str) -> None:
        """Refuse wrong arguments."""
        if frame not in get_args(Frame):
            raise ViewError(f"{where}: frame: expected 'world' or 'body', got {frame!r}")
        if positions is not None and forces is None:
            raise ViewError(f"{where}: got positions, but no forces that act there; pass forces")

    def add(self, where: str, selection: RowSelection, frame: Frame, **data: Any) -> None:
        """Add `forces` at `positions`, and `torques`, each an array or None. May be recorded."""
        shape = (selection.data_count, *self._shape[1:])
        checked = {
            name: self._check.check(each, shape, selection, f"{where}: {name}")
            for name, each in data.items()
            if each is not None
        }
        vectors = dict.fromkeys(data)
        for staging, (name, each) in zip(self._staging, checked.items(), strict=False):
            vectors[name] = self._aliases.of(staging.dense(each), wp.vec3, math.prod(shape[:-1]))
        model, state = self._host.model, self._host.stepped_state or self._host.state
        update(self._data, is_in_body_frame=frame == "body", body_com=model.body_com, **vectors)
        inputs = [self._data, self._index, selection.argument, self._faults, self._no_flags, state.body_f, state.body_q]
        self._launch(selection.count, inputs)
