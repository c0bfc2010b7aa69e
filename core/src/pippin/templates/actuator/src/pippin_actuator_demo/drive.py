"""The law and its kernel."""

import warp as wp
from newton.actuators import DriveBase


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
