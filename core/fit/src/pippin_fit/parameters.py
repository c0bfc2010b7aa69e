"""Parameters of a fit: numbers that differ between worlds and change between rollouts, and all of them as a vector."""

from __future__ import annotations

import abc
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from pippin import ConfigError, Simulation, did_you_mean, labels
from pippin.arrays import on_host

from pippin_fit.config import FitParameterConfig

from .least_squares import STEP

_ABOVE_ZERO = 0.01
"""Offset of a value in logarithmic scale whose range begins at 0, as a share of the range."""


class FitParameter(abc.ABC):
    """A parameter: a row of values for each world. Errors name the place where it stands."""

    def __init__(
        self,
        key: str,
        config: FitParameterConfig,
        where: str,
        names: Sequence[str],
        values: np.ndarray,
        *,
        is_whole: bool = False,
    ) -> None:
        self.key, self.config, self.where = key, config, where
        #: The value of each joint in the file, shape [names], and whether these are whole numbers.
        self.file_values, self.is_whole = values, is_whole
        chosen = range(len(names))
        if config.joints is not None:
            chosen = labels.match(config.joints, names, what="joint", where=f"{self.where}.joints")
        #: Columns of the joints that vary, among all that have a value.
        self.columns: np.ndarray = np.array(chosen)
        short = [name.rpartition("/")[2] for name in names]
        own = [short[column] if short.count(short[column]) == 1 else names[column] for column in chosen]
        #: Index of the value of each joint that varies.
        self.value_of: np.ndarray = _shared(config, [names[column] for column in chosen], self.where)
        first = [int(np.argmax(self.value_of == value)) for value in range(self.value_of.max() + 1)]
        counts = np.bincount(self.value_of)
        #: The name of each value, after the key.
        self.names: tuple[str, ...] = tuple(
            own[joint] if counts[value] == 1 else f"{own[joint]} and {counts[value] - 1} more"
            for value, joint in enumerate(first)
        )
        #: Number of values.
        self.count: int = len(self.names)
        low, high = config.range
        #: Whether the values vary by ratios.
        self.is_ratio: bool = config.scale != "linear" and low >= 0.0 and not is_whole
        self._added = _ABOVE_ZERO * (high - low) if self.is_ratio and low == 0.0 else 0.0

    def unknowns(self, values: np.ndarray) -> np.ndarray:
        """Return the unknowns of values: logarithms, or shares of the range. A step of 0.02 is above rounding."""
        low, high = self.config.range
        return np.log(values + self._added) if self.is_ratio else (values - low) / (high - low)

    def values(self, unknowns: np.ndarray) -> np.ndarray:
        """Return the values of unknowns, within the range."""
        low, high = self.config.range
        values = np.exp(unknowns) - self._added if self.is_ratio else low + unknowns * (high - low)
        return np.clip(np.round(values) if self.is_whole else values, low, high)

    def slope(self, values: np.ndarray) -> np.ndarray:
        """Return the change of the values per change of the unknowns."""
        low, high = self.config.range
        return values + self._added if self.is_ratio else np.full_like(values, high - low)

    def stated(self) -> np.ndarray:
        """Return the values of the file; refuse those outside the range, and different ones of joints that share."""
        present = self.file_values[self.columns]
        values = np.zeros(self.count)
        values[self.value_of] = present
        if not np.allclose(values[self.value_of], present, rtol=1e-5):
            raise ConfigError(f"{self.where}: joints that share a value start with different ones; give them one")
        low, high = self.config.range
        slack = 1e-5 * (high - low)
        is_outside = (values < low - slack) | (values > high + slack)
        if is_outside.any():
            wrong = values[is_outside][0]
            raise ConfigError(f"{self.where}: starts at {wrong:g}, outside {low:g} to {high:g}; change the range")
        return np.clip(values, low, high)

    def moved_inwards(self, unknowns: np.ndarray) -> np.ndarray:
        """Return where the search starts: a start at an end of the range stalls it."""
        ends = self.unknowns(np.array(self.config.range))
        margin = 0.0 if self.is_whole else min(5 * STEP, 0.05 * (ends[1] - ends[0]))
        return np.clip(unknowns, ends[0] + margin, ends[1] - margin)

    @abc.abstractmethod
    def write(self, values: np.ndarray) -> None:
        """Set the values of the next rollouts, shape [worlds, count]."""

    @abc.abstractmethod
    def write_tables(self, tables: dict[str, Any], comments: dict[tuple[Any, ...], str], texts: Sequence[str]) -> None:
        """Write the present values of the first world into tables of a file, with the text of each as a comment."""

    def of_joints(self, values: np.ndarray) -> np.ndarray:
        """Return the value of each joint, shape [worlds, names], that of the file if it does not vary."""
        found = np.tile(self.file_values, (len(values), 1))
        found[:, self.columns] = values[:, self.value_of]
        return found


