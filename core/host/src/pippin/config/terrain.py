"""The `[scene.terrain]` table: ground of patches in rows and columns, which all worlds share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import attrs
from attrs.validators import deep_iterable, ge, min_len, optional
from pippin.labels import label_fault
from pippin.validators import fraction, non_negative, positive

from .component import ComponentConfig


def _are_labels(instance: Any, attribute: Any, value: Mapping[str, ComponentConfig]) -> None:
    for label in value:
        if fault := label_fault(label):
            raise ValueError(f"'{attribute.name}': {fault}: {label!r}")


@attrs.frozen(kw_only=True)
class TerrainConfig:
    """The `[scene.terrain]` table: ground of patches, which all worlds share.

    Each patch of the table is a column along y, in the order of the file. The rows along x are levels: the first has
    the easiest patches. The middle of the ground is the origin of the world.
    """

    patches: Mapping[str, Annotated[ComponentConfig, "terrain"]] = attrs.field(validator=[min_len(1), _are_labels])
    """Kinds of ground by label; each is a column of patches."""

    size: tuple[float, float] = attrs.field(default=(8.0, 8.0), validator=deep_iterable(positive))
    """Lengths of a patch along x and y [m]."""

    levels: int = attrs.field(default=10, validator=ge(1))
    """Number of rows of patches."""

    difficulty: tuple[float, float] = attrs.field(default=(0.0, 1.0), validator=deep_iterable(fraction))
    """Difficulty of the first row and of the last one, from 0 to 1; a single row has the last one."""

    border: float = attrs.field(default=20.0, validator=non_negative)
    """Width of the flat ground around all patches [m]."""

    seed: int | None = attrs.field(default=None, validator=optional(ge(0)))
    """Seed of what is random about the ground; by default that of `[simulation]`."""

    material: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Name of a material of `[scene.materials]` for the whole ground; by default it has the properties of
    `[scene.shapes]`."""
