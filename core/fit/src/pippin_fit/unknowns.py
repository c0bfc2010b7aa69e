"""Unknowns of a fit: its parameters as one vector, with bounds and priors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pippin import ConfigError

from .parameters import FitParameter


class Unknowns:
    """The values of all parameters as a vector: logarithms, or shares of the ranges.

    Raises:
        ConfigError: A value of the file is outside its range, or joints that share a value have different ones.
    """

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
        """Return the number of each parameter for each of its values."""
        return np.repeat(np.array(numbers, dtype=float), [each.count for each in self._parameters])

    def _parts(self, vector: np.ndarray) -> list[np.ndarray]:
        return np.split(vector, np.cumsum([each.count for each in self._parameters])[:-1], axis=-1)

    def values(self, unknowns: np.ndarray) -> np.ndarray:
        """Return the values of unknowns, shape [..., values] each."""
        parts = zip(self._parameters, self._parts(unknowns), strict=True)
        return np.concatenate([each.values(part) for each, part in parts], axis=-1)

    def slopes(self, values: np.ndarray) -> np.ndarray:
        """Return the change of each value per change of its unknown."""
        return np.concatenate(
            [each.slope(part) for each, part in zip(self._parameters, self._parts(values), strict=True)]
        )

    def refuse_whole_numbers(self) -> None:
        """Refuse whole numbers, which have no derivatives.

        Raises:
            ConfigError: Names the parameter.
        """
        if self.is_whole.any():
            key = next(each.key for each in self._parameters if each.is_whole)
            raise ConfigError(
                f'fit.parameters.{key!r}: whole numbers have no derivative; set fit.method = "cmaes", or leave it out'
            )
