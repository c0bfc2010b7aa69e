"""Newton's `SolverXPBD` with hinges and slides that hold along any axis, light palms, and thin links that spin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import newton
import numpy as np
import warp as wp
from newton import Contacts, Control, State
from newton.solvers import SolverBase
from pippin.quaternions import rotated
from pippin.solving import BallEfforts

from .kernels import (
    correct_spin_at_the_end,
    drive_from_here,
    share_drives,
    split_bodies,
    take_spin_at_the_end,
    turn_joints,
)

__all__ = ["SteadyXPBD", "bound", "joint_gains"]

_BOUND = 1.8
"""Largest correction of a body by all rows of its joints, in each iteration and relative to its error. An iteration
diverges at 2.
"""

_SAFE = 0.85
"""Part of the largest correction at which substeps diverge that is safe, as rows are weighed by the mean of three."""

_OF_JOINTS = ("joint_X_p", "joint_X_c", "joint_axis", "joint_limit_lower", "joint_limit_upper")
"""Arrays of the model that describe joints."""

_OF_DRIVES = ("joint_target_ke", "joint_target_kd")


def bound(iterations: int) -> float:
    """Return the largest correction of a body by all rows of its joints, relative to its error.

    An odd number of iterations that go too far leave an error of the opposite sign. The velocity is that of the
    correction, so that the next substep begins with twice this error: it diverges if a third is left.
    """
    return _SAFE * (1.0 + 3.0 ** (-1.0 / iterations)) if iterations % 2 else _BOUND


def joint_gains(model: Any) -> np.ndarray:
    """Return how often all rows of a body's joints together correct an error that each of them corrects, by body.

    It is the largest eigenvalue of the sum of n nᵀ over all rows, with n the direction in which a row moves the body,
    in units in which its mass and moments are 1. An iteration of all rows at once, times the relaxation, diverges at 2.
    It is 1 for one joint at the centre of mass, about 2.5 for one beside it, and grows with each further joint.
    """
    gains = np.zeros((model.body_count, 6, 6))
    if not model.body_count or not model.joint_count:
        return np.zeros(model.body_count)
    kinds, com, masses = (each.numpy() for each in (model.joint_type, model.body_com, model.body_inv_mass))
    moments, axes = np.linalg.eigh(model.body_inv_inertia.numpy().astype(float))
    roots = axes * np.sqrt(moments.clip(0.0))[:, None, :]  # of the inverse inertia
    for bodies, frames in ((model.joint_parent, model.joint_X_p), (model.joint_child, model.joint_X_c)):
        own, places = bodies.numpy(), frames.numpy()
        chosen = np.flatnonzero((own >= 0) & (kinds != int(newton.JointType.FREE)))
        own, places = own[chosen], places[chosen].astype(float)
        turns = rotated(places[:, None, 3:], np.eye(3))  # a row for each axis of the frame
        arms = (places[:, :3] - com[own])[:, None, :]
        rows = np.zeros((len(chosen), 6, 6))
        rows[:, :3, :3] = turns * np.sqrt(masses[own])[:, None, None]
        rows[:, :3, 3:] = np.cross(arms, turns) @ roots[own]
        is_turned = ~np.isin(kinds[chosen], [int(newton.JointType.BALL), int(newton.JointType.DISTANCE)])
        rows[:, 3:, 3:] = (turns @ roots[own]) * is_turned[:, None, None]
        sizes = np.square(rows).sum(axis=2).reshape(-1, 2, 3).mean(axis=2)  # on average, whatever the axes of the frame
        rows /= np.sqrt(sizes).repeat(3, axis=1)[:, :, None].clip(1e-12)
        np.add.at(gains, own, np.swapaxes(rows, 1, 2) @ rows)
    return np.linalg.eigvalsh(gains)[:, -1]


class SteadyXPBD(newton.solvers.SolverXPBD):
    """A solver that turns the frames of hinges, splits bodies between their joints, and takes spin at the step's end.

    Newton takes the angle of a joint apart into a twist about x and a swing, which is singular at half a turn. A hinge
    about y or z, as most are, then loses its axis: a knee that is bent by 2.7 rad diverges, at every step length. Here
    the frames of a hinge are turned so that it twists; from the middle of its range, if that goes beyond half a turn.

    Newton bounds each coordinate of a joint's frame by the limits times the axis: a slide along a skew axis is free in
    each of the coordinates that the axis touches. Here the frames of a slide are turned so that its axis is x.

    All joints of a body correct it at once, from the same pose. A palm between five heavier fingers then gets several
    times the correction that it needs, and each iteration makes it worse. Here such a body counts as lighter for each
    of its joints, as if it were split between them (mass splitting, Tonge and others 2012); momentum is kept.

    Each iteration adds the force of a drive, times the relaxation: a servo has iterations x relaxation times its gains.
    Here, each iteration has its part of them.

    Newton lets the side forces of a slide with a drive act at the target of the drive, not where the slide is: a soft
    drive then turns the body that carries the slide. Here, targets are where the slides are, and target velocities have
    the rest of the force.

    Newton takes the gyroscopic torque at the start of a step. A thin link, with moments A << C, diverges if it tumbles
    faster than A / (C dt). Here it is that of the end of the step, and so is its change by each correction.
    """

    _whole: Any = None
    _split: Any = None
    _turned: Any = None
    _steadied: Any = None
    _corrections: Any = None

    def __init__(self, model: Any, **options: Any) -> None:
        super().__init__(model, **options)
        self._ball_efforts = BallEfforts(model)
        follows: Any = np.array([]) if model.joint_mimic_joint is None else model.joint_mimic_joint.numpy()
        is_in_mimic = np.zeros(model.joint_count, dtype=bool)
        is_in_mimic[np.flatnonzero(follows >= 0)] = is_in_mimic[follows[follows >= 0]] = True
        relaxation = (self.joint_linear_relaxation, self.joint_angular_relaxation)
        self._parts = [1.0 / (self.iterations * each) if each else 1.0 for each in relaxation]
        self._is_in_mimic = wp.array(is_in_mimic, dtype=wp.bool, device=model.device)

    def _refresh_kinematic_state(self) -> None:
        if self._whole is None:  # once: recorded steps hold the addresses
            self._whole = (self.body_inv_mass_effective, self.body_inv_inertia_effective)
            self._split = tuple(map(wp.empty_like, self._whole))
            self._gains = wp.array(joint_gains(self.model), dtype=float, device=self.model.device)
        super()._refresh_kinematic_state()
        relaxation = max(self.joint_linear_relaxation, self.joint_angular_relaxation)
        inputs = [self._gains, relaxation, bound(self.iterations), *self._whole]
        wp.launch(split_bodies, self.model.body_count, inputs, [*self._split], device=self.model.device)

    def step(
        self,
        state_in: State,
        state_out: State,
        control: Control | None,
        contacts: Contacts | None,
        dt: float,
        *,
        observables: SolverBase.Observables | None = None,
    ) -> None:
        """Advance by one substep."""
        model, control = self.model, self.model.control() if control is None else control
        stated = {name: getattr(model, name) for name in _OF_JOINTS} if model.joint_count else {}
        target: Any = control.joint_target_q
        velocity: Any = control.joint_target_qd
        if stated:
            if self._turned is None:
                self._turned = {name: wp.clone(each) for name, each in stated.items()}
                self._turned_target = wp.clone(target)
                self._moved_target = wp.clone(velocity)
                self._drives = {name: wp.clone(getattr(model, name)) for name in _OF_DRIVES}
            wp.copy(self._turned_target, target)
            joints = [model.joint_type, model.joint_qd_start, model.joint_target_q_start, model.joint_dof_dim]
            inputs = [*joints, self._is_in_mimic, *stated.values(), target]
            outputs = [*self._turned.values(), self._turned_target]
            wp.launch(turn_joints, model.joint_count, inputs, outputs, device=model.device)
            control.joint_target_q = self._turned_target
            drives = {name: getattr(model, name) for name in _OF_DRIVES}
            inputs = [model.joint_qd_start, model.joint_dof_dim, *self._parts, *drives.values()]
            ke, kd = self._drives.values()
            wp.launch(share_drives, model.joint_count, inputs, [ke, kd], device=model.device)
            stated |= drives
            wp.copy(self._moved_target, velocity)
            bodies, targets = [state_in.body_q, model.joint_parent, model.joint_child], [velocity, kd]
            inputs = [dt, *bodies, *joints[1:], *self._turned.values(), ke, *targets]
            outputs = [self._turned_target, self._moved_target]
            wp.launch(drive_from_here, model.joint_count, inputs, outputs, device=model.device)
            control.joint_target_qd = self._moved_target
        try:
            for name in stated:
                setattr(model, name, self._turned[name] if name in self._turned else self._drives[name])
            with self._bodies(self._split), self._ball_efforts.in_world(state_in, control):
                super().step(state_in, state_out, control, contacts, dt, observables=observables)
        finally:
            control.joint_target_q, control.joint_target_qd = target, velocity
            for name, each in stated.items():
                setattr(model, name, each)

    def integrate_bodies(
        self, model: Any, state_in: Any, state_out: Any, dt: float, angular_damping: float = 0.0
    ) -> None:
        """Move the bodies by forces and torques."""
        if not model.body_count:
            return
        stated = state_in.body_f
        if self._steadied is None:
            self._steadied = wp.zeros_like(stated)
        inputs = [state_in.body_q, state_in.body_qd, stated, model.body_inertia, model.body_inv_inertia, dt]
        wp.launch(take_spin_at_the_end, model.body_count, inputs, [self._steadied], device=model.device)
        state_in.body_f = self._steadied
        super().integrate_bodies(model, state_in, state_out, dt, angular_damping)
        state_in.body_f = stated

    def _apply_body_deltas(
        self,
        model: Any,
        state_in: Any,
        state_out: Any,
        body_deltas: Any,
        dt: float,
        rigid_contact_inv_weight: Any = None,
    ) -> Any:
        if self._corrections is None:
            self._corrections, self._zero = wp.zeros_like(body_deltas), wp.zeros_like(model.body_inertia)
        weights, stated = rigid_contact_inv_weight, model.body_inertia
        takes_turns = self._body_delta_counter and not state_in.requires_grad
        at = state_in if takes_turns else state_out  # where Newton keeps the bodies now
        inputs = [at.body_q, at.body_qd, stated, self._whole[1], body_deltas, weights, dt]
        wp.launch(correct_spin_at_the_end, model.body_count, inputs, [self._corrections], device=model.device)
        model.body_inertia = self._zero  # so that Newton adds no change of the torque
        try:
            with self._bodies(self._whole):
                return super()._apply_body_deltas(model, state_in, state_out, self._corrections, dt, weights)
        finally:
            model.body_inertia = stated

    @contextmanager
    def _bodies(self, inverses: tuple[wp.array, wp.array] | None) -> Iterator[None]:
        """Let Newton's kernels read these inverse masses and inertias; None without bodies."""
        before = (self.body_inv_mass_effective, self.body_inv_inertia_effective)
        self.body_inv_mass_effective, self.body_inv_inertia_effective = inverses or before
        try:
            yield
        finally:
            self.body_inv_mass_effective, self.body_inv_inertia_effective = before
