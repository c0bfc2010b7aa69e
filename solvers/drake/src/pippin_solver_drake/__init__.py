"""Drake's multibody dynamics in double precision, as a Pippin solver."""

from __future__ import annotations

import attrs
from pippin import FilePath
from pippin.validators import positive
from pippin_engines import EngineSource

__all__ = ["DrakeConfig"]


@attrs.frozen(kw_only=True)
class DrakeConfig:
    """Trees of joints by Drake's equations of motion, in double precision, by semi-implicit Euler, on the CPU.

    Springs and dampers of joints are implicit. Nothing touches.
    """

    implementation = ".solver:SolverDrake"
    extra = "engine"
    engine = EngineSource(
        file="engine.py",
        licence="BSD-3-Clause, and others of its parts",
        megabytes=300,
        note="It brings Mosek, whose licence is asked for only where it is used; this solver does not use it.",
    )

    environment: FilePath | None = None
    """Folder of a Python environment that has Drake; by default the environment of Pippin."""

    timeout: float = attrs.field(default=30.0, validator=positive)
    """Longest wait for an engine in another environment [s]."""