class ActuatorParameter(FitParameter):
    """A parameter of an actuator, by its name for `get` and `set`."""

    def __init__(self, key: str, config: FitParameterConfig, where: str, simulation: Simulation) -> None:
        label, _, name = key.removeprefix("actuators.").partition(".")
        if label not in simulation.actuators:
            near = did_you_mean(label, simulation.actuators) or f"; labels: {', '.join(simulation.actuators) or 'none'}"
            raise ConfigError(f"{where}: there is no actuator {label!r}{near}")
        self._actuator: Any = simulation.actuators[label]
        known = getattr(self._actuator, "parameters", ())
        if name not in known:
            near = did_you_mean(name, known) or f"; parameters: {', '.join(known) or 'none'}"
            raise ConfigError(f"{where}: {label!r} has no parameter {name!r}{near}")
        if "[" in name:
            raise ConfigError(
                f"{where}: numbers of clampings cannot be written into a file that extends another"
                " one; fit another parameter"
            )
        if name in self._actuator.drawn_parameters:
            raise ConfigError(f"{where}: the file draws it at random at each reset; give it one value")
        #: Label of the actuator, and name of the parameter.
        self.label, self.name = label, name
        present = on_host(self._actuator.get(name))
        is_whole = present.dtype.kind == "i"
        names = self._actuator.joint_labels
        super().__init__(key, config, where, names, present.astype(float)[0], is_whole=is_whole)
        if is_whole and (self.count > 1 or len(self.columns) < len(names)):
            raise ConfigError(f'{where}: the file gives all joints one whole number; vary it by each = "group"')
        if is_whole and any(end != round(end) for end in config.range):
            raise ConfigError(f"{where}.range: {config.range[0]:g} to {config.range[1]:g} must be whole numbers")

    def write_tables(self, tables: dict[str, Any], comments: dict[tuple[Any, ...], str], texts: Sequence[str]) -> None:
        """Write the value of each joint of the actuator by pattern."""
        where = ("actuators", self.label, *self.name.split("."))
        place = tables
        if self.is_whole:
            for key in where[:-1]:
                place = place.setdefault(key, {})
            place[where[-1]] = int(on_host(self._actuator.get(self.name))[0, 0])
            comments[where] = texts[0]
            return
        for key in where:
            place = place.setdefault(key, {})
        place["extends"] = False
        joints = on_host(self._actuator.get(self.name)).astype(float)[0]
        found = ["not fitted"] * len(joints)
        for column, value in zip(self.columns, self.value_of, strict=True):
            found[column] = texts[value]
        for label, value, text in zip(self._actuator.joint_labels, joints, found, strict=True):
            place[re.escape(label)] = float(f"{value:.9g}")
            comments[(*where, re.escape(label))] = text

    def write(self, values: np.ndarray) -> None:
        """Set the values of all worlds."""
        self._actuator.set(self.name, self.of_joints(values))


class SignalParameter(FitParameter):
    """The readings of encoders at zero, or the delay of the commands: numbers of the log, not of the model."""

    def __init__(self, key: str, config: FitParameterConfig, where: str, joints: Sequence[str]) -> None:
        self.name = key.removeprefix("signals.")
        names = joints if self.name == "offset" else ["commands"]
        super().__init__(key, config, where, names, np.zeros(len(names)))
        #: The value of each joint, or of the commands, in each world.
        self.present: np.ndarray = self.file_values[None]

    def write(self, values: np.ndarray) -> None:
        """Keep the values for the player of the logs."""
        self.present = self.of_joints(values)

    def write_tables(self, tables: dict[str, Any], comments: dict[tuple[Any, ...], str], texts: Sequence[str]) -> None:
        """Write nothing: these numbers belong to the log."""


