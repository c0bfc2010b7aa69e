"""Solvers whose settings break a promise."""

from collections.abc import Mapping
from typing import Any

import attrs
from pippin_solver_xpbd import XPBDConfig
from pippin_solver_xpbd.solver import SolverXPBD

__all__ = ["AnyKey", "AnyValue", "Undocumented", "WrittenTwice"]


@attrs.frozen(kw_only=True)
class UndocumentedConfig(XPBDConfig):
    """One key too many."""

    implementation = "Undocumented"

    stiffness: float = 1.0


class Undocumented(SolverXPBD):
    """Has a key that nobody explains."""


@attrs.frozen(kw_only=True)
class WrittenTwiceConfig(XPBDConfig):
    """A key that changes whenever it is read."""

    implementation = "WrittenTwice"

    scale: float = attrs.field(default=1.0, converter=lambda value: 2.0 * value)
    """Doubled."""


class WrittenTwice(SolverXPBD):
    """Is another one after its configuration was written and read."""


@attrs.frozen(kw_only=True)
class AnyKeyConfig(XPBDConfig):
    """A table that takes every key."""

    implementation = "AnyKey"

    options: Mapping[str, Any] = attrs.field(factory=dict)
    """Whatever."""


class AnyKey(SolverXPBD):
    """Does not notice a misspelt key."""


@attrs.frozen(kw_only=True)
class AnyValueConfig(XPBDConfig):
    """A key without a type that an editor could check."""

    implementation = "AnyValue"

    gain: object = 1.0
    """Whatever."""


class AnyValue(SolverXPBD):
    """Leaves an editor without help."""
