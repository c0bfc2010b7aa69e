"""Newton's clampings as plugins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from newton.actuators import ClampingBase, ClampingDCMotor, ClampingMaxEffort, ClampingPositionBased
from pippin import ConfigError, find_file
from pippin.actuation import Clamping, Lanes

from .configs import DCMotorConfig, MaxEffortConfig, PositionBasedConfig, refuse_points

_SMALLEST = float(np.finfo(np.float32).tiny)
"""The smallest positive speed, in single precision."""


class MaxEffortClamping(Clamping):
    """A constant limit, the same at every position and velocity."""

    config: MaxEffortConfig

    def build(self, lanes: Lanes) -> ClampingBase:
        """Return Newton's constant limit."""
        return ClampingMaxEffort(max_effort=lanes.per_lane(self.config.max_effort, "max_effort", minimum=0.0))


class DCMotorClamping(Clamping):
    """The four-quadrant curve of torque against speed."""

    config: DCMotorConfig

    def build(self, lanes: Lanes) -> ClampingBase:
        """Return Newton's curve."""
        config = self.config
        return ClampingDCMotor(
            saturation_effort=lanes.per_lane(config.saturation_effort, "saturation_effort", minimum=0.0),
            velocity_limit=lanes.per_lane(config.velocity_limit, "velocity_limit", minimum=_SMALLEST),
            max_motor_effort=lanes.per_lane(config.max_motor_effort, "max_motor_effort", minimum=0.0),
        )


class PositionBasedClamping(Clamping):
    """A limit that depends on position, as in a linkage: a knee may be stronger when it is bent."""

    config: PositionBasedConfig

    def build(self, lanes: Lanes) -> ClampingBase:
        """Return Newton's lookup, the same for all lanes."""
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
        refuse_points(positions, efforts)
    except ValueError as error:
        raise ConfigError(f"{where}: {str(file)!r}: {error}") from error
    return positions, efforts
