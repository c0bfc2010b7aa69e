"""MotrixSim, a physics engine in Rust for batches of robots, as a Pippin solver."""

from __future__ import annotations

import attrs
from pippin import FilePath
from pippin.validators import positive
from pippin_engines import EngineSource

__all__ = ["MotrixConfig"]


@attrs.frozen(kw_only=True)
class MotrixConfig:
    """MotrixSim's worlds, on all cores of the CPU, in single precision: robots of hinges, sliders and D6.

    Its Newton solver of constraints steps them, which carries nothing from step to step. A contact has the mean of the
    frictions of its shapes. Corners of meshes are moved by 1e-4 of their distance, as their contacts jump otherwise.
    """

    implementation = ".solver:SolverMotrix"
    extra = "engine"
    engine = EngineSource(file="engine.py", licence="Apache-2.0", megabytes=230)

    environment: FilePath | None = None
    """Folder of a Python environment that has MotrixSim; by default the environment of Pippin."""

    timeout: float = attrs.field(default=30.0, validator=positive)
    """Longest wait for an engine in another environment [s]."""
