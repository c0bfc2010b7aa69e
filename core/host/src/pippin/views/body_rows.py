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
from .quantities import ARTICULATION, RIGID_BODY, Element, ViewQuantity
from .quantity_buffer import Balls
from .row_selection import RowSelection
from .rows import RowView, accessors, getter
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

    get_masses, set_masses = accessors(ARTICULATION["masses"])
    get_inv_masses = getter(ARTICULATION["inv_masses"])
    get_coms, set_coms = accessors(ARTICULATION["coms"])
    get_inertias, set_inertias = accessors(ARTICULATION["inertias"])
    get_inv_inertias = getter(ARTICULATION["inv_inertias"])
    get_disable_gravities, set_disable_gravities = accessors(ARTICULATION["disable_gravities"])

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

    get_transforms, set_transforms = accessors(RIGID_BODY["transforms"])
    get_velocities, set_velocities = accessors(RIGID_BODY["velocities"])
    get_accelerations = getter(RIGID_BODY["accelerations"])


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
