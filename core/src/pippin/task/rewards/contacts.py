"""Laws over contacts, read from a contact sensor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
from pippin.errors import ConfigError
from pippin.task.terms import Reward, RewardConfig
from pippin.validators import non_negative

if TYPE_CHECKING:
    import warp as wp
    from pippin.task.context import TermContext

__all__ = ["AirTime", "Contacts", "Slip"]


@attrs.frozen(kw_only=True)
class SensorRewardConfig(RewardConfig):
    """A reward over the bodies of a contact sensor."""

    sensor: str
    """Label of the sensor, which must be in all worlds."""


@attrs.frozen(kw_only=True)
class AirTimeConfig(SensorRewardConfig):
    """A reward of long steps."""

    threshold: float = attrs.field(default=0.5, validator=non_negative)
    """Time in the air that is worth nothing [s]; shorter times cost."""

    command: str | None = None
    """Label of a command; if given, only worlds count in which its first two numbers are large enough."""

    least_command: float = attrs.field(default=0.1, validator=non_negative)
    """Size of the command's first two numbers above which a world counts, in the unit of the command."""


@attrs.frozen(kw_only=True)
class ContactsConfig(SensorRewardConfig):
    """A cost of contacts."""

    threshold: float = attrs.field(default=1.0, validator=non_negative)
    """Net force above which a body counts [N]."""

    excess: bool = False
    """Whether the forces above the threshold are summed [N], instead of counting the bodies."""

    history: bool = False
    """Whether the largest force of the sensor's `history` counts, instead of the last one."""


class AirTime(Reward):
    """The law `air-time`: the sum of (last air time − threshold) over the bodies that land in this step."""

    Config: ClassVar[type] = AirTimeConfig

    def __init__(self, config: AirTimeConfig, context: TermContext) -> None:
        super().__init__(config, context)
        import warp as wp

        self._in_contact = context.contact_output(config.sensor, "in_contact").data
        self._last = context.contact_output(config.sensor, "last_air_time").data
        self._was_in_air: Any = wp.zeros(self._in_contact.shape, dtype=bool, device=context.device)
        self._command, self._least = wp.zeros((1, 2), dtype=float, device=context.device), -1.0
        if config.command is not None:
            command = context.command(config.command, "command")
            if command.value.shape[1] < 2:
                raise ConfigError(f"command: {config.command!r} has one number; two are needed, choose another one")
            self._command, self._least = command.value, config.least_command

    def evaluate(self, out: wp.array[float]) -> None:
        """Sum over the bodies."""
        import warp as wp

        from .kernels import sum_air_times

        inputs = [self._in_contact, self._last, self.config.threshold, self._command, self._least]
        wp.launch(sum_air_times, len(out), [*inputs, self._was_in_air, out], device=out.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Let no body of the masked worlds be in the air before its first reading."""
        import warp as wp

        from .kernels import forget_flights

        wp.launch(forget_flights, self._was_in_air.shape, [world_mask, self._was_in_air], device=world_mask.device)


class Slip(Reward):
    """The law `slip`: the sum of abs(v_xy) over the bodies in contact, v of the centre of mass."""

    Config: ClassVar[type] = SensorRewardConfig

    def __init__(self, config: SensorRewardConfig, context: TermContext) -> None:
        super().__init__(config, context)
        output = context.contact_output(config.sensor, "in_contact")
        self._in_contact = output.data
        try:
            names, self._bodies = context.bodies([re.escape(label) for label in output.labels], "sensor")
        except ConfigError as error:
            raise ConfigError(f"sensor: {config.sensor!r} senses no bodies; give it `bodies`, not `shapes`") from error
        if list(names) != list(output.labels):
            raise ConfigError(f"sensor: two bodies of {config.sensor!r} have one label; choose others")

    def evaluate(self, out: wp.array[float]) -> None:
        """Sum over the bodies."""
        import warp as wp

        from .kernels import sum_slip

        state = self.context.simulation.state
        wp.launch(sum_slip, len(out), [self._in_contact, self._bodies, state.body_qd, out], device=out.device)


class Contacts(Reward):
    """The law `contacts`: the number of bodies with a net force above a threshold; or the sum of the excess."""

    Config: ClassVar[type] = ContactsConfig

    def __init__(self, config: ContactsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._forces = context.net_forces(config.sensor, with_history=config.history)

    def evaluate(self, out: wp.array[float]) -> None:
        """Count or sum over the bodies."""
        import warp as wp

        from .kernels import count_contacts, sum_excess_forces

        kernel = sum_excess_forces if self.config.excess else count_contacts
        wp.launch(kernel, len(out), [self._forces, self.config.threshold, out], device=out.device)
