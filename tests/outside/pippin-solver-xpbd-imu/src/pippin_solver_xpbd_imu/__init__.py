"""Position-based dynamics that also reports accelerations, so that robots with an IMU can use it."""

import attrs
import newton
import pippin
import warp as wp
from attrs.validators import ge


@wp.kernel
def mean_acceleration(
    qd_before: wp.array[wp.spatial_vector],
    qd_after: wp.array[wp.spatial_vector],
    dt: float,
    body_qdd: wp.array[wp.spatial_vector],
):
    """Acceleration of each body over a substep: (qd_after - qd_before) / dt."""
    body = wp.tid()
    body_qdd[body] = (qd_after[body] - qd_before[body]) / dt


class AccelerationXPBD(newton.solvers.SolverXPBD):
    """Newton's XPBD with one observable more: `body_qdd` [m/s², rad/s²], the mean over the substep."""

    SUPPORTED_OBSERVABLES = newton.solvers.SolverXPBD.SUPPORTED_OBSERVABLES | {"body_qdd"}

    def __init__(self, model, **options):
        super().__init__(model, **options)
        self._qd_before = wp.empty_like(model.body_qd)

    def step(self, state_in, state_out, control, contacts, dt, *, observables=None):
        """Advance by `dt` [s], then compare the velocities before and after."""
        wp.copy(self._qd_before, state_in.body_qd)  # XPBD also writes to its input
        super().step(state_in, state_out, control, contacts, dt, observables=observables)
        if observables is not None and observables.is_requested("body_qdd"):
            velocities = [self._qd_before, state_out.body_qd]
            inputs = [*velocities, dt, observables.body_qdd]
            wp.launch(mean_acceleration, state_in.body_count, inputs, device=self.model.device)


@attrs.frozen(kw_only=True)
class XPBDIMUConfig:
    """Settings of `[solver]` with `type = "xpbd-imu"`."""

    implementation = "SolverXPBDIMU"

    iterations: int = attrs.field(default=2, validator=ge(1))
    """Iterations over all constraints per substep."""


class SolverXPBDIMU:
    """The Pippin component: builds the solver."""

    coordinates = "maximal"
    supported_observables = AccelerationXPBD.SUPPORTED_OBSERVABLES

    def __init__(self, config: XPBDIMUConfig) -> None:
        self.config = config

    @pippin.hookimpl
    def extend_prototype(self, builder):
        """Let bodies carry the armature of their joints, which XPBD leaves out and stiff gains rely on."""
        for joint, body in enumerate(builder.joint_child):
            first, count = builder.joint_qd_start[joint], sum(builder.joint_dof_dim[joint])
            armature = max(builder.joint_armature[first : first + count], default=0.0)
            builder.body_inertia[body] += wp.diag(wp.vec3(armature))
            builder.body_inv_inertia[body] = wp.inverse(builder.body_inertia[body])

    @pippin.hookimpl
    def build_solver(self, model):
        """Return the solver of the model."""
        return AccelerationXPBD(model, iterations=self.config.iterations)
