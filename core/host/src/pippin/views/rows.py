"""Rows of views: their quantities and Newton's arrays by name, with checks, selections and faults."""

from __future__ import annotations

import abc
import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any, ClassVar

import newton
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host, refuse_closed
from pippin.devices import WARP_LOCK
from pippin.errors import SimulationError
from pippin.frozen_attributes import FrozenAttributes
from pippin.state.kinematics import Coordinates

from .attributes import Attributes
from .device_faults import DeviceFaults
from .errors import ViewError
from .host_checks import HostCheck
from .memory import Array, Staging, deliver
from .permissions import IN_STEP, Permissions, index_of, note_change
from .placement import Placement
from .quantities import Element, ViewQuantity
from .quantity_buffer import Balls, QuantityBuffer
from .row_selection import RowFlags, RowSelection, RowSelector
from .rules import RULES, Valid
from .structure import PADDING

_ATTRIBUTE = "set_attribute"


class RowView(FrozenAttributes, abc.ABC):
    """Rows of all worlds, one for each object, with a dense array for each quantity.

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

    _calls: ClassVar[tuple[str, ...]] = ()
    """Methods besides setters whose data on the device can have faults."""

    _writes: ClassVar[Coordinates] = "joints"
    """What is written of the state, from which dependent values follow."""

    _placement: Placement
    """What places the bodies of the rows; a view without such bodies has none, nor a quantity that is `placed`."""

    def __init__(
        self,
        host: Host,
        labels: Sequence[str],
        world_ids: np.ndarray,
        articulation_indices: np.ndarray,
        indices: Mapping[str, np.ndarray],
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
        setters = [f"set_{quantity.name}" for quantity in settable]
        self._faults = DeviceFaults([*setters, *self._calls, _ATTRIBUTE], device)
        self._faults_of = {quantity.name: self._faults.of(f"set_{quantity.name}") for quantity in settable}
        self._selector = RowSelector(self.count, device)
        self._row_flags = RowFlags.of_state(host, self._writes, articulation_indices, world_ids)
        self._model_flags = RowFlags.of_model(host, world_ids)
        self._buffers: dict[str, QuantityBuffer] = {}
        self._checks: dict[str, HostCheck] = {}
        # The checks describe rows, and belong to the view: a method of it would be a circle.
        self._described = partial(type(self)._describe, weakref.proxy(self))
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
                    describe=partial(self._described, quantity.element),
                    quaternion=in_quaternion,
                )
        self._permissions = Permissions(host, indices, self._faults_of)
        for quantity in settable:
            self._permissions.prepare(quantity)
        sizes = {name: math.prod(each.values.shape) for name, each in self._buffers.items()}
        flags = [size for name, size in sizes.items() if self.quantities[name].storage == "flag"]
        self._staging = Staging(max(sizes.values(), default=0), "float32", device)
        self._flag_staging = Staging(max(flags, default=0), "uint8", device)
        elements = self._elements(indices)
        self._attributes = Attributes(host, elements, self.quantities, self._faults.of(_ATTRIBUTE), self._model_flags)

    def _describe(self, element: Element, row: int, column: int) -> str:
        name = self._name_of(element, row, column)
        return f"{self._label_of(row)}, {name}" if name else self._label_of(row)

    def _name_of(self, element: Element, row: int, column: int) -> str:
        """Return the words for an element of a row in errors; empty if a row has one element alone."""
        del element, row, column
        return ""

    @abc.abstractmethod
    def _elements(self, indices: Mapping[str, np.ndarray]) -> dict[str, Callable[[], np.ndarray]]:
        """Return the index map of each frequency of Newton's attributes."""

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
        """Return the shape of a quantity that is read from Newton's arrays, by its `name`."""
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
            staging = self._flag_staging if quantity.storage == "flag" else self._staging
            values = staging.dense(checked)
            read_only = self._permissions.read_only(quantity) if quantity.feature else None
            if quantity.placed:
                self._place(where, quantity, values, selection, checked.is_checked)
            elif read_only is not None:
                with read_only.watching(where, arrays_to_write(self._host, quantity), checked):
                    self._write(where, quantity, values, selection, checked.is_checked)
            else:
                self._write(where, quantity, values, selection, checked.is_checked)
            if quantity.invalidates is not None:
                self._host.services.written.note(quantity.invalidates)

    def _place(
        self, where: str, quantity: ViewQuantity, values: wp.array, selection: RowSelection, is_checked: bool
    ) -> None:
        """Write a quantity of bodies through the joints that move them."""
        faults = self._faults_of[quantity.name]
        if quantity.moves_anchor and self._placement.has_joined:
            self._notify(where, quantity.flags)
            self._placement.settle_joined(values, selection, faults, self._model_flags)
        if quantity.placed:
            rule = None if is_checked else RULES[quantity.valid]
            self._placement.write(quantity.placed, values, selection, rule, faults)

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

    def _notify(self, where: str, flags: Sequence[str]) -> None:
        # This comes first: if the solver does not apply the change, nothing is written.
        note_change(self._host, where, sum(newton.ModelFlags[flag] for flag in flags))

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


def arrays_to_read(host: Host, quantity: ViewQuantity) -> list[wp.array]:
    """Return the arrays to read a quantity from; they are looked up at each call, because the states are swapped."""
    if quantity.source == "state":
        return _arrays(host.stepped_state or host.state, quantity)
    if quantity.source == "observable":
        return [_observable(host, kind, quantity.name) for kind in quantity.arrays]
    return _arrays(host.control if quantity.source == "control" else host.model, quantity)


def arrays_to_write(host: Host, quantity: ViewQuantity) -> list[wp.array]:
    """Return the arrays to write a quantity into; errors as in `arrays_to_read`."""
    if quantity.source == "state":
        return _arrays(host.services.written.state_for(quantity.invalidates or "joints"), quantity)
    return arrays_to_read(host, quantity)


def _observable(host: Host, kind: str, name: str) -> wp.array:
    array = getattr(host.observables, kind, None)
    if array is None:
        raise ViewError(
            f"get_{name}: the simulation does not ask the solver for {kind!r}, which has to be allocated before"
            f' the first step; write simulation.observables = ["{kind}"]'
        )
    return array


def _arrays(owner: Any, quantity: ViewQuantity) -> list[wp.array]:
    path = quantity.arrays[0]
    solver, _, name = path.rpartition(".")
    if not solver:
        return [*map(getattr, repeat(owner), quantity.arrays)]
    array = getattr(getattr(owner, solver, None), name, None)
    if array is None:
        raise ViewError(f"{quantity.name}: the model has no attribute {path}; only solver {solver} has it")
    return [array]
