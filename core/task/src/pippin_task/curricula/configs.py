"""Configurations of curricula."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import attrs
from attrs.validators import deep_iterable, deep_mapping, ge, instance_of, min_len, optional
from pippin.validators import finite, ordered, positive


@attrs.frozen(kw_only=True)
class CurriculumStageConfig:
    """One stage: numbers from a control step on."""

    step: int = attrs.field(validator=ge(0))
    """Control steps since the start of the simulation, after which the numbers hold."""

    numbers: Mapping[str, float | tuple[float, ...]] = attrs.field(
        validator=[min_len(1), deep_mapping(instance_of(str), finite)]
    )
    """Numbers of the term by key: `{ x = [-1.0, 2.0] }` of a velocity, `{ weight = -0.1 }` of a reward."""


def _are_in_order(instance: Any, attribute: Any, value: tuple[CurriculumStageConfig, ...]) -> None:
    for one, other in pairwise(value):
        if not one.step < other.step:
            raise ValueError(f"'{attribute.name}' must have rising steps, got {one.step} before {other.step}")


@attrs.frozen(kw_only=True)
class StagesConfig:
    """Numbers of a term that change with the control steps since the start."""

    implementation = ".terms:Stages"

    of: str
    """The term by table and label: `commands.velocity`, `rewards.effort`."""

    stages: tuple[CurriculumStageConfig, ...] = attrs.field(validator=[min_len(1), _are_in_order])
    """The stages by rising steps. What a stage does not state stays as it is in the stage before."""

    interpolate: bool = False
    """Whether numbers change evenly from one stage to the next, and from those of the file to the first one; by default
    they jump."""


@attrs.frozen(kw_only=True)
class TerrainLevelsConfig:
    """Levels of the terrain by the distance walked: one up after a long way, one down after a short one.

    The distance is that from the start of the patch, seen from above, when an episode ends. Above the last level, a
    random one follows.
    """

    implementation = ".terms:TerrainLevels"

    command: str | None = None
    """Label of a velocity command; by default the distance to walk does not depend on one."""

    body: str | None = None
    """Pattern of the body's name; by default the first body of a world."""

    first: tuple[int, int] | None = attrs.field(default=None, validator=optional([ordered, deep_iterable(ge(0))]))
    """Lowest and highest level on which worlds start at first, at random; by default the easier half."""

    up: float = attrs.field(default=0.5, validator=positive)
    """Share of the shorter side of a patch above which a world goes one level up."""

    down: float = attrs.field(default=0.5, validator=positive)
    """Share of the commanded way below which a world goes one level down: of the commanded speed times the length of an
    episode; without a command, of the way that leads up."""
