"""Every check by name: a small function whose docstring says what is promised, and the kinds of plugins it is for."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import attrs

from . import actuators, claims, configuration, physics, sensors, stepping
from .runs import Runs

__all__ = ["CHECKS", "Check", "checks_for"]


@attrs.frozen
class Check:
    """Something that a plugin promises, and how it is tried."""

    run: Callable[[Runs], None]
    """Raises `PluginError` where the promise is broken, and `NotApplicableError` where it was not given."""

    kinds: tuple[str, ...]
    """The kinds of plugins that promise it."""

    @property
    def name(self) -> str:
        """What `expected_failures` calls it."""
        return self.run.__name__.removeprefix("check_")

    @property
    def promise(self) -> str:
        """What is promised, in one paragraph."""
        return " ".join((inspect.getdoc(self.run) or "").partition("\n\n")[0].split())


_EVERY = ("solver", "actuator", "sensor")

CHECKS = (
    Check(configuration.check_entry_point, _EVERY),
    Check(configuration.check_light_import, _EVERY),
    Check(configuration.check_documented_keys, _EVERY),
    Check(configuration.check_round_trip, _EVERY),
    Check(configuration.check_unknown_keys, _EVERY),
    Check(configuration.check_schema, _EVERY),
    Check(stepping.check_lifecycle, _EVERY),
    Check(stepping.check_capture, _EVERY),
    Check(stepping.check_determinism, _EVERY),
    Check(stepping.check_substeps, ("solver", "actuator")),
    Check(stepping.check_allocation, _EVERY),
    Check(stepping.check_reset, _EVERY),
    Check(stepping.check_worlds, _EVERY),
    Check(stepping.check_checkpoint, _EVERY),
    Check(stepping.check_side_by_side, _EVERY),
    Check(physics.check_free_fall, ("solver",)),
    Check(physics.check_pendulum, ("solver",)),
    Check(claims.check_coordinates, ("solver",)),
    Check(claims.check_contacts, ("solver",)),
    Check(claims.check_features, ("solver",)),
    Check(claims.check_observables, ("solver",)),
    Check(claims.check_model_changes, ("solver",)),
    Check(actuators.check_efforts, ("actuator",)),
    Check(actuators.check_driven_joints, ("actuator",)),
    Check(actuators.check_addition, ("actuator",)),
    Check(sensors.check_outputs, ("sensor",)),
    Check(sensors.check_readings, ("sensor",)),
    Check(sensors.check_observation, ("sensor",)),
)
"""Every check, in the order in which they are run: what is cheap and what others build on comes first."""


def checks_for(kind: str) -> tuple[Check, ...]:
    """Return the checks of a kind of plugin."""
    return tuple(check for check in CHECKS if kind in check.kinds)
