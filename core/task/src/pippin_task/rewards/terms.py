"""Rewards over quantities, over contacts, and of the episode itself."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np
import warp as wp
from numpy.typing import ArrayLike
from pippin import ConfigError, labels
from pippin.validators import range_ends

from pippin_task import QuantityReward, QuantityRewardConfig, Reward, TermContext

from . import configs, kernels


class Summed(QuantityReward):
    """A function of a sum over the components of x, which one kernel evaluates over all worlds."""

    config: Any
    kernel: ClassVar[wp.Kernel]

    def __init__(self, config: QuantityRewardConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._wraps = int(getattr(config, "wrap", False))
        lows, highs = np.broadcast_arrays(*self._parameters(), np.empty((1, len(self.columns))))[:2]
        self._lows, self._highs = (wp.array(each, dtype=float, device=context.device) for each in (lows, highs))

    def _parameters(self) -> tuple[ArrayLike, ArrayLike]:
        """Return two parameters of each component, in one row for all worlds or one for each; one number for all."""
        return 0.0, 0.0

    def evaluate(self, out: wp.array[float]) -> None:
        """Launch the kernel."""
        inputs = [self.values, self.columns, self.targets, self.target_columns, self._wraps, self._lows, self._highs]
        wp.launch(self.kernel, len(out), [*inputs, out], device=out.device)


class Value(Summed):
    """The reward `value`: the sum of x."""

    kernel = kernels.sum_values


class L1(Summed):
    """The reward `l1`: the sum of abs(x)."""

    kernel = kernels.sum_absolute

    def _parameters(self) -> tuple[ArrayLike, ArrayLike]:
        return self.config.clip or (-np.inf, np.inf)


class L2(L1):
    """The reward `l2`: the sum of x²."""

    kernel = kernels.sum_squares


class Length(L1):
    """The reward `norm`: the square root of the sum of x²."""

    kernel = kernels.norm


class Exp(Summed):
    """The reward `exp`: exp(−sum of (x / std)²), or with their mean."""

    kernel = kernels.bell

    def _parameters(self) -> tuple[ArrayLike, ArrayLike]:
        config, quantity = self.config, self.context.quantity(self.config.of)
        chosen = [quantity.labels[column] for column in quantity.chosen_columns(config.axes)]
        stds = np.array(labels.lookup(config.std, chosen, "std", "number"))
        return 0.0, [stds * np.sqrt(len(chosen)) if config.mean else stds]


class Tanh(Exp):
    """The reward `tanh`: 1 − tanh(square root of the sum of (x / std)²)."""

    kernel = kernels.peak


class InsideRange(Summed):
    """The reward `inside`: 1 if all x are in [low, high], else 0."""

    kernel = kernels.is_inside

    def _parameters(self) -> tuple[ArrayLike, ArrayLike]:
        return range_ends(self.config.low, self.config.high)


class BeyondRange(InsideRange):
    """The reward `beyond`: 1 if any x is outside [low, high], else 0."""

    kernel = kernels.is_beyond


class Tolerance(Summed):
    """The reward `tolerance`: 1 if x is in [low, high], and a function of how far it is from there, at the margin 0.1.

    Of several numbers, the length of their distances counts.
    """

    kernel = kernels.distance
    _forms = ("gaussian", "linear", "quadratic", "long-tail")

    def _parameters(self) -> tuple[ArrayLike, ArrayLike]:
        config = self.config
        return (0.0, 0.0) if config.low is None and config.high is None else range_ends(config.low, config.high)

    def evaluate(self, out: wp.array[float]) -> None:
        """Write the distance, and let the reward fall with it."""
        super().evaluate(out)
        inputs = [self._forms.index(self.config.form), self.config.margin, self.config.least, out]
        wp.launch(kernels.fall, len(out), inputs, device=out.device)


class OutsideRange(Summed):
    """The reward `outside`: the sum of max(low − x, 0) + max(x − high, 0)."""

    kernel = kernels.sum_excess

    def _parameters(self) -> tuple[ArrayLike, ArrayLike]:
        config = self.config
        if config.soft_limits is None:
            return range_ends(config.low, config.high)
        quantity = self.context.quantity(config.of)
        if not hasattr(quantity, "limits"):
            raise ConfigError(f"soft_limits: {config.of.type!r} has no limits; give `low` and `high` instead")
        lowest, highest = quantity.limits("soft_limits")
        middle, half = 0.5 * (lowest + highest), 0.5 * config.soft_limits * (highest - lowest)
        return middle - half, middle + half


class OnLanding(Reward):
    """A reward in the steps in which bodies of a contact sensor land."""

    def __init__(self, config: Any, context: TermContext) -> None:
        super().__init__(config, context)
        self._in_contact = context.contact_output(config.sensor, "in_contact").data
        # What each body did in the step before: nothing that is known, 0; it was in the air, 1; or it touched, 2.
        self._phases = wp.zeros(self._in_contact.shape, dtype=int, device=context.device)
        self._lands = wp.zeros(self._in_contact.shape, dtype=bool, device=context.device)
        # The largest height of each flight so far, for a reward of heights.
        self._peaks = wp.zeros(self._in_contact.shape, dtype=float, device=context.device)

    def note_landings(self) -> None:
        """Write which bodies land in this step."""
        inputs = [self._in_contact, int(self.config.first), self._phases, self._lands]
        wp.launch(kernels.note_landings, self._lands.shape, inputs, device=self._lands.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Let no body of the masked worlds be in the air before its first reading."""
        inputs = [world_mask, self._phases, self._peaks]
        wp.launch(kernels.forget_flights, self._peaks.shape, inputs, device=world_mask.device)


