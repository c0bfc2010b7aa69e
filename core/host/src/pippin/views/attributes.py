"""Newton's arrays by name in the rows of a view: any array that has an element for each row, link, joint or DOF."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.binding import Host
from pippin.spelling import did_you_mean
from pippin.state.world_rows import as_rows
from pippin.support.solver_support import SETTABLE

from .errors import ViewError
from .host_checks import HostCheck
from .kernels.attributes import gather_bytes, scatter_bytes
from .kernels.rows import DirtyFlags
from .launching import PreparedLaunch
from .memory import Staging, alias, scalar_shape
from .permissions import ReadOnlyElements, note_change
from .quantities import ViewQuantity
from .row_selection import RowFlags, RowSelection
from .rules import RULES, of_type
from .structure import PADDING, index_map, padded


class Attributes:
    """Arrays of the state, the inputs or the model, by name.

    The memory of an attribute is allocated at its first use. `elements` has an index map for each frequency of Newton's
    attributes, shape [count] or [count, columns]; padding is -1.
    """

    def __init__(
        self,
        host: Host,
        elements: Mapping[str, Callable[[], np.ndarray]],
        quantities: Mapping[str, ViewQuantity],
        faults: wp.array,
        row_flags: RowFlags | None,
    ) -> None:
        self._host, self._elements, self._quantities, self._faults = host, elements, quantities, faults
        self._no_flags = DirtyFlags()
        self._model_flags = self._no_flags if row_flags is None else row_flags.argument
        self._known: dict[str, _ModelAttribute] = {}

    def get(self, name: str) -> wp.array:
        """Return the numbers of all rows; padding is 0."""
        attribute, source = self._find(name, f"get_attribute: {name}")
        values = as_rows(attribute.values, wp.uint8, attribute.count)
        inputs = [as_rows(source, wp.uint8, source.shape[0]), attribute.index.elements, values]
        wp.launch(gather_bytes, attribute.count, inputs, device=source.device)
        return attribute.values

    def set(
        self,
        name: str,
        data: Any,
        selection: RowSelection,
        flags: newton.ModelFlags | int | None,
        describe: Callable[[int], str],
    ) -> None:
        """Write the numbers of the selected rows, and notify the solver."""
        where = f"set_attribute: {name}"
        attribute, target = self._find(name, where)
        self._refuse_quantity(where, attribute.name)
        support = self._host.services.support
        if fault := support.attribute_fault(attribute.name, attribute.elements):
            raise ViewError(f"{where}: {fault}")
        notified = self._flags(where, attribute, flags)
        shape = (selection.data_count, *attribute.values.shape[1:])
        checked = attribute.check(describe).check(data, shape, selection, where)
        if notified:
            note_change(self._host, where, notified)  # first: what the solver does not follow is not written
        values = attribute.staging.dense(checked)
        rows = as_rows(values, wp.uint8, selection.data_count * attribute.index.width)
        numbers = alias(values, wp.float32, values.size) if attribute.dtype == "float32" else None
        flags_of = self._model_flags if notified else self._no_flags
        inputs = [rows, attribute.index, selection.argument, self._faults, flags_of]
        read_only = nullcontext()
        if support.range_of(attribute.name) is not None:
            if attribute.read_only is None:
                elements = (attribute.elements, self._faults, self._host.model)
                attribute.read_only = ReadOnlyElements([attribute.name], support, *elements)
            read_only = attribute.read_only.watching(where, [target], checked)
        with read_only:
            attribute.scatter(selection.count, [*inputs, as_rows(target, wp.uint8, target.shape[0]), numbers])

    def _find(self, name: str, where: str) -> tuple[_ModelAttribute, wp.array]:
        name = name.replace(".", ":")
        owner, array = self._array(name, where)
        attribute = self._known.get(name)
        if attribute is None:
            attribute = self._known[name] = _ModelAttribute(name, owner, self._index(name, where), array)
        return attribute, array

    def _array(self, name: str, where: str) -> tuple[str, wp.array]:
        host = self._host
        owners = {"state": host.stepped_state or host.state, "control": host.control, "model": host.model}
        for title, owner in owners.items():
            value: Any = owner
            for part in name.split(":"):
                value = getattr(value, part, None)
            if isinstance(value, wp.array):
                return title, value
        if name in host.model.attribute_frequency:
            raise ViewError(f"{where}: the scene has nothing with this property, and so no array of it")
        known = [name for name in host.model.attribute_frequency if "_" in name or ":" in name]
        raise ViewError(f"{where}: neither state, control nor model has this array{did_you_mean(name, known)}")

    def _index(self, name: str, where: str) -> np.ndarray:
        try:
            frequency = self._host.model.get_attribute_frequency(name)
        except KeyError:
            frequency = "unknown"
        key = frequency if isinstance(frequency, str) else newton.Model.AttributeFrequency(frequency).name
        if key not in self._elements:
            raise ViewError(
                f"{where}: its elements are of frequency {key!r}, and the rows have elements of"
                f" {', '.join(self._elements)}; read the array itself"
            )
        return self._elements[key]()

    def _refuse_quantity(self, where: str, name: str) -> None:
        arrays = {each: [*each.arrays, each.inverse] for each in self._quantities.values()}
        if covered := [each for each, names in arrays.items() if name in [every.replace(".", ":") for every in names]]:
            setters = [f"set_{each.name}" for each in covered if each.is_settable]
            cure = f"call {' or '.join(setters)}" if setters else "this one is only read"
            raise ViewError(f"{where}: other arrays follow when it is set; {cure}")

    def _flags(self, where: str, attribute: _ModelAttribute, flags: newton.ModelFlags | int | None) -> int:
        if attribute.owner != "model":
            if flags:
                raise ViewError(
                    f"{where}: flags are for changes of the model, and this array is of the {attribute.owner}"
                )
            return 0
        known = SETTABLE.get(attribute.name)
        if flags is None:
            if known is None:
                raise ViewError(
                    f"{where}: the solvers that read it are not known; pass flags=newton.ModelFlags.…, or flags=0 if"
                    " none does"
                )
            return int(newton.ModelFlags[known[0]])
        if isinstance(flags, bool) or not isinstance(flags, int):
            raise ViewError(f"{where}: flags: expected newton.ModelFlags or an integer, got {flags!r}")
        if known is not None and not flags & newton.ModelFlags[known[0]]:
            raise ViewError(f"{where}: flags: without {known[0]} the solver would not read it; leave flags out")
        return int(flags)


class _ModelAttribute:
    """The memory of one attribute of the state, the control or the model."""

    def __init__(self, name: str, owner: str, index: np.ndarray, array: wp.array) -> None:
        self.name, self.owner = name, owner
        scalar = getattr(array.dtype, "_wp_scalar_type_", array.dtype)
        components = scalar_shape(array)[1:]
        device = present(array.device)
        #: The numbers of all rows, shape [count, columns, components].
        self.values = wp.zeros((*index.shape, *components), dtype=scalar, device=device)
        #: Index of each element in the array, shape of `values` without components; -1 for padding.
        self.elements = index
        self.count = index.size
        self.dtype: str = scalar.__name__
        self.rule = RULES[SETTABLE[name][1]] if name in SETTABLE else of_type(self.dtype)
        #: What the built solver cannot take over; made at the first use.
        self.read_only: ReadOnlyElements | None = None
        self.staging = Staging(self.values.size, self.dtype, device)
        width = index.size // len(index) if len(index) else 1
        self._is_used = (index != PADDING).reshape(len(index), width)
        elements = index.astype(np.int32).reshape(len(index), width)
        quaternion = np.zeros_like(elements) if self.rule.has_quaternion else None
        #: The elements as an argument of kernels.
        self.index = index_map(elements, device, self.rule, quaternion)
        self.scatter = PreparedLaunch(scatter_bytes, device, width)

    def check(self, describe: Callable[[int], str]) -> HostCheck:
        return HostCheck(
            rule=self.rule,
            dtype=self.dtype,
            components=self.values.size // max(self.count, 1),
            is_used=self._is_used,
            describe=lambda row, column: (
                f"{describe(row)}, column {column}" if self._is_used.shape[1] > 1 else describe(row)
            ),
        )


def shapes_of(model: newton.Model, bodies: np.ndarray) -> np.ndarray:
    """Return the shapes on the bodies of each row, shape [count, max_shapes], int32; both are padded with -1."""
    row_of = np.full(model.body_count + 1, PADDING)
    row_of[bodies] = np.arange(len(bodies))[:, None]
    row_of[-1] = PADDING  # static shapes and the padding of short rows
    rows = row_of[on_host(model.shape_body)]
    order = np.argsort(rows, kind="stable")
    order = order[rows[order] != PADDING]
    return padded(rows[order], order, len(bodies))
