"""A monitor of errors inside a step, noted on the device: wrong inputs, diverged states and full buffers."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from itertools import accumulate, groupby
from typing import Any, NamedTuple

import attrs
import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.attribute_rows import texts
from pippin.errors import BufferOverflowError, SimulationError
from pippin.matter import OF_PARTICLES, Matter
from pippin.solving.contact_source import Capacity

from . import kernels
from .world_rows import worlds_of

_NONE = 2**62
"""The value for no failure: larger than any step × count + index."""

_FUSED = 3
"""Buffers whose counts one launch notes, and inputs that one looks at."""


class Monitor:
    """Notes the first step with a diverged state, and every overflow, on the device.

    Args:
        step_dt: Length of the step that `note_step` counts [s].
        detection: Buffers that contact detection fills.
        solution: Buffers that a step of the solver fills.
        harmless_bits: Bits of the solver's overflow report that report no loss of data.
        bounds: Speed and effort above which a state counts as diverged.
        cures: Returns what to do about a divergence, given the DOF that failed first, or None if it was no DOF.
        step: The counter of control steps, shape [1], by default a new one.
        inputs: What is written between steps; a number that is not finite is a failure of its world.
    """

    def __init__(
        self,
        model: newton.Model,
        step_dt: float,
        detection: Sequence[Capacity] = (),
        solution: Sequence[Capacity] = (),
        harmless_bits: int = 0,
        bounds: Bounds | None = None,
        cures: Callable[[int | None], Sequence[str]] = lambda dof: (),
        step: wp.array[wp.int64] | None = None,
        inputs: Sequence[StepInput] = (),
    ) -> None:
        self._harmless_bits = harmless_bits
        self._bounds = Bounds() if bounds is None else bounds
        self._cures = cures
        #: All buffers, in the order of the checks.
        self.capacities = (*detection, *solution)
        counted = [(slot, capacity) for slot, capacity in enumerate(self.capacities) if capacity.count is not None]
        self._detection = [(slot, capacity) for slot, capacity in counted if slot < len(detection)]
        self._solution = [(slot, capacity) for slot, capacity in counted if slot >= len(detection)]
        self._model = model
        # The inputs, and the index of the first number of each and of none.
        self._inputs = inputs
        self._input_starts = list(accumulate((each.array.size for each in inputs), initial=0))
        self._inputs_together = list(self._joined(inputs))
        self._step_dt = step_dt
        self._step = wp.zeros(1, dtype=wp.int64, device=model.device) if step is None else step
        # The first failure of each kind in each world, as step × count + index, and the values of what failed.
        self._first = wp.full((len(FailureKind), model.world_count + 1), _NONE, dtype=wp.int64, device=model.device)
        self._dof_world = wp.array(_worlds_of_dofs(model), dtype=int, device=model.device)
        self._body_speed = wp.zeros(model.body_count, dtype=float, device=model.device)
        self._joint_speed = wp.zeros(model.joint_dof_count, dtype=float, device=model.device)
        self._effort = wp.zeros(model.joint_dof_count, dtype=float, device=model.device)
        self._particle_speed = wp.zeros(model.particle_count, dtype=float, device=model.device)
        # The largest count of each buffer that overflowed, else 0.
        self._largest = wp.zeros(len(self.capacities), dtype=int, device=model.device)
        self._overflow = wp.zeros(model.world_count, dtype=int, device=model.device)
        self._harmless_count = wp.zeros(1, dtype=wp.int64, device=model.device)
        self._no_counts = wp.zeros(0, dtype=int, device=model.device)

    def note_step(self, state: newton.State, control: newton.Control) -> None:
        """Count a step that ended in `state`, and note whether state and efforts are within bounds. May be recorded."""
        device = self._model.device
        count = max(state.body_count, self._model.joint_dof_count)
        if count:
            inputs = [state.body_q, state.body_qd, state.joint_qd, control.joint_f]
            inputs += [self._model.body_world, self._dof_world, *self._bounds, self._step]
            inputs += [self._first, self._body_speed, self._joint_speed, self._effort]
            wp.launch(kernels.find_divergence, count, inputs, device=device)
        for shape, arrays, worlds, start in self._inputs_together:
            inputs = [*arrays, worlds, start, self._input_starts[-1], self._step, self._first]
            wp.launch(kernels.find_non_finite_inputs, shape, inputs, device=device)
        if state.particle_count:
            inputs = [state.particle_q, state.particle_qd, self._model.particle_world, self._bounds.max_speed]
            inputs += [self._step, self._first, self._particle_speed]
            wp.launch(kernels.find_diverged_particles, state.particle_count, inputs, device=device)
        wp.launch(kernels.count_step, 1, [self._step], device=device)

    def _joined(self, inputs: Sequence[StepInput]) -> Iterator[tuple[Any, list[wp.array], wp.array, int]]:
        """Yield shape, arrays, the world of each row and the first index of inputs that one launch looks at."""
        device, none, at = self._model.device, wp.zeros((0, 0), dtype=float, device=self._model.device), 0
        for (shape, _), group in groupby(inputs, key=lambda each: (each.array.shape, each.worlds.tobytes())):
            own = [*group]
            rows = np.where(own[0].worlds < 0, self._model.world_count, own[0].worlds)
            worlds = wp.array(rows, dtype=int, device=device)
            for first in range(0, len(own), _FUSED):
                arrays = [each.array for each in own[first : first + _FUSED]]
                yield shape, [*arrays, *[none] * (_FUSED - len(arrays))], worlds, at
                at += sum(array.size for array in arrays)

    def note_detection(self) -> None:
        """Note whether the contacts just detected fit into their buffers. May be recorded."""
        self._note(self._detection)

    def note_solution(self) -> None:
        """Note whether the data of the solver's last step fitted into its buffers. May be recorded."""
        self._note(self._solution)

    @property
    def notes_solution(self) -> bool:
        """Whether the solver has buffers with a count."""
        return bool(self._solution)

    def _note(self, counted: Sequence[tuple[int, Capacity]]) -> None:
        for first in range(0, len(counted), _FUSED):
            part = counted[first : first + _FUSED]
            rest = _FUSED - len(part)
            counts = [capacity.count for _, capacity in part] + [self._no_counts] * rest
            limits = wp.vec3i(*(capacity.limit for _, capacity in part), *[0] * rest)
            slots = wp.vec3i(*(slot for slot, _ in part), *[0] * rest)
            inputs = [*counts, limits, slots, self._largest]
            wp.launch(kernels.note_overflows, max(count.size for count in counts), inputs, device=self._model.device)

    def note_overflow(self, reported: wp.array) -> None:
        """Keep the overflow bits that the solver reported, shape [substeps, world_count]. May be recorded."""
        inputs = [reported, self._harmless_bits, self._overflow, self._harmless_count]
        wp.launch(kernels.collect_overflow, reported.shape[1], inputs, device=self._model.device)

    def mark_diverged(self, worlds: wp.array[wp.bool]) -> None:
        """Write for each world whether its state diverged since its reset, shape [world_count]. May be recorded."""
        wp.launch(kernels.mark_failed, len(worlds), [self._first, _NONE, worlds], device=self._model.device)

    def forget(self, world_mask: wp.array[wp.bool]) -> None:
        """Clear the notes of failures in the masked worlds, but not the number of steps.

        The last entry of the mask, of shape [world_count + 1], clears the notes of buffers that all worlds share.
        """
        inputs = [world_mask, _NONE, self._first, self._overflow, self._largest]
        wp.launch(kernels.forget_failures, len(world_mask), inputs, device=self._model.device)

    def harmless_count(self) -> int:
        """Return how often a substep of a world reported harmless bits, such as a reached limit of iterations.

        Synchronises with the device.
        """
        return int(self._harmless_count.numpy()[0])

    def first_diverged_step(self) -> int | None:
        """Return the first step, counted from 1, with a diverged state, or None. Synchronises with the device."""
        return min((failure.step for failure in self._failures()), default=None)

    def check(self) -> None:
        """Raise if there are notes that no `forget` cleared. Synchronises with the device.

        Raises:
            BufferOverflowError: Buffers overflowed; names each of them, and the divergence that may have followed.
            SimulationError: The state is not finite, or faster than the bounds allow.
        """
        needed: dict[str, int | None] = {}
        faults = [*self._overflows(needed)]
        first = min(self._failures(), default=None)
        if first is not None:
            faults.insert(0, self._described(first))
        if needed:
            raise BufferOverflowError(*faults, needed=needed)
        if faults:
            raise SimulationError(*faults)

    def _described(self, failure: Failure) -> str:
        if failure.kind is not FailureKind.INPUT:
            return described(failure, self._model, self._step_dt, self._bounds, self._cures)
        which = bisect_right(self._input_starts, failure.index) - 1
        fault = self._inputs[which].fault(failure.index - self._input_starts[which])
        return f"step {failure.step} (t = {failure.step * self._step_dt:.6g} s): {fault}"

    def _failures(self) -> Iterator[Failure]:
        """Yield the first failure of each kind in any world."""
        values = {
            FailureKind.BODY_SPEED: self._body_speed,
            FailureKind.JOINT_SPEED: self._joint_speed,
            FailureKind.EFFORT: self._effort,
        }
        values[FailureKind.PARTICLE_SPEED] = self._particle_speed
        counts = {FailureKind.PARTICLE: self._model.particle_count, FailureKind.INPUT: self._input_starts[-1]}
        for kind, code in zip(FailureKind, self._first.numpy().min(axis=1).tolist(), strict=True):
            if code < _NONE:
                step, index = divmod(code, counts.get(kind) or values.get(kind, self._body_speed).size)
                value = float(values[kind].numpy()[index]) if kind in values else math.nan
                yield Failure(step=step + 1, kind=kind, index=index, value=value)

    def _overflows(self, needed: dict[str, int | None]) -> Iterator[str]:
        bits = self._overflow.numpy() & ~self._harmless_bits
        world = int(bits.nonzero()[0][0]) if bits.any() else None
        rest = 0 if world is None else int(bits[world])
        for capacity, count in zip(self.capacities, self._largest.numpy().tolist(), strict=True):
            if count:
                is_of_world = capacity.overflow_bits & rest and capacity.shared_by == 1
                yield capacity.overflow(count) + (f" (world {world})" if is_of_world else "")
                needed[capacity.field] = max(capacity.needed(count) or 0, needed.get(capacity.field) or 0) or None
        for capacity in self.capacities:
            if capacity.overflow_bits & rest and capacity.field not in needed:
                yield f"{capacity.overflow()} (world {world})"
                needed[capacity.field] = None
        for capacity in self.capacities:
            rest &= ~capacity.overflow_bits
        if rest:
            yield f"solver: a buffer overflowed in world {world} (bits {rest:#x}); raise the solver's capacities"
            needed["solver"] = None


