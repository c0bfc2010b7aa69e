"""What views of articulations and of single bodies share: rows, the quantities of bodies, and forces on them."""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, get_args

import newton
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host
from pippin.devices import WARP_LOCK
from pippin.errors import SimulationError

from . import kernels
from .balls import Balls
from .choice import Choice, RowChoice
from .errors import RowError, ViewError
from .exchange import Array, Staging, deliver
from .field import Field
from .launching import Aliases, PreparedLaunch
from .marks import RowMarks
from .quantities import Element, Quantity

__all__ = ["Frame", "RowView"]

Frame = Literal["world", "body"]

_IN_COORDINATES = ("joint_q", "joint_target_q")
_INVERSES = {"masses": "body_inv_mass", "inertias": "body_inv_inertia"}


class RowView(abc.ABC):
    """Rows of all worlds, one for each articulation or body, with a dense array for each quantity.

    `get_*` fills an array of the view's own, overwrites it at the next call and returns it; or fills and returns `out`,
    an array of Warp, NumPy, PyTorch or JAX. `set_*` takes `data` of as many rows as the view has, and writes the rows
    that `indices` list or a boolean `mask` marks, else all. With `compact=True` the data has one row per index instead.
    What follows from a setting, such as bodies from joints, is computed once, before the next step or read.

    Nothing is allocated or waited for after construction, where data lies on the simulation's device; data elsewhere
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
        balls: Balls | None = None,
        faults: wp.array | None = None,
    ) -> None:
        device = present(host.model.device)
        self._host = host
        self.labels = tuple(labels)
        """Label of each row; labels repeat from world to world."""
        self.world_ids = world_ids
        """World of each row, shape [count]; -1 for no world."""
        self.articulation_indices = articulation_indices
        """Articulation of each row, shape [count]; -1 for none."""
        self.is_valid = True
        """Whether the view can be used; False once the simulation's view was invalidated."""
        self._faults = wp.zeros(2, dtype=int, device=device) if faults is None else faults
        self._choice = RowChoice(self.count, device)
        self._marks = RowMarks(host, articulation_indices, world_ids)
        self._fields = {
            name: self._field(quantity, indices, balls)
            for name, quantity in self.quantities.items()
            if quantity.source != "computed"
        }
        largest = max((math.prod(field.values.shape) for field in self._fields.values()), default=0)
        self._bodies = indices["link" if "link" in indices else "body"]
        sizes = (largest, 3 * self._bodies.size, 3 * self._bodies.size)
        self._staging = [Staging(size, wp.float32, device) for size in sizes]
        self._flags = Staging(self._bodies.size, wp.uint8, device)
        self._body_index = wp.array(self._bodies.ravel(), dtype=int, device=device)
        self._push = PreparedLaunch(kernels.add_wrenches, device)
        self._aliases = Aliases()

    def _field(self, quantity: Quantity, indices: Mapping[str, np.ndarray], balls: Balls | None) -> Field:
        is_position = quantity.element == "dof" and quantity.arrays[0] in _IN_COORDINATES
        index = indices["dof_coord" if is_position else quantity.element]
        shape = self._shape(quantity.element, index.shape, quantity.components)
        return Field(quantity, index, shape, self._faults, balls if is_position else None)

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
            values = self._fields[name].read(self._arrays_to_read(self.quantities[name]))
            return values if out is None else deliver(values, out, f"get_{name}")

    def _set(self, name: str, data: Any, indices: Any, mask: Any, compact: bool) -> None:
        where, quantity = f"set_{name}", self.quantities[name]
        with WARP_LOCK:
            self._refuse_invalid(where)
            if quantity.source != "control" and self._host.stepped_state is not None:
                raise ViewError(f"{where}: inside a step, only targets and forces can be set; set it between steps")
            choice = self._choice.of(where, indices, mask, compact)
            shape = self._fields[name].values.shape
            rows = len(choice.rows) if choice.is_compact and choice.rows is not None else self.count
            staging = self._flags if quantity.dtype == "uint8" else self._staging[0]
            values = staging.take(data, (rows, *shape[1:]), where)
            self._write(quantity, values, choice)
            if quantity.invalidates is not None:
                self._host.written.note(quantity.invalidates)

    def _write(self, quantity: Quantity, values: wp.array, choice: Choice) -> None:
        """Write a quantity that is set by scattering; views override it for the others."""
        arrays = self._arrays_to_write(quantity)
        self._notify(quantity.flags)
        marks = self._marks if quantity.invalidates is not None else None
        self._fields[quantity.name].write(arrays, values, choice, marks)

    def _notify(self, flags: Sequence[str]) -> None:
        if flags:
            # First: where the solver does not take the change over, nothing is written.
            self._host.notify_model_changed(sum(newton.ModelFlags[flag] for flag in flags))

    def _arrays_to_read(self, quantity: Quantity) -> list[wp.array]:
        host = self._host
        if quantity.source == "state":
            return [getattr(host.stepped_state or host.state, quantity.arrays[0])]
        if quantity.source == "observable":
            return [self._observable(name, quantity.name) for name in quantity.arrays]
        return self._model_or_control(quantity)

    def _arrays_to_write(self, quantity: Quantity) -> list[wp.array]:
        if quantity.source == "state":
            return _arrays(self._host.written.state_for_joints(), quantity.arrays)
        found = self._model_or_control(quantity)
        inverse = _INVERSES.get(quantity.name)
        return [*found, getattr(self._host.model, inverse)] if inverse else found

    def _model_or_control(self, quantity: Quantity) -> list[wp.array]:
        if quantity.name == "disable_gravities":
            return [self._gravcomp()]
        return _arrays(self._host.control if quantity.source == "control" else self._host.model, quantity.arrays)

    def _gravcomp(self) -> wp.array:
        attributes = getattr(self._host.model, "mujoco", None)
        array = getattr(attributes, "gravcomp", None)
        if array is None:
            raise ViewError("disable_gravities: the model has no attribute mujoco.gravcomp; only solver mujoco has it")
        return array

    def _observable(self, kind: str, name: str) -> wp.array:
        array = getattr(self._host.observables, kind, None)
        if array is None:
            raise ViewError(
                f"get_{name}: the simulation does not ask the solver for {kind!r}, which has to be allocated before"
                f' the first step; write simulation.observables = ["{kind}"]'
            )
        return array

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
        if frame not in get_args(Frame):
            raise ViewError(f"{where}: frame: expected 'world' or 'body', got {frame!r}")
        if positions is not None and forces is None:
            raise ViewError(f"{where}: got positions, but no forces that act there; pass forces")
        with WARP_LOCK:
            self._refuse_invalid(where)
            choice = self._choice.of(where, indices, mask, compact)
            vectors = [
                self._vectors(where, name, data, choice, staging)
                for (name, data), staging in zip(
                    {"forces": forces, "torques": torques, "positions": positions}.items(), self._staging, strict=True
                )
            ]
            model, state = self._host.model, self._host.stepped_state or self._host.state
            width = self._bodies.shape[1]
            lanes = width * (self.count if choice.rows is None else len(choice.rows))
            inputs = [*vectors, frame == "body", width, self._body_index, choice.rows, choice.mask, choice.is_compact]
            inputs += [self._faults, state.body_q, model.body_com, state.body_f]
            self._push(lanes, inputs)

    def _vectors(self, where: str, name: str, data: Any, choice: Choice, staging: Staging) -> wp.array | None:
        if data is None:
            return None
        rows = len(choice.rows) if choice.is_compact and choice.rows is not None else self.count
        shape = (rows, *self.shape_of("masses")[1:], 3)
        values = staging.take(data, shape, f"{where}: {name}")
        return self._aliases.of(values, wp.vec3, math.prod(shape[:-1]))

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


def _arrays(owner: Any, names: Sequence[str]) -> list[wp.array]:
    return [getattr(owner, name) for name in names]
