"""MuJoCo's own C engine on all cores of the CPU: a solver for Pippin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import attrs
from attrs.validators import deep_iterable, ge
from pippin import FilePath
from pippin.solving import inherited, number
from pippin.validators import finite, non_negative, positive
from pippin_engines import EngineSource

__all__ = ["MuJoCoNativeConfig"]

Vector3 = tuple[float, float, float]

_GROWS = "leave it out: MuJoCo in C has no such limit"

_OWN_CONTACTS = "leave it out: MuJoCo in C detects contacts itself"

_AWAKE = "leave it out: worlds do not sleep here"


@attrs.frozen(kw_only=True)
class MuJoCoNativeConfig:
    """MuJoCo's own C engine, on all cores of the CPU. The asset, or else MuJoCo, gives values left out."""

    implementation = ".solver:SolverMuJoCoNative"
    engine = EngineSource(file="batch_engine.py", licence="Apache-2.0", megabytes=110)
    benchmark_variants = ("integrator=rk4",)

    environment: FilePath | None = None
    """A Python environment that has MuJoCo, perhaps another version; `pippin env add` makes one. By default that of
    Pippin. The file is converted by Pippin's version."""

    timeout: float = number(30.0, positive)
    """Longest time for an answer from that environment [s]."""

    threads: int | None = inherited(ge(1))
    """Threads that step the worlds; by default one per core."""

    iterations: int | None = inherited(ge(1))
    """Iterations of the constraint solver (100)."""

    ls_iterations: int | None = inherited(ge(1))
    """Iterations of the constraint solver's line search (50)."""

    ccd_iterations: int | None = inherited(ge(1))
    """Iterations of convex collision detection (35)."""

    sdf_iterations: int | None = inherited(ge(1))
    """Iterations of signed-distance collision detection (10)."""

    sdf_initpoints: int | None = inherited(ge(1))
    """Starting points of signed-distance collision detection (40)."""

    solver: Literal["cg", "newton"] | None = None
    """Constraint solver (newton)."""

    integrator: Literal["euler", "rk4", "implicit", "implicitfast", "discrete"] | None = None
    """Integrator (implicitfast)."""

    cone: Literal["pyramidal", "elliptic"] | None = None
    """Friction cone (pyramidal)."""

    jacobian: Literal["dense", "sparse", "auto"] | None = None
    """Storage of the constraint Jacobian (auto)."""

    impratio: float | None = inherited(non_negative)
    """Ratio of frictional to normal impedance (1)."""

    tolerance: float | None = inherited(non_negative)
    """Improvement at which the constraint solver stops (1e-8)."""

    ls_tolerance: float | None = inherited(non_negative)
    """Tolerance of the line search (0.01)."""

    ccd_tolerance: float | None = inherited(non_negative)
    """Tolerance of convex collision detection (1e-6)."""

    density: float | None = inherited(non_negative)
    """Density of the medium [kg/m³] (0)."""

    viscosity: float | None = inherited(non_negative)
    """Viscosity of the medium [Pa·s] (0)."""

    wind: Vector3 | None = inherited(deep_iterable(finite))
    """Velocity of the medium [m/s] (0, 0, 0)."""

    magnetic: Vector3 | None = inherited(deep_iterable(finite))
    """Magnetic flux [T] (0, -0.5, 0)."""

    enable_multiccd: bool | None = None
    """Whether a pair of convex shapes may have up to four contacts (no)."""

    nconmax: int | None = inherited(ge(1))
    """Contacts per world; by default estimated."""

    disable_contacts: bool | None = None
    """Whether contacts are left out (no)."""

    save_to_mjcf: str | None = None
    """File for the generated MJCF."""

    include_sites: bool = True
    """Whether sites are exported to MuJoCo."""

    skip_visual_only_geoms: bool = True
    """Whether shapes that never collide are left out of the MuJoCo model."""

    replaced_keys: ClassVar[Mapping[str, str]] = {
        "njmax": _GROWS,
        "njmax_nnz": _GROWS,
        "strict_capacity": _GROWS,
        "use_mujoco_contacts": _OWN_CONTACTS,
        "use_speculative_contacts": _OWN_CONTACTS,
        "enable_sleeping": _AWAKE,
        "nvmax": _AWAKE,
        "sleep_tolerance": _AWAKE,
    }
