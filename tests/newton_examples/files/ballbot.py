"""The law of `robot_omniwheel`: three wheels balance a pole on a ball, and ride it along a circle."""

from __future__ import annotations

from typing import Any

import attrs
import newton
import numpy as np
import pippin
import warp as wp


@attrs.frozen(kw_only=True)
class BallbotConfig:
    """Feedback of the whole state to the efforts of three wheels; the gains are those of the example."""

    implementation = "Ballbot"

    centre: tuple[float, float] = (-2.4, 0.0)
    """Centre of the circle [m]; its radius is 1 m, and the ride begins at its end in +x."""

    speed: float = 0.4
    """Speed along the circle [m/s]."""

    start: float = 2.0
    """Time of the start [s]; until then, the robot goes to the circle and waits."""

    feedforward: float = 0.75
    """Share of the speed that is asked for."""


class Ballbot:
    """Balances the body `ballbot_body` of each world by the joints `ballbot_wheel_…_joint`."""

    def __init__(self, config: BallbotConfig) -> None:
        self.config = config

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        """Find the bodies and the drives of each world."""
        model, device, dt = simulation.model, simulation.device, simulation.control_dt
        worlds = simulation.world_count
        joints = [
            i
            for i, label in enumerate(model.joint_label)
            if label.startswith("ballbot_wheel") and "roller" not in label
        ]
        dofs = model.joint_qd_start.numpy()[joints].reshape(worlds, 3)
        parents = model.joint_X_p.numpy()[joints, :2].reshape(worlds, 3, 2)[0]
        along = np.stack([-parents[:, 1], parents[:, 0], np.zeros(3)], axis=1)  # each wheel pushes along its tangent
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        self._bodies, self._balls = (
            wp.array([i for i, label in enumerate(model.body_label) if label == name], dtype=int, device=device)
            for name in ("ballbot_body", "ballbot_ball")
        )
        self._dofs = wp.array2d(dofs, dtype=int, device=device)
        self._along = wp.array(along, dtype=wp.vec3, device=device)
        self._dt = dt
        self.steps = wp.zeros(worlds, dtype=int, device=device)

    def state_arrays(self) -> dict[str, wp.array]:
        """Return the control steps that each world has begun."""
        return {"steps": self.steps}

    @pippin.hookimpl
    def start_step(self) -> None:
        """Count."""
        wp.launch(count, len(self.steps), [self.steps], device=self.steps.device)

    @pippin.hookimpl
    def before_substep(self, state: newton.State, control: Any) -> None:
        """Write the efforts."""
        config = self.config
        wp.launch(
            balance,
            len(self.steps),
            [self.steps, self._dt, wp.vec2(config.centre), config.speed, config.start, config.feedforward],
            [
                self._bodies,
                self._balls,
                self._dofs,
                self._along,
                state.body_q,
                state.body_qd,
                state.joint_qd,
                control.joint_f,
            ],
            device=self.steps.device,
        )


@wp.func
def flat(vector: wp.vec3):
    """Return the horizontal part of a vector."""
    return wp.vec3(vector[0], vector[1], 0.0)


@wp.kernel
def count(steps: wp.array[int]):
    """Count the control steps."""
    world = wp.tid()
    steps[world] += 1


@wp.kernel
def balance(
    steps: wp.array[int],
    dt: float,
    centre: wp.vec2,
    speed: float,
    start: float,
    feedforward: float,
    bodies: wp.array[int],
    balls: wp.array[int],
    dofs: wp.array2d[int],
    along: wp.array[wp.vec3],
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    joint_qd: wp.array[float],
    joint_f: wp.array[float],
):
    """Write the efforts of the three wheels of a world; a robot that has fallen gets none."""
    world = wp.tid()
    time = float(steps[world] - 1) * dt
    angle = speed * wp.max(time - start, 0.0)
    goal = wp.vec3(centre[0] + wp.cos(angle), centre[1] + wp.sin(angle), 0.0)
    asked = wp.vec3(0.0)
    if time >= start:
        asked = feedforward * speed * wp.vec3(-wp.sin(angle), wp.cos(angle), 0.0)

    turn = wp.transform_get_rotation(body_q[bodies[world]])
    place = wp.transform_get_translation(body_q[bodies[world]])
    off = place - wp.transform_get_translation(body_q[balls[world]])
    twist = body_qd[bodies[world]]
    up = wp.quat_rotate_inv(turn, wp.vec3(0.0, 0.0, 1.0))
    spin = wp.quat_rotate_inv(turn, wp.spatial_bottom(twist))
    is_up = up[2] >= 0.85 and off[2] >= 0.25 and wp.length(wp.vec2(off[0], off[1])) <= 0.25

    error = flat(place - goal)
    drift = flat(wp.spatial_top(twist))
    push = -90.0 * wp.quat_rotate_inv(turn, error)
    push -= 130.0 * (wp.quat_rotate_inv(turn, drift) - flat(wp.quat_rotate_inv(turn, asked)))
    push += 75.0 * wp.vec3(up[0], up[1], 0.0) - 55.0 * wp.vec3(spin[1], -spin[0], 0.0)
    for wheel in range(3):
        dof = dofs[world, wheel]
        rate = joint_qd[dof]
        effort = (2.0 * wp.dot(push, along[wheel]) - 15.0 * spin[2]) / 3.0 - 1.25 * rate
        effort -= wp.sign(rate) * 2.0 * wp.max(wp.abs(rate) - 12.0, 0.0)
        joint_f[dof] = wp.where(is_up, wp.clamp(effort, -12.0, 12.0), 0.0)
