"""PhysX on the CPU, in a Python environment of its own, as a Pippin solver."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs.validators import ge
from pippin import FilePath
from pippin.validators import positive
from pippin_engines import EngineSource

__all__ = ["PhysXConfig"]


@attrs.frozen(kw_only=True)
class PhysXConfig:
    """PhysX's articulations on the CPU, in single precision: robots of hinges and sliders, with contacts.

    Each world is a scene of PhysX. `pippin env add physx` makes the environment that has PhysX.
    """

    implementation = ".solver:SolverPhysX"
    extra = "engine"
    engine = EngineSource(
        file="engine.py",
        licence="NVIDIA's terms for Omniverse (ovphysx) and NVIDIA's own (ovstage): proprietary",
        megabytes=1100,
        note="by downloading or using it you accept NVIDIA's terms; x86-64 with AVX, glibc 2.35 or Windows",
        leftovers=("/dev/shm/carb-RStringInternals-{pid}", "/dev/shm/sem.carb-RStringInternals-{pid}"),
        is_apart=True,  # it wants packaging<24
    )

    environment: FilePath | None = None
    """A Python environment that has PhysX, as `pippin env add physx` makes; it is required."""

    timeout: float = attrs.field(default=30.0, validator=positive)
    """Longest time for an answer from that environment [s]."""

    threads: int = attrs.field(default=0, validator=ge(0))
    """Threads beside the one that steps; 0 is the fastest on few cores."""

    method: Literal["pgs", "tgs"] = "pgs"
    """PhysX's solver of constraints. With `"tgs"`, its own default, forces act in every iteration: mechanisms without
    friction gain energy, and a body that falls is nearer to its formula."""

    position_iterations: int = attrs.field(default=32, validator=ge(1))
    """Iterations of the solver in each substep."""

    velocity_iterations: int = attrs.field(default=1, validator=ge(0))
    """Iterations without the correction of positions."""
