"""Checks of a solver's results against formulas."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pippin import PluginError

from .outcomes import NotApplicableError
from .runs import Runs
from .scenes import GRAVITY, START, SWING_RATE


def check_free_fall(runs: Runs) -> None:
    """A free body or particle falls for 0.1 s with v = g t and z = g t² / 2. The speed is within 2 %; the depth may
    also have an error of first order in the substep.
    """
    before, after = runs.fall[:2]
    speed = (before.speed - after.speed) / (GRAVITY * after.time)
    depth = (before.height - after.height + before.speed * after.time) / (GRAVITY * after.time**2 / 2)
    errors = {"speed": (abs(speed - 1), 0.02), "depth": (abs(depth - 1), 0.02 + runs.subject.dt / after.time)}
    _refuse(runs, f"after a free fall of {after.time:g} s", errors, "accelerate what is free by model.gravity")


def check_pendulum(runs: Runs) -> None:
    """A pendulum hangs straight down after a quarter of T = 2π √((I + m l²) / (m g l)), with the velocity of the
    formula.

    The error of the angle is at most 2 % of the initial angle, plus a part of first order in the substep. The error of
    the velocity is at most 5 % of the largest velocity.
    """
    end = runs.fall[-1]
    if end.angle is None or end.rate is None:
        raise NotApplicableError("it declares no revolute_joints")
    phase = SWING_RATE * end.time
    angle, rate = end.angle / START - np.cos(phase), end.rate / (START * SWING_RATE) + np.sin(phase)
    errors = {"angle": (abs(angle), 0.02 + SWING_RATE * runs.subject.dt), "angular velocity": (abs(rate), 0.05)}
    cure = "check the inertia about the hinge and what damps it, or take a smaller dt"
    _refuse(runs, "a quarter of a swing after the start of a pendulum", errors, cure)


def _refuse(runs: Runs, when: str, errors: Mapping[str, tuple[float, float]], cure: str) -> None:
    """Refuse the first error that is larger than allowed, or NaN."""
    for what, (error, most) in errors.items():
        if not error <= most:
            raise PluginError(f"{runs.subject}: {when}, the {what} is {error:.1%} off, and may be {most:.1%}; {cure}")
