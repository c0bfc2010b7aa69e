"""A monitor of errors inside a step, noted on the device: wrong inputs, diverged states and full buffers."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.errors import BufferOverflowError, SimulationError
from pippin.solving.contact_source import Capacity

from . import kernels
from .divergence import Bounds, Failure, FailureKind, described
from .step_inputs import StepInput

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
        """Yield a fault for each buffer that overflowed, and add the size that it needed."""
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
    """Return the world of each DOF, -1 for no world."""
    if not model.joint_dof_count:
        return np.zeros(0, dtype=np.int32)
    return np.repeat(on_host(model.joint_world), np.diff(on_host(model.joint_qd_start)))
