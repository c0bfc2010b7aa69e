"""Diagrams of error against cost for pages in Markdown: points on logarithmic axes, as SVG without a script."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from pippin.report import Markup, element

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT = 440.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 10.0, 10.0, 34.0


class _LogAxis:
    """A logarithmic axis between two powers of ten."""

    def __init__(self, values: Sequence[float], low: float, high: float) -> None:
        self._first = math.floor(math.log10(min(values)) + 1e-9)
        self._last = max(math.ceil(math.log10(max(values)) - 1e-9), self._first + 1)
        self._low, self._high = low, high

    def place(self, value: float) -> float:
        share = (math.log10(value) - self._first) / (self._last - self._first)
        return self._low + share * (self._high - self._low)

    def ticks(self) -> list[int]:
        stride = max(1, (self._last - self._first) // 6)
        return list(range(self._first, self._last + 1, stride))


def diagram(lines: Mapping[str, Points], colors: Mapping[str, int], across: str, along: str) -> Markup:
    """Return a diagram.

    Args:
        lines: Points of each line, positive numbers across and along.
        colors: Number of the colour of each line.
        across: Name and unit of the horizontal axis.
        along: Name and unit of the vertical axis.
    """
    points = [point for line in lines.values() for point in line]
    x = _LogAxis([point[0] for point in points], _LEFT, _WIDTH - _RIGHT)
    y = _LogAxis([point[1] for point in points], _HEIGHT - _BOTTOM, _TOP)
    return element(
        "svg",
        *_frame(x, y, across, along),
        *(part for name, line in lines.items() for part in _line(name, line, colors[name], x, y)),
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        role="img",
        aria_label=f"{along} against {across}",
        class_="diagram",
    )


def _frame(x: _LogAxis, y: _LogAxis, across: str, along: str) -> Iterator[Markup]:
    for power in x.ticks():
        place = f"{x.place(10.0**power):.1f}"
        yield element("line", x1=place, x2=place, y1=_TOP, y2=_HEIGHT - _BOTTOM, class_="grid")
        yield _text(_power(power), place, _HEIGHT - _BOTTOM + 14, "middle")
    for power in y.ticks():
        place = f"{y.place(10.0**power):.1f}"
        yield element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=place, y2=place, class_="grid")
        yield _text(_power(power), _LEFT - 6, float(place) + 4, "end")
    yield _text(across, 0.5 * (_LEFT + _WIDTH - _RIGHT), _HEIGHT - 4, "middle")
    middle = 0.5 * (_TOP + _HEIGHT - _BOTTOM)
    yield element("text", along, x=12, y=f"{middle:g}", text_anchor="middle", transform=f"rotate(-90 12 {middle:g})")


def _line(name: str, points: Points, color: int, x: _LogAxis, y: _LogAxis) -> Iterator[Markup]:
    places = [(x.place(own), y.place(other)) for own, other in points]
    stroke = f"var(--c{color % 10})"
    way = " ".join(f"{across:.1f},{along:.1f}" for across, along in places)
    dashes = ("", "5 3", "2 3")[color // 10 % 3] or None
    yield element("polyline", points=way, fill="none", stroke=stroke, stroke_width=1.6, stroke_dasharray=dashes)
    for (across, along), (own, other) in zip(places, points, strict=True):
        title = element("title", f"{name}: {other:.3g} at {own:.3g}")
        yield element("circle", title, cx=f"{across:.1f}", cy=f"{along:.1f}", r=3, fill=stroke)


def _text(text: str, x: object, y: object, anchor: str) -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor)


def _power(power: int) -> str:
    return f"{10.0**power:g}" if -3 <= power <= 3 else f"1e{power}"
