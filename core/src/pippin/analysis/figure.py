"""Figures of panels below each other, as the text of an SVG file; no library is needed to draw them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape

import attrs
import numpy as np

__all__ = ["Bars", "Curve", "Panel", "figure"]

_WIDTH, _LEFT, _RIGHT = 1000, 80, 170
_HEIGHT, _TOP, _BOTTOM = 190, 28, 34
_COLUMNS = _WIDTH - _LEFT - _RIGHT
"""Width of the axes [px]."""
_ROWS = _HEIGHT - _TOP - _BOTTOM
"""Height of the axes [px]."""

_COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")
_DASHES = ("none", "7 4", "2 3", "9 3 2 3")
"""Strokes in turn, so that curves that lie on each other are both seen."""


@attrs.frozen(kw_only=True, eq=False)
class Curve:
    """A line of a panel."""

    label: str
    x: np.ndarray
    y: np.ndarray
    """Shape [samples], as `x`; what is not finite leaves a gap."""
    index: int
    """Place among the curves, which chooses the colour."""
    is_dashed: bool = False
    """Whether the stroke changes with the index, too."""


@attrs.frozen(kw_only=True, eq=False)
class Panel:
    """Curves that share both axes."""

    title: str
    unit: str
    curves: tuple[Curve, ...]
    is_logarithmic: bool = False
    largest: float | None = None
    """Where the axis ends; by default at the largest value."""
    has_legend: bool = True

    def draw(self) -> Iterator[str]:
        """Yield the elements, in the panel's own pixels."""
        x = _Axis.over([curve.x for curve in self.curves], _COLUMNS)
        y = _Axis.over([curve.y for curve in self.curves], _ROWS, self.is_logarithmic, self.largest)
        yield _text(0, -10, self.title)
        yield _text(
            -66, _ROWS / 2, f"[{self.unit}]" if self.unit else "", 'transform="rotate(-90 -66 %g)"' % (_ROWS / 2)
        )
        for tick in y.ticks():
            row = _ROWS - y.place(tick)
            yield f'<path class="grid" d="M0 {row:.1f}H{_COLUMNS}"/>'
            yield _text(-6, row + 4, f"{tick:.6g}", 'text-anchor="end"')
        for tick in x.ticks():
            yield f'<path class="grid" d="M{x.place(tick):.1f} 0V{_ROWS}"/>'
            yield _text(x.place(tick), _ROWS + 16, f"{tick:.6g}", 'text-anchor="middle"')
        yield f'<path class="axes" d="M0 0V{_ROWS}H{_COLUMNS}"/>'
        yield f'<svg width="{_COLUMNS}" height="{_ROWS}">'
        for curve in self.curves:
            yield _line(curve, x, y)
        yield "</svg>"
        if self.has_legend:
            for row, curve in enumerate(self.curves):
                yield f'<path {_stroke(curve)} d="M{_COLUMNS + 12} {8 + 15 * row}h18"/>'
                yield _text(_COLUMNS + 36, 12 + 15 * row, curve.label)


@attrs.frozen(kw_only=True, eq=False)
class Bars:
    """Numbers beside each other, with their names."""

    title: str
    values: dict[str, tuple[int, float]]
    """Place among the curves, which chooses the colour, and number, by name."""

    def draw(self) -> Iterator[str]:
        """Yield the elements, in the panel's own pixels."""
        yield _text(0, -10, self.title)
        largest = max((value for _, value in self.values.values()), default=1.0) or 1.0
        height = _ROWS / max(len(self.values), 1)
        for row, (name, (index, value)) in enumerate(self.values.items()):
            width, middle = _COLUMNS * value / largest, (row + 0.5) * height
            color = _COLORS[index % len(_COLORS)]
            yield f'<rect y="{row * height:.1f}" width="{width:.1f}" height="{0.8 * height:.1f}" fill="{color}"/>'
            yield _text(width + 6, middle, f"{value:,.0f}")
            yield _text(-6, middle, name, 'text-anchor="end"')


