"""Charts as plain data: lines over time, packed into few bytes for the script of the page."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import ArrayLike

from .markup import Markup, element, marked

_NEAR = 1e-3
"""Distance of lines that look equal, as a share of the chart."""

_NAMES_MAX = 3
"""Number of equal lines up to which each is named."""

_LABELS_MAX = 10
"""Most labels below a chart."""

_LEVELS = 65534
"""Steps between the smallest and the largest value of a line; one code more stands for a gap."""


@attrs.frozen(kw_only=True)
class Line:
    """Look of a line."""

    name: str
    """Its name in the legend."""

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

    is_bridged: bool = False
    """Whether a line leads over columns in which it has no value; columns without a label have no rule then."""

    @classmethod
    def of(cls, labels: Sequence[str], places: Sequence[float] | None = None, *, is_ordered: bool = True) -> Self:
        """Return an axis with at most ten of its labels, the first one among them.

        Args:
            labels: The text of each column.
            places: The place of each column; by default, all are equally far apart.
            is_ordered: Whether lines lead from one column to the next.
        """
        stride = -(-len(labels) // _LABELS_MAX)
        shown = [label if index % stride == 0 else "" for index, label in enumerate(labels)]
        return cls(places=range(len(labels)) if places is None else places, labels=shown, is_ordered=is_ordered)

    @classmethod
    def logarithmic(cls, values: Sequence[float]) -> Self:
        """Return an axis with a column for each of some positive values, and for the powers of ten around them.

        Args:
            values: The values, ascending, each once.
        """
        low, high = math.floor(math.log10(values[0]) + 1e-9), math.ceil(math.log10(values[-1]) - 1e-9)
        powers = range(low, max(high, low + 1) + 1)
        places = sorted({*powers, *(math.log10(each) for each in values)})
        labels = [f"{10.0**place:g}" if place in powers else "" for place in places]
        return cls(places=places, labels=labels, is_bridged=True)


@attrs.frozen(kw_only=True, eq=False)
class Chart:
    """Lines that share an axis because they have the same unit."""

    title: str
    """Its title."""

    unit: str
    """Unit of the values; empty if they have none."""

    lines: Sequence[Line]
    """The look of each line."""

    times: np.ndarray
    """Time of each column [s], shape [columns]."""

    values: np.ndarray
    """Shape [worlds, lines, columns, 1 or 2]: the value, or the smallest and the largest one; NaN is a gap."""

    gaps: np.ndarray
    """Number of values that are not finite, shape [worlds, lines]; zero for lines that have no value there."""

    note: str = ""
    """What the lines mean, beside the title."""

    is_logarithmic: bool = False
    """Whether the axis is logarithmic; values that are not positive are gaps then."""

    top: float | None = None
    """Largest value of the axis, if lines may leave the chart."""

    least: float = 0.0
    """Shortest range of the axis: smaller differences are noise, and look like it."""

    axis: Axis | None = None
    """What the columns are, if they are no times."""

    @classmethod
    def of(
        cls, title: str, lines: Mapping[Any, ArrayLike], over: Axis | ArrayLike, unit: str = "", **look: Any
    ) -> Self:
        """Return a chart of lines that are the same in all worlds.

        Args:
            title: Its title.
            lines: The values of each line, NaN where it has none, by its name or look.
            over: The times of the columns [s], or the axis.
            unit: The unit of the values.
            **look: Other attributes by name.
        """
        looks = [one if isinstance(one, Line) else Line(name=one, color=index) for index, one in enumerate(lines)]
        axis = over if isinstance(over, Axis) else None
        return cls(
            title=title,
            unit=unit,
            lines=looks,
            times=np.asarray(over if axis is None else axis.places, dtype=float),
            values=np.array(list(lines.values()), dtype=float)[None, :, :, None],
            axis=axis,
            gaps=look.pop("gaps", np.zeros((1, len(looks)), dtype=int)),
            **look,
        )

    @classmethod
    def of_points(
        cls, title: str, points: Mapping[Any, Sequence[tuple[float, float]]], unit: str = "", **look: Any
    ) -> Self:
        """Return a chart of points on two logarithmic axes, joined to lines.

        Args:
            title: Its title.
            points: The points of each line, positive numbers across and along, by its name or look.
            unit: The unit of the values along.
            **look: Other attributes by name.
        """
        axis = Axis.logarithmic(sorted({across for line in points.values() for across, _ in line}))
        known = {name: {math.log10(across): along for across, along in line} for name, line in points.items()}
        lines = {name: [line.get(place, math.nan) for place in axis.places] for name, line in known.items()}
        return cls.of(title, lines, axis, unit, is_logarithmic=True, **look)

    def figure(self) -> Markup:
        """For the core: return the figure that the script of a page draws the chart into."""
        unit = element("small", f"[{self.unit}]") if self.unit else None
        key = element("small", self.note, class_="key") if self.note else None
        return marked(element("figure", element("figcaption", self.title, unit, key), class_="chart"), [self])

    @property
    def constant(self) -> float | None:
        """For the core: the value of all lines at all of several times; None if there are several values."""
        first = self.values.flat[0] if self.values.shape[2] > 1 else np.nan
        return float(first) if (self.values == first).all() else None

    def condensed(self) -> Chart:
        """For the core: return the chart with one line for all that look equal in all worlds, with their names."""
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

    def packed_times(self) -> str:
        """For the core: return the time of each column as the script of the page reads it."""
        return _encoded(self.times.astype("<f8"))

    def packed(self) -> dict[str, Any]:
        """For the core: return the chart as the script of a page reads it: 16 bits a value, relative to its line."""
        values = np.log10(np.where(self.values > 0.0, self.values, np.nan)) if self.is_logarithmic else self.values
        of_lines = values.reshape(*values.shape[:2], -1).astype(np.float64)  # those without values are at 0
        low, high = (np.nan_to_num(ends.reduce(of_lines, axis=-1)) for ends in (np.fmin, np.fmax))
        span = np.where(high > low, high - low, 1.0)[..., None, None]
        codes = np.rint((values - low[..., None, None]) / span * _LEVELS)
        return {
            "unit": self.unit,
            "log": self.is_logarithmic,
            "top": self.top,
            "least": self.least,
            "axis": None if self.axis is None else attrs.asdict(self.axis) | {"places": list(self.axis.places)},
            "lines": [attrs.asdict(line) for line in self.lines],
            "pairs": values.shape[-1],
            "low": _rounded(low),
            "high": _rounded(high),
            "gaps": self.gaps.tolist() if self.gaps.any() else None,
            "codes": _encoded(np.where(np.isnan(codes), _LEVELS + 1, codes).astype("<u2")),
        }


def _encoded(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def _rounded(values: np.ndarray) -> list[list[float]]:
    return [[float(f"{value:.9g}") for value in row] for row in values]
