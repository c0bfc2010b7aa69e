"""Charts as plain data: lines over time, packed into few bytes for the script of the page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

_NEAR = 1e-3
"""Distance of lines that look equal, as a share of the chart."""

_NAMES_MAX = 3
"""Number of equal lines up to which each is named."""

_LEVELS = 65534
"""Steps between the smallest and the largest value of a line; one code more stands for a gap."""


@attrs.frozen(kw_only=True)
class Line:
    """Look of a line."""

    name: str
    color: int
    """Number of the colour. Lines of one colour are shown and hidden together."""

    style: str = "solid"
    """"solid", "dashed" (a target), "dotted" or "dash-dotted"."""


@attrs.frozen(kw_only=True)
class Axis:
    """Horizontal axis of a chart that is not drawn over time."""

    places: Sequence[float]
    """Place of each column."""

    labels: Sequence[str]
    """Text below each column."""

    is_ordered: bool = True
    """Whether lines lead from one column to the next."""


@attrs.frozen(kw_only=True, eq=False)
class Chart:
    """Lines that share an axis because they have the same unit."""

    title: str
    unit: str
    lines: Sequence[Line]
    times: np.ndarray
    """Time of each column [s], shape [columns]."""

    values: np.ndarray
    """Shape [worlds, lines, columns, 1 or 2]: the value, or the smallest and the largest one; NaN is a gap."""

    gaps: np.ndarray
    """Number of values that are not finite, shape [worlds, lines]."""

    note: str = ""
    """What the lines mean, beside the title."""

    is_logarithmic: bool = False
    """Whether the axis is logarithmic; values that are not positive are gaps then."""

    top: float | None = None
    """Largest value of the axis, if lines may leave the chart."""

    least: float = 0.0
    """Shortest range of the axis: smaller differences are noise, and look like it."""

    @property
    def constant(self) -> float | None:
        """The value of all lines at all of several times; None if there are several values."""
        first = self.values.flat[0] if self.values.shape[2] > 1 else np.nan
        return float(first) if (self.values == first).all() else None

    def condensed(self) -> Chart:
        """Return the chart with one line for all that look equal in all worlds, with their names."""
        values, same = self.values, dict[int, list[int]]()
        known = values[np.isfinite(values)]
        near = max(_NEAR * float(np.ptp(known)) if known.size else 0.0, self.least / 2.0)
        for index, line in enumerate(self.lines):
            equals = (
                first
                for first in same
                if line.style == self.lines[first].style
                and np.allclose(values[:, index], values[:, first], rtol=0.0, atol=near, equal_nan=True)
            )
            same.setdefault(next(equals, index), []).append(index)
        lines = []
        for first, *others in same.values():
            names = [self.lines[index].name for index in (first, *others)]
            name = ", ".join(names) if len(names) <= _NAMES_MAX else f"{names[0]} and {len(others)} equal ones"
            lines.append(attrs.evolve(self.lines[first], name=name))
        chosen = list(same)
        return attrs.evolve(self, lines=lines, values=values[:, chosen], gaps=self.gaps[:, chosen])

    axis: Axis | None = None
    """What the columns are, if they are no times."""

    def packed(self) -> dict[str, Any]:
        """Return the chart as the script of the page reads it: 16 bits for each value, relative to its line."""
        values = np.log10(np.where(self.values > 0.0, self.values, np.nan)) if self.is_logarithmic else self.values
        low, high = _limits(values)
        span = np.where(high > low, high - low, 1.0)[..., None, None]
        codes = np.rint((values - low[..., None, None]) / span * _LEVELS)
        return {
            "unit": self.unit,
            "log": self.is_logarithmic,
            "top": self.top,
            "least": self.least,
            "axis": None if self.axis is None else attrs.asdict(self.axis),
            "lines": [attrs.asdict(line) for line in self.lines],
            "pairs": values.shape[-1],
            "low": _rounded(low),
            "high": _rounded(high),
            "gaps": self.gaps.tolist() if self.gaps.any() else None,
            "codes": encoded(np.where(np.isnan(codes), _LEVELS + 1, codes).astype("<u2")),
        }


def encoded(values: np.ndarray) -> str:
    """Return the bytes of an array as base64."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def _limits(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest value of each line, shape [worlds, lines]; 0 and 0 for one without values."""
    flat = values.reshape(*values.shape[:2], -1).astype(np.float64)
    low, high = np.fmin.reduce(flat, axis=-1), np.fmax.reduce(flat, axis=-1)
    return np.nan_to_num(low), np.nan_to_num(high)


def _rounded(values: np.ndarray) -> list[list[float]]:
    """Return values with nine digits, which is what single precision holds."""
    return [[float(f"{value:.9g}") for value in row] for row in values]