def _worlds_of_dofs(model: newton.Model) -> np.ndarray:
    if not model.joint_dof_count:
        return np.zeros(0, dtype=np.int32)
    return np.repeat(on_host(model.joint_world), np.diff(on_host(model.joint_qd_start)))


class FailureKind(IntEnum):
    """The kinds of failure, in the order of the kernel's notes; if several happen in one step, the first is told."""

    INPUT = 0
    BODY = 1
    PARTICLE = 2
    JOINT_SPEED = 3
    EFFORT = 4
    BODY_SPEED = 5
    PARTICLE_SPEED = 6


class Bounds(NamedTuple):
    """Values above which a state counts as diverged; infinity allows any finite value."""

    max_speed: float = math.inf
    """Largest velocity of a joint, a body or a particle [m/s, rad/s]."""

    max_effort: float = math.inf
    """Largest effort on a joint [N, N·m]."""


@attrs.frozen(kw_only=True, order=True)
class Failure:
    """The first failure of a kind."""

    step: int
    """Control step, counted from 1."""

    kind: FailureKind

    index: int
    """The input, body, particle or DOF with the lowest index that failed in this step."""

    value: float
    """Its velocity [m/s or rad/s] or effort [N or N·m]; not finite if that is the failure."""


def described(
    failure: Failure, model: newton.Model, step_dt: float, bounds: Bounds, cures: Callable[[int | None], Sequence[str]]
) -> str:
    """Return the error message for a failure: the step, the element and its world, the value, and the cures."""
    dof = failure.index if failure.kind in (FailureKind.JOINT_SPEED, FailureKind.EFFORT) else None
    what, world, unit = _place(failure, model)
    place = "outside every world" if world < 0 else f"world {world}"
    when = f"step {failure.step} (t = {failure.step * step_dt:.6g} s)"
    to_do = [*cures(dof), "use a smaller 'simulation.dt', more 'simulation.substeps', smaller gains or another solver"]
    if math.isfinite(failure.value):
        key, bound = ("max_effort", bounds[1]) if failure.kind is FailureKind.EFFORT else ("max_speed", bounds[0])
        verb = "is driven with" if failure.kind is FailureKind.EFFORT else "moves at"
        fault = f"{verb} {abs(failure.value):.3g} {unit}, more than simulation.{key} = {bound:g}"
        to_do.append(f"raise simulation.{key} if this is meant")
    else:
        fault = "is not finite"
    return f"{when}: {what} of {place} {fault}; {', or '.join(to_do)}"


