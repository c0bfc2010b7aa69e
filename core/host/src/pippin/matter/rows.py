"""Objects of matter in a model, cloth, soft bodies, granular matter and cables: their labels, worlds and elements.

Newton knows surfaces, volumes and curves by their labels, but no blocks of loose particles. Those are rows of Pippin's
own, which Newton copies with the worlds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs
import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.attribute_rows import numbers, texts

MatterKind = Literal["surface", "volume", "grains", "curve"]
"""Kinds of objects: cloth, soft bodies, loose particles and cables."""

OF_PARTICLES: tuple[MatterKind, ...] = ("surface", "volume", "grains")
"""The kinds whose elements are particles."""

OF_BODIES: tuple[MatterKind, ...] = ("curve",)
"""The kinds whose elements are bodies."""

_NAMESPACE = "pippin"
_COLUMNS: dict[str, tuple[Any, str | None]] = {
    "label": (str, None),
    "world": (wp.int32, "world"),
    "start": (wp.int32, "particle"),
    "count": (wp.int32, None),
    "color": (wp.vec3, None),
}

SAND = (0.76, 0.66, 0.46)
"""Colour of particles that belong to no object."""

_PALETTE = ("#e6694d", "#4f8fd0", "#e0b04a", "#5aa469", "#9a6cc0", "#d06fa0", "#3fa7a0", "#a3794f")
"""Colours of objects without one of their own, in the order of the file."""


@attrs.frozen(kw_only=True, eq=False)
class Matter:
    """Some objects of matter, one row for each object of each world."""

    labels: tuple[str, ...]
    """Label of each object."""

    kinds: tuple[MatterKind, ...]
    """Kind of each object."""

    worlds: np.ndarray
    """World of each object, shape [objects]; -1 for none."""

    starts: np.ndarray
    """First particle, or body of a curve, of each object, shape [objects]."""

    counts: np.ndarray
    """Number of particles or bodies of each object, shape [objects]."""

    @classmethod
    def of(cls, model: newton.Model, *kinds: MatterKind) -> Matter:
        """Return the objects of some kinds, in the order of the kinds and of the model. Reads from the device."""
        parts = [_rows_of(model, kind) for kind in kinds]
        labels = tuple(label for part in parts for label in part[0])
        of_rows: tuple[MatterKind, ...] = tuple(kind for kind, part in zip(kinds, parts, strict=True) for _ in part[0])
        worlds, starts, counts = (np.concatenate([part[i] for part in parts]).astype(np.int32) for i in (1, 2, 3))
        return cls(labels=labels, kinds=of_rows, worlds=worlds, starts=starts, counts=counts)

    @property
    def row_of(self) -> dict[tuple[str, int], int]:
        """Row of each object by its label and its world."""
        return {key: row for row, key in enumerate(zip(self.labels, self.worlds.tolist(), strict=True))}

    def elements(self, rows: np.ndarray) -> np.ndarray:
        """Return the elements of some objects, shape [rows, largest count], int32, padded with -1."""
        counts = self.counts[rows]
        columns = np.arange(counts.max() if len(rows) else 0)
        inside = columns < counts[:, None]
        return np.where(inside, self.starts[rows][:, None] + columns, -1).astype(np.int32)


def color_of_next(builder: newton.ModelBuilder, stated: Sequence[float] | None) -> tuple[float, float, float]:
    """Return the colour of the next object of matter: red, green and blue from 0 to 1.

    It is `stated`, or else the next one of the palette.
    """
    if stated is not None:
        red, green, blue = stated
        return red, green, blue
    labels = [*builder.surface_label, *builder.volume_label, *builder.curve_label]
    count = len(labels) + len(texts(builder, f"{_NAMESPACE}:grains_label"))
    chosen = bytes.fromhex(_PALETTE[count % len(_PALETTE)][1:])
    return chosen[0] / 255.0, chosen[1] / 255.0, chosen[2] / 255.0


def particle_colors(model: newton.Model) -> np.ndarray:
    """Return the colour of each particle that is drawn as a grain, shape [particles, 3], from 0 to 1."""
    found = np.tile(np.array(SAND, dtype=np.float32), (model.particle_count, 1))
    grains = Matter.of(model, "grains")
    colors = numbers(model, f"{_NAMESPACE}:grains_color")
    for row, (start, count) in enumerate(zip(grains.starts, grains.counts, strict=True)):
        found[start : start + count] = colors[row]
    return found


def add_grains(builder: newton.ModelBuilder, label: str, first: int, color: Sequence[float]) -> None:
    """Note that the particles from `first` on are an object of granular matter.

    Args:
        builder: The builder that has them.
        label: The object's label.
        first: Index of the first particle in the builder.
        color: Red, green and blue, from 0 to 1.
    """
    kind = newton.ModelBuilder
    if not builder.has_custom_attribute(f"{_NAMESPACE}:grains_label"):
        builder.add_custom_frequency(kind.CustomFrequency(name="grains", namespace=_NAMESPACE))
        for name, (dtype, references) in _COLUMNS.items():
            attribute = kind.CustomAttribute(
                name=f"grains_{name}",
                namespace=_NAMESPACE,
                dtype=dtype,
                frequency=f"{_NAMESPACE}:grains",
                references=references,
            )
            builder.add_custom_attribute(attribute)
    values: dict[str, Any] = {
        "label": label,
        "world": builder.current_world,
        "start": first,
        "count": builder.particle_count - first,
        "color": wp.vec3(*color),
    }
    builder.add_custom_values(**{f"{_NAMESPACE}:grains_{name}": value for name, value in values.items()})


def _rows_of(model: newton.Model, kind: MatterKind) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    if kind == "grains":
        worlds, starts, counts = (numbers(model, f"{_NAMESPACE}:grains_{name}") for name in ("world", "start", "count"))
        return texts(model, f"{_NAMESPACE}:grains_label"), worlds, starts, counts
    labels = getattr(model, f"{kind}_label")
    if not labels:
        nothing = np.zeros(0, dtype=np.int32)
        return [], nothing, nothing, nothing
    element = "body" if kind == "curve" else "particle"
    starts, ends = (on_host(getattr(model, f"{kind}_{element}_{end}")) for end in ("start", "end"))
    return list(labels), on_host(getattr(model, f"{kind}_world")), starts, ends - starts
