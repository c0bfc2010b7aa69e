"""Rows of views of articulations and of single bodies: the quantities of both, and forces on their bodies."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import newton
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host, refuse_closed
from pippin.devices import WARP_LOCK
from pippin.errors import SimulationError

from .attributes import Attributes, shapes_of
from .balls import Balls
from .choice import Choice, RowChoice
from .errors import RowError, ViewError
from .exchange import Array, Staging, deliver, is_host_data
from .field import Field
from .held import Held
from .marks import RowMarks
from .newton_arrays import NewtonArrays
from .placement import Placement
from .quantities import Element, Quantity
from .wrenches import Frame, Wrenches

__all__ = ["RowView"]


class RowView(abc.ABC):
    """Rows of all worlds, one for each articulation or body, with a dense array for each quantity.

    `get_*` fills and returns an array that the view owns; the next call overwrites it. With `out`, an array of Warp,
    NumPy, PyTorch or JAX, it fills and returns `out` instead. `set_*` takes `data` with as many rows as the view, and
    writes the rows in `indices`, the rows marked by a boolean `mask`, or all. With `compact=True` the data has one row
    per index instead. Dependent values, such as bodies from joints, are computed once, before the next step or read.

    If the data is on the simulation's device, no method allocates or waits after construction, and every method may be
    recorded; other data is copied. An index out of range is a `RowError`. On the device, such an index is only counted,
    because nobody waits for the result: nothing is written, and `check_errors` and `Simulation.check` raise.
    """

    quantities: ClassVar[Mapping[str, Quantity]]
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
        faults: wp.array | None = None,
    ) -> None:
        device = present(host.model.device)
        self._host = host
        #: Label of each row; the same label can occur in every world.
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
        self._refused = wp.zeros(1, dtype=int, device=device)
        self._held = {
            name: Held.of(quantity, host.support, self._index(quantity, indices), self._refused, host.model)
            for name, quantity in self.quantities.items()
            if quantity.is_settable and quantity.feature
        }
        largest = max((math.prod(field.values.shape) for field in self._fields.values()), default=0)
        bodies = indices["link" if "link" in indices else "body"]
        self._numbers = Staging(largest, wp.float32, device)
        self._flags = Staging(bodies.size, wp.uint8, device)
        vectors = (*bodies.shape, 3) if "link" in indices else (len(bodies), 3)
        self._attributes = Attributes(host, self._elements(indices), self.quantities, self._faults)
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
        index = self._index(quantity, indices)
        shape = self._shape(quantity.element, index.shape, quantity.components)
        return Field(quantity, index, shape, self._faults, balls if quantity.is_in_coordinates else None)

    def _elements(self, indices: Mapping[str, np.ndarray]) -> dict[str, Callable[[], np.ndarray]]:
        """Return the index map of each frequency of Newton's attributes."""
        bodies = indices["link" if "link" in indices else "body"]
        of_bodies = bodies if "link" in indices else bodies[:, 0]
        found: dict[str, Callable[[], np.ndarray]] = {
            "BODY": lambda: of_bodies,
            "JOINT": lambda: indices["joint"],
            "SHAPE": lambda: shapes_of(self._host.model, bodies),
            "ARTICULATION": lambda: self.articulation_indices,
            "WORLD": lambda: self.world_ids,
        }
        if "dof" in indices:
            found |= {"JOINT_DOF": lambda: indices["dof"], "JOINT_COORD": lambda: indices["coordinate"]}
        return found

    @staticmethod
    def _index(quantity: Quantity, indices: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the element of Newton's arrays of each row and column, padded with -1."""
        return indices["dof_coord" if quantity.is_in_coordinates else quantity.element]

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
        """Raise an error for faults on the device since the last call. Synchronises with the device.

        Raises:
            RowError: Indices were out of range; nothing was written for them.
            ViewError: Centres of mass came with a rotation, which Newton does not support; or values were set that the
                built solver cannot take over.
        """
        outside, rotated = self._faults.numpy().tolist()
        refused = int(self._refused.numpy()[0])
        self._faults.zero_()
        self._refused.zero_()
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
        if refused:
            raise ViewError(
                f"{name}: {refused} numbers on the device were not set: solver {self._host.support.solver!r} can have"
                " such drives, limits or properties only at joints that had them when it was built; set"
                " scene.settable_joints = true"
            )

    # Reading and writing with the table of quantities.

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
            refuse_closed(self._host, where)
            if quantity.source != "control" and self._host.stepped_state is not None:
                raise ViewError(f"{where}: inside a step, only targets and forces can be set; set it between steps")
            if fault := self._host.support.fault(quantity.feature):
                raise ViewError(f"{where}: {fault}")
            choice = self._choice.of(where, indices, mask, compact)
            staging = self._flags if quantity.storage == "flag" else self._numbers
            values = staging.take(data, (choice.data_count, *self._fields[name].values.shape[1:]), where)
            if quantity.placed:
                self._place(where, quantity, values, choice)
            elif (held := self._held.get(name)) is not None:
                is_waiting = not present(values.device).is_cuda or is_host_data(data) or isinstance(data, np.ndarray)
                at_once = is_waiting and not present(values.device).is_capturing
                with held.watching(where, self._arrays.to_write(quantity), at_once=at_once):
                    self._scatter(quantity, values, choice)
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
            _ = self._host.state  # the root's pose has to agree with its joint before the joint's anchor is moved
        if quantity.placed:
            self._placement.write(quantity.placed, values, choice)

    def _notify(self, flags: Sequence[str]) -> None:
        if flags:
            # This comes first: if the solver does not apply the change, nothing is written.
            self._host.notify_model_changed(sum(newton.ModelFlags[flag] for flag in flags))

    def _refuse_invalid(self, where: str) -> None:
        if not self.is_valid:
            raise SimulationError(f"{where}: the simulation's view was invalidated; make another view")

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
            ViewError: There is no such array, or its elements are none of the rows.
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
            indices: Rows of the view.
            mask: Whether each row is written, shape [count].
            compact: Whether the data has one row per index.
            flags: What the solver is told of an array of the model. For common attributes, the view knows it; for
                others, pass 0 if no solver reads them.

        Raises:
            ViewError: There is no such array, a setter sets it, flags are missing, or the data does not fit.
            RowError: An index is out of range.
            ConfigError: The solver does not support this change while it runs.
        """
        where = f"set_attribute: {name}"
        with WARP_LOCK:
            self._refuse_invalid(where)
            refuse_closed(self._host, where)
            if self._host.stepped_state is not None:
                raise ViewError(f"{where}: inside a step, only targets and forces can be set; set it between steps")
            self._attributes.set(name, data, self._choice.of(where, indices, mask, compact), flags)

    # Inertial properties of bodies.

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
        where = "apply_forces"
        Wrenches.refuse(where, forces, positions, frame)
        with WARP_LOCK:
            self._refuse_invalid(where)
            refuse_closed(self._host, where)
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
        self.apply_forces(forces, indices, torques=torques, positions=positions, frame=frame)
