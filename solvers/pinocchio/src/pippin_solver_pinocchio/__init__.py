"""Pinocchio as a solver: free motion of robots of hinges, sliders and free bodies, in double precision."""

from __future__ import annotations

import attrs
from pippin import FilePath
from pippin.validators import positive
from pippin_engines import EngineSource

__all__ = ["PinocchioConfig"]


@attrs.frozen(kw_only=True)
class PinocchioConfig:
    """The articulated-body algorithm and a semi-implicit Euler step, on the CPU; nothing collides."""

    implementation = ".solver:SolverPinocchio"
    extra = "engine"
    engine = EngineSource(file="engine.py", licence="BSD-2-Clause", megabytes=440)

    environment: FilePath | None = None
    """Folder of a Python environment that has Pinocchio; by default the environment of Pippin."""

    timeout: float = attrs.field(default=30.0, validator=positive)
    """Longest wait for an engine in another environment [s]."""
