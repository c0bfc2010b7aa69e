"""Joints and bodies made consistent: after writes between steps, and in the steps of solvers that move bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.devices import WARP_LOCK
from pippin.errors import ConfigError

from .kernels import merge_articulations, merge_mask, unwrap_angles

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


class ModifiedWorlds:
    """The worlds that a reset, a user or a component wrote since the solver read them: their state, or their model.

    Masks are merged on the device, so that a step may be recorded that resets worlds.

    Args:
        is_asked: Whether the component of the solver asks for the worlds; otherwise nothing is noted.
        at_first: Whether every world counts as written at first.
    """

    def __init__(self, model: newton.Model, *, is_asked: bool, at_first: bool) -> None:
        #: Whether the component of the solver asks for the worlds.
        self.is_asked = is_asked
        #: True for each of these worlds, shape [world_count + 1]; the last entry is for objects of no world.
        self.mask = wp.full(model.world_count + 1, value=at_first, dtype=bool, device=model.device)

    def add(self, world_mask: wp.array[wp.bool] | None) -> None:
        """Add the masked worlds; None means all. May be recorded."""
        if not self.is_asked:
            return
        if world_mask is None:
            self.mask.fill_(value=True)
        else:
            wp.launch(merge_mask, len(world_mask), [world_mask, self.mask], device=world_mask.device)

    def during(self, step: Callable[[], Any]) -> Callable[[], Any]:
        """Return a step of the solver after which it has read all worlds; it may be recorded if `step` may be."""
        if not self.is_asked:
            return step

        def read() -> None:
            step()
            self.mask.zero_()

        return read


class ContinuousAngles:
    """Inverse kinematics whose angles continue from the last ones, although Newton's lie within a turn.

    The last angles are those in the state, so a reset and a user's write start anew from what they write. An angle is
    the one nearest to what the velocities lead to; three angular axes of one joint continue from the last value only,
    because their velocities are unbounded near the singularity.
    """

    def __init__(self, model: newton.Model) -> None:
        self._model = model
        coordinates, dofs, has_rate = _angular_axes(model)
        self._count = len(coordinates)
        self._coordinates, self._dofs = (wp.array(each, dtype=int, device=model.device) for each in (coordinates, dofs))
        self._weights = wp.array(has_rate, dtype=float, device=model.device)
        if self._count:
            self._joint_q, self._joint_qd = (wp.zeros_like(present(each)) for each in (model.joint_q, model.joint_qd))

    def evaluate(self, state: newton.State, last: newton.State, dt: float) -> None:
        """Compute the joint coordinates of a state from its bodies. May be recorded, and differentiated.

        `last` has the last joint coordinates, of `dt` seconds before; it may be the same state.
        """
        joint_q, joint_qd = present(state.joint_q), present(state.joint_qd)
        before = [present(last.joint_q), present(last.joint_qd)]
        if self._count and last is state:
            wp.copy(self._joint_q, joint_q)
            wp.copy(self._joint_qd, joint_qd)
            before = [self._joint_q, self._joint_qd]
        newton.eval_ik(self._model, state, joint_q, joint_qd)
        inputs = [self._coordinates, self._dofs, self._weights, *before, joint_qd, dt]
        wp.launch(unwrap_angles, self._count, inputs, [joint_q], device=self._model.device)


def _angular_axes(model: newton.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coordinate and DOF of each axis of rotation that inverse kinematics computes, and whether to use its rate.

    A ball joint has a quaternion, which does not wrap.
    """
    kinds, trees = on_host(model.joint_type), on_host(model.joint_articulation)
    coordinates, dofs = on_host(model.joint_q_start), on_host(model.joint_qd_start)
    linear, angular = on_host(model.joint_dof_dim).reshape(-1, 2).T
    has_axes = np.isin(kinds, [int(newton.JointType.REVOLUTE), int(newton.JointType.D6)]) & (trees >= 0)
    counts = np.where(has_axes, angular, 0)
    joints = np.repeat(np.arange(len(kinds)), counts)
    axes = linear[joints] + np.arange(len(joints)) - (np.cumsum(counts) - counts)[joints]
    return coordinates[joints] + axes, dofs[joints] + axes, angular[joints] < 3
