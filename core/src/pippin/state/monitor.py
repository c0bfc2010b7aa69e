"""A monitor of errors inside a step: non-finite states and full buffers, noted on the device for the host to read."""

from __future__ import annotations

from collections.abc import Sequence

import newton
import warp as wp
from pippin.errors import SimulationError
from pippin.solving.capacities import Capacity

from . import kernels

__all__ = ["Monitor"]

_NONE = 2**62
"""The value for no failure: larger than any step × count + index."""


class Monitor:
    """Notes the first step with a non-finite state, and every overflow, on the device.

    Args:
        model: The model that is simulated.
        step_dt: Length of the step that `note_step` counts [s].
        detection: Buffers that contact detection fills.
        solution: Buffers that a step of the solver fills.
        harmless_bits: Bits of the solver's overflow report that report no loss of data.
    """

    def __init__(
        self,
        model: newton.Model,
        step_dt: float,
        detection: Sequence[Capacity] = (),
        solution: Sequence[Capacity] = (),
        harmless_bits: int = 0,
    ) -> None:
        self._harmless_bits = harmless_bits
        #: All buffers, in the order of the checks.
        self.capacities = (*detection, *solution)
        counted = [(slot, capacity) for slot, capacity in enumerate(self.capacities) if capacity.count is not None]
        self._detection = [(slot, capacity) for slot, capacity in counted if slot < len(detection)]
        self._solution = [(slot, capacity) for slot, capacity in counted if slot >= len(detection)]
        self._model = model
        self._step_dt = step_dt
        self._step = wp.zeros(1, dtype=wp.int64, device=model.device)
        # The first failure of each kind, as step × count + index.
        self._body = wp.full(1, _NONE, dtype=wp.int64, device=model.device)
        self._particle = wp.full(1, _NONE, dtype=wp.int64, device=model.device)
        # The largest count of each buffer that overflowed, else 0.
        self._largest = wp.zeros(len(self.capacities), dtype=int, device=model.device)
        self._overflow = wp.zeros(model.world_count, dtype=int, device=model.device)

    def note_step(self, state: newton.State) -> None:
        """Count a step that ended in `state`, and note whether the state is finite. May be recorded."""
        device = self._model.device
        if state.body_count:
            inputs = [state.body_q, state.body_qd, self._step, self._body]
            wp.launch(kernels.find_non_finite_bodies, state.body_count, inputs, device=device)
        if state.particle_count:
            inputs = [state.particle_q, state.particle_qd, self._step, self._particle]
            wp.launch(kernels.find_non_finite_particles, state.particle_count, inputs, device=device)
        wp.launch(kernels.count_step, 1, [self._step], device=device)

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
        for slot, capacity in counted:
            count = capacity.count
            assert count is not None, "only buffers with a count are noted"
            inputs = [count, capacity.limit, slot, self._largest]
            wp.launch(kernels.note_overflow, count.size, inputs, device=self._model.device)

    def note_overflow(self, reported: wp.array) -> None:
        """Keep the overflow bits that the solver reported, shape [substeps, world_count]. May be recorded."""
        inputs = [reported, self._overflow]
        wp.launch(kernels.collect_overflow, reported.shape[1], inputs, device=self._model.device)

    def forget(self) -> None:
        """Clear all notes, but not the number of steps."""
        self._body.fill_(_NONE)
        self._particle.fill_(_NONE)
        self._largest.zero_()
        self._overflow.zero_()

    def first_non_finite_step(self) -> int | None:
        """Return the first step, counted from 1, with a non-finite state, or None. Synchronises with the device."""
        noted = ((int(self._body.numpy()[0]), self._model.body_count),)
        noted += ((int(self._particle.numpy()[0]), self._model.particle_count),)
        return min((code // count + 1 for code, count in noted if code < _NONE), default=None)

    def check(self) -> None:
        """Raise if there are notes since the last `forget`. Synchronises with the device.

        Raises:
            SimulationError: The state is not finite, or buffers overflowed; names each buffer.
        """
        body, particle = int(self._body.numpy()[0]), int(self._particle.numpy()[0])
        if min(body, particle) < _NONE:
            raise SimulationError(self._non_finite(body, particle))
        counts = self._largest.numpy().tolist()
        faults = [capacity.overflow(count) for capacity, count in zip(self.capacities, counts, strict=True) if count]
        reported = self._overflow.numpy() & ~self._harmless_bits
        if reported.any():
            world = int(reported.nonzero()[0][0])
            faults += self._reported(world, int(reported[world]))
        if faults:
            raise SimulationError(*faults)

    def _reported(self, world: int, bits: int) -> list[str]:
        """Return the faults of the solver's buffers that overflowed in a world, from the reported bits."""
        known = [capacity for capacity in self.capacities if capacity.overflow_bits & bits]
        rest = bits
        for capacity in known:
            rest &= ~capacity.overflow_bits
        faults = [f"{capacity.overflow()} (world {world})" for capacity in known]
        if rest:
            faults.append(
                f"solver: a buffer overflowed in world {world} (bits {rest:#x}); raise the solver's capacities"
            )
        return faults

    def _non_finite(self, body: int, particle: int) -> str:
        model = self._model
        if body < _NONE:
            step, index = divmod(body, model.body_count)
            what, worlds = f"body {model.body_label[index]!r}", model.body_world
        else:
            step, index = divmod(particle, model.particle_count)
            what, worlds = f"particle {index}", model.particle_world
        assert worlds is not None, "a model with bodies or particles says which world they belong to"
        world = int(worlds.numpy()[index])
        place = "outside every world" if world < 0 else f"world {world}"
        return (
            f"step {step + 1} (t = {(step + 1) * self._step_dt:.6g} s): {what} of {place} is not finite;"
            " use a smaller 'simulation.dt', more 'simulation.substeps', smaller gains or another solver"
        )
