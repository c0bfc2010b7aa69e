"""Rows of views of bodies, single or linked: their inertial properties, and forces on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import warp as wp
from pippin.binding import Host
from pippin.devices import WARP_LOCK

from .attributes import shapes_of
from .balls import Balls
from .exchange import Array
from .host_checks import HostCheck
from .indexing import PADDING
from .placement import Placement
from .quantities import Element, ViewQuantity
from .row_selection import RowSelection
from .rows import RowView
from .rules import RULES
from .wrenches import Frame, Wrenches

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

    def _refuse_joined(self, where: str, quantity: ViewQuantity, selection: RowSelection) -> None:
        if not quantity.moves_anchor:
            self._placement.refuse_joined(where, selection)

    def _place(
        self, where: str, quantity: ViewQuantity, values: wp.array, selection: RowSelection, is_checked: bool
    ) -> None:
        faults = self._faults_of[quantity.name]
        if quantity.moves_anchor and self._placement.has_joined:
            self._notify(where, quantity.flags)
            self._placement.settle_joined(values, selection, faults, self._model_flags)
        if quantity.placed:
            rule = None if is_checked else RULES[quantity.valid]
            self._placement.write(quantity.placed, values, selection, rule, faults)

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
