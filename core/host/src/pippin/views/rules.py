"""Rules of the values that can be set: the numbers that are allowed, and the search for those that are not.

The kernels that write values apply the same rules to data on the device, see `kernels.rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs
import numpy as np

Valid = Literal[
    "finite",
    "number",
    "non-negative",
    "non-negative or infinite",
    "interval",
    "coordinate",
    "pose",
    "position",
    "inertia",
    "mark",
]
"""Name of a rule."""

LARGEST = float(np.finfo(np.float32).max)
"""Largest finite number."""

UNIT_TOLERANCE = 1e-3
"""Largest deviation of a quaternion's length from 1."""

ROTATION_TOLERANCE = 1e-6
"""Largest component of a quaternion's vector that counts as no rotation."""

SYMMETRY_TOLERANCE = 1e-4
"""Largest difference of two entries of an inertia that should be equal, relative to its trace."""

MOMENT_TOLERANCE = 1e-5
"""Largest excess of a principal moment of inertia over the sum of the others, as a share of the trace: what single
precision rounds."""

_OF_QUATERNION = np.array([0, 0, 0, 1, 1, 1, 1], dtype=np.float32)


@attrs.frozen(kw_only=True)
class ValueRule:
    """The values of one element that are allowed."""

    expected: str
    """The allowed values, for errors and for the reference."""

    faulty: Callable[[np.ndarray], np.ndarray]
    """Return which elements are not allowed, shape [...], from their numbers, shape [..., components]."""

    low: float = -LARGEST
    """Lowest number that is allowed."""

    high: float = LARGEST
    """Highest number that is allowed."""

    has_only_bounds: bool = True
    """Whether every number within the bounds is allowed."""

    has_quaternion: bool = False
    """Whether the last four numbers are a unit quaternion."""

    def allows(self, values: np.ndarray) -> bool:
        """Return whether all values are allowed, shape [..., components]; quicker than a search for those that are not.

        It may also return False for enormous numbers that are allowed. NaN is never within bounds.
        """
        if not values.size:
            return True
        if self.has_quaternion:
            return _are_poses(values)
        if not self.has_only_bounds:
            return not self.faulty(values).any()
        # The sum of squares is quick to compute, and not finite if a number is not.
        if self.high == LARGEST and values.dtype.kind == "f" and np.vdot(values, values) <= LARGEST:
            return self.low == -LARGEST or bool(values.min() >= self.low)
        return bool(values.min() >= self.low and values.max() <= self.high)


def _bounded(expected: str, low: float = -LARGEST, high: float = LARGEST) -> ValueRule:
    def faulty(values: np.ndarray) -> np.ndarray:
        return np.logical_not(((values >= low) & (values <= high)).all(axis=-1))

    return ValueRule(expected=expected, faulty=faulty, low=low, high=high)


def _special(expected: str, faulty: Callable[[np.ndarray], np.ndarray], **others: Any) -> ValueRule:
    return ValueRule(expected=expected, faulty=faulty, has_only_bounds=False, **others)


def _is_finite(values: np.ndarray) -> np.ndarray:
    return np.asarray((np.abs(values) <= LARGEST).all(axis=-1))


def _no_interval(values: np.ndarray) -> np.ndarray:
    lower, upper = values[..., 0], values[..., 1]
    return ~((lower <= upper) & (lower <= LARGEST) & (upper >= -LARGEST))


def not_unit(quaternions: np.ndarray) -> np.ndarray:
    """Return which quaternions, shape [..., 4], do not have the length 1."""
    with np.errstate(all="ignore"):  # an infinite length is not 1
        squares = np.einsum("...k,...k->...", quaternions, quaternions)
        return np.logical_not(np.abs(np.sqrt(squares) - 1.0) <= UNIT_TOLERANCE)


def _are_poses(values: np.ndarray) -> bool:
    with np.errstate(all="ignore"):
        squares = np.square(values, dtype=np.float32) @ _OF_QUATERNION
    return bool(squares.min() >= (1.0 - UNIT_TOLERANCE) ** 2 and squares.max() <= (1.0 + UNIT_TOLERANCE) ** 2)


def _no_pose(values: np.ndarray) -> np.ndarray:
    return ~_is_finite(values[..., :3]) | not_unit(values[..., 3:])


def _no_position(values: np.ndarray) -> np.ndarray:
    is_turned = ~(np.abs(values[..., 3:6]) <= ROTATION_TOLERANCE).all(axis=-1)
    return is_turned | _no_pose(values)


def _no_mark(values: np.ndarray) -> np.ndarray:
    return np.logical_not(np.isin(values, (0, 1)).all(axis=-1))


def _no_inertia(values: np.ndarray) -> np.ndarray:
    tensor = np.asarray(values, dtype=np.float64).reshape(*values.shape[:-1], 3, 3)
    trace = np.trace(tensor, axis1=-2, axis2=-1)
    with np.errstate(all="ignore"):  # what is not finite makes comparisons false
        scaled = tensor / trace[..., None, None]
        skew = np.abs(scaled - np.swapaxes(scaled, -1, -2)).max(axis=(-2, -1))
        minors = [scaled[..., 0, 0], np.linalg.det(scaled[..., :2, :2]), np.linalg.det(scaled)]
        is_good = (trace > 0.0) & (skew <= SYMMETRY_TOLERANCE) & np.all([minor > 0.0 for minor in minors], axis=0)
        spread = (0.5 + MOMENT_TOLERANCE) * np.eye(3) - scaled  # of the mass along the axes, as a share
        minors = [spread[..., 0, 0], np.linalg.det(spread[..., :2, :2]), np.linalg.det(spread)]
        is_good &= np.all([minor > 0.0 for minor in minors], axis=0)
    return ~(is_good & _is_finite(values) | (values == 0.0).all(axis=-1))


RULES: Mapping[Valid, ValueRule] = {
    "finite": _bounded("a finite number"),
    "number": _bounded("a number or infinity", low=-np.inf, high=np.inf),
    "non-negative": _bounded("a finite number >= 0", low=0.0),
    "non-negative or infinite": _bounded("a number >= 0, infinite for no limit", low=0.0, high=float("inf")),
    "interval": _special("lowest <= highest, infinite for no limit", _no_interval, low=-np.inf, high=np.inf),
    "coordinate": _bounded("a finite number, or of a ball joint a quaternion of length 1 within 0.001"),
    "pose": _special("a finite position and a quaternion of length 1 within 0.001", _no_pose, has_quaternion=True),
    "position": _special("a finite position and the quaternion (0, 0, 0, 1): rotate the inertia instead", _no_position),
    "inertia": _special(
        "a tensor that is finite, symmetric within 0.0001 of its trace and positive definite, with no principal moment"
        " above the sum of the others, or 0",
        _no_inertia,
    ),
    "mark": _special("0 or 1", _no_mark, low=0.0, high=1.0),
}
"""The rules by name."""


def of_type(dtype: str) -> ValueRule:
    """Return the rule of numbers of a type: not NaN, and none that the type cannot hold."""
    if np.dtype(dtype).kind not in "iu":
        return RULES["number"]
    bounds = np.iinfo(dtype)
    return _bounded(f"a whole number from {bounds.min} to {bounds.max}", low=bounds.min, high=bounds.max)