def _place(failure: Failure, model: newton.Model) -> tuple[str, int, str]:
    """Return the failed element in words, its world, and the unit of its value."""
    if failure.kind in (FailureKind.PARTICLE, FailureKind.PARTICLE_SPEED):
        return _particle(model, failure.index), _world(model.particle_world, failure.index), "m/s"
    if failure.kind in (FailureKind.BODY, FailureKind.BODY_SPEED):
        label = model.body_label[failure.index]
        return f"body {label!r}", _world(model.body_world, failure.index), "m/s or rad/s"
    starts = on_host(model.joint_qd_start)
    joint = int(np.searchsorted(starts, failure.index, side="right")) - 1
    linear_count = on_host(model.joint_dof_dim)[joint][0]
    is_linear = failure.index - starts[joint] < linear_count
    units = ("m/s", "rad/s") if failure.kind is FailureKind.JOINT_SPEED else ("N", "N·m")
    return f"joint {model.joint_label[joint]!r}", _world(model.joint_world, joint), units[0 if is_linear else 1]


def _particle(model: newton.Model, index: int) -> str:
    """Return a particle in words: by its number in its object, else by that in the model."""
    matter = Matter.of(model, *OF_PARTICLES)
    for row in np.flatnonzero((matter.starts <= index) & (index < matter.starts + matter.counts)).tolist():
        return f"particle {index - matter.starts[row]} of {matter.labels[row]!r}"
    return f"particle {index}"


