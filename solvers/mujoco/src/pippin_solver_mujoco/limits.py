"""Limits of MuJoCo Warp: those of balls, of controls, and limits that push as they say; and ties in time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import newton
import numpy as np
import warp as wp
from mujoco import mjMINVAL, mjtDisableBit, mjtEq, mjtGain, mjtIntegrator, mjtObj
from pippin.solving import LoopTies, complete_conversion

from .kernels import clamp_controls, write_limit_springs
from .sliders import Sliders
from .slippery import Slippery

__all__ = ["LimitedMuJoCo", "flag_of_late_damping", "hard_ties", "softened_ties"]

_TIES = (mjtEq.mjEQ_CONNECT, mjtEq.mjEQ_WELD)

_HARDEST = 0.999
"""Largest impedance of a tie with which MuJoCo Warp's solver does not end early."""

_IMPLICIT = (mjtIntegrator.mjINT_IMPLICIT, mjtIntegrator.mjINT_IMPLICITFAST)


def flag_of_late_damping(model: Any) -> str:
    """Return the flag with which MuJoCo Warp leaves the damping of a model out of an implicit step; empty if none does.

    Without actuation it leaves out that of joints, tendons and the medium, without dampers that of actuators, too.
    """
    off = model.opt.disableflags
    has_motors, has_dampers = (not off & flag for flag in (mjtDisableBit.mjDSBL_ACTUATION, mjtDisableBit.mjDSBL_DAMPER))
    if model.opt.integrator not in _IMPLICIT or has_motors == has_dampers:
        return ""
    damped = (model.dof_damping, model.tendon_damping) if has_dampers else _velocity_gains(model)
    is_lost = any(each.any() for each in damped) or model.opt.density or model.opt.viscosity
    return ("actuation" if has_dampers else "damper") if is_lost else ""


