"""Newton's clampings as plugins; other packages register theirs in the group of entry points `pippin.clampings`."""

from __future__ import annotations

import abc
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from pippin.config import FilePath
from pippin.config.files import find_file
from pippin.errors import ConfigError

from .config import Parameter, parameter

if TYPE_CHECKING:
    from newton.actuators import ClampingBase

    from .parameters import Lanes

__all__ = [
    "Clamping",
    "DCMotorClamping",
    "DCMotorConfig",
    "MaxEffortClamping",
    "MaxEffortConfig",
    "PositionBasedClamping",
    "PositionBasedConfig",
]


_SMALLEST = float(np.finfo(np.float32).tiny)
"""The smallest positive speed, in single precision."""


class Clamping(abc.ABC):
    """A limit on the effort of any actuator. A plugin adds `Config` and `build`.

    Args:
        config: The plugin's configuration.
    """

    Config: type

    def __init__(self, config: Any) -> None:
        self.config = config

    @abc.abstractmethod
    def build(self, lanes: Lanes) -> ClampingBase:
        """Return Newton's clamping, with its parameters as arrays of one value per lane."""


@attrs.frozen(kw_only=True)
class MaxEffortConfig:
    """Applied effort is limited to ±`max_effort`."""

    max_effort: Parameter = parameter(0.0)
    """Largest magnitude [N or N·m], for all joints or by pattern."""


class MaxEffortClamping(Clamping):
    """A constant limit, the same at every position and velocity."""

    Config = MaxEffortConfig

    def build(self, lanes: Lanes) -> ClampingBase:
        """Return Newton's constant limit."""
        from newton.actuators import ClampingMaxEffort

        return ClampingMaxEffort(max_effort=lanes.per_lane(self.config.max_effort, "max_effort", minimum=0.0))


@attrs.frozen(kw_only=True, slots=False)  # a motor's configuration inherits this class and an actuator's
class DCMotorConfig:
    """Limits of a DC motor: the effort falls with the speed, down to braking beyond the no-load speed.

    With v limited to ±`velocity_limit` (1 + `max_motor_effort` / `saturation_effort`), the effort lies between
    max(`saturation_effort` (-1 - v / `velocity_limit`), -`max_motor_effort`) and
    min(`saturation_effort` (1 - v / `velocity_limit`), `max_motor_effort`).
    """

    saturation_effort: Parameter = parameter(0.0)
    """Effort at rest without the limit `max_motor_effort` [N or N·m], for all joints or by pattern."""

    velocity_limit: Parameter = parameter(above=0.0)
    """Speed at which the forward effort is zero [m/s or rad/s], for all joints or by pattern."""

    max_motor_effort: Parameter | None = parameter(0.0, default=None)
    """Largest effort [N or N·m], for all joints or by pattern; by default only the speed limits the effort."""


class DCMotorClamping(Clamping):
    """The four-quadrant curve of torque against speed."""

    Config = DCMotorConfig

    def build(self, lanes: Lanes) -> ClampingBase:
        """Return Newton's curve."""
        return build_dc_motor(self.config, lanes)


def build_dc_motor(config: Any, lanes: Lanes) -> ClampingBase:
    """Return the curve of any configuration that has the three fields of a DC motor.

    Args:
        config: Has `saturation_effort`, `velocity_limit` and `max_motor_effort`.
        lanes: The driven DOFs.
    """
    from newton.actuators import ClampingDCMotor

    return ClampingDCMotor(
        saturation_effort=lanes.per_lane(config.saturation_effort, "saturation_effort", minimum=0.0),
        velocity_limit=lanes.per_lane(config.velocity_limit, "velocity_limit", minimum=_SMALLEST),
        max_motor_effort=lanes.per_lane(config.max_motor_effort, "max_motor_effort", minimum=0.0),
    )


@attrs.frozen(kw_only=True)
class PositionBasedConfig:
    """Applied effort is limited to ± a value that depends on the joint's position: linear between the given points.

    Give the points here, or in a file with two columns, position and effort. A third column between them, a
    transmission ratio, is not used. Before the first point and after the last one, the effort of that point holds.
    """

    lookup_positions: tuple[float, ...] = ()
    """Positions [m or rad], non-decreasing."""

    lookup_efforts: tuple[float, ...] = ()
    """Largest magnitude at each position [N or N·m]."""

    lookup_table: FilePath | None = None
    """A text file with the points, instead: spaces or commas separate the columns, and `#` begins a comment."""

    def __attrs_post_init__(self) -> None:
        if self.lookup_table is not None:
            if self.lookup_positions or self.lookup_efforts:
                raise ValueError(
                    "'lookup_table' given beside 'lookup_positions' or 'lookup_efforts'; keep one or the other"
                )
            return
        _refuse_points(self.lookup_positions, self.lookup_efforts)


class PositionBasedClamping(Clamping):
    """A limit that depends on position, as in a linkage: a knee may be stronger when it is bent."""

    Config = PositionBasedConfig

    def build(self, lanes: Lanes) -> ClampingBase:
        """Return Newton's lookup, the same for all lanes."""
        from newton.actuators import ClampingPositionBased

        positions, efforts = self.config.lookup_positions, self.config.lookup_efforts
        if self.config.lookup_table is not None:
            positions, efforts = _read_table(self.config.lookup_table, lanes.prefix + "lookup_table")
        return ClampingPositionBased(lookup_positions=tuple(positions), lookup_efforts=tuple(efforts))


def _read_table(path: str, where: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    file = find_file(path, where)
    text = Path(file).read_text(encoding="utf-8").replace(",", " ")
    try:
        rows = np.loadtxt(text.splitlines(), ndmin=2)
        if rows.shape[1] not in (2, 3):
            raise ValueError(f"expected 2 or 3 columns, got {rows.shape[1]}")
        positions, efforts = tuple(rows[:, 0].tolist()), tuple(rows[:, -1].tolist())
        _refuse_points(positions, efforts)
    except ValueError as error:
        raise ConfigError(f"{where}: {str(file)!r}: {error}") from error
    return positions, efforts


def _refuse_points(positions: tuple[float, ...], efforts: tuple[float, ...]) -> None:
    if not positions or len(positions) != len(efforts):
        raise ValueError(
            "'lookup_positions' and 'lookup_efforts' must be of one length and not empty:"
            f" {len(positions)} and {len(efforts)}"
        )
    if any(after < before for before, after in itertools.pairwise(positions)):
        raise ValueError(f"'lookup_positions' must not descend: {list(positions)}")
    if not all(np.isfinite(positions)) or not all(np.isfinite(efforts) & (np.asarray(efforts) >= 0.0)):
        raise ValueError("'lookup_positions' must be finite, 'lookup_efforts' finite and >= 0")
