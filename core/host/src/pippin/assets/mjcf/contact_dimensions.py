"""Dimensions of contacts, MuJoCo's `condim`: 3 for sliding friction alone, 4 with torsional, 6 with rolling friction.

MJCF states them for each geom. MuJoCo ignores the coefficients that the dimension leaves out. A solver that reads
coefficients alone gets zeros for these.
"""

from __future__ import annotations

from typing import Any

import newton
import numpy as np

_KEY = "mujoco:condim"

DIMENSIONS = {"mu_torsional": 4, "mu_rolling": 6}
"""The smallest dimension with a friction, by the name of its coefficient."""


def has_dimensions(builder: newton.ModelBuilder) -> bool:
    """Tell whether a builder has the attribute of dimensions: the importer or the solver has registered it."""
    return _KEY in builder.custom_attributes


def drop_frictions(builder: newton.ModelBuilder) -> None:
    """Set the coefficients to zero that the dimensions of their shapes leave out; shapes without one keep theirs."""
    attribute: Any = builder.custom_attributes.get(_KEY)
    for index, stated in ((attribute and attribute.values) or {}).items():
        for name, dimension in DIMENSIONS.items():
            if stated < dimension:
                getattr(builder, f"shape_material_{name}")[index] = 0.0


def keep_dimensions(builder: newton.ModelBuilder) -> None:
    """Keep the dimension 3 of the shapes of an MJCF file that state no other one, since MuJoCo reads the file so.

    A shape that got a coefficient from `[scene.shapes]` is left open.
    """
    attribute: Any = builder.custom_attributes[_KEY]
    opened = _indices(builder, vars(builder.default_shape_cfg))
    kept = {index: 3 for index in range(builder.shape_count) if index not in opened}
    attribute.values = {**kept, **(attribute.values or {})}


def raise_dimensions(builder: newton.ModelBuilder) -> None:
    """Give shapes with torsional or rolling friction, and without a dimension of their own, one that has the friction.

    Does nothing if the builder does not have MuJoCo's attributes.
    """
    attribute: Any = builder.custom_attributes.get(_KEY)
    if attribute is not None:
        attribute.values = {**_indices(builder), **(attribute.values or {})}


def _indices(builder: newton.ModelBuilder, equal_to: dict[str, float] | None = None) -> dict[int, int]:
    """Return the dimension of each shape with a positive coefficient that is not Newton's own.

    With `equal_to`, other values of its coefficients do not count.
    """
    found = {}
    for name, dimension in DIMENSIONS.items():
        values = np.array(getattr(builder, f"shape_material_{name}"))
        chosen = (values > 0.0) & (values != getattr(newton.ModelBuilder.ShapeConfig(), name))
        if equal_to is not None:
            chosen &= values == equal_to[name]
        found |= dict.fromkeys(np.flatnonzero(chosen).tolist(), dimension)
    return found
