"""The kernels. Importing this imports Warp and Newton, so the configuration is in a module of its own."""

from dataclasses import dataclass

import warp as wp
from newton.actuators import ClampingBase, DriveBase


@wp.kernel
def drive(
    q: wp.array[float],
    qd: wp.array[float],
    target: wp.array[float],
    at_q: wp.array[wp.uint32],
    at_qd: wp.array[wp.uint32],
    at_target: wp.array[wp.uint32],
    kp: wp.array[float],
    kd: wp.array[float],
    voltage: wp.array[float],
    motor_constant: wp.array[float],
    resistance: wp.array[float],
    heat_capacity: wp.array[float],
    thermal_resistance: wp.array[float],
    dt: float,
    rise: wp.array[float],
    effort: wp.array[float],
    next_rise: wp.array[float],
):
    i = wp.tid()
    speed = qd[at_qd[i]]
    u = wp.clamp(kp[i] * (target[at_target[i]] - q[at_q[i]]) - kd[i] * speed, -voltage[i], voltage[i])
    ohms = resistance[i] * (1.0 + 0.0039 * rise[i])
    current = (u - motor_constant[i] * speed) / ohms
    effort[i] = motor_constant[i] * current
    next_rise[i] = rise[i] + dt * (current * current * ohms - rise[i] / thermal_resistance[i]) / heat_capacity[i]


@wp.kernel
def cool(mask: wp.array[wp.bool], rise: wp.array[float]):
    if mask[wp.tid()]:
        rise[wp.tid()] = 0.0


@wp.kernel
def stop(
    source: wp.array[float], qd: wp.array[float], at: wp.array[wp.uint32], limit: wp.array[float], out: wp.array[float]
):
    i = wp.tid()
    out[i] = source[i]
    if wp.abs(qd[at[i]]) >= limit[i] and source[i] * qd[at[i]] > 0.0:
        out[i] = 0.0


class DriveHotMotor(DriveBase):
    @dataclass
    class State(DriveBase.State):
        rise: wp.array

        def reset(self, mask=None):
            if mask is None:
                self.rise.zero_()
            else:
                wp.launch(cool, len(mask), [mask, self.rise], device=mask.device)

    def __init__(self, **parameters):
        vars(self).update(parameters)
        self._names = tuple(parameters)

    def finalize(self, device, num_actuators):
        self._next_rise = wp.zeros(num_actuators, dtype=float, device=device)

    def is_stateful(self):
        return True

    def is_graphable(self):
        return True

    def state(self, num_actuators, device):
        return self.State(rise=wp.zeros(num_actuators, dtype=float, device=device))

    def compute(
        self, q, qd, target, target_qd, feedforward, at_q, at_qd, at_target, at_rate, out, state, dt, device=None
    ):
        parameters = [getattr(self, name) for name in self._names]
        inputs = [q, qd, target, at_q, at_qd, at_target, *parameters, dt, state.rise, out, self._next_rise]
        wp.launch(drive, len(out), inputs, device=device)

    def update_state(self, current, following):
        wp.copy(following.rise, self._next_rise)


class ClampingSpeedStop(ClampingBase):
    def __init__(self, max_speed):
        self.max_speed = max_speed

    def modify_forces(self, source, out, q, qd, at_q, at_qd, device=None):
        wp.launch(stop, len(source), [source, qd, at_qd, self.max_speed, out], device=device)
