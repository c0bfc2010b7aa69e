"""Limits on targets that go to a robot, and on what it measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from pippin import ConfigError
from pippin.labels import lookup

from .config import RobotConfig, RobotSafetyConfig
from .contract import DrivenJoint, RobotFault, RobotReadings

KINDS = ("position", "velocity", "acceleration", "step")
"""The limits on targets, in the order in which they act."""

BEYOND = 0.2
"""Way beyond a limit of the file at which a measured position is a fault [rad or m]."""


class TargetLimits:
    """Keeps targets within limits, and counts how often each limit acted.

    Args:
        config: The settings.
        joints: The joints, with the limits of the file.
        period: Time between two targets [s].

    Raises:
        ConfigError: A limit is wider than that of the file.
    """

    def __init__(self, config: RobotConfig, joints: Sequence[DrivenJoint], period: float) -> None:
        names, own = [joint.name for joint in joints], config.limits
        self._period = period
        margin = own.position_margin
        self.low: np.ndarray = np.array([joint.lower for joint in joints]) + margin
        self.high: np.ndarray = np.array([joint.upper for joint in joints]) - margin
        for joint, low, high in zip(joints, self.low, self.high, strict=True):
            if low >= high:
                raise ConfigError(f"robot.limits.position_margin: {margin:g} leaves {joint.name} no way; make it less")
        of_file = np.array([joint.velocity_limit for joint in joints])
        self.velocity: np.ndarray = _numbers(own.velocity, names, "velocity", of_file)
        wide = np.flatnonzero(self.velocity > of_file * (1.0 + 1e-6))
        if len(wide):
            name, most = names[wide[0]], of_file[wide[0]]
            raise ConfigError(
                f"robot.limits.velocity: {self.velocity[wide[0]]:g} is more than the {most:g} that {name} has in the"
                " file; make it less"
            )
        self.acceleration: np.ndarray = _numbers(own.acceleration, names, "acceleration", np.full(len(names), np.inf))
        self.step: float = np.inf if own.step is None else own.step
        #: How often each limit acted, by its kind and the joint's name.
        self.counts: dict[str, dict[str, int]] = {kind: dict.fromkeys(names, 0) for kind in KINDS}
        #: Which limits acted in the last period: bits in the order of `KINDS`, shape [joints].
        self.acted: np.ndarray = np.zeros(len(names), dtype=np.uint8)
        self._names = names

    def begin(self, targets: np.ndarray) -> None:
        """Begin with the targets that a robot at rest has, shape [joints]."""
        self._last = targets.copy()
        self._speed = np.zeros_like(self._last)

    def apply(self, targets: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """Return targets within all limits [rad or m].

        Args:
            targets: The targets, finite, shape [joints].
            measured: The measured positions.
        """
        self.acted[:] = 0
        wanted = self._limited(0, targets, np.clip(targets, self.low, self.high))
        way = np.clip(wanted - self._last, -self.velocity * self._period, self.velocity * self._period)
        wanted = self._limited(1, wanted, self._last + way)
        speed = (wanted - self._last) / self._period
        change = self.acceleration * self._period
        speed = np.clip(speed, self._speed - change, self._speed + change)
        wanted = self._limited(2, wanted, np.clip(self._last + speed * self._period, self.low, self.high))
        wanted = self._limited(3, wanted, np.clip(wanted, measured - self.step, measured + self.step))
        self._speed = (wanted - self._last) / self._period
        self._last = wanted
        return wanted

    def summary(self) -> Mapping[str, Mapping[str, int]]:
        """Return how often each limit acted, without those that never did."""
        found = {kind: {name: count for name, count in each.items() if count} for kind, each in self.counts.items()}
        return {kind: each for kind, each in found.items() if each}

    def _limited(self, kind: int, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        acted = np.abs(after - before) > 1e-9
        if acted.any():
            self.acted[acted] |= 1 << kind
            for place in np.flatnonzero(acted):
                self.counts[KINDS[kind]][self._names[place]] += 1
        return after


def _numbers(
    value: float | Mapping[str, float] | None, names: Sequence[str], key: str, missing: np.ndarray
) -> np.ndarray:
    if value is None:
        return missing
    found = np.array(lookup(value, names, f"robot.limits.{key}", "joint"), dtype=np.float64)
    if not (found > 0.0).all():
        raise ConfigError(f"robot.limits.{key}: expected numbers above 0, got {found.min():g}")
    return found


def refuse_readings(readings: RobotReadings, joints: Sequence[DrivenJoint], safety: RobotSafetyConfig) -> None:
    """Raise a fault for readings that a robot of this file cannot have, or that its safety does not permit.

    Raises:
        RobotFault: The first one that is out of bounds.
    """
    for number, joint in enumerate(joints):
        position = readings.position[number]
        if not joint.lower - BEYOND <= position <= joint.upper + BEYOND:
            raise RobotFault(
                f"{joint.name} is at {position:.3f}, and its limits are {joint.lower:g} and {joint.upper:g}; see its"
                " zero, its sign and its limits in the file",
                "position",
            )
        if safety.temperature is not None and readings.temperature[number] >= safety.temperature:
            raise RobotFault(f"{joint.name} has {readings.temperature[number]:g} °C", "heat")
        volts = readings.voltage[number]
        if safety.voltage is not None and not np.isnan(volts) and not safety.voltage[0] <= volts <= safety.voltage[1]:
            raise RobotFault(f"{joint.name} has {volts:.1f} V", "voltage")
    if safety.tilt is not None and not np.isnan(readings.orientation[0]):
        x, y, _, _ = readings.orientation
        upright = 1.0 - 2.0 * (x * x + y * y)
        if upright < np.cos(safety.tilt):
            raise RobotFault(f"the body is tilted by {np.arccos(np.clip(upright, -1.0, 1.0)):.2f} rad", "tilt")
