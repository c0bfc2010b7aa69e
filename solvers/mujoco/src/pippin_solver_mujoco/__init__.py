"""MuJoCo Warp: a solver for Pippin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import attrs
from attrs.validators import deep_iterable, ge
from pippin.solving import inherited
from pippin.validators import finite, non_negative

__all__ = ["MuJoCoConfig"]

Vector3 = tuple[float, float, float]


@attrs.frozen(kw_only=True)
class MuJoCoConfig:
    """MuJoCo's soft constraints in reduced coordinates, on Warp. The asset, or else MuJoCo, gives values left out."""

    implementation = ".solver:SolverMuJoCo"

    replaced_keys: ClassVar[Mapping[str, str]] = {
        "actuator_gears": "write the gear of each actuator into the asset",
        "default_actuator_gear": "write the gear of each actuator into the asset",
        "ls_parallel": "leave it out, there is one line search",
        "update_data_interval": "leave it out, MuJoCo gets the state in every substep",
        "use_mujoco_cpu": "use the solver mujoco-native",
    }

    separate_worlds: bool | None = None
    """Whether each world is a separate MuJoCo world (yes)."""

    njmax: int | None = inherited(ge(1))
    """Constraint rows per world; by default estimated."""

    njmax_nnz: int | None = inherited(ge(0))
    """Nonzeros of the sparse constraint Jacobian per world; by default derived from `njmax`."""

    nconmax: int | None = inherited(ge(1))
    """Contacts per world; by default estimated."""

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

    enable_sleeping: bool | None = None
    """Whether bodies at rest fall asleep, on CUDA (no)."""

    nvmax: int | None = inherited(ge(1))
    """Awake DOFs per world if sleeping is enabled; by default all."""

    sleep_tolerance: float | None = inherited(non_negative)
    """Velocity below which a body falls asleep [m/s, rad/s] (0.001)."""

    disable_contacts: bool | None = None
    """Whether contacts are left out (no)."""

    disable_sensors: bool | None = None
    """Whether MuJoCo's own sensors are left out (no)."""

    save_to_mjcf: str | None = None
    """File for the generated MJCF."""

    use_mujoco_contacts: bool = True
    """Whether MuJoCo detects contacts; otherwise Newton's pipeline does, configured by `[collision]`."""

    use_speculative_contacts: bool = False
    """Whether contacts are speculative; needs Newton's contacts, and Euler or implicitfast integration."""

    include_sites: bool = True
    """Whether sites are exported to MuJoCo."""

    skip_visual_only_geoms: bool = True
    """Whether shapes that never collide are left out of the MuJoCo model."""

    strict_capacity: bool = False
    """Whether a contact pipeline larger than `nconmax` is an error."""

    kinematic_switchable_roots: bool = True
    """Whether every moving root can be made kinematic at run time."""
