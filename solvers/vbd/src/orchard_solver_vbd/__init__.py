"""Vertex block descent, as an Orchard solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs
import orchard
from attrs.validators import ge, gt, lt, optional
from orchard.config.validators import finite, fraction, non_negative, positive
from orchard.features import RIGID_TREES

if TYPE_CHECKING:
    import newton

__all__ = ["SolverVBD", "VBDConfig"]

_FIXED_STIFFNESS = "leave it out, constraints have the stiffness of the model"


def number(default: Any, *validators: Any) -> Any:
    """Return a field with a default and what its value must satisfy."""
    return attrs.field(default=default, validator=list(validators))


def inherited(*validators: Any) -> Any:
    """Return a field for what the asset says where it is not given, else Newton."""
    return attrs.field(default=None, validator=[optional(validator) for validator in validators])


@attrs.frozen(kw_only=True)
class VBDConfig:
    """Implicit Euler, block by block: cloth and soft bodies by vertices, rigid bodies and cables by bodies."""

    replaced_keys: ClassVar[Mapping[str, str]] = {
        "particle_self_contact_radius": "write particle_self_contact_margin, and particle_self_contact_gap for what"
        " is looked for beyond it",
        "particle_collision_detection_interval": "write particle_collision_frequency_type and, for `iterations`,"
        " particle_collision_frequency",
        "particle_conservative_bound_relaxation": "write dat_conservative_bound_relaxation",
        "rigid_avbd_beta": _FIXED_STIFFNESS,
        "rigid_avbd_linear_beta": _FIXED_STIFFNESS,
        "rigid_avbd_angular_beta": _FIXED_STIFFNESS,
        "rigid_compliant_alm": "leave it out, it is always on",
        "rigid_contact_hard": "set ke of the shapes",
        "rigid_contact_k_start": "set ke of the shapes",
        "rigid_joint_linear_k_start": "write rigid_joint_linear_ke",
        "rigid_joint_angular_k_start": "write rigid_joint_angular_ke",
    }

    iterations: int | None = inherited(ge(1))
    """Sweeps over all blocks per substep (10)."""

    friction_epsilon: float = number(1e-2, positive)
    """Sliding speed below which friction is smoothed [m/s]."""

    dat_conservative_bound_relaxation: float = number(0.85, finite, gt(0.0), lt(1.0))
    """Part of the distance between surfaces that a vertex may use up before contacts are detected again."""

    integrate_with_external_rigid_solver: bool = False
    """Whether somebody else moves the rigid bodies."""

    particle_enable_self_contact: bool = False
    """Whether cloth and soft bodies collide with themselves and with each other."""

    particle_self_contact_margin: float | None = inherited(positive)
    """Distance at which their surfaces push each other away [m] (0.2); give the gap as well."""

    particle_self_contact_gap: float | None = inherited(non_negative)
    """Distance beyond the margin at which contacts are looked for [m] (0); half the margin up to all of it."""

    particle_vertex_contact_buffer_size: int = number(32, ge(1))
    """Triangles near a vertex; more are not seen."""

    particle_edge_contact_buffer_size: int = number(64, ge(1))
    """Edges near an edge; more are not seen."""

    particle_edge_parallel_epsilon: float = number(1e-5, non_negative)
    """How parallel two edges must be to count as parallel."""

    particle_enable_tile_solve: bool = True
    """Whether vertices are solved by tiles (CUDA)."""

    particle_topological_contact_filter_threshold: int = number(2, ge(0))
    """Rings of neighbours that a vertex or edge does not collide with."""

    particle_rest_shape_contact_exclusion_radius: float = number(0.0, non_negative)
    """Distance in the rest shape below which neighbours do not collide [m]."""

    particle_rebuild_bvh: bool = False
    """Whether the tree that finds self-contacts is built anew before each substep, for strongly deformed cloth."""

    rigid_avbd_alpha: float | None = inherited(fraction)
    """Part of the initial violation that joints and contacts keep (0)."""

    rigid_avbd_joint_alpha: float | None = inherited(fraction)
    """That part for joints; by default rigid_avbd_alpha."""

    rigid_avbd_contact_alpha: float | None = inherited(fraction)
    """That part for contacts; by default rigid_avbd_alpha."""

    rigid_avbd_gamma: float = number(0.999, fraction)
    """Part of the multipliers that is kept from substep to substep."""

    rigid_contact_history: bool | None = None
    """Whether matched contacts keep their multipliers (no); needs a pipeline that matches contacts."""

    rigid_body_contact_buffer_size: int = number(64, ge(1))
    """Contacts with bodies per body; more are not solved."""

    rigid_body_particle_contact_buffer_size: int = number(256, ge(1))
    """Contacts with particles per body; where there are more, the slower search through all is used."""

    rigid_soft_contact_use_log_barrier: bool = False
    """Whether particles are pushed away from shapes by a logarithmic barrier, in place of a spring."""

    rigid_joint_linear_ke: float | None = inherited(non_negative)
    """Stiffness that holds joints together [N/m] (1e5)."""

    rigid_joint_angular_ke: float | None = inherited(non_negative)
    """Stiffness that holds joints together [N·m/rad] (1e5)."""

    rigid_joint_linear_kd: float | None = inherited(non_negative)
    """Damping that holds joints together [N·s/m] (0)."""

    rigid_joint_angular_kd: float | None = inherited(non_negative)
    """Damping that holds joints together [N·m·s/rad] (0)."""

    tendon_max_sweeps: int = number(256, ge(1))
    """Largest number of sweeps over a tendon's segments."""

    tendon_settle_tol: float = number(1e-3, non_negative)
    """Change at which the sweeps over a tendon stop."""

    tendon_activation_tol: float = number(2e-3, non_negative)
    """Tolerance at which a tendon's guide becomes active."""

    enable_fast_math: bool = True
    """Whether division and square roots are approximate (CUDA)."""

    particle_collision_frequency: int = number(1, ge(1))
    """Iterations between two detections of self-contacts, where their type is `iterations`."""

    particle_collision_frequency_type: Literal["auto", "pre_init", "pre_post_init", "iterations"] = "auto"
    """When self-contacts are detected: before a substep's prediction, also after it (auto), or while iterating."""