class AirTime(OnLanding):
    """The reward `air-time`: the sum of (last air time − threshold) over the bodies that land in this step."""

    def __init__(self, config: configs.AirTimeConfig, context: TermContext) -> None:
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
        self.note_landings()
        inputs = [self._lands, self._last, self.config.threshold, self._command, self._least, out]
        wp.launch(kernels.sum_air_times, len(out), inputs, device=out.device)


class Landing(OnLanding):
    """The reward `landing`: the sum of abs(f) over the bodies that land in this step, f the net force."""

    def __init__(self, config: configs.LandingConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._forces = context.contact_forces(config.sensor)

    def evaluate(self, out: wp.array[float]) -> None:
        """Sum over the bodies."""
        self.note_landings()
        inputs = [self._lands, self._forces, out]
        wp.launch(kernels.sum_landing_forces, len(out), inputs, device=out.device)


class SwingHeight(OnLanding):
    """The reward `swing-height`: the sum of (largest x / target − 1)² over what lands, x since it left the ground."""

    def __init__(self, config: configs.SwingHeightConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._heights = context.difference(config.of, config.axes, config.target)
        _refuse_other_counts(self._heights[1], self._in_contact.shape[1], f"bodies of {config.sensor!r}")
        if isinstance(config.target, str) or 0.0 in np.atleast_1d(config.target or 0.0):
            raise ConfigError(f"target: expected heights that are not zero, got {config.target!r}")

    def evaluate(self, out: wp.array[float]) -> None:
        """Sum over the bodies."""
        self.note_landings()
        inputs = [self._in_contact, *self._heights, self._lands, self._peaks, out]
        wp.launch(kernels.sum_swings, len(out), inputs, device=out.device)


class Clearance(Reward):
    """The reward `clearance`: the sum of abs(x − target) · abs(v_xy) over bodies."""

    def __init__(self, config: configs.ClearanceConfig, context: TermContext) -> None:
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

    def __init__(self, config: configs.SlipConfig, context: TermContext) -> None:
        super().__init__(config, context)
        output = context.contact_output(config.sensor, "in_contact")
        self._in_contact = output.data
        if config.bodies:
            names, self._bodies = context.bodies(config.bodies)
            if len(names) != len(output.labels):
                raise ConfigError(f"bodies: {len(names)} for {len(output.labels)} of {config.sensor!r}; give one each")
            self._points = _points(config.offset, context)
            return
        try:
            names, self._bodies = context.bodies([re.escape(label) for label in output.labels], "sensor")
        except ConfigError as error:
            raise ConfigError(
                f"sensor: {config.sensor!r} senses no bodies; give it `bodies`, not `shapes`, or give them to the term"
            ) from error
        if list(names) != list(output.labels):
            raise ConfigError(f"sensor: two bodies of {config.sensor!r} have one label; choose others")
        self._points = _points(config.offset, context)

    def evaluate(self, out: wp.array[float]) -> None:
        """Sum over the bodies."""
        inputs = [self._in_contact, self._bodies, self._points, *_motions(self.context), int(self.config.squared)]
        wp.launch(kernels.sum_slip, len(out), [*inputs, out], device=out.device)


class Contacts(Reward):
    """The reward `contacts`: the number of bodies with a force above a threshold; or of readings; or the excess."""

    def __init__(self, config: configs.ContactsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._forces = context.contact_forces(
            config.sensor, with_history=config.history or config.readings, by_partner=config.partners
        )
        # What is counted, and what its largest force is taken of: shape [worlds, bodies or readings, .., ..].
        self._forces = self._forces.reshape((*self._forces.shape, 1)) if self._forces.ndim == 3 else self._forces
        if config.readings:
            self._forces = self._forces.transpose((0, 2, 1, 3))

    def evaluate(self, out: wp.array[float]) -> None:
        """Count or sum over the bodies, or count readings."""
        inputs = [self._forces, self.config.threshold, int(self.config.excess), out]
        wp.launch(kernels.count_contacts, len(out), inputs, device=out.device)


def _points(offset: tuple[float, float, float] | None, context: TermContext) -> wp.array:
    """Return a point of each body, from its origin: the same one, or the centre of mass, shape [bodies]."""
    centres: Any = context.simulation.model.body_com
    return centres if offset is None else wp.full(centres.shape, wp.vec3(*offset), wp.vec3, device=context.device)


def _motions(context: TermContext) -> list[Any]:
    state = context.simulation.state
    return [state.body_q, context.simulation.model.body_com, state.body_qd]


def _refuse_other_counts(columns: wp.array, count: int, what: str) -> None:
    if len(columns) != count:
        raise ConfigError(
            f"of: {len(columns)} numbers for {count} {what}; choose a quantity of one for each, or `axes`"
        )


class Alive(Reward):
    """The reward `alive`: 1 while the episode continues, 0 in a step in which a termination ends it."""

    def evaluate(self, out: wp.array[float]) -> None:
        """Write 1 − terminated."""
        wp.launch(kernels.read_end, len(out), [self.context.episodes.terminated, 0.0, 1.0, out], device=out.device)


class Terminated(Reward):
    """The reward `terminated`: 1 in a step in which a termination ends the episode, else 0."""

    def evaluate(self, out: wp.array[float]) -> None:
        """Write terminated, or terminated / control_dt."""
        host = self.context.simulation
        task = host.config.task
        is_rate = self.config.once and task is not None and task.reward_rate == "second"
        value = 1.0 / host.control_dt if is_rate else 1.0
        wp.launch(kernels.read_end, len(out), [self.context.episodes.terminated, value, 0.0, out], device=out.device)
