"""MuJoCo's own C engine on all cores of the CPU: a solver for Pippin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs
import pippin
from attrs.validators import deep_iterable, ge
from pippin.solving import RIGID_CHANGES, RIGID_TREES, ContactSource, inherited
from pippin.validators import finite, non_negative

if TYPE_CHECKING:
    import newton
    import warp as wp

    from .engine import MuJoCoBatch

__all__ = ["MuJoCoNativeConfig", "SolverMuJoCoNative"]

Vector3 = tuple[float, float, float]

_GROWS = "leave it out: MuJoCo in C has no such limit"
_OWN_CONTACTS = "leave it out: MuJoCo in C detects contacts itself"
_AWAKE = "leave it out: worlds do not sleep here"


@attrs.frozen(kw_only=True)
class MuJoCoNativeConfig:
    """MuJoCo's own C engine, on all cores of the CPU. The asset, or else MuJoCo, gives values left out."""

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
        "nconmax": _GROWS,
        "strict_capacity": _GROWS,
        "use_mujoco_contacts": _OWN_CONTACTS,
        "use_speculative_contacts": _OWN_CONTACTS,
        "enable_sleeping": _AWAKE,
        "nvmax": _AWAKE,
        "sleep_tolerance": _AWAKE,
    }


class SolverMuJoCoNative:
    """MuJoCo's worlds, stepped on threads outside Warp, from the same model that `mujoco` steps on Warp."""

    Config = MuJoCoNativeConfig
    coordinates = "joint"
    detects_contacts = True
    supported_features = RIGID_TREES | {
        "armature",
        "asset_actuators",
        "ball_limits",
        "contact_stiffness",
        "effort_limits",
        "equality_constraints",
        "gravity_compensation",
        "inactive_equalities",
        "joint_damping",
        "joint_friction",
        "joint_stiffness",
        "light_links",
        "limit_stiffness",
        "loop_joints",
        "massless_bodies",
        "mimic_constraints",
        "mimic_joints",
        "mujoco_tendons",
        "rolling_friction",
        "torsional_friction",
    }
    is_capturable = False
    features_fixed_at_build = frozenset({"joint_drives", "joint_limits"})
    supported_model_changes = RIGID_CHANGES | {
        "ACTUATOR_PROPERTIES",
        "CONSTRAINT_PROPERTIES",
        "JOINT_DOF_INERTIAL_PROPERTIES",
        "JOINT_REFERENCE_POSE_PROPERTIES",
        "TENDON_PROPERTIES",
    }
    # No contact_f: a thread keeps contacts only until it steps its next world.
    supported_observables: frozenset[str] = frozenset()

    def __init__(self, config: MuJoCoNativeConfig) -> None:
        self.config = config

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register MuJoCo's attributes, which importers fill from the assets."""
        import newton

        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        builder.add_custom_attribute(
            newton.ModelBuilder.CustomAttribute(
                name="noslip_iterations",
                namespace="pippin",
                frequency=newton.Model.AttributeFrequency.ONCE,
                dtype=int,
                default=0,
                mjcf_attribute_name="noslip_iterations",
            )
        )

    @pippin.hookimpl
    def check_model(self, model: newton.Model) -> Iterator[str]:
        """Yield the faults of a model that is not on the CPU, or has kinematic bodies."""
        import newton

        if not model.device.is_cpu:
            yield (
                f"type: 'mujoco-native' runs on the CPU, the model is on {model.device.alias};"
                " set simulation.device = \"cpu\", or use 'mujoco'"
            )
        flags = [] if model.body_flags is None else model.body_flags.numpy()
        for label, flag in zip(model.body_label, flags, strict=False):
            if flag & newton.BodyFlags.KINEMATIC:
                yield f"type: 'mujoco-native' has no kinematic bodies such as {label!r}; use 'mujoco'"
                return

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> MuJoCoBatch:
        """Return MuJoCo's worlds."""
        from .engine import MuJoCoBatch

        options = attrs.asdict(self.config)
        threads = options.pop("threads")
        options |= {"disable_sensors": True, "kinematic_switchable_roots": False}
        return MuJoCoBatch(model, options, threads or 0)

    @pippin.hookimpl
    def initialize_contacts(self) -> ContactSource:
        """Return a source without a buffer: MuJoCo does not export its contacts."""
        return ContactSource()

    @pippin.hookimpl
    def notify_model_changed(self, solver: MuJoCoBatch, flags: int, changed_worlds: wp.array[wp.bool]) -> None:
        """Take over changes of the model in the changed worlds; the others go on bit for bit."""
        solver.notify_model_changed(flags, changed_worlds)

    @pippin.hookimpl
    def step_solver(
        self,
        solver: MuJoCoBatch,
        state_in: newton.State,
        state_out: newton.State,
        control: newton.Control,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
        substep_count: int,
        written_worlds: wp.array[wp.bool],
    ) -> None:
        """Take all substeps in one call, and write only the last state."""
        solver.step(
            state_in,
            state_out,
            control,
            None,
            dt,
            observables=observables,
            substep_count=substep_count,
            written_worlds=written_worlds,
        )

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        """Declare MuJoCo's state of every world, with the warm start, as the state that steps carry on."""
        solver: Any = simulation.solver
        self.state_arrays = solver.state_arrays
