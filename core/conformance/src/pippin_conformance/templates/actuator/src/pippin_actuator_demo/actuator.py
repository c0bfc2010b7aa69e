"""A servo whose effort approaches its limit softly, as a Pippin actuator."""

import warp as wp
from newton.actuators import DriveBase
from pippin.actuation import DriveActuator


@wp.kernel
def soft_servo(
    q: wp.array[float],
    qd: wp.array[float],
    target: wp.array[float],
    at_q: wp.array[wp.uint32],
    at_qd: wp.array[wp.uint32],
    at_target: wp.array[wp.uint32],
    kp: wp.array[float],
    kd: wp.array[float],
    max_effort: wp.array[float],
    effort: wp.array[float],
):
    """Effort of each degree of freedom, one thread for each; see `DemoConfig` for the formula."""
    i = wp.tid()
    wanted = kp[i] * (target[at_target[i]] - q[at_q[i]]) - kd[i] * qd[at_qd[i]]
    effort[i] = max_effort[i] * wp.tanh(wanted / max_effort[i])


class SoftServo(DriveBase):
    """Newton's interface around the kernel.

    Args:
        kp: Stiffness, shape [degrees of freedom].
        kd: Damping, likewise.
        max_effort: Limit, likewise.
    """

    def __init__(self, kp, kd, max_effort):
        self.kp, self.kd, self.max_effort = kp, kd, max_effort

    def is_stateful(self):
        """Return False: the law has no memory between steps."""
        return False

    def is_graphable(self):
        """Return True: the law may be recorded."""
        return True

    def compute(
        self, q, qd, target, target_qd, feedforward, at_q, at_qd, at_target, at_rate, out, state, dt, device=None
    ):
        """Write the effort of one step [N or N·m]."""
        inputs = [q, qd, target, at_q, at_qd, at_target, self.kp, self.kd, self.max_effort]
        wp.launch(soft_servo, len(out), inputs, [out], device=device)


class ActuatorDemo(DriveActuator):
    """The plugin: an actuator with `type = "demo"`."""

    def build_drive(self, lanes):
        """Return the law, with one value of each parameter per degree of freedom."""
        kp = lanes.per_lane(self.config.kp, "kp", minimum=0.0)
        kd = lanes.per_lane(self.config.kd, "kd", minimum=0.0)
        limit = lanes.per_lane(self.config.max_effort, "max_effort", minimum=1e-6)
        return SoftServo(kp, kd, limit)
