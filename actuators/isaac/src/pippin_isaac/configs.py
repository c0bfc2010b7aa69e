"""Configurations for `add_actuator`: one class for each API schema of an actuator, with the schema's attributes."""

from __future__ import annotations

import itertools
import math
import numbers
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import attrs

from .errors import ArgumentError

__all__ = [
    "CLAMPINGS",
    "CONTROLS",
    "DCMotorClampingConfig",
    "DelayConfig",
    "MaxEffortClampingConfig",
    "NeuralControlConfig",
    "PDControlConfig",
    "PIDControlConfig",
    "PositionBasedClampingConfig",
    "attributes_of",
]


def _as_number(value: Any) -> Any:
    """Return numbers of NumPy and the like as Python's; everything else unchanged."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _as_numbers(values: Any) -> Any:
    """Return a sequence or an array of numbers as a tuple; everything else unchanged."""
    is_listed = not isinstance(values, str) and isinstance(values, Iterable)
    return tuple(map(_as_number, values)) if is_listed else values


def _as_text(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _number(minimum: float, *, may_be_inf: bool = False) -> Callable[[Any, Any, Any], None]:
    """Return a validator for a number that is at least `minimum`."""

    def check(instance: Any, attribute: Any, value: Any) -> None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        # The importer checks the same, so it reads every authored value; a NaN fails every comparison.
        if not is_number or not value >= minimum or (math.isinf(value) and not may_be_inf):
            bound = f" >= {minimum:g}" if math.isfinite(minimum) else ""
            kind = "number" if may_be_inf else "finite number"
            raise ArgumentError(f"{attribute.name}: expected a {kind}{bound}, got {value!r}")

    return check


def _path(instance: Any, attribute: Any, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise ArgumentError(f"{attribute.name}: expected the path of a file, got {value!r}")


def _count(instance: Any, attribute: Any, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ArgumentError(f"{attribute.name}: expected a whole number >= 0, got {value!r}")


@attrs.frozen
class PDControlConfig:
    """A spring and a damper, `NewtonPDControlAPI`."""

    schema: ClassVar[str] = "NewtonPDControlAPI"
    """Name of the API schema in the USD stage."""

    kp: float = attrs.field(converter=_as_number, validator=_number(0.0))
    """Proportional gain [N/m or N·m/rad]."""

    kd: float = attrs.field(converter=_as_number, validator=_number(0.0))
    """Derivative gain [N·s/m or N·m·s/rad]."""

    const_effort: float = attrs.field(default=0.0, converter=_as_number, validator=_number(-math.inf))
    """Effort that is always added [N or N·m]."""


@attrs.frozen
class PIDControlConfig:
    """A PD control that also integrates the position error, `NewtonPIDControlAPI`."""

    schema: ClassVar[str] = "NewtonPIDControlAPI"
    """Name of the API schema in the USD stage."""

    kp: float = attrs.field(converter=_as_number, validator=_number(0.0))
    """Proportional gain [N/m or N·m/rad]."""

    ki: float = attrs.field(converter=_as_number, validator=_number(0.0))
    """Integral gain [N/(m·s) or N·m/(rad·s)]."""

    kd: float = attrs.field(converter=_as_number, validator=_number(0.0))
    """Derivative gain [N·s/m or N·m·s/rad]."""

    integral_max: float = attrs.field(default=math.inf, converter=_as_number, validator=_number(0.0, may_be_inf=True))
    """Largest magnitude of the integral [m·s or rad·s]."""

    const_effort: float = attrs.field(default=0.0, converter=_as_number, validator=_number(-math.inf))
    """Effort that is always added [N or N·m]."""


@attrs.frozen
class NeuralControlConfig:
    """A network, `NewtonNeuralControlAPI`."""

    schema: ClassVar[str] = "NewtonNeuralControlAPI"
    """Name of the API schema in the USD stage."""

    model_path: str = attrs.field(converter=_as_text, validator=_path)
    """An ONNX file, absolute or relative to the layer that is written."""


@attrs.frozen
class MaxEffortClampingConfig:
    """A constant limit, `NewtonMaxEffortClampingAPI`."""

    schema: ClassVar[str] = "NewtonMaxEffortClampingAPI"
    """Name of the API schema in the USD stage."""

    max_effort: float = attrs.field(converter=_as_number, validator=_number(0.0, may_be_inf=True))
    """Largest magnitude [N or N·m]."""


@attrs.frozen
class DCMotorClampingConfig:
    """A limit that falls with the motor's speed, `NewtonDCMotorClampingAPI`."""

    schema: ClassVar[str] = "NewtonDCMotorClampingAPI"
    """Name of the API schema in the USD stage."""

    saturation_effort: float = attrs.field(converter=_as_number, validator=_number(0.0, may_be_inf=True))
    """Effort at rest without the limit `max_motor_effort` [N or N·m]."""

    velocity_limit: float = attrs.field(converter=_as_number, validator=_number(0.0, may_be_inf=True))
    """Speed at which the forward effort is zero [m/s or rad/s]; infinite for no limit by speed."""

    max_motor_effort: float = attrs.field(converter=_as_number, validator=_number(0.0, may_be_inf=True))
    """Largest effort [N or N·m]."""

    def __attrs_post_init__(self) -> None:
        if self.velocity_limit == 0.0:
            raise ArgumentError("velocity_limit: expected a number > 0, got 0.0")
        if math.isfinite(self.velocity_limit) and math.isinf(self.saturation_effort):
            raise ArgumentError("saturation_effort: expected a finite number beside a velocity_limit, got inf")


