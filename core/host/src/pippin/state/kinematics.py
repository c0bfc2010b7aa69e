"""User writes to the state between steps: joints and bodies are made consistent, and the solver forgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

import newton
import warp as wp
from pippin.arrays import present
from pippin.devices import WARP_LOCK
from pippin.errors import ConfigError

from .kernels import merge_articulations, merge_mask
from .modified_worlds import ModifiedWorlds

Coordinates = Literal["joints", "bodies", "particles"]


_FOLLOWS: Mapping[Coordinates, Coordinates] = {"joints": "bodies", "bodies": "joints"}
"""What is computed from what, in both directions; nothing follows from particles."""


class WrittenWorlds:
    """The worlds whose joints, bodies or particles a user has written, until all is consistent again.

    Masks are merged on the device; the host only knows that there are writes.
    """

    def __init__(
        self, model: newton.Model, solver: newton.solvers.SolverBase, state: newton.State, modified: ModifiedWorlds
    ) -> None:
        self._model, self._solver, self._state, self._modified = model, solver, state, modified
        kinds: tuple[Coordinates, ...] = get_args(Coordinates)
        self._articulations, self._worlds = (
            {what: wp.zeros(count, dtype=bool, device=model.device) for what in kinds}
            for count in (model.articulation_count, model.world_count + 1)
        )
        self._forces = None if state.body_f is None else wp.zeros_like(state.body_f)
        self._waiting: set[Coordinates] = set()
        self._replayed: set[Coordinates] = set()

    def add(self, what: Coordinates, world_mask: wp.array[wp.bool]) -> None:
        """Note that joints, bodies or particles of some worlds were written, by a mask of shape [world_count + 1]."""
        if what not in get_args(Coordinates):
            raise ConfigError(f"invalidate: expected 'joints', 'bodies' or 'particles', got {what!r}")
        model, (articulations, worlds) = self._model, self.masks(what)
        wp.launch(merge_mask, len(world_mask), [world_mask, worlds], device=model.device)
        if len(articulations):
            inputs = [model.articulation_world, world_mask, articulations]
            wp.launch(merge_articulations, len(articulations), inputs, device=model.device)
        self.note(what)

    def masks(self, what: Coordinates) -> tuple[wp.array[wp.bool], wp.array[wp.bool]]:
        """Return the masks of written articulations and worlds, [world_count + 1]; after setting bits, call `note`.

        `settle` resets the solver in these worlds. Bodies without a joint have no articulation: set only their world.
        """
        return self._articulations[what], self._worlds[what]

    def note(self, what: Coordinates) -> None:
        """Note that masks were set. After a call inside a capture, every step evaluates them: replays may set them."""
        self._waiting.add(what)
        if self._model.device.is_capturing:
            self._replayed.add(what)

    def state_for(self, what: Coordinates) -> newton.State:
        """Return the state to write joints, bodies or particles into, after computing what earlier writes change."""
        other = _FOLLOWS.get(what)
        if other in self._waiting or other in self._replayed:
            self._settle(other)
        return self._state

    def settle(self) -> None:
        """Compute bodies from written joints and joints from written bodies, and reset the solver in those worlds."""
        if self._waiting or self._replayed:
            with WARP_LOCK:
                for what in sorted(self._waiting | self._replayed):
                    self._settle(what)

    def _settle(self, what: Coordinates) -> None:
        articulations, worlds = self.masks(what)
        self._evaluate(what, articulations)
        self._reset_solver(worlds)
        self._modified.add(worlds)
        articulations.zero_()
        worlds.zero_()
        self._waiting.discard(what)

    def _reset_solver(self, worlds: wp.array) -> None:
        """Let the solver forget some worlds, but not the forces that the user applies in the next step."""
        forces = self._state.body_f
        if forces is not None and self._forces is not None:
            wp.copy(self._forces, forces)
        self._solver.reset(self._state, world_mask=worlds, flags=0)
        if forces is not None and self._forces is not None:
            wp.copy(forces, self._forces)

    def _evaluate(self, what: Coordinates, chosen: wp.array) -> None:
        model, state = self._model, self._state
        if not model.articulation_count or what == "particles":
            return
        joint_q, joint_qd = present(state.joint_q), present(state.joint_qd)
        if what == "joints":
            newton.eval_fk(model, joint_q, joint_qd, state, mask=chosen)
        else:
            newton.eval_ik(model, state, joint_q, joint_qd, mask=chosen)
