"""Rows of views of articulations and of single bodies: what both get and set, and forces on their bodies."""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import newton
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host
from pippin.devices import WARP_LOCK
from pippin.errors import SimulationError

from .balls import Balls
from .choice import Choice, RowChoice
from .errors import RowError, ViewError
from .exchange import Array, Staging, deliver
from .field import Field
from .marks import RowMarks
from .newton_arrays import NewtonArrays
from .placement import Placement
from .quantities import Element, Quantity
from .wrenches import Frame, Wrenches

__all__ = ["RowView"]


class RowView(abc.ABC):
    """Rows of all worlds, one for each articulation or body, with a dense array for each quantity.

    `get_*` fills an array of the view's own, overwrites it at the next call and returns it; or fills and returns `out`,
    an array of Warp, NumPy, PyTorch or JAX. `set_*` takes `data` of as many rows as the view has, and writes the rows
    that `indices` list or a boolean `mask` marks, else all. With `compact=True` the data has one row per index instead.
    What follows from a setting, such as bodies from joints, is computed once, before the next step or read.

    Nothing is allocated or waited for after construction, if data lies on the simulation's device; data elsewhere
    is copied. With such data every method may be recorded. An index of no row is a `RowError`; on the device, where
    nobody waits for it, it is counted, nothing is written, and `check_errors` and `Simulation.check` raise.
    """

    quantities: ClassVar[Mapping[str, Quantity]]
    """What there is to get and to set, by name."""

    def __init__(
        self,
        host: Host,
        labels: Sequence[str],
        world_ids: np.ndarray,
        articulation_indices: np.ndarray,
        indices: Mapping[str, np.ndarray],
        joints: np.ndarray,
        balls: Balls | None = None,
        faults: wp.array | None = None,
    ) -> None:
        device = present(host.model.device)
        self._host = host
        #: Label of each row; labels repeat from world to world.
        self.labels = tuple(labels)
        #: World of each row, shape [count]; -1 for no world.
        self.world_ids = world_ids
        #: Articulation of each row, shape [count]; -1 for none.
        self.articulation_indices = articulation_indices
        #: Whether the view can be used; False once the simulation's view was invalidated.
        self.is_valid = True
        self._faults = wp.zeros(2, dtype=int, device=device) if faults is None else faults
        self._choice = RowChoice(self.count, device)
        self._marks = RowMarks(host, articulation_indices, world_ids)
        self._arrays = NewtonArrays(host)
        self._fields = {
            name: self._field(quantity, indices, balls)
            for name, quantity in self.quantities.items()
            if quantity.source != "computed"
        }
        largest = max((math.prod(field.values.shape) for field in self._fields.values()), default=0)
        bodies = indices["link" if "link" in indices else "body"]
        self._numbers = Staging(largest, wp.float32, device)
        self._flags = Staging(bodies.size, wp.uint8, device)
        vectors = (*bodies.shape, 3) if "link" in indices else (len(bodies), 3)
        self._wrenches = Wrenches(host, bodies, vectors, self._faults)
        self._placement = Placement(
            host=host,
            marks=self._marks,
            faults=self._faults,
            labels=self.labels,
            bodies=indices["root" if "root" in indices else "body"][:, 0],
            joints=joints,
        )

    def _field(self, quantity: Quantity, indices: Mapping[str, np.ndarray], balls: Balls | None) -> Field:
        index = indices["dof_coord" if quantity.is_in_coordinates else quantity.element]
        shape = self._shape(quantity.element, index.shape, quantity.components)
        return Field(quantity, index, shape, self._faults, balls if quantity.is_in_coordinates else None)

    @staticmethod
    def _shape(element: Element, shape: tuple[int, ...], components: int) -> tuple[int, ...]:
        rows = shape[:1] if element in ("root", "body") else shape
        return rows if components == 1 else (*rows, components)

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.labels)

    @property
    def prim_paths(self) -> list[str]:
        """Isaac's name of `labels`."""
        return list(self.labels)

    def shape_of(self, name: str) -> tuple[int, ...]:
        """Return the shape of a quantity that is read from Newton's arrays."""
        return self._fields[name].values.shape

    def check(self) -> bool:
        """Return whether the view can be used and has rows; Isaac's name."""
        return self.is_valid and self.count > 0

    def check_errors(self) -> None:
        """Raise for what was wrong on the device since the last call. Synchronises with the device.

        Raises:
            RowError: Indices were of no row, and nothing was written for them.
            ViewError: Centres of mass came with a rotation, which Newton does not have.
        """
        outside, rotated = self._faults.numpy().tolist()
        self._faults.zero_()
        name = type(self).__name__
        if outside:
            raise RowError(
                f"{name}: {outside} indices on the device were of no row, and nothing was written for them;"
                f" the view has {self.count} rows, counted from 0"
            )
        if rotated:
            raise ViewError(
                f"{name}: {rotated} centres of mass were set with a rotation, which was left out: inertia is in the"
                " axes of the body; rotate the inertia, and pass (0, 0, 0, 1)"
            )

    # Reading and writing by the table.

    def _get(self, name: str, out: Array | None) -> Array:
        with WARP_LOCK:
            if not self.is_valid:
                self._refuse_invalid(f"get_{name}")
            values = self._fields[name].read(self._arrays.to_read(self.quantities[name]))
            return values if out is None else deliver(values, out, f"get_{name}")

    def _set(self, name: str, data: Any, indices: Any, mask: Any, compact: bool) -> None:
        where, quantity = f"set_{name}", self.quantities[name]
        with WARP_LOCK:
            self._refuse_invalid(where)
            if quantity.source != "control" and self._host.stepped_state is not None:
                raise ViewError(f"{where}: inside a step, only targets and forces can be set; set it between steps")
            choice = self._choice.of(where, indices, mask, compact)
            staging = self._flags if quantity.storage == "flag" else self._numbers
            values = staging.take(data, (choice.data_count, *self._fields[name].values.shape[1:]), where)
            if quantity.placed:
                self._place(where, quantity, values, choice)
            else:
                self._scatter(quantity, values, choice)
            if quantity.invalidates is not None:
                self._host.written.note(quantity.invalidates)

    def _scatter(self, quantity: Quantity, values: wp.array, choice: Choice) -> None:
        arrays, inverse = self._arrays.to_write(quantity), self._arrays.inverse(quantity)
        self._notify(quantity.flags)
        marks = None if quantity.invalidates is None else self._marks
        self._fields[quantity.name].write(arrays, values, choice, marks, inverse)

    def _place(self, where: str, quantity: Quantity, values: wp.array, choice: Choice) -> None:
        if not quantity.moves_anchor:
            self._placement.refuse_joined(where)
        elif self._placement.has_joined:
            self._notify(quantity.flags)
            _ = self._host.state  # the root has to be where its joint says before that is moved along
        if quantity.placed:
            self._placement.write(quantity.placed, values, choice)

    def _notify(self, flags: Sequence[str]) -> None:
        if flags:
            # First: if the solver does not take the change over, nothing is written.
            self._host.notify_model_changed(sum(newton.ModelFlags[flag] for flag in flags))

    def _refuse_invalid(self, where: str) -> None:
        if not self.is_valid:
            raise SimulationError(f"{where}: the simulation's view was invalidated; make another view")

    # What bodies weigh.

    def get_masses(self, out: Array | None = None) -> Array:
        """Return the mass [kg], shape [count, max_links], or [count] for single bodies. Its inverse follows."""
        return self._get("masses", out)

    def set_masses(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the mass [kg], shape [count, max_links], or [count] for single bodies.

        Its inverse follows. The solver is told.
        """
        self._set("masses", data, indices, mask, compact)

    def get_inv_masses(self, out: Array | None = None) -> Array:
        """Return the inverse mass [1/kg], shape [count, max_links], or [count] for single bodies.

        0 where nothing moves the body.
        """
        return self._get("inv_masses", out)

    def get_coms(self, out: Array | None = None) -> Array:
        """Return the centre of mass [m], shape [count, max_links, 7], or [count, 7] for single bodies.

        The quaternion after it is the identity. Frame: body.
        """
        return self._get("coms", out)

    def set_coms(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the centre of mass [m], shape [count, max_links, 7], or [count, 7] for single bodies.

        The quaternion after it is the identity. Frame: body. The solver is told.
        """
        self._set("coms", data, indices, mask, compact)

    def get_inertias(self, out: Array | None = None) -> Array:
        """Return the inertia [kg·m²], shape [count, max_links, 9], or [count, 9] for single bodies.

        Its inverse follows. Frame: body axes, about the centre of mass.
        """
        return self._get("inertias", out)

    def set_inertias(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the inertia [kg·m²], shape [count, max_links, 9], or [count, 9] for single bodies.

        Its inverse follows. Frame: body axes, about the centre of mass. The solver is told.
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

        1 or 0. The solver is told.
        """
        self._set("disable_gravities", data, indices, mask, compact)

    # Forces.

    def apply_forces(
        self,
        forces: Array | None = None,
        torques: Array | None = None,
        positions: Array | None = None,
        *,
        indices: Any = None,
        mask: Any = None,
        compact: bool = False,
        frame: Frame = "world",
    ) -> None:
        """Add forces on the bodies, for the whole of the next control step.

        They add up from call to call, and with what is in `state.body_f`. Called in a phase of a step before a substep,
        they act in that substep alone.

        Args:
            forces: Forces [N], shape [count, max_links, 3], or [count, 3] for single bodies.
            torques: Torques [N·m], in the same shape.
            positions: Where the forces act [m], in the same shape; by default at the centre of mass.
            indices: Rows of the view.
            mask: Whether each row is meant, shape [count].
            compact: Whether the data has one row per index.
            frame: Frame of all three: the world, or each body, positions then being measured from its origin.

        Raises:
            ViewError: A shape or type does not fit, the frame is another, or positions come without forces.
            RowError: An index is of no row.
        """
        where = "apply_forces"
        Wrenches.refuse(where, forces, positions, frame)
        with WARP_LOCK:
            self._refuse_invalid(where)
            choice = self._choice.of(where, indices, mask, compact)
            self._wrenches.add(where, choice, frame, forces=forces, torques=torques, positions=positions)

    def apply_forces_and_torques_at_position(
        self,
        forces: Array | None = None,
        torques: Array | None = None,
        positions: Array | None = None,
        indices: Any = None,
        is_global: bool = True,
    ) -> None:
        """Add forces on the bodies; Isaac's name and arguments of `apply_forces`."""
        frame: Frame = "world" if is_global else "body"
        self.apply_forces(forces, torques, positions, indices=indices, frame=frame)