@attrs.frozen
class PositionBasedClampingConfig:
    """A limit that depends on the joint's position, `NewtonPositionBasedClampingAPI`."""

    schema: ClassVar[str] = "NewtonPositionBasedClampingAPI"
    """Name of the API schema in the USD stage."""

    lookup_positions: Sequence[float] = attrs.field(converter=_as_numbers)
    """Positions [m or rad], non-decreasing."""

    lookup_efforts: Sequence[float] = attrs.field(converter=_as_numbers)
    """Largest magnitude at each position [N or N·m]."""

    def __attrs_post_init__(self) -> None:
        positions, efforts = self.lookup_positions, self.lookup_efforts
        if not isinstance(positions, tuple) or not isinstance(efforts, tuple):
            raise ArgumentError(
                f"lookup_positions: expected numbers here and in lookup_efforts, got {positions!r} and {efforts!r}"
            )
        if not len(positions) or len(positions) != len(efforts):
            raise ArgumentError(
                "lookup_positions: expected as many as lookup_efforts, and at least one,"
                f" got {len(positions)} and {len(efforts)}"
            )
        for name, values, minimum in (("positions", positions, -math.inf), ("efforts", efforts, 0.0)):
            for value in values:
                _number(minimum)(self, getattr(attrs.fields(type(self)), f"lookup_{name}"), value)
        if any(after < before for before, after in itertools.pairwise(positions)):
            raise ArgumentError(f"lookup_positions: expected none below the one before, got {list(positions)}")


@attrs.frozen
class DelayConfig:
    """A delay of the targets, `NewtonActuatorDelayAPI`."""

    schema: ClassVar[str] = "NewtonActuatorDelayAPI"
    """Name of the API schema in the USD stage."""

    delay_steps: int = attrs.field(converter=_as_number, validator=_count)
    """Delay [physics steps]; 0 for none."""


CONTROLS = (PDControlConfig, PIDControlConfig, NeuralControlConfig)
CLAMPINGS = (MaxEffortClampingConfig, DCMotorClampingConfig, PositionBasedClampingConfig)


def attributes_of(config: Any) -> Mapping[str, Any]:
    """Return the values of a configuration by the names of the schema's attributes, without the prefix `newton:`."""
    values = attrs.asdict(config, recurse=False).items()
    # OpenUSD takes a tuple of two to four numbers for a vector.
    return {_camel_case(name): list(value) if isinstance(value, tuple) else value for name, value in values}


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
