"""Actuators that break a promise."""

import attrs
import newton
import pippin
import warp as wp
from pippin_actuator_pd import PDConfig
from pippin_actuator_pd.actuator import ActuatorPD

__all__ = ["ClosedLoop", "Idle", "Overwriting", "Undeclared"]


@attrs.frozen(kw_only=True)
class ClosedLoopConfig(PDConfig):
    """Settings of `ClosedLoop`."""

    implementation = "ClosedLoop"


class ClosedLoop(ActuatorPD):
    """Follows the joints, and declares that it does not."""

    is_open_loop = True


@attrs.frozen(kw_only=True)
class IdleConfig(PDConfig):
    """Settings of `Idle`."""

    implementation = "Idle"


class Idle(ActuatorPD):
    """Moves nothing."""

    @pippin.hookimpl
    def apply_actuators(self) -> None:
        """Do nothing."""


@attrs.frozen(kw_only=True)
class UndeclaredConfig(PDConfig):
    """Settings of `Undeclared`."""

    implementation = "Undeclared"


class Undeclared(ActuatorPD):
    """Lists the first of its DOFs alone."""

    @pippin.hookimpl
    def bind(self, binding: pippin.Binding) -> None:
        """Forget the other DOFs."""
        super().bind(binding)
        self.actuated_dofs = wp.array(self.actuated_dofs.numpy()[:1], dtype=int, device="cpu")


@attrs.frozen(kw_only=True)
class OverwritingConfig(PDConfig):
    """Settings of `Overwriting`."""

    implementation = "Overwriting"


class Overwriting(ActuatorPD):
    """Wipes out what others have added."""

    @pippin.hookimpl
    def apply_actuators(self, state: newton.State, control: newton.Control, dt: float) -> None:
        control.joint_f.zero_()
        super().apply_actuators(state, control, dt)
