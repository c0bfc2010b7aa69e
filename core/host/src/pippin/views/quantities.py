"""Quantities of the views in one table, a TOML file: their meaning, their arrays, and the effects of setting them.

The methods of the views, the reference page and most tests use this table. No Python file of the views mentions a
quantity by its name, except in the methods that are named after it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from .rules import Valid

Element = Literal["dof", "coordinate", "root", "link", "body", "generalized", "particle", "object"]


@attrs.frozen(kw_only=True)
class ViewQuantity:
    """One quantity of all rows of a view."""

    name: str
    """Name after `get_` and `set_`."""

    meaning: str
    """One line for a table."""
    unit: str
    """Unit; `1` for a pure number."""
    source: Literal["state", "control", "model", "observable", "computed"]
    """Owner of the arrays that hold the quantity; "computed" is computed by each call."""

    arrays: tuple[str, ...] = ()
    """Names of Newton's arrays; the numbers of several arrays become components side by side."""

    element: Element
    """Elements of a row that have the quantity: its DOFs or links, or only its root or body."""

    components: int = 1
    """Numbers per element."""

    frame: str = ""
    """Frame and reference point, if the quantity has a frame."""

    is_settable: bool = False
    """Whether the view has a setter."""

    valid: Valid = "finite"
    """ValueRule of the values that can be set, a name in `rules.RULES`."""

    flags: tuple[str, ...] = ()
    """Names in `newton.ModelFlags` that the solver is notified of when the quantity is set."""

    feature: str = ""
    """Name in `pippin.solving.FEATURES` of the feature that a solver needs to honour the quantity."""

    invalidates: Literal["joints", "bodies", "particles"] | None = None
    """What of the state is written when the quantity is set: bodies follow joints, and joints bodies."""

    storage: Literal["number", "flag", "position"] = "number"
    """Newton's storage of an element: unchanged numbers; a flag as 0 or another number; the position of a pose."""

    inverse: str = ""
    """Name of the model's array of inverses, which are written with the quantity."""

    is_in_coordinates: bool = False
    """Whether Newton stores this quantity of DOFs in joint coordinates, with a quaternion for a ball joint."""

    placed: Literal["", "pose", "velocity"] = ""
    """ViewQuantity that is set through the joint that moves the body, instead of in the array."""

    moves_anchor: bool = False
    """Whether the quantity can be set if a joint holds the body: the joint's anchor in the world then moves too."""

    @property
    def dtype(self) -> Literal["float32", "uint8"]:
        """Type of the numbers."""
        return "uint8" if self.storage == "flag" else "float32"


_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _table(view: str) -> dict[str, ViewQuantity]:
    rows: dict[str, dict[str, Any]] = {name: dict(row) for name, row in _FILE[view].items()}
    for row in rows.values():
        row |= {key: tuple(row[key]) for key in ("arrays", "flags") if key in row}
    return {name: ViewQuantity(name=name, **row) for name, row in rows.items()}


ARTICULATION: Mapping[str, ViewQuantity] = _table("articulation")
"""The quantities of `ArticulationView`, by name."""

CABLE: Mapping[str, ViewQuantity] = _table("cable")
"""The quantities of `CableView`, by name."""

PARTICLES: Mapping[str, ViewQuantity] = _table("particles")
"""The quantities of `ParticleView`, by name."""

RIGID_BODY: Mapping[str, ViewQuantity] = _table("rigid_body")
"""The quantities of `RigidBodyView`, by name."""
