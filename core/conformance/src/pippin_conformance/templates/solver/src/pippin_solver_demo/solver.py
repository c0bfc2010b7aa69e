"""Free rigid bodies that fall and tumble, as a Pippin solver."""

import newton
import numpy as np
import pippin
import warp as wp


@wp.kernel
def advance(
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    body_f: wp.array[wp.spatial_vector],
    body_dof: wp.array[int],
    joint_f: wp.array[float],
    body_com: wp.array[wp.vec3],
    inv_mass: wp.array[float],
    inertia: wp.array[wp.mat33],
    inv_inertia: wp.array[wp.mat33],
    body_world: wp.array[int],
    gravity: wp.array[wp.vec3],
    damping: float,
    dt: float,
    next_q: wp.array[wp.transform],
    next_qd: wp.array[wp.spatial_vector],
):
    """Newton's law for the centre of mass, Euler's equations in the body's frame."""
    body = wp.tid()
    pose = body_q[body]
    turn = wp.transform_get_rotation(pose)
    velocity = wp.spatial_top(body_qd[body])
    spin = wp.quat_rotate_inv(turn, wp.spatial_bottom(body_qd[body]))
    if inv_mass[body] > 0.0:
        world = wp.where(body_world[body] < 0, gravity.shape[0] - 1, body_world[body])
        i, force, torque = body_dof[body], wp.spatial_top(body_f[body]), wp.spatial_bottom(body_f[body])
        if i >= 0:
            force += wp.vec3(joint_f[i], joint_f[i + 1], joint_f[i + 2])
            torque += wp.vec3(joint_f[i + 3], joint_f[i + 4], joint_f[i + 5])
        velocity += (force * inv_mass[body] + gravity[world]) * dt
        torque = wp.quat_rotate_inv(turn, torque)
        spin += inv_inertia[body] * (torque - wp.cross(spin, inertia[body] * spin)) * dt
        velocity /= 1.0 + damping * dt
        spin /= 1.0 + damping * dt
    centre = wp.transform_point(pose, body_com[body]) + velocity * dt
    next_turn = wp.normalize(turn + 0.5 * dt * (turn * wp.quat(spin, 0.0)))
    next_q[body] = wp.transform(centre - wp.quat_rotate(next_turn, body_com[body]), next_turn)
    next_qd[body] = wp.spatial_vector(velocity, wp.quat_rotate(next_turn, spin))


class SymplecticEuler(newton.solvers.SolverBase):
    """Newton's interface around the kernel.

    Args:
        model: The model of all worlds.
        damping: Rate at which velocities decay [1/s].
    """

    def __init__(self, model, damping=0.0):
        super().__init__(model)
        self.damping = damping
        dofs = np.full(model.body_count, -1, dtype=np.int32)
        dofs[model.joint_child.numpy()] = model.joint_qd_start.numpy()[:-1]  # of the free joint that each body has
        self.body_dof = wp.array(dofs, device=model.device)

    def step(self, state_in, state_out, control, contacts, dt, *, observables=None):
        """Advance by `dt` [s]."""
        model = self.model
        inputs = [state_in.body_q, state_in.body_qd, state_in.body_f, self.body_dof, control.joint_f]
        inputs += [model.body_com, model.body_inv_mass, model.body_inertia, model.body_inv_inertia]
        inputs += [model.body_world, model.gravity, self.damping, dt]
        wp.launch(advance, model.body_count, inputs, [state_out.body_q, state_out.body_qd], device=model.device)


class SolverDemo:
    """The plugin: the solver of `[solver]` with `type = "demo"`."""

    coordinates = "maximal"  # the solver writes bodies; Pippin computes joint coordinates from them
    supported_features = dict.fromkeys(("gravity", "rigid_bodies", "free_joints", "heterogeneous_worlds"), "live")
    supported_observables = frozenset()

    def __init__(self, config):
        self.config = config

    @pippin.hookimpl
    def build_solver(self, model):
        """Return the solver of a model."""
        return SymplecticEuler(model, damping=self.config.damping)