def _world(worlds: Any, index: int) -> int:
    return int(on_host(worlds)[index])


@attrs.frozen(kw_only=True, eq=False)
class StepInput:
    """An array of an actuator group or of `control` that is written between steps, shape [rows, columns]."""

    group: str
    name: str
    array: wp.array
    worlds: np.ndarray
    """The world of each row."""
    labels: Sequence[str]
    """A label for each column, or for each row of a single column."""

    def fault(self, index: int) -> str:
        """Return the fault of a number that is not finite, given its index."""
        row, column = divmod(index, self.array.shape[1])
        label = self.labels[column if len(self.labels) == self.array.shape[1] else row]
        place = f" in world {self.worlds[row]}" if self.worlds[row] >= 0 else ""
        return f"{self.group}: {self.name} of {label!r}{place} is not finite; write finite numbers"


def inputs_of(group: str, attributes: Any, world_count: int) -> Iterator[StepInput]:
    """Yield the inputs of an actuator group, given the attributes of a component; nothing for another component."""
    worlds = np.arange(world_count) if attributes.worlds is None else np.asarray(attributes.worlds)
    of_joints = dict.fromkeys(("position_targets", "velocity_targets", "feedforward"), attributes.joint_labels)
    for name, labels in {**of_joints, "ctrl": attributes.actuator_labels}.items():
        array = getattr(attributes, name)
        if array is not None and array.size and array.shape == (len(worlds), len(labels)):
            yield StepInput(group=group, name=name, array=array, worlds=worlds, labels=labels)


def inputs_of_control(model: newton.Model, control: newton.Control) -> Iterator[StepInput]:
    """Yield the inputs that the solver itself reads: targets, if a joint has a drive, and `ctrl` of MuJoCo's actuators.

    Groups come first in an error: they write what they hold into `control`.
    """
    arrays: dict[str, tuple[Any, Sequence[str]]] = {}
    if model.joint_count and on_host(model.joint_target_mode).any():
        for name, starts in (("joint_target_q", model.joint_q_start), ("joint_target_qd", model.joint_qd_start)):
            arrays[name] = (getattr(control, name), np.repeat(model.joint_label, np.diff(on_host(starts))).tolist())
    of_mujoco: Any = getattr(control, "mujoco", None)
    arrays["mujoco:ctrl"] = (getattr(of_mujoco, "ctrl", None), texts(model, "mujoco:actuator_label"))
    for name, (array, labels) in arrays.items():
        worlds = worlds_of(model, name)
        if array is not None and array.size and worlds is not None:
            column, name = array.reshape((-1, 1)), name.replace(":", ".")
            yield StepInput(group="control", name=name, array=column, worlds=worlds, labels=labels)
