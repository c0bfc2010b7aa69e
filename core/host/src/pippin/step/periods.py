"""Periods of components in control steps."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pippin.errors import ConfigError
from pippin.support.declaration import Declaration

_TOLERANCE = 1e-6
"""Largest distance of a period from a whole number of steps, in steps: decimals are not exact in binary."""


def periods_in_steps(declarations: Mapping[str, Declaration], control_dt: float) -> dict[str, int]:
    """Return the control steps between two readings, for each component that declares a period."""
    periods, faults = {}, []
    for name, declared in declarations.items():
        period = declared.period
        if period is None:
            continue
        count = period / control_dt
        whole = round(count)
        if whole < 1 or abs(count - whole) > _TOLERANCE * max(1.0, count):
            faults.append(f"{name.replace(':', '.')}.period: {_refusal(period, count, control_dt)}")
        periods[name] = max(1, whole)
    if faults:
        raise ConfigError(*faults)
    return periods


def _refusal(period: float, count: float, control_dt: float) -> str:
    if count < 1.0:
        return f"{period:g} s is shorter than a control step of {control_dt:g} s; use at least that, or leave it out"
    near = " or ".join(f"{steps * control_dt:g} s" for steps in (math.floor(count), math.ceil(count)))
    return f"{period:g} s is not a whole number of control steps of {control_dt:g} s; the nearest are {near}"
