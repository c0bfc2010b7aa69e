"""The parameters of a fit, by the first word of their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pippin import ConfigError, Simulation

from pippin_fit.config import FitConfig

from .body_parameters import BodyNumbers, body_parameter
from .parameters import ActuatorParameter, FitParameter, SignalParameter

_SIGNALS = ("offset", "delay")


def find_parameters(
    config: FitConfig, simulation: Simulation, joints: Sequence[str], bodies: BodyNumbers
) -> tuple[FitParameter, ...]:
    """Return the parameters of a table in a simulation.

    Raises:
        ConfigError: A key means nothing that can vary.
    """
    found: list[FitParameter] = []
    for key, table in config.parameters.items():
        if key.startswith("actuators."):
            found.append(ActuatorParameter(key, table, simulation))
        elif key.startswith("bodies."):
            found.append(body_parameter(key, table, bodies))
        elif key.removeprefix("signals.") in _SIGNALS and key.startswith("signals."):
            found.append(SignalParameter(key, table, joints))
        else:
            raise ConfigError(
                f"fit.parameters.{key!r}: not a place of a parameter; write actuators.LABEL.KEY,"
                " bodies.PATTERN.mass, signals.offset or signals.delay"
            )
    return tuple(found)


def by_signal(parameters: Sequence[FitParameter]) -> Mapping[str, SignalParameter]:
    """Return the parameters of the logs by name."""
    return {each.name: each for each in parameters if isinstance(each, SignalParameter)}
