"""A servo whose effort approaches its limit softly, as a Pippin actuator. Imports neither Warp nor Newton."""

import attrs
from pippin.actuation import ActuatorConfig, DriveActuator, Parameter, parameter


@attrs.frozen(kw_only=True)
class DemoConfig(ActuatorConfig):
    """PD control whose effort bends towards a limit: τ = `max_effort` tanh((kp (q* − q) − kd q̇) / `max_effort`)."""

    kp: Parameter = parameter(0.0)
    """Stiffness [N/m or N·m/rad], for all joints or by pattern."""

    kd: Parameter = parameter(0.0)
    """Damping [N·s/m or N·m·s/rad], for all joints or by pattern."""

    max_effort: Parameter = parameter(1e-6)
    """Limit of the effort, approached but never reached [N or N·m], for all joints or by pattern."""


class ActuatorDemo(DriveActuator):
    """The plugin: an actuator with `type = "demo"`."""

    Config = DemoConfig

    def build_drive(self, lanes):
        """Return the law, with one value of each parameter per degree of freedom."""
        from .drive import SoftServo

        kp = lanes.per_lane(self.config.kp, "kp", minimum=0.0)
        kd = lanes.per_lane(self.config.kd, "kd", minimum=0.0)
        limit = lanes.per_lane(self.config.max_effort, "max_effort", minimum=1e-6)
        return SoftServo(kp, kd, limit)
