"""Contents of the charts of a recording: quantities by component and unit, in as many columns as a chart has pixels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import attrs
import numpy as np
from pippin.recording.series import Series
from pippin.report.chart import Chart, Line

COLUMNS = 640
"""Columns of a chart. A series with at most two rows for each is kept as it is."""

_BLOCK = 1 << 20
"""Largest number of values that are read at once."""


_COMPONENTS = {3: ("x", "y", "z"), 4: ("x", "y", "z", "w"), 7: ("px", "py", "pz", "qx", "qy", "qz", "qw")}
"""Names of the components of vectors, quaternions and poses, by their number."""

Pick: TypeAlias = Callable[[np.ndarray], np.ndarray]
"""Returns the lines of a block, shape [rows, worlds, lines], given the values of all entries."""

_LINES_MAX = 48
"""Largest number of lines of a chart; of more entries, it shows the smallest, the mean and the largest value."""

_TITLES = {
    "joint_q": "joint positions",
    "joint_qd": "joint velocities",
    "body_q": "body poses",
    "particle_q": "particle positions",
    "particle_qd": "particle velocities",
    "episode": "resets since the start",
}

_LEAST = {"m": 1e-4, "rad": 1e-4, "m/s": 1e-3, "rad/s": 1e-3, "m/s²": 1e-2, "N": 1e-3, "N·m": 1e-3}
"""Shortest range of an axis by unit: what is smaller is noise."""

_TARGETS = {"position_targets": "joint_q", "velocity_targets": "joint_qd"}
"""Series of an actuator that is drawn into the chart of another series."""


@attrs.frozen(kw_only=True, eq=False)
class Extremes:
    """The rows of some lines, or the smallest and the largest value in each column."""

    values: np.ndarray
    """Shape [worlds, lines, columns, 1 or 2]; NaN where no value is finite."""

    gaps: np.ndarray
    """Number of values that are not finite, shape [worlds, lines]."""


def column_times(time: np.ndarray) -> np.ndarray:
    """Return the time in the middle of each column, shape [columns]; of each row, if the rows are kept."""
    if len(time) <= 2 * COLUMNS:
        return time.astype(np.float64)
    bounds = _bounds(len(time))
    return (time[bounds[:-1]] + time[bounds[1:] - 1]) / 2.0


def extremes(read: Callable[[slice], np.ndarray], row_count: int, width: int) -> Extremes:
    """Return the extremes of rows that are read in blocks of shape [rows, worlds, lines].

    There is at least one row; it takes `width` values to make one.
    """
    is_kept = row_count <= 2 * COLUMNS
    bounds = np.arange(row_count + 1) if is_kept else _bounds(row_count)
    shape = read(slice(0, 1)).shape[1:]
    stride = max(1, int(_BLOCK / max(1, width) * (len(bounds) - 1) / row_count))
    parts, gaps = [], np.zeros(math.prod(shape), int)
    for first in range(0, len(bounds) - 1, stride):
        chosen = bounds[first : first + stride + 1]
        block = read(slice(int(chosen[0]), int(chosen[-1])))
        lines = np.ascontiguousarray(block.reshape(len(block), -1).T)  # each line in one piece: five times as fast
        finite = np.isfinite(lines)
        if not finite.all():
            gaps += (~finite).sum(axis=1)
            lines = np.where(finite, lines, np.nan)
        starts = chosen[:-1] - chosen[0]
        kept = (
            (lines,) if is_kept else (np.fmin.reduceat(lines, starts, axis=1), np.fmax.reduceat(lines, starts, axis=1))
        )
        parts.append(np.stack(kept, axis=-1))
    values = np.concatenate(parts, axis=1)
    return Extremes(values=values.reshape(*shape, *values.shape[1:]), gaps=gaps.reshape(shape))


def _bounds(row_count: int) -> np.ndarray:
    return np.linspace(0, row_count, COLUMNS + 1).astype(int)


def entries(title: str, series: Series) -> Iterator[tuple[str, Sequence[str], Pick]]:
    """Yield a note, the names of the lines, and a function that picks them, for each chart of a series.

    Several vectors give their lengths; several places [m], quaternions or poses give a chart for each component.
    """
    shape = series.shape[2:]
    components = _components(series, shape)
    owners = _names(series.labels, shape[: len(shape) - bool(components)])
    if not components:
        yield "", owners if len(owners) > 1 or series.labels else (title,), _flat
    elif len(owners) == 1:
        yield "", components, _flat
    elif len(components) == 3 and "m" not in series.units:
        yield "length", owners, _lengths
    else:
        for index, component in enumerate(components):
            yield component, owners, partial(_component, index)


def _components(series: Series, shape: Sequence[int]) -> tuple[str, ...]:
    """Return the names of the components of vectors, quaternions or poses; none for plain numbers."""
    if series.components or len(shape) < 2 or series.frame == "none":
        return series.components
    return _COMPONENTS.get(shape[-1], ())


def _names(labels: Sequence[str], shape: Sequence[int]) -> Sequence[str]:
    """Return a name for each entry: a label if all entries or those of the first axis have labels, else an index."""
    if len(labels) == math.prod(shape):
        return labels
    if labels and len(labels) == shape[0]:
        return [f"{label} {index}" for label in labels for index in _names((), shape[1:])]
    sizes = [size for size in shape if size > 1] or [1]  # an axis of length 1 needs no index
    return [", ".join(map(str, index)) for index in np.ndindex(*sizes)]


def _component(index: int, block: np.ndarray) -> np.ndarray:
    return _flat(block[..., index])


def _flat(block: np.ndarray) -> np.ndarray:
    return block.reshape(*block.shape[:2], -1)


def _lengths(block: np.ndarray) -> np.ndarray:
    return _flat(np.linalg.norm(block, axis=-1))


@attrs.frozen(kw_only=True, eq=False)
class _SeriesLines:
    source: Series
    pick: Pick

    labels: tuple[str, ...]
    lines: tuple[Line, ...]

    def extremes(self, worlds: int) -> Extremes:
        present = min(worlds, self.source.shape[1])

        def read(rows: slice) -> np.ndarray:
            with np.errstate(all="ignore"):  # a result that is not finite becomes a gap
                return self.pick(np.asarray(self.source[rows, :present]))

        found = extremes(read, len(self.source), present * math.prod(self.source.shape[2:]))
        missing = [(0, worlds - present), (0, 0)]
        return Extremes(
            values=np.pad(found.values.astype(np.float64), [*missing, (0, 0), (0, 0)], constant_values=np.nan),
            gaps=np.pad(found.gaps, missing),
        )


@attrs.frozen(kw_only=True, eq=False)
class ChartContent:
    """Content of one chart: lines of one unit from one component."""

    component: str
    """`actuators:legs` and the like; empty for the state of the scene."""

    title: str
    unit: str
    parts: tuple[_SeriesLines, ...]

    @property
    def line_count(self) -> int:
        """Number of lines."""
        return sum(len(part.lines) for part in self.parts)

    @property
    def world_count(self) -> int:
        """Number of recorded worlds."""
        return max(part.source.shape[1] for part in self.parts)

    def chart(self, time: np.ndarray, worlds: int) -> Chart:
        """Return the chart of the first worlds, given the time of each row [s]."""
        found = [part.extremes(worlds) for part in self.parts]
        lines = [line for part in self.parts for line in part.lines]
        values, gaps = (np.concatenate([getattr(one, name) for one in found], axis=1) for name in ("values", "gaps"))
        return Chart(
            title=self.title,
            unit=self.unit,
            lines=lines,
            times=column_times(time),
            values=values,
            gaps=gaps,
            note="dashed: target" if len(self.parts) > 1 else "",
            least=_LEAST.get(self.unit, 0.0),
        )


def chart_contents(series: Mapping[str, Series]) -> list[ChartContent]:
    """Return the quantities of all series but `time`, in order; targets are beside the positions that follow them."""
    found: dict[str, list[ChartContent]] = {}
    for name, one in series.items():
        if name != "time" and len(one.shape) > 1 and math.prod(one.shape):
            found[name] = list(_by_unit(name, one))
    for name in [name for name in found if name.rpartition("/")[2] in _TARGETS]:
        measured = found.get(_TARGETS[name.rpartition("/")[2]], [])
        found[name] = [target for target in found[name] if not _drawn_into(measured, target)]
    return [quantity for each in found.values() for quantity in each]


def _drawn_into(measured: list[ChartContent], target: ChartContent) -> bool:
    """Add a target, dashed, to the one quantity that has all its labels; return whether there is one."""
    (part,) = target.parts
    for index, quantity in enumerate(measured):
        own = quantity.parts[0]
        if quantity.unit == target.unit and part.labels and set(part.labels) <= set(own.labels):
            lines = tuple(attrs.evolve(own.lines[own.labels.index(label)], style="dashed") for label in part.labels)
            measured[index] = attrs.evolve(quantity, parts=(*quantity.parts, attrs.evolve(part, lines=lines)))
            return True
    return False


def _by_unit(name: str, series: Series) -> Iterator[ChartContent]:
    *place, last = name.split("/")
    if place[:1] == ["task"]:
        place, last = place[:1], " ".join([*place[1:], last])
    title = " ".join([*place[2:], _TITLES.get(name, last.replace("_", " "))])
    for note, names, pick in entries(title, series):
        units = series.units if len(series.units) == len(names) else (series.units or ("",))[:1] * len(names)
        for unit in dict.fromkeys(units):
            chosen = [index for index, own in enumerate(units) if own == unit]
            labels = [names[index] for index in chosen]
            part = _part(series, pick, labels, chosen if len(chosen) < len(names) else None)
            summary = f"finite values of {len(chosen):,} entries" if len(chosen) > _LINES_MAX else ""
            yield ChartContent(
                component=":".join(place[:2]),
                title=", ".join(text for text in (title, note, summary) if text),
                unit=unit,
                parts=(part,),
            )


def _part(series: Series, pick: Pick, labels: Sequence[str], chosen: Sequence[int] | None) -> _SeriesLines:
    """Return a line for each label, or three lines about all of them; `chosen` are their places if there are others."""

    def lines(block: np.ndarray) -> np.ndarray:
        picked = pick(block)
        return picked if chosen is None else picked[..., chosen]

    def summary(block: np.ndarray) -> np.ndarray:
        return _summary(lines(block))

    if len(labels) <= _LINES_MAX:
        looks = tuple(Line(name=name, color=index) for index, name in enumerate(_short(labels)))
        return _SeriesLines(source=series, pick=lines, labels=tuple(labels), lines=looks)
    names = ("smallest", "mean", "largest")
    looks = tuple(Line(name=name, color=index) for index, name in enumerate(names))
    return _SeriesLines(source=series, pick=summary, labels=(), lines=looks)


def _summary(values: np.ndarray) -> np.ndarray:
    is_finite = np.isfinite(values)
    known = np.where(is_finite, values, np.nan)
    mean = np.where(is_finite, values, 0.0).sum(axis=-1) / is_finite.sum(axis=-1)
    return np.stack([np.fmin.reduce(known, axis=-1), mean, np.fmax.reduce(known, axis=-1)], axis=-1)


def _short(labels: Sequence[str]) -> list[str]:
    last = [label.rsplit("/", 1)[-1] for label in labels]
    counts = Counter(last)
    return [short if counts[short] == 1 else label for short, label in zip(last, labels, strict=True)]
