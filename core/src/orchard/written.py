"""States that a user writes between steps: joints and bodies brought into agreement, by world, on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .arrays import present

if TYPE_CHECKING:
    import newton
    import warp as wp

__all__ = ["Coordinates", "WrittenWorlds"]

Coordinates = Literal["joints", "bodies"]


class WrittenWorlds:
    """Which worlds a user has written joint coordinates or bodies of, until both agree again.

    Masks are merged on the device; the host knows only that there is something to do.

    Args:
        model: The model of all worlds.
        solver: What remembers the worlds as they were, and is told to forget.
        state: The state that is written.
    """

    def __init__(self, model: newton.Model, solver: newton.solvers.SolverBase, state: newton.State) -> None:
        import warp as wp

        self._model, self._solver, self._state = model, solver, state
        self._masks = {
            what: wp.zeros(model.world_count + 1, dtype=bool, device=model.device) for what in ("joints", "bodies")
        }
        self._articulations = wp.zeros(model.articulation_count, dtype=bool, device=model.device)
        self._waiting: set[Coordinates] = set()

    @property
    def is_waiting(self) -> bool:
        """Whether there is something to bring into agreement."""
        return bool(self._waiting)

    def add(self, what: Coordinates, world_mask: wp.array[wp.bool]) -> None:
        """Note that joints or bodies of some worlds were written, by a mask of shape [world_count + 1]."""
        import warp as wp

        from .kernels import merge_mask

        wp.launch(merge_mask, len(world_mask), [world_mask, self._masks[what]], device=self._model.device)
        self._waiting.add(what)

    def settle(self) -> None:
        """Compute bodies from written joints and joints from written bodies, and let the solver forget those worlds."""
        for what in sorted(self._waiting):
            mask = self._masks[what]
            self._evaluate(what, mask)
            self._solver.reset(self._state, world_mask=mask, flags=0)
            mask.zero_()
        self._waiting.clear()

    def _evaluate(self, what: Coordinates, world_mask: wp.array[wp.bool]) -> None:
        import newton
        import warp as wp

        from .kernels import mask_articulations

        model, state, chosen = self._model, self._state, self._articulations
        if not model.articulation_count:
            return
        wp.launch(mask_articulations, len(chosen), [model.articulation_world, world_mask, chosen], device=model.device)
        joint_q, joint_qd = present(state.joint_q), present(state.joint_qd)
        if what == "joints":
            newton.eval_fk(model, joint_q, joint_qd, state, mask=chosen)
        else:
            newton.eval_ik(model, state, joint_q, joint_qd, mask=chosen)
