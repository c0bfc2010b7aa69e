"""The settings that every actuator with a drive has in common."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal

import attrs
from attrs.validators import ge, min_len, optional
from pippin.config import ComponentConfig
from pippin.validators import in_schema, kept_readings


@attrs.frozen(kw_only=True)
class Uniform:
    """A number drawn for each joint and world when the world is reset, uniformly distributed between two bounds."""

    uniform: tuple[float, float]
    """The lowest and the highest value."""

    def __attrs_post_init__(self) -> None:
        low, high = self.uniform
        if not -math.inf < low <= high < math.inf:
            raise ValueError(f"'uniform' must have its lowest value first, and finite ones: {list(self.uniform)}")


Parameter = float | Uniform | Mapping[str, float | Uniform]
"""One value for all axes, or a table from patterns of names of joints or axes to values; each value may be random."""


def parameter(*, minimum: float = -math.inf, default: Any = attrs.NOTHING, above: float | None = None) -> Any:
    """Return a field for a parameter of each joint.

    Args:
        minimum: Lower bound that a value may reach.
        default: Default of the field; without it, the field is required. None means no value.
        above: Lower bound that a value may not reach.
    """
    check = _within(minimum, above)
    return attrs.field(default=default, validator=optional(check) if default is None else check)


def _within(minimum: float, above: float | None) -> Callable[[Any, Any, Any], None]:
    bound = {"minimum": minimum} if math.isfinite(minimum) else {}
    bound |= {} if above is None else {"exclusiveMinimum": above}

    @in_schema(**bound, **({"additionalProperties": bound} if bound else {}))
    def check(instance: Any, attribute: Any, value: Parameter) -> None:
        for place, number in _numbers(value):
            if not math.isfinite(number) or number < minimum or (above is not None and number <= above):
                limit = f" and > {above:g}" if above is not None else f" and >= {minimum:g}" if bound else ""
                raise ValueError(f"'{attribute.name}'{place} must be finite{limit}: {number}")

    return check


def _numbers(value: Parameter, place: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, Uniform):
        yield from ((place, number) for number in value.uniform)
    elif isinstance(value, Mapping):
        for pattern, inner in value.items():
            yield from _numbers(inner, f"[{pattern!r}]")
    else:
        yield place, value


@attrs.frozen(kw_only=True)
class DelayConfig:
    """A delay of targets and feedforward before they reach the drive; measurements are not delayed.

    Give `steps`, or `min_steps` and `max_steps`: then each world draws one delay for all joints at a reset. `max_steps`
    beside `steps` is room for a longer delay that is set while it runs.
    """

    steps: int | None = attrs.field(default=None, validator=optional([ge(0), kept_readings]))
    """Delay [physics steps]; until so many steps have passed, the oldest known target acts."""

    min_steps: int | None = attrs.field(default=None, validator=optional([ge(0), kept_readings]))
    """Shortest random delay [physics steps]."""

    max_steps: int | None = attrs.field(default=None, validator=optional([ge(0), kept_readings]))
    """Longest random delay, or longest one that can be set [physics steps]; by default `steps`."""

    def __attrs_post_init__(self) -> None:
        if self.steps is not None and self.min_steps is not None:
            raise ValueError("'steps' given beside 'min_steps'; keep one or the other")
        if self.steps is None and (self.min_steps is None or self.max_steps is None):
            raise ValueError("'steps' is missing; give it, or both of 'min_steps' and 'max_steps'")
        name = "min_steps" if self.steps is None else "steps"
        if self.room < self.bounds[0]:
            raise ValueError(f"'max_steps' must be at least '{name}' {self.bounds[0]}: {self.room}")

    @property
    def bounds(self) -> tuple[int, int]:
        """Shortest and longest delay that is drawn [physics steps]."""
        if self.steps is not None:
            return self.steps, self.steps
        assert self.min_steps is not None, "refused by the constructor"
        return self.min_steps, self.room

    @property
    def room(self) -> int:
        """Longest delay that can be set [physics steps]."""
        longest = self.steps if self.max_steps is None else self.max_steps
        assert longest is not None, "refused by the constructor"
        return longest


@attrs.frozen(kw_only=True)
class JointConfig:
    """Properties of an actuator's joints in the solver; by default the asset's."""

    joints: tuple[str, ...] = attrs.field(validator=min_len(1))
    """Full-match regular expressions of names of joints or axes; of whole labels if they contain a `/`. Joints without
    axes are left out."""

    armature: Parameter | None = parameter(minimum=0.0, default=None)
    """Rotor inertia of the joints in the solver [kg or kg·m²], for all joints or by pattern; by default the asset's."""

    friction: Parameter | None = parameter(minimum=0.0, default=None)
    """Dry friction of the joints in the solver [N or N·m], for all joints or by pattern; by default the asset's."""

    damping: Parameter | None = parameter(minimum=0.0, default=None)
    """Viscous friction of the joints in the solver [N·s/m or N·m·s/rad], likewise; by default the asset's."""


@attrs.frozen(kw_only=True)
class ActuatorConfig(JointConfig):
    """Settings of every actuator with a drive; each plugin adds the parameters of its drive."""

    delay: DelayConfig | None = None
    """Delay of the targets before they reach the drive; by default that of the motors that the group replaces."""

    offset: Parameter | None = parameter(default=None)
    """What the encoder of a joint reads at the joint's zero [m or rad], for all joints or by pattern: the law compares
    its targets with position + `offset`. State, sensors and recordings have the position itself; by default zero."""

    clamping: tuple[Annotated[ComponentConfig, "clamping"], ...] = ()
    """Limits on the effort, applied in this order."""

    effort_limit: Parameter | None = parameter(minimum=0.0, default=None)
    """Largest effort after the clampings [N or N·m], for all joints or by pattern; by default the asset's, unless a
    clamping is a `max-effort`."""

    velocity_limit: float | Mapping[str, float] | None = parameter(above=0.0, default=None)
    """Speed beyond which no effort accelerates the joints [m/s or rad/s], for all joints or by pattern; by default the
    asset's, unless a clamping is a `dc-motor`."""

    effort_mode: Literal["explicit", "implicit"] = "explicit"
    """State at which the law is evaluated: at the start of the step (`explicit`), or at its end (`implicit`), which
    keeps stiff gains stable."""
