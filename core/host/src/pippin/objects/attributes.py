"""Custom attributes of solvers, such as `mujoco:condim`, for the elements that an object, a shape or a joint adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
from pippin.attribute_rows import typed
from pippin.errors import ConfigError
from pippin.spelling import did_you_mean

_Frequency = newton.Model.AttributeFrequency
_COUNTS = {
    _Frequency.BODY: "body_count",
    _Frequency.SHAPE: "shape_count",
    _Frequency.JOINT: "joint_count",
    _Frequency.JOINT_DOF: "joint_dof_count",
    _Frequency.PARTICLE: "particle_count",
    _Frequency.EDGE: "edge_count",
    _Frequency.TRIANGLE: "tri_count",
    _Frequency.TETRAHEDRON: "tet_count",
    _Frequency.SPRING: "spring_count",
}
"""Counts of the elements that may have attributes."""

Counts = Mapping[_Frequency, int]


def counts_of(builder: newton.ModelBuilder) -> Counts:
    """Return the number of elements of each kind so far."""
    return {frequency: getattr(builder, name) for frequency, name in _COUNTS.items()}


def set_attributes(builder: newton.ModelBuilder, stated: Mapping[str, Any], before: Counts, where: str) -> None:
    """Give all elements that were added since `before` the attributes of a table.

    `stated` has a number, or one for each component, by `SOLVER:NAME`.

    Raises:
        ConfigError: The solver has no such attribute, or nothing that was added has it, or a value does not fit.
    """
    for key, value in stated.items():
        place = f"{where}.attributes.{key}"
        attribute = builder.custom_attributes.get(key)
        if attribute is None:
            known = [each for each, found in builder.custom_attributes.items() if _is_settable(found)]
            near = did_you_mean(key, known) or f"; it has {', '.join(sorted(known)) or 'none'}"
            raise ConfigError(f"{place}: the solver has no such attribute{near}")
        if not _is_settable(attribute):
            raise ConfigError(f"{place}: is no number of a body, shape, joint or particle; leave it out")
        frequency: Any = attribute.frequency
        added = range(before[frequency], getattr(builder, _COUNTS[frequency]))
        if not added:
            what = frequency.name.lower().replace("_", " ")
            raise ConfigError(f"{place}: belongs to each {what}, and there is none here; state it where there is one")
        values: Any = attribute.values or {}
        attribute.values = {**values, **dict.fromkeys(added, typed(attribute.dtype, value, place))}


def _is_settable(attribute: newton.ModelBuilder.CustomAttribute) -> bool:
    return attribute.frequency in _COUNTS and attribute.references is None and attribute.dtype is not str
