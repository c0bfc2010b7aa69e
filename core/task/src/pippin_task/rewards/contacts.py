"""Rewards over contacts, read from a contact sensor."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import warp as wp
from pippin import ConfigError

from pippin_task import Reward, TermContext

from . import kernels
from .configs import (
    AirTimeConfig,
    ClearanceConfig,
    ContactsConfig,
    LandingConfig,
    SensorRewardConfig,
    SlipConfig,
    SwingHeightConfig,
)


class OnLanding(Reward):
    """A reward in the steps in which bodies of a contact sensor land."""

    def __init__(self, config: SensorRewardConfig | SwingHeightConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._in_contact = context.contact_output(config.sensor, "in_contact").data
        self._was_in_air = wp.zeros(self._in_contact.shape, dtype=bool, device=context.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Let no body of the masked worlds be in the air before its first reading."""
        shape = self._was_in_air.shape
        wp.launch(kernels.forget_flights, shape, [world_mask, self._was_in_air], device=world_mask.device)


class AirTime(OnLanding):
    """The reward `air-time`: the sum of (last air time − threshold) over the bodies that land in this step."""

    def __init__(self, config: AirTimeConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._last = context.contact_output(config.sensor, "last_air_time").data
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


class Landing(OnLanding):
    """The reward `landing`: the sum of abs(f) over the bodies that land in this step, f the net force."""

    def __init__(self, config: LandingConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._forces = context.contact_forces(config.sensor)

    def evaluate(self, out: wp.array[float]) -> None:
        """Sum over the bodies."""
        inputs = [self._in_contact, self._forces, self._was_in_air, out]
        wp.launch(kernels.sum_landing_forces, len(out), inputs, device=out.device)


class SwingHeight(OnLanding):
    """The reward `swing-height`: the sum of (largest x / target − 1)² over what lands, x since it left the ground."""

    def __init__(self, config: SwingHeightConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._heights = context.difference(config.of, config.axes, config.target)
        _refuse_other_counts(self._heights[1], self._in_contact.shape[1], f"bodies of {config.sensor!r}")
        if isinstance(config.target, str) or 0.0 in np.atleast_1d(config.target or 0.0):
            raise ConfigError(f"target: expected heights that are not zero, got {config.target!r}")
        self._peaks = wp.zeros(self._in_contact.shape, dtype=float, device=context.device)

    def evaluate(self, out: wp.array[float]) -> None:
        """Sum over the bodies."""
        inputs = [self._in_contact, *self._heights, self._was_in_air, self._peaks, out]
        wp.launch(kernels.sum_swings, len(out), inputs, device=out.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Forget the flights of the masked worlds."""
        super().reset(world_mask)
        wp.launch(kernels.forget_peaks, self._peaks.shape, [world_mask, self._peaks], device=world_mask.device)


class Clearance(Reward):
    """The reward `clearance`: the sum of abs(x − target) · abs(v_xy) over bodies."""

    def __init__(self, config: ClearanceConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._heights = context.difference(config.of, config.axes, config.target)
        names, self._bodies = context.bodies(config.bodies)
        _refuse_other_counts(self._heights[1], len(names), "bodies")
        self._points = _points(config.offset, context)

    def evaluate(self, out: wp.array[float]) -> None:
        """Sum over the bodies."""
        inputs = [*self._heights, self._bodies, self._points, *_motions(self.context), out]
        wp.launch(kernels.sum_clearance, len(out), inputs, device=out.device)


class Slip(Reward):
    """The reward `slip`: the sum of abs(v_xy), or of its square, over the bodies in contact."""

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
        self._points = _points(config.offset, context)

    def evaluate(self, out: wp.array[float]) -> None:
        """Sum over the bodies."""
        inputs = [self._in_contact, self._bodies, self._points, *_motions(self.context), int(self.config.squared)]
        wp.launch(kernels.sum_slip, len(out), [*inputs, out], device=out.device)


class Contacts(Reward):
    """The reward `contacts`: the number of bodies with a force above a threshold; or of readings; or the excess."""

    def __init__(self, config: ContactsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._forces = context.contact_forces(
            config.sensor, with_history=config.history or config.readings, by_partner=config.partners
        )

    def evaluate(self, out: wp.array[float]) -> None:
        """Count or sum over the bodies, or count readings."""
        if self.config.readings:
            inputs = [self._forces, self.config.threshold, out]
            wp.launch(kernels.count_readings, len(out), inputs, device=out.device)
            return
        inputs = [self._forces, self.config.threshold, int(self.config.excess), out]
        wp.launch(kernels.count_contacts, len(out), inputs, device=out.device)


def _points(offset: tuple[float, float, float] | None, context: TermContext) -> wp.array:
    """Return a point of each body, from its origin: the same one, or the centre of mass, shape [bodies]."""
    centres: Any = context.simulation.model.body_com
    return centres if offset is None else wp.full(centres.shape, wp.vec3(*offset), wp.vec3, device=context.device)


def _motions(context: TermContext) -> list[Any]:
    """Return what the speeds of points follow from, in the order of the kernels."""
    state = context.simulation.state
    return [state.body_q, context.simulation.model.body_com, state.body_qd]


def _refuse_other_counts(columns: wp.array, count: int, what: str) -> None:
    if len(columns) != count:
        raise ConfigError(
            f"of: {len(columns)} numbers for {count} {what}; choose a quantity of one for each, or `axes`"
        )
