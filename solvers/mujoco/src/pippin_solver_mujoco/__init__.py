"""MuJoCo Warp: a solver for Pippin."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs
import pippin
from attrs.validators import deep_iterable, ge
from pippin.solving import RIGID_CHANGES, RIGID_TREES, Capacity, ContactSource, inherited
from pippin.validators import finite, non_negative

if TYPE_CHECKING:
    import newton

__all__ = ["MuJoCoConfig", "SolverMuJoCo"]

Vector3 = tuple[float, float, float]


@attrs.frozen(kw_only=True)
class MuJoCoConfig:
    """MuJoCo's soft constraints in reduced coordinates, on Warp. The asset, or else MuJoCo, gives values left out."""

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


class SolverMuJoCo:
    """Newton's `SolverMuJoCo`, with MuJoCo's own contacts unless the configuration asks for Newton's."""

    Config = MuJoCoConfig
    coordinates = "reduced"
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
    features_fixed_at_build = frozenset({"joint_drives", "joint_limits"})
    supported_model_changes = RIGID_CHANGES | {
        "ACTUATOR_PROPERTIES",
        "BODY_PROPERTIES",
        "CONSTRAINT_PROPERTIES",
        "JOINT_DOF_INERTIAL_PROPERTIES",
        "JOINT_REFERENCE_POSE_PROPERTIES",
        "TENDON_PROPERTIES",
    }
    supported_observables = frozenset(
        {
            "body_parent_f",
            "contact_f",
            "overflow",
            "qfrc_actuator",
            "qfrc_bias",
            "qfrc_constraint",
            "qfrc_frictionloss",
        }
    )

    def __init__(self, config: MuJoCoConfig) -> None:
        if config.use_speculative_contacts and config.use_mujoco_contacts:
            raise pippin.ConfigError(
                "use_speculative_contacts: True, but 'use_mujoco_contacts' is too; set use_mujoco_contacts = false"
            )
        self.config = config
        if not config.use_mujoco_contacts and config.cone == "elliptic":
            self.supported_features = type(self).supported_features | {"friction_damping"}

    @property
    def detects_contacts(self) -> bool:
        """Whether MuJoCo detects contacts itself."""
        return self.config.use_mujoco_contacts

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register MuJoCo's attributes, which importers fill from the assets."""
        import newton

        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverMuJoCo:
        """Return the solver with all options of the configuration, and buffers with room for a fall."""
        import newton

        from .balls import limit_balls
        from .margins import one_warning
        from .sizing import enlarged

        with one_warning():
            solver = newton.solvers.SolverMuJoCo(model, **attrs.asdict(self.config))
        larger = enlarged(solver, self.config)
        if larger:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the first conversion has warned
                solver = newton.solvers.SolverMuJoCo(model, **attrs.asdict(attrs.evolve(self.config, **larger)))
        limit_balls(solver)
        # The host counts overflows and reached limits itself; MuJoCo Warp would print two lines for each, in each step.
        solver.mjw_model.opt.warn_overflow = 0
        self._solver = solver
        return solver

    @pippin.hookimpl
    def initialize_contacts(self, model: newton.Model, solver: newton.solvers.SolverMuJoCo) -> ContactSource | None:
        """Return the buffer to which MuJoCo exports its contacts; None if Newton's pipeline detects contacts."""
        import newton

        if not self.config.use_mujoco_contacts:
            return None
        contacts = newton.Contacts(solver.get_max_contact_count(), 0, device=model.device)
        return ContactSource(contacts=contacts, filled_with="contact_f")

    def capacities(self) -> tuple[Capacity, ...]:
        """Return MuJoCo's buffers, which report overflow by bits, and most of them by counts."""
        from .sizing import own_contacts_hint

        data, bits = self._solver.mjw_data, self._overflow_bits
        hint = own_contacts_hint(self._solver.mj_model, self._solver.mj_data)
        shared = {"field": "solver.nconmax", "allocated": data.naconmax, "shared_by": data.nworld, "hint": hint}
        return (
            Capacity(
                field="solver.njmax",
                holds="constraint rows of a world",
                allocated=data.njmax,
                is_per_world=True,
                count=data.nefc,
                hint=hint,
                overflow_bits=bits.NEFC,
            ),
            Capacity(
                field="solver.njmax_nnz",
                holds="nonzeros of a world's constraint Jacobian",
                allocated=data.njmax_nnz,
                is_per_world=True,
                overflow_bits=bits.NJMAX_NNZ,
            ),
            Capacity(
                holds="contacts of all worlds",
                count=data.nacon,
                overflow_bits=bits.NARROWPHASE | self._solver.OverflowBits.SOLVER_NCONMAX,
                **shared,
            ),
            Capacity(
                holds="pairs of shapes of all worlds that may touch",
                count=data.ncollision,
                overflow_bits=bits.BROADPHASE,
                **shared,
            ),
        )

    @property
    def harmless_overflow_bits(self) -> int:
        """Bits for reached iteration limits, and for the pipeline's buffer, which the host monitors itself."""
        bits = self._overflow_bits
        return int(bits.ITERATIONS | bits.LS_ITERATIONS) | self._solver.OverflowBits.CONTACT_PIPELINE

    @property
    def _overflow_bits(self) -> Any:
        """MuJoCo Warp's names of the overflow bits."""
        return self._solver.import_mujoco()[1].OverflowType