def figure(panels: Sequence[Panel | Bars], x_label: str) -> str:
    """Return panels below each other as an SVG document."""
    height = _HEIGHT * max(len(panels), 1) + 16
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}">',
        "<style>text { font: 12px sans-serif } path { fill: none }",
        ".grid { stroke: #ddd } .axes { stroke: #333 }</style>",
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
    ]
    for row, panel in enumerate(panels):
        lines += [f'<g transform="translate({_LEFT} {_TOP + row * _HEIGHT})">', *panel.draw(), "</g>"]
    lines += [_text(_LEFT + _COLUMNS / 2, height - 8, x_label, 'text-anchor="middle"'), "</svg>"]
    return "\n".join(lines) + "\n"


@attrs.frozen(eq=False)
class _Axis:
    """Where numbers lie on an axis of some length."""

    low: float
    high: float
    length: int
    is_logarithmic: bool

    @classmethod
    def over(
        cls, values: Sequence[np.ndarray], length: int, is_logarithmic: bool = False, largest: float | None = None
    ) -> _Axis:
        """Return the axis over all values that can be drawn."""
        every = np.concatenate([np.zeros(0), *values]).astype(float)
        every = every[np.isfinite(every) & ((every > 0.0) | (not is_logarithmic))]
        if not every.size:
            every = np.ones(1)
        low, high = float(every.min()), float(every.max())
        if largest is not None:
            high = max(low, largest)
        if is_logarithmic:
            return cls(math.floor(math.log10(low)), math.ceil(math.log10(high) + 1e-9), length, True)
        margin = 0.05 * (high - low) if length == _ROWS else 0.0
        if high == low:
            margin = 0.5 * abs(low) or 0.5
        return cls(low - margin, high + margin, length, False)

    def place(self, value: Any) -> Any:
        """Return how far along the axis numbers lie [px], one or an array of them."""
        if self.is_logarithmic:
            value = np.log10(value)
        return (value - self.low) / (self.high - self.low) * self.length

    def ticks(self) -> Iterator[float]:
        """Yield round numbers, three to seven of them; of a logarithmic axis, powers of ten."""
        if self.is_logarithmic:
            stride = max(1, round((self.high - self.low) / 5))
            yield from (10.0**power for power in range(round(self.low), round(self.high) + 1, stride))
            return
        span = (self.high - self.low) * (1.0 if self.length == _ROWS else 0.6)
        decade = 10.0 ** math.floor(math.log10(span / 5))
        step = next(factor * decade for factor in (1, 2, 5, 10) if factor * decade >= span / 5)
        yield from (number * step for number in range(math.ceil(self.low / step), math.floor(self.high / step) + 1))


def _line(curve: Curve, x: _Axis, y: _Axis) -> str:
    keep = _extremes(curve.y)
    values = curve.y[keep].astype(float)
    is_drawn = np.isfinite(values) & ((values > 0.0) | (not y.is_logarithmic))
    across = np.asarray(x.place(curve.x[keep].astype(float)))
    down = _ROWS - np.asarray(y.place(np.where(is_drawn, values, 1.0)))
    down = np.clip(down, -10.0 * _ROWS, 10.0 * _ROWS)
    words, is_pen_down = [], False
    for right, below, is_here in zip(across.tolist(), down.tolist(), is_drawn.tolist(), strict=True):
        if is_here:
            words.append(f"{'L' if is_pen_down else 'M'}{right:.1f} {below:.1f}")
        is_pen_down = is_here
    points = "".join(words) + ("h1" if len(words) == 1 else "")  # a single sample is a dot
    return f'<path {_stroke(curve)} d="{points}"/>'


def _extremes(values: np.ndarray) -> np.ndarray:
    """Return which samples to draw: all, or the smallest and the largest of those that share a pixel."""
    per_column = len(values) // (2 * _COLUMNS)
    if per_column < 2:
        return np.arange(len(values))
    starts = range(0, len(values), 2 * per_column)
    parts = [(start, values[start : start + 2 * per_column]) for start in starts]
    kept = {start + index for start, part in parts for index in (int(part.argmin()), int(part.argmax()))}
    return np.array(sorted(kept))


def _stroke(curve: Curve) -> str:
    color = _COLORS[curve.index % len(_COLORS)]
    dash = _DASHES[curve.index % len(_DASHES)] if curve.is_dashed else "none"
    return f'stroke="{color}" stroke-width="1.2" stroke-dasharray="{dash}"'


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(text)}</text>'