def _velocity_gains(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what the forces of actuators have of the velocity: gains and biases."""
    return model.actuator_gainprm[:, 2], model.actuator_biasprm[:, 2]


def softened_ties(model: Any) -> Iterator[str]:
    """Yield a note for each tie of a body that turns about its centre of mass, where MuJoCo Warp has another weight.

    Its inverse weight of displacements is 0; MuJoCo Warp takes that of rotations in its place, which has another unit.
    """
    for equality in np.flatnonzero(np.isin(model.eq_type, _TIES) & model.eq_active0.astype(bool)):
        ends = (model.eq_obj1id[equality], model.eq_obj2id[equality])
        if model.eq_objtype[equality] == mjtObj.mjOBJ_SITE:
            ends = model.site_bodyid[list(ends)]
        weights = model.body_invweight0[list(ends)]
        is_pivot = (weights[:, 0] < mjMINVAL) & (weights[:, 1] > mjMINVAL)
        if is_pivot.any():
            names = [model.body(end).name for end in np.array(ends)[is_pivot]]
            factor = 1.0 + weights[is_pivot, 1].sum() / max(weights[:, 0].sum(), mjMINVAL)
            yield (
                f"connect, weld: body {names[0]!r} turns about its centre of mass, so that MuJoCo Warp softens its tie"
                f" {factor:.3g} times as much as MuJoCo does; move the centre of mass, or tie it stiffly by solref"
            )


def hard_ties(model: Any) -> Iterator[str]:
    """Yield a note if a tie is so hard that MuJoCo Warp's solver may end early, in single precision."""
    impedances = model.eq_solimp[np.isin(model.eq_type, _TIES) & model.eq_active0.astype(bool), :2]
    if impedances.size and (hardest := impedances.max()) > _HARDEST + 1e-6:
        yield (
            f"connect, weld: solimp {hardest:.6g} is so hard that MuJoCo Warp's solver may end early in a step, with"
            f" accelerations some per cent off; take at most {_HARDEST}"
        )


def _has_damping_gains(model: Any) -> bool:
    """Tell whether the damping of an implicit step follows clamped controls, as that of a `damper` does."""
    gains = (mjtGain.mjGAIN_AFFINE, mjtGain.mjGAIN_MUSCLE)
    is_clamped = model.actuator_ctrllimited.any() and not model.opt.disableflags & mjtDisableBit.mjDSBL_CLAMPCTRL
    return bool(is_clamped and model.opt.integrator in _IMPLICIT and np.isin(model.actuator_gaintype, gains).any())


class LimitedMuJoCo(newton.solvers.SolverMuJoCo):
    """Newton's `SolverMuJoCo` whose limits push by `joint_limit_ke` and `joint_limit_kd`, balls among them.

    Newton's conversion is exact for a joint that rests on its limit, and 20 times too soft for one that moves: MuJoCo
    adds a part of the free acceleration, 1 - d, which only a small impedance d makes small in motion, too. The
    impedance is that of the implicit step of a spring: stable for each stiffness, and exact for small steps.

    Args:
        model: Newton's model.
        dt: Length of a step [s].
        options: Arguments of `SolverMuJoCo`.
    """

    def __init__(self, model: newton.Model, dt: float, **options: Any) -> None:
        self._dt, self._clamps_controls, self._has_ties = dt, False, False
        self._sliders, self._ties, self._slippery = None, None, None  # the constructor notifies itself
        super().__init__(model, **options)
        limits, bodies = complete_conversion(self)
        _limit_balls(self, limits)
        self._sliders = Sliders(self, bodies)
        self._ties = LoopTies(self)
        self._slippery = Slippery(self)
        self._clamps_controls = _has_damping_gains(self.mj_model)
        self._has_ties = bool(np.isin(self.mj_model.eq_type, _TIES).any())
        self._write_springs()

    def notify_model_changed(self, flags: int) -> None:
        """Take over changes of the model; masses change the limits, too, and frames of joints the loops."""
        super().notify_model_changed(flags)
        if self._sliders is not None:
            self._sliders.weigh(self)
        if self._ties is not None:
            self._ties.write(self)
        if self._slippery is not None:
            self._slippery.write(self)
        self._write_springs()

    def _apply_mjc_control(self, model: Any, state: Any, control: Any, mj_data: Any) -> None:
        """Write the controls of a step, clamped where MuJoCo Warp's implicit steps take them as they are."""
        super()._apply_mjc_control(model, state, control, mj_data)
        if self._clamps_controls:
            own: Any = self.mjw_model
            inputs = [own.actuator_ctrllimited, own.actuator_ctrlrange]
            wp.launch(clamp_controls, mj_data.ctrl.shape, inputs=inputs, outputs=[mj_data.ctrl], device=model.device)

    def _mujoco_warp_step(self) -> None:
        """Take a step, with the velocities of bodies as they are: constraints take those of the step before."""
        if self._has_ties:
            for stage in ("kinematics", "com_pos", "com_vel"):
                getattr(self._mujoco_warp, stage)(self.mjw_model, self.mjw_data)
        super()._mujoco_warp_step()

    def _write_springs(self) -> None:
        joints: Any = self.mjc_jnt_to_newton_dof
        if joints is None or not joints.size:
            return
        is_discrete = self.mj_model.opt.integrator == mjtIntegrator.mjINT_DISCRETE  # implicit in itself
        model: Any = self.model
        wp.launch(
            write_limit_springs,
            dim=joints.shape,
            inputs=[
                joints,
                model.joint_limit_ke,
                model.joint_limit_kd,
                getattr(getattr(model, "mujoco", None), "solreflimit_mode", None),
                self.mjw_model.jnt_dofadr,
                self.mjw_model.dof_invweight0,
                0.0 if is_discrete else self._dt,
            ],
            outputs=[self.mjw_model.jnt_solref, self.mjw_model.jnt_solimp],
            device=model.device,
        )


def _limit_balls(solver: newton.solvers.SolverMuJoCo, limits: Mapping[int, float]) -> None:
    """Limit the ball joints of a new solver; Newton's conversion leaves them out."""
    model: Any = solver.mjw_model
    if limits:
        model.jnt_limited_ball_adr = wp.array(sorted(limits), dtype=int, device=solver.model.device)
        ranges = model.jnt_range.numpy()
        ranges[:, list(limits)] = [(0.0, angle) for angle in limits.values()]
        model.jnt_range.assign(ranges)
