"""Motions that drive a robot, and configurations without them."""

from __future__ import annotations

from pippin.config import SimulationConfig

_DRIVING = ("actuator", "goal_of")
"""Keys of motions that write targets or goals."""


def undriven(config: SimulationConfig) -> SimulationConfig:
    """Return a configuration without the motions that write targets or goals; those of bodies stay.

    Args:
        config: The configuration, in which somebody else is to act.
    """
    kept = {
        label: choice
        for label, choice in config.motions.items()
        if all(getattr(choice.config, key, None) is None for key in _DRIVING)
    }
    return config.with_tables(motions=kept)
