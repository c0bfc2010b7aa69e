"""Newton's interface around the hinges in C."""

import newton
import numpy as np
import warp as wp
from pippin import ConfigError

from . import _core


class SolverHinges(newton.solvers.SolverBase):
    """Each joint is a hinge between the world and a link.

    Args:
        model: What it moves.
        damping: Viscous friction of every hinge [N·m·s].
    """

    def __init__(self, model, damping):
        super().__init__(model)
        if model.device.is_cuda:
            raise ConfigError("hinges: runs on the CPU only; set simulation.device = 'cpu'")
        chained = model.joint_parent.numpy() >= 0
        if chained.any():
            label = model.joint_label[int(np.argmax(chained))]
            raise ConfigError(f"hinges: joint {label!r} hangs on another link; give each link a hinge to the world")
        self._constants = np.array(
            [self._constants_of(joint, damping) for joint in range(model.joint_count)], np.float32
        )

    def _constants_of(self, joint, damping):
        """Return 1/J, the torques of gravity at angles 0 and π/2, and the damping."""
        model = self.model
        body, dof = (int(array.numpy()[joint]) for array in (model.joint_child, model.joint_qd_start))
        parent, child = (wp.transform(*frames.numpy()[joint]) for frames in (model.joint_X_p, model.joint_X_c))
        axis = model.joint_axis.numpy()[dof]
        to_hinge = wp.transform_inverse(child)
        arm = np.array(wp.transform_point(to_hinge, wp.vec3(*model.body_com.numpy()[body])))
        turn = np.array(wp.quat_to_matrix(wp.transform_get_rotation(to_hinge))).reshape(3, 3)
        mass, inertia = model.body_mass.numpy()[body], turn @ model.body_inertia.numpy()[body] @ turn.T
        about_axis = axis @ inertia @ axis + mass * np.sum(np.cross(axis, arm) ** 2) + model.joint_armature.numpy()[dof]
        world = max(int(model.body_world.numpy()[body]), 0)
        weight = wp.vec3(*(mass * model.gravity.numpy()[world]))
        weight = np.array(wp.quat_rotate_inv(wp.transform_get_rotation(parent), weight))
        # What turns is the part of the arm across the axis: arm cos q + (axis × arm) sin q.
        at_zero, at_right_angle = np.cross(arm, weight) @ axis, np.cross(np.cross(axis, arm), weight) @ axis
        return 1.0 / about_axis, at_zero, at_right_angle, damping

    def step(self, state_in, state_out, control, contacts, dt, *, observables=None):
        """Advance by `dt` [s]."""
        inputs = [state_in.joint_q.numpy(), state_in.joint_qd.numpy(), control.joint_f.numpy(), self._constants]
        _core.step(*inputs, state_out.joint_q.numpy(), state_out.joint_qd.numpy(), dt)