class SolverVBD:
    """Newton's `SolverVBD`, over contacts from Newton's pipeline."""

    Config = VBDConfig
    coordinates = "maximal"
    supported_features = RIGID_TREES | {
        "bending",
        "disabled_joints",
        "heterogeneous_worlds",
        "loop_joints",
        "mimic_joints",
        "particles",
        "rod_joints",
        "springs",
        "tendons",
        "tetrahedra",
        "triangles",
    }
    supported_observables = frozenset({"contact_f"})

    def __init__(self, config: VBDConfig) -> None:
        if config.particle_self_contact_margin is not None and config.particle_self_contact_gap is None:
            raise orchard.ConfigError(
                f"particle_self_contact_margin: {config.particle_self_contact_margin}, but"
                " 'particle_self_contact_gap' is missing; add it, such as half the margin"
            )
        self.config = config

    @orchard.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register the solver's attributes, which importers fill from the assets."""
        import newton

        newton.solvers.SolverVBD.register_custom_attributes(builder)

    @orchard.hookimpl
    def complete_builder(self, builder: newton.ModelBuilder) -> None:
        """Colour particles and bodies: what shares a colour is solved at once."""
        builder.color(include_bending=builder.edge_count > 0)

    @orchard.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverVBD:
        """Return the solver with every option of the configuration, and its schedule of self-contacts."""
        import newton

        solver = newton.solvers.SolverVBD
        options = attrs.asdict(self.config)
        del options["particle_rebuild_bvh"]
        frequency = options.pop("particle_collision_frequency")
        when = solver.CollisionFrequencyType[options.pop("particle_collision_frequency_type").upper()]
        self_contacts = solver.CollisionSlot.SOFT_SELF_CONTACT
        return solver(
            model,
            collision_frequency={self_contacts: frequency},
            collision_frequency_type={self_contacts: when},
            **options,
        )

    @orchard.hookimpl
    def step_solver(
        self,
        solver: newton.solvers.SolverVBD,
        state_in: newton.State,
        state_out: newton.State,
        control: newton.Control,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Step, on a new tree of self-contacts where the configuration asks for one. May be recorded."""
        if self.config.particle_rebuild_bvh:
            solver.rebuild_bvh(state_in)
        solver.step(state_in, state_out, control, contacts, dt, observables=observables)
