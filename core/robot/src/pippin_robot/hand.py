"""A hand that moves joints without torque, as a person does who calibrates a robot or leads another one by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from .contract import DrivenJoint, RobotReadings

Hands = Literal["sweep", "wave", "page"]
"""`sweep` holds the middle, and moves joints through their range once a program has set it; `wave` moves to and fro;
`page` has sliders in the browser."""

_REST = 1.0
"""Time from the last homing to the way through the range [s]."""

_SWEEP = 4.0
"""Time of the way through the range: from the middle to one end, to the other and back [s]."""

_WAVE, _PART = 5.0, 0.4
"""Period of a wave [s], and its part of the range."""


class Hand:
    """A hand at joints without torque.

    Args:
        kind: What it does.
        joints: The joints; it leaves those without limits alone.
    """

    def __init__(self, kind: Hands, joints: Sequence[DrivenJoint]) -> None:
        lower, upper = (np.array([getattr(joint, end) for joint in joints]) for end in ("lower", "upper"))
        self._middle, self._half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        self._kind = kind
        self._known: int | None = None
        self._homed: float | None = None
        self._is_done = False
        #: Whether it has moved all joints through their range.
        self.has_swept: bool = False

    def positions(self, readings: RobotReadings, time: float, enabled: np.ndarray, homings: int | None) -> np.ndarray:
        """Return where it holds the joints [rad or m], shape [joints]; NaN for those that it leaves alone.

        Args:
            readings: What the robot measures.
            time: Time since the robot can be reached [s].
            enabled: Which joints have torque, shape [joints].
            homings: A number that changes when a program sets the middle of motors; None if nobody tells.
        """
        phases = np.full(len(enabled), self._phase(time, bool(enabled.all()), homings))
        if self._kind == "wave":
            phases = min(1.0, time) * _PART * np.sin(2.0 * np.pi * time / _WAVE + np.arange(len(enabled)))
        positions = self._middle + phases * self._half
        positions[enabled | ~np.isfinite(positions)] = np.nan
        return positions

    def close(self) -> None:
        """Let go."""

    def _phase(self, time: float, is_enabled: bool, homings: int | None) -> float:
        """Return the place in the range, -1 to 1; NaN once a sweep is over and the motors have had torque since."""
        if self._homed is None and homings is None:
            self._homed = time + _SWEEP  # nobody tells when the middle is set: it has this time
        if homings is not None and homings != self._known:
            self._homed = None if self._known is None else time + _REST
            self._known = homings
        passed = -1.0 if self._homed is None else time - self._homed
        self.has_swept |= passed > _SWEEP
        self._is_done |= self.has_swept and is_enabled
        if self._is_done:
            return np.nan
        return 0.98 * np.sin(2.0 * np.pi * passed / _SWEEP) if 0.0 < passed < _SWEEP else 0.0
