"""Rewards over contacts, read from a contact sensor."""

from __future__ import annotations

import re

import warp as wp
from pippin import ConfigError
from pippin.task import Reward, TermContext

from . import kernels
from .config import AirTimeConfig, ContactsConfig, SlipConfig


class AirTime(Reward):
    """The reward `air-time`: the sum of (last air time − threshold) over the bodies that land in this step."""

    def __init__(self, config: AirTimeConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._in_contact = context.contact_output(config.sensor, "in_contact").data
        self._last = context.contact_output(config.sensor, "last_air_time").data
        self._was_in_air = wp.zeros(self._in_contact.shape, dtype=bool, device=context.device)
        self._command, self._least = wp.zeros((1, 2), dtype=float, device=context.device), -1.0
        if config.command is not None:
            command = context.command(config.command, "command")
            if command.value.shape[1] < 2:
                raise ConfigError(f"command: {config.command!r} has one number; choose a command of two or more")
            self._command, self._least = command.value, config.least_command

    def evaluate(self, out: wp.array[float]) -> None:
        """Sum over the bodies."""
        inputs = [self._in_contact, self._last, self.config.threshold, self._command, self._least]
        wp.launch(kernels.sum_air_times, len(out), [*inputs, self._was_in_air, out], device=out.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Let no body of the masked worlds be in the air before its first reading."""
        shape = self._was_in_air.shape
        wp.launch(kernels.forget_flights, shape, [world_mask, self._was_in_air], device=world_mask.device)


class Slip(Reward):
    """The reward `slip`: the sum of abs(v_xy) over the bodies in contact, v of the centre of mass."""

    def __init__(self, config: SlipConfig, context: TermContext) -> None:
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
        inputs = [self._in_contact, self._bodies, self.context.simulation.state.body_qd, out]
        wp.launch(kernels.sum_slip, len(out), inputs, device=out.device)


class Contacts(Reward):
    """The reward `contacts`: the number of bodies with a net force above a threshold; or the sum of the excess."""

    def __init__(self, config: ContactsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._forces = context.net_forces(config.sensor, with_history=config.history)

    def evaluate(self, out: wp.array[float]) -> None:
        """Count or sum over the bodies."""
        inputs = [self._forces, self.config.threshold, int(self.config.excess), out]
        wp.launch(kernels.count_contacts, len(out), inputs, device=out.device)
