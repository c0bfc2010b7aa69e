"""What goes wrong inside a step, noted on the device and read when the host asks: non-finite state, full buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import SimulationError

if TYPE_CHECKING:
    import newton
    import warp as wp

__all__ = ["Monitor"]

_NONE = 2**62
"""Stands for no failure: larger than any step × count + index."""


class Monitor:
    """Notes the first step that left something non-finite, and every overflow, without leaving the device.

    Args:
        model: The model that is simulated.
        step_dt: Length of the step that `note_step` counts [s].
    """

    def __init__(self, model: newton.Model, step_dt: float) -> None:
        import warp as wp

        self._model = model
        self._step_dt = step_dt
        self._step = wp.zeros(1, dtype=wp.int64, device=model.device)
        # The first failure of each kind, as step × count + index.
        self._body = wp.full(1, _NONE, dtype=wp.int64, device=model.device)
        self._particle = wp.full(1, _NONE, dtype=wp.int64, device=model.device)
        self._largest_count = wp.zeros(1, dtype=int, device=model.device)
        self._overflow = wp.zeros(model.world_count, dtype=int, device=model.device)

    def note_step(self, state: newton.State) -> None:
        """Count a step that ended in `state`, and note whether it is finite. May be recorded."""
        import warp as wp

        from . import kernels

        device = self._model.device
        if state.body_count:
            inputs = [state.body_q, state.body_qd, self._step, self._body]
            wp.launch(kernels.find_non_finite_bodies, state.body_count, inputs, device=device)
        if state.particle_count:
            inputs = [state.particle_q, state.particle_qd, self._step, self._particle]
            wp.launch(kernels.find_non_finite_particles, state.particle_count, inputs, device=device)
        wp.launch(kernels.count_step, 1, [self._step], device=device)

    def note_contacts(self, contacts: newton.Contacts) -> None:
        """Note whether the contacts just detected fit into their buffer. May be recorded."""
        import warp as wp

        from . import kernels

        inputs = [contacts.rigid_contact_count, contacts.rigid_contact_max, self._largest_count]
        wp.launch(kernels.note_contact_overflow, 1, inputs, device=self._model.device)

    def note_overflow(self, reported: wp.array) -> None:
        """Keep the overflow bits that the solver reported, shape [substeps, world_count]. May be recorded."""
        import warp as wp

        from . import kernels

        inputs = [reported, self._overflow]
        wp.launch(kernels.collect_overflow, reported.shape[1], inputs, device=self._model.device)

    def forget(self) -> None:
        """Forget what was noted, but not the number of steps."""
        self._body.fill_(_NONE)
        self._particle.fill_(_NONE)
        self._largest_count.zero_()
        self._overflow.zero_()

    def check(self, contacts: newton.Contacts | None) -> None:
        """Raise for what was noted since it was last forgotten. Synchronises with the device.

        Raises:
            SimulationError: The state is not finite, or a buffer overflowed.
        """
        body, particle = int(self._body.numpy()[0]), int(self._particle.numpy()[0])
        if min(body, particle) < _NONE:
            raise SimulationError(self._non_finite(body, particle))
        count = int(self._largest_count.numpy()[0])
        if count and contacts is not None:
            raise SimulationError(
                f"collision.rigid_contact_max: {count} contacts did not fit into {contacts.rigid_contact_max};"
                f" set it to at least {count}"
            )
        overflow = self._overflow.numpy()
        if overflow.any():
            world = int(overflow.nonzero()[0][0])
            raise SimulationError(
                f"solver: a buffer overflowed in world {world} (bits {int(overflow[world]):#x});"
                " raise the solver's capacities (MuJoCo: 'njmax' for constraint rows, 'nconmax' for contacts)"
            )

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
