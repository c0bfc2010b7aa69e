"""Joint limits of MuJoCo Warp: those of balls, and limits that push as their stiffness and damping say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import newton
import warp as wp
from pippin.solving import complete_conversion

from .sliders import Sliders

__all__ = ["LimitedMuJoCo"]

_vec5: Any = wp.types.vector(5, float)


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
        self._dt, self._sliders = dt, None  # the constructor notifies itself
        super().__init__(model, **options)
        limits, bodies = complete_conversion(self)
        _limit_balls(self, limits)
        self._sliders = Sliders(self, bodies)
        self._write_springs()

    def notify_model_changed(self, flags: int) -> None:
        """Take over changes of the model; masses change the limits, too."""
        super().notify_model_changed(flags)
        if self._sliders is not None:
            self._sliders.weigh()
        self._write_springs()

    def _write_springs(self) -> None:
        joints: Any = self.mjc_jnt_to_newton_dof
        if joints is None or not joints.size:
            return
        is_discrete = self.mj_model.opt.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE  # implicit in itself
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


@wp.kernel
def write_limit_springs(
    dof_of_joint: wp.array2d[wp.int32],
    stiffness: wp.array[float],
    damping: wp.array[float],
    mode: wp.array[wp.int32],
    first_dof: wp.array[wp.int32],
    inverse_mass: wp.array2d[float],
    dt: float,
    solref: wp.array2d[wp.vec2],
    solimp: wp.array2d[_vec5],
):
    """Write the spring of each limit whose stiffness and damping are Newton's, not a file's own `solreflimit`."""
    world, joint = wp.tid()
    dof = dof_of_joint[world, joint]
    if dof < 0:
        return
    if mode:  # noqa: SIM102 (Warp evaluates both sides of `and`)
        if mode[dof] != 0:
            return
    rate = inverse_mass[world, first_dof[joint]]
    ke, kd = stiffness[dof], damping[dof]
    # A spring that the step resolves, (ω dt)² < 2, acts at the start of the step, and half of the damping at its end.
    # What the step does not resolve acts at its end, just so much that a joint never leaves faster than it came.
    stretch, decay = dt * dt * ke * rate, dt * kd * rate
    lasting = dt * ke * (1.0 - 2.0 / wp.max(stretch, 2.0))
    late = wp.max(0.5, 1.0 - 1.0 / wp.max(decay, 1.0))
    implicit = dt * (late * kd + lasting) * rate
    share = 1.0 / (1.0 + implicit)
    solref[world, joint] = wp.vec2(-ke * rate * share, -(kd + lasting) * rate * share)
    impedance = wp.clamp(implicit * share, 1.0e-4, 0.9999)  # MuJoCo's bounds
    solimp[world, joint][0] = impedance
    solimp[world, joint][1] = impedance


def _limit_balls(solver: newton.solvers.SolverMuJoCo, limits: Mapping[int, float]) -> None:
    """Limit the ball joints of a new solver; Newton's conversion leaves them out."""
    model: Any = solver.mjw_model
    if limits:
        model.jnt_limited_ball_adr = wp.array(sorted(limits), dtype=int, device=solver.model.device)
        ranges = model.jnt_range.numpy()
        ranges[:, list(limits)] = [(0.0, angle) for angle in limits.values()]
        model.jnt_range.assign(ranges)
