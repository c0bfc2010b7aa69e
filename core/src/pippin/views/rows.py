"""Rows of views of articulations and of single bodies: the quantities of both, and forces on their bodies."""

from __future__ import annotations

import abc
import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import newton
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host, refuse_closed
from pippin.devices import WARP_LOCK, shares_memory
from pippin.errors import ConfigError, SimulationError
from pippin.frozen_attributes import FrozenAttributes

from .attributes import Attributes, shapes_of
from .balls import Balls
from .device_faults import DeviceFaults
from .dirty_flags import RowFlags
from .errors import ViewError
from .exchange import Array, deliver
from .host_checks import HostCheck
from .indexing import PADDING
from .memory import Staging
from .newton_arrays import arrays_to_read, arrays_to_write
from .permissions import IN_STEP, Permissions, index_of
from .placement import Placement
from .quantities import Element, ViewQuantity
from .quantity_buffer import QuantityBuffer
from .row_selection import RowSelection, RowSelector
from .rules import RULES, Valid
from .wrenches import Frame, Wrenches

_APPLY, _ATTRIBUTE = "apply_forces", "set_attribute"


class RowView(FrozenAttributes, abc.ABC):
    """Rows of all worlds, one for each articulation or body, with a dense array for each quantity.

    `get_*` fills and returns an array that the view owns; the next call overwrites it. With `out`, an array of Warp,
    NumPy, PyTorch or JAX, it fills and returns `out` instead. `set_*` takes `data` with as many rows as the view, and
    writes the rows in `indices`, the rows marked by a boolean `mask`, or all. With `compact=True` the data has one row
    per index instead. Dependent values, such as bodies from joints, are computed once, before the next step or read.

    If the data is on the simulation's device, no method allocates or waits after construction, and every method may be
    recorded; other data is copied. An index out of range is a `RowError`, and a value that is not allowed a `ViewError`
    that names it: nothing is written. For Warp arrays and for data on the device, such faults are only counted, because
    nobody waits for the result: what is wrong is not written, and `raise_errors` and `Simulation.raise_errors` raise.
    """

    _assignable = frozenset({"is_valid"})

    quantities: ClassVar[Mapping[str, ViewQuantity]]
    """The quantities to get and to set, by name."""

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
        device = present(host.model.device)
        self._host = host
        #: Label of each row; the same label can occur in every world.
        self.labels: tuple[str, ...] = tuple(labels)
        #: World of each row, shape [count]; -1 for no world.
        self.world_ids: np.ndarray = world_ids
        #: Articulation of each row, shape [count]; -1 for none.
        self.articulation_indices: np.ndarray = articulation_indices
        #: Whether the view can be used; False once the simulation's view was invalidated.
        self.is_valid: bool = True
        settable = [quantity for quantity in self.quantities.values() if quantity.is_settable]
        self._faults = DeviceFaults([*(f"set_{quantity.name}" for quantity in settable), _APPLY, _ATTRIBUTE], device)
        self._faults_of = {quantity.name: self._faults.of(f"set_{quantity.name}") for quantity in settable}
        self._selector = RowSelector(self.count, device)
        self._row_flags = RowFlags.of_state(host, articulation_indices, world_ids)
        self._model_flags = RowFlags.of_model(host, world_ids)
        self._buffers: dict[str, QuantityBuffer] = {}
        self._checks: dict[str, HostCheck] = {}
        described = partial(type(self)._describe, weakref.proxy(self))  # no circle with what keeps it
        for name, quantity in self.quantities.items():
            if quantity.source != "computed":
                index = index_of(quantity, indices)
                in_quaternion = quaternion if quantity.element == "coordinate" else None
                self._buffers[name] = QuantityBuffer(
                    quantity,
                    index,
                    self._shape(quantity.element, index.shape, quantity.components),
                    device,
                    self._faults_of.get(name),
                    balls if quantity.is_in_coordinates else None,
                    in_quaternion,
                )
                self._checks[name] = HostCheck(
                    rule=RULES[quantity.valid],
                    dtype=quantity.dtype,
                    components=quantity.components,
                    is_used=indices[quantity.element] != PADDING,
                    describe=partial(described, quantity.element),
                    quaternion=in_quaternion,
                )
        self._permissions = Permissions(host, indices, self._faults_of)
        for quantity in settable:
            self._permissions.prepare(quantity)
        largest = max((math.prod(each.values.shape) for each in self._buffers.values()), default=0)
        element: Element = "link" if "link" in indices else "body"
        bodies = indices[element]
        self._staging = Staging(largest, "float32", device)
        self._flag_staging = Staging(bodies.size, "uint8", device)
        elements = self._elements(indices)
        self._attributes = Attributes(host, elements, self.quantities, self._faults.of(_ATTRIBUTE), self._model_flags)
        force_check = HostCheck(components=3, is_used=bodies != PADDING, describe=partial(described, element))
        vectors = self._shape(element, bodies.shape, 3)
        self._wrenches = Wrenches(host, bodies, vectors, force_check, self._faults.of(_APPLY))
        self._placement = Placement(
            host=host,
            flags=self._row_flags,
            moves_anchor=any(quantity.moves_anchor for quantity in settable),
            labels=self.labels,
            bodies=indices["root" if "root" in indices else "body"][:, 0],
            joints=joints,
        )

    def _describe(self, element: Element, row: int, column: int) -> str:
        """Return the words for a row and an element of it in errors."""
        name = self._name_of(element, row, column)
        return f"{self._label_of(row)}, {name}" if name else self._label_of(row)

    def _name_of(self, element: Element, row: int, column: int) -> str:
        """Return the words for an element of a row in errors; empty if a row has one element alone."""
        del element, row, column
        return ""

    def _elements(self, indices: Mapping[str, np.ndarray]) -> dict[str, Callable[[], np.ndarray]]:
        """Return the index map of each frequency of Newton's attributes."""
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
        """Return the shape of a quantity that is read from Newton's arrays.

        Args:
            name: Name of the quantity.
        """
        return self._buffers[name].values.shape

    def check(self) -> bool:
        """Return whether the view can be used and has rows; Isaac's name."""
        return self.is_valid and self.count > 0

    def raise_errors(self) -> None:
        """Raise an error for faults on the device since the last call. Synchronises with the device.

        The error names the setters. What was a fault is not written.

        Raises:
            RowError: Indices were out of range.
            ViewError: Values were not allowed, or a body that a joint holds was to be moved.
        """
        rules: dict[str, Valid] = {f"set_{name}": quantity.valid for name, quantity in self.quantities.items()}

        def expected(setter: str) -> str:
            if setter == _ATTRIBUTE:
                return "a number that the attribute can have, see the reference"
            return RULES[rules.get(setter, "finite")].expected

        self._faults.raise_errors(self.count, expected, self._label_of, solver=self._host.services.support.solver)

    def _label_of(self, row: int) -> str:
        return f"row {row}, {self.labels[row]!r} of world {self.world_ids[row]}"

    # Reading and writing with the table of quantities.

    def _get(self, name: str, out: Array | None) -> Array:
        with WARP_LOCK:
            if not self.is_valid:
                self._refuse_invalid(f"get_{name}")
            values = self._buffers[name].read(arrays_to_read(self._host, self.quantities[name]))
            return values if out is None else deliver(values, out, f"get_{name}")

    def _set(self, name: str, data: Any, indices: Any, mask: Any, compact: bool) -> None:
        where, quantity = f"set_{name}", self.quantities[name]
        with WARP_LOCK:
            if not self.is_valid or self._host.is_closed:
                self._refuse_unwritable(where)
            if fault := self._permissions.fault(quantity):
                raise ViewError(f"{where}: {fault}")
            selection = self._selector.select(where, indices, mask, compact)
            if quantity.placed and not quantity.moves_anchor:
                self._placement.refuse_joined(where, selection)
            shape = (selection.data_count, *self._buffers[name].values.shape[1:])
            checked = self._checks[name].check(data, shape, selection, where)
            values = checked.on_device(self._flag_staging if quantity.storage == "flag" else self._staging)
            read_only = self._permissions.read_only(quantity) if quantity.feature else None
            if quantity.placed:
                self._place(where, quantity, values, selection, checked.is_checked)
            elif read_only is not None:
                is_waiting = checked.numbers is not None or shares_memory(present(values.device))
                at_once = is_waiting and not present(values.device).is_capturing
                with read_only.watching(where, arrays_to_write(self._host, quantity), at_once=at_once):
                    self._write(where, quantity, values, selection, checked.is_checked)
            else:
                self._write(where, quantity, values, selection, checked.is_checked)
            if quantity.invalidates is not None:
                self._host.services.written.note(quantity.invalidates)

    def _write(
        self, where: str, quantity: ViewQuantity, values: wp.array, selection: RowSelection, is_checked: bool
    ) -> None:
        arrays = arrays_to_write(self._host, quantity)
        inverse = getattr(self._host.model, quantity.inverse) if quantity.inverse else None
        flags = None if quantity.invalidates is None else self._row_flags
        if quantity.flags:
            self._notify(where, quantity.flags)
            flags = self._model_flags
        self._buffers[quantity.name].write(arrays, values, selection, flags, inverse, is_checked=is_checked)

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

    def _notify(self, where: str, flags: Sequence[str]) -> None:
        try:  # This comes first: if the solver does not apply the change, nothing is written.
            self._host.services.model_changes.note(sum(newton.ModelFlags[flag] for flag in flags))
        except ConfigError as error:
            raise ViewError(f"{where}: {str(error).removeprefix('notify_model_changed: ')}") from error

    def _refuse_invalid(self, where: str) -> None:
        if not self.is_valid:
            raise SimulationError(f"{where}: the simulation's view was invalidated; make another view")

    def _refuse_unwritable(self, where: str) -> None:
        self._refuse_invalid(where)
        refuse_closed(self._host, where)

    # Newton's arrays by name.

    def get_attribute(self, name: str, out: Array | None = None) -> Array:
        """Return an array of the state, the inputs or the model by its name in Newton, also a custom attribute.

        The shape is [count, columns] with the components of an element after it. Columns are the links, the joints
        that move them, the shapes on them in the order of the model, or the DOFs or coordinates without those of a free
        root. An array with one element for each articulation, world or single body has no columns. The first call for a
        name allocates.

        Args:
            name: Name in Newton, such as "joint_damping", or "mujoco:gravcomp" in a namespace.
            out: An array of that shape and type that is written and returned instead.

        Raises:
            ViewError: There is no such array, or the rows do not have its elements.
        """
        with WARP_LOCK:
            self._refuse_invalid("get_attribute")
            return deliver(self._attributes.get(name), out, f"get_attribute: {name}")

    def set_attribute(
        self,
        name: str,
        data: Any,
        indices: Any = None,
        mask: Any = None,
        *,
        compact: bool = False,
        flags: newton.ModelFlags | int | None = None,
    ) -> None:
        """Set an array of the state, the inputs or the model by its name in Newton; see `get_attribute`.

        Args:
            name: Name in Newton. What the view has a setter for is refused, because other arrays follow from it.
            data: Numbers in the type and shape of the attribute.
            indices: Rows of the view; None with a mask, or for all rows.
            mask: Whether each row is written, shape [count]; None with indices, or for all rows.
            compact: Whether the data has one row per index.
            flags: The flags that notify the solver of a change of the model. For common attributes, the view knows
                them; for others, pass 0 if no solver reads them.

        Raises:
            ViewError: There is no such array, a setter sets it, flags are missing, or the data does not fit.
            RowError: An index is out of range.
            ConfigError: The solver does not support this change while it runs.
        """
        where = f"set_attribute: {name}"
        with WARP_LOCK:
            self._refuse_unwritable(where)
            if self._host.stepped_state is not None:
                raise ViewError(f"{where}: {IN_STEP}")
            selection = self._selector.select(where, indices, mask, compact)
            self._attributes.set(name, data, selection, flags, self._label_of)

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
