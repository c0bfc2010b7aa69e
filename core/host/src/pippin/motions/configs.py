"""Settings of the built-in motions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

import attrs
from attrs.validators import min_len, optional
from pippin import FilePath
from pippin.validators import finite, positive

from .motion_config import MotionConfig, moves_joints

Value = float | tuple[float, ...]


def numbers_of(value: Value) -> tuple[float, ...]:
    """Return the components of a value."""
    return value if isinstance(value, tuple) else (float(value),)


def _value(default: Any = attrs.NOTHING) -> Any:
    return attrs.field(default=default, validator=finite)


def _ascend(instance: Any, attribute: Any, value: tuple[float, ...]) -> None:
    finite(instance, attribute, value)
    if value[0] < 0.0 or any(after <= before for before, after in pairwise(value)):
        raise ValueError(f"'{attribute.name}' must ascend from a time of at least 0: {list(value)}")


def _one_for_each_time(instance: Any, attribute: Any, value: tuple[Value, ...]) -> None:
    widths = {len(numbers_of(each)) for each in value}
    if len(value) != len(instance.times) or len(widths) != 1:
        raise ValueError(
            f"'{attribute.name}' must be one value for each of the {len(instance.times)} times, all of one length, got"
            f" {len(value)} of lengths {sorted(widths)}"
        )
    for each in value:
        finite(instance, attribute, each)


def _refuse_jumps(instance: Any, attribute: Any, value: str | float | None) -> None:
    if value not in ("linear", "smooth") and instance.subject not in ("actuator", "goal_of", "force_on"):
        raise ValueError(
            f"'{attribute.name}': {instance.subject} cannot jump; let values jump of targets and forces alone"
        )


@attrs.frozen(kw_only=True, slots=False)
class SampledConfig(MotionConfig):
    """Values at some times, and what is between them."""

    interpolation: Literal["linear", "smooth", "step"] = attrs.field(default="linear", validator=_refuse_jumps)
    """The way from one value to the next: at constant speed (`linear`), from rest to rest (`smooth`), or, for forces
    and targets, a jump at the later one's time (`step`). Orientations turn the shorter way."""

    repeat: bool = False
    """Whether the motion begins again after the last time; otherwise the last value stays."""


@attrs.frozen(kw_only=True)
class KeyframesConfig(SampledConfig):
    """Values at some times: numbers, displacements or poses."""

    implementation = ".functions:Keyframes"

    times: tuple[float, ...] = attrs.field(validator=[min_len(1), _ascend])
    """Times since `start` [s], ascending. Before the first one, its value holds. But goals go to it from where they
    are, unless `interpolation` is `step` or the motion repeats."""

    values: tuple[Value, ...] = attrs.field(validator=_one_for_each_time)
    """The value at each time [m, rad, N, N·m], a number or a list of components."""


@attrs.frozen(kw_only=True)
class FileMotionConfig(SampledConfig):
    """Values at some times from a file of numbers."""

    implementation = ".functions:FileMotion"

    path: FilePath
    """A file `.csv` with commas and comments after `#`, or `.npy`: rows of a time [s] and the components of a value; or
    `.npz` with the arrays `times` and `values`."""

    columns: tuple[int, ...] | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Numbers of the columns of the components, the time being column 0; by default all others, in their order."""


@attrs.frozen(kw_only=True)
class SineConfig(MotionConfig):
    """A sine: `mean + amplitude * sin(2 * pi * frequency * t + phase)`, with the time t since `start`."""

    implementation = ".functions:FormulaMotion"

    amplitude: float | tuple[float, ...] = _value()
    """Amplitude [m, rad, N, N·m], a number or one for each component."""

    frequency: float = attrs.field(validator=positive)
    """Frequency [Hz]."""

    phase: float | tuple[float, ...] = _value(0.0)
    """Phase at `start` [rad]."""

    mean: float | tuple[float, ...] = _value(0.0)
    """Mean [m, rad, N, N·m]."""


@attrs.frozen(kw_only=True)
class RateConfig(MotionConfig):
    """A constant rate: a speed along a direction, about an axis, or of a joint."""

    implementation = ".functions:FormulaMotion"

    from_start: bool = attrs.field(default=True, validator=moves_joints)
    """Whether values are added to the start position of each joint, or to the start target of each axis."""

    rate: float | tuple[float, ...] = _value()
    """Change per second [m/s, rad/s, N/s, N·m/s], a number or one for each component."""


@attrs.frozen(kw_only=True)
class RandomMotionConfig(MotionConfig):
    """Uniform random values, held from draw to draw: of a force, or of the targets of an actuator."""

    implementation = ".functions:RandomMotion"

    low: float | tuple[float, ...] = _value()
    """Lowest value [m, rad, N, N·m], a number or one for each component."""

    high: float | tuple[float, ...] = _value()
    """Highest value, likewise."""

    period: float | None = attrs.field(default=None, validator=[optional(positive), _refuse_jumps])
    """Time from draw to draw [s]; by default a control step."""