def _shared(config: FitParameterConfig, names: Sequence[str], where: str) -> np.ndarray:
    if config.each == "group":
        if config.share:
            raise ConfigError(f'{where}.share: all joints share one value; set each = "joint"')
        return np.zeros(len(names), dtype=int)
    own = np.arange(len(names))
    for patterns in config.share:
        same = labels.match(patterns, names, what="joint", where=f"{where}.share")
        own[same] = own[same].min()
    return np.unique(own, return_inverse=True)[1]


def parts_of(numbers: np.ndarray, parameters: Sequence[FitParameter]) -> list[np.ndarray]:
    """Return the numbers of each parameter, of numbers of all values of all parameters, shape [..., values]."""
    return np.split(numbers, np.cumsum([each.count for each in parameters])[:-1], axis=-1)


class Unknowns:
    """The values of all parameters as a vector: logarithms, or shares of the ranges, which hold those of the file."""

    def __init__(self, parameters: Sequence[FitParameter]) -> None:
        self._parameters = parameters
        stated = [each.stated() for each in parameters]
        firsts = [each.unknowns(values) for each, values in zip(parameters, stated, strict=True)]
        starts = [each.moved_inwards(first) for each, first in zip(parameters, firsts, strict=True)]
        ends = [each.unknowns(np.array(each.config.range)) for each in parameters]
        #: The parameter of each value, and its name in it.
        self.owners: list[tuple[FitParameter, str]] = [(each, name) for each in parameters for name in each.names]
        #: Lowest and highest value, shape [values, 2].
        self.ranges: np.ndarray = np.array([each.config.range for each, _ in self.owners])
        #: The values of the file, and their unknowns, shape [values].
        self.file_values: np.ndarray = np.concatenate(stated)
        self.of_file: np.ndarray = np.concatenate(firsts)
        #: The start of the search, away from the bounds.
        self.start: np.ndarray = np.concatenate(starts)
        #: Lower and upper bounds of the unknowns.
        self.low: np.ndarray = self._per_value([end[0] for end in ends])
        self.high: np.ndarray = self._per_value([end[1] for end in ends])
        #: Whether a value is a whole number, and whether its unknown is a logarithm.
        self.is_whole: np.ndarray = self._per_value([float(each.is_whole) for each in parameters]) > 0.0
        self.is_ratio: np.ndarray = self._per_value([float(each.is_ratio) for each in parameters]) > 0.0
        #: Mean of the prior of each value, and the inverse of its variance; 0 without a prior.
        self.priors: tuple[np.ndarray, np.ndarray] = self._priors(stated)

    def _priors(self, stated: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        tables = [each.config.prior for each in self._parameters]
        means = [
            values if table is None or table.mean is None else np.full_like(values, table.mean)
            for table, values in zip(tables, stated, strict=True)
        ]
        return np.concatenate(means), self._per_value([0.0 if table is None else table.std**-2 for table in tables])

    def _per_value(self, numbers: Sequence[float]) -> np.ndarray:
        return np.repeat(np.array(numbers, dtype=float), [each.count for each in self._parameters])

    def values(self, unknowns: np.ndarray) -> np.ndarray:
        """Return the values of unknowns, shape [..., values] each."""
        parts = zip(self._parameters, parts_of(unknowns, self._parameters), strict=True)
        return np.concatenate([each.values(part) for each, part in parts], axis=-1)

    def slopes(self, values: np.ndarray) -> np.ndarray:
        """Return the change of each value per change of its unknown."""
        parts = zip(self._parameters, parts_of(values, self._parameters), strict=True)
        return np.concatenate([each.slope(part) for each, part in parts])

    def refuse_whole_numbers(self) -> None:
        """Refuse whole numbers, which have no derivatives."""
        if self.is_whole.any():
            key = next(each.key for each in self._parameters if each.is_whole)
            raise ConfigError(
                f'fit.parameters.{key!r}: whole numbers have no derivative; set fit.method = "cmaes", or leave it out'
            )
