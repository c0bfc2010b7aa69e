"""The parameters of a fit, by the first word of their keys: those that vary, and those that are known of each log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

import numpy as np
from pippin import ConfigError, Simulation

from pippin_fit.config import FitConfig, FitParameterConfig

from .body_parameters import BodyNumbers, BodyParameter
from .parameters import ActuatorParameter, FitParameter, SignalParameter

_SIGNALS = ("signals.offset", "signals.delay")

_FIXED = FitParameterConfig(range=(0.0, 1.0), scale="linear")
"""The table of a parameter that does not vary."""


def _of_model(
    key: str, table: FitParameterConfig, where: str, simulation: Simulation, bodies: BodyNumbers, *, is_known: bool
) -> FitParameter | None:
    if key.startswith("actuators."):
        return ActuatorParameter(key, table, where, simulation)
    return BodyParameter(key, table, where, bodies, is_known=is_known) if key.startswith("bodies.") else None


def find_parameters(
    config: FitConfig, simulation: Simulation, joints: Sequence[str], bodies: BodyNumbers
) -> tuple[FitParameter, ...]:
    """Return the parameters of a table in a simulation; a key that means nothing that can vary is refused."""
    found: list[FitParameter] = []
    for key, table in config.parameters.items():
        where = f"fit.parameters.{key!r}"
        if key in _SIGNALS:
            found.append(SignalParameter(key, table, where, joints))
        elif (parameter := _of_model(key, table, where, simulation, bodies, is_known=False)) is not None:
            found.append(parameter)
        else:
            raise ConfigError(
                f"{where}: not a place of a parameter; write actuators.LABEL.KEY, bodies.PATTERN.mass, signals.offset"
                " or signals.delay"
            )
    return tuple(found)


def refuse_unclear(config: FitConfig, names: Sequence[str]) -> None:
    """Refuse fixed parameters that belong to no log, that a log has twice, or that vary."""
    for pattern, numbers in config.known.items():
        if not any(PurePath(name).match(pattern) for name in names):
            raise ConfigError(f"fit.known.{pattern!r}: matches no log; logs: {', '.join(names)}")
        if varied := sorted(numbers.keys() & config.parameters.keys()):
            raise ConfigError(f"fit.known.{pattern!r}.{varied[0]!r}: varies in fit.parameters; leave it out of one")
    for name in names:
        own = [key for pattern, numbers in config.known.items() if PurePath(name).match(pattern) for key in numbers]
        if twice := [key for key in own if own.count(key) > 1]:
            raise ConfigError(f"fit.known: two patterns match {name}, and both give {twice[0]!r}; give it once")


def set_fixed_parameters(config: FitConfig, names: Sequence[str], simulation: Simulation, bodies: BodyNumbers) -> None:
    """Set the fixed parameters of the log of each world, one number or as many as it has; others are as in the file."""
    for key in dict.fromkeys(key for numbers in config.known.values() for key in numbers):
        where = f"fit.known.{key!r}"
        parameter = _of_model(key, _FIXED, where, simulation, bodies, is_known=True)
        if parameter is None:
            raise ConfigError(
                f"{where}: not a place of a number of a model; write actuators.LABEL.KEY or bodies.PATTERN.mass"
            )
        values = np.tile(parameter.file_values, (len(names), 1))
        for pattern, numbers in config.known.items():
            if key in numbers:
                own = np.atleast_1d(numbers[key])
                if len(own) not in (1, values.shape[1]):
                    count = values.shape[1]
                    raise ConfigError(f"fit.known.{pattern!r}.{key!r}: expected 1 or {count} numbers, got {len(own)}")
                values[[PurePath(name).match(pattern) for name in names]] = own
        parameter.write(values)
