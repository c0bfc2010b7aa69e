"""Figures of a measured run: their units, their titles, and their texts."""

from __future__ import annotations

UNITS = {
    "world_steps_per_second": "1/s",
    "time_to_first_step": "s",
    "energy_drift": "J",
    "relative_energy_drift": "1",
    "angle_limit_violation": "rad",
    "length_limit_violation": "m",
    "joint_gap": "m",
    "penetration": "m",
    "distance": "m",
}
"""The figures of a result, with their units."""

COLUMNS = {
    "world_steps_per_second": "world-steps/s",
    "time_to_first_step": "first step [s]",
    "energy_drift": "energy drift [J]",
    "relative_energy_drift": "relative",
    "angle_limit_violation": "limits [rad]",
    "length_limit_violation": "limits [m]",
    "joint_gap": "joint gap [m]",
    "penetration": "penetration [m]",
    "distance": "distance [m]",
    "first_diverged_step": "diverged [step]",
}
"""The figures of a table, with their titles."""


def figure_text(name: str, value: float | None) -> str:
    """Return a figure as a table shows it."""
    if value is None:
        return ""
    return f"{value:,.0f}" if name == "world_steps_per_second" else f"{value:.3g}"
