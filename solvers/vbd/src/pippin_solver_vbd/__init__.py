"""Vertex block descent: a solver for Pippin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs
import pippin
from attrs.validators import ge, gt, lt
from pippin.solving import RIGID_CHANGES, RIGID_TREES, Capacity, deterministic_mode, inherited, number
from pippin.validators import finite, fraction, non_negative, positive

if TYPE_CHECKING:
    import newton

__all__ = ["SolverVBD", "VBDConfig"]

_FIXED_STIFFNESS = "leave it out, constraints have the stiffness of the model"


@attrs.frozen(kw_only=True)
class VBDConfig:
    """Implicit Euler, block by block: the blocks are vertices of cloth and soft bodies, rigid bodies and cables."""

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
    """Fraction of the distance between surfaces that a vertex may move before contacts are detected again."""

    integrate_with_external_rigid_solver: bool = False
    """Whether another solver moves the rigid bodies."""

    particle_enable_self_contact: bool = False
    """Whether cloth and soft bodies collide with themselves and with each other."""

    particle_self_contact_margin: float | None = inherited(positive)
    """Distance below which surfaces of cloth and soft bodies repel each other [m] (0.2); set the gap, too."""

    particle_self_contact_gap: float | None = inherited(non_negative)
    """Distance beyond the margin in which contacts are detected [m] (0); between half the margin and the margin."""

    particle_vertex_contact_buffer_size: int = number(32, ge(1))
    """Triangles near a vertex; further triangles are ignored."""

    particle_edge_contact_buffer_size: int = number(64, ge(1))
    """Edges near an edge; further edges are ignored."""

    particle_edge_parallel_epsilon: float = number(1e-5, non_negative)
    """Tolerance at which two edges count as parallel."""

    particle_enable_tile_solve: bool = True
    """Whether vertices are solved in tiles (CUDA)."""

    particle_topological_contact_filter_threshold: int = number(2, ge(0))
    """Rings of neighbours with which a vertex or edge does not collide."""

    particle_rest_shape_contact_exclusion_radius: float = number(0.0, non_negative)
    """Distance in the rest shape below which neighbours do not collide [m]."""

    particle_rebuild_bvh: bool = False
    """Whether the search tree of self-contacts is rebuilt before each substep, for strongly deformed cloth."""

    rigid_avbd_alpha: float | None = inherited(fraction)
    """Fraction of the initial violation that joints and contacts keep (0)."""

    rigid_avbd_joint_alpha: float | None = inherited(fraction)
    """Fraction of the initial violation that joints keep; by default rigid_avbd_alpha."""

    rigid_avbd_contact_alpha: float | None = inherited(fraction)
    """Fraction of the initial violation that contacts keep; by default rigid_avbd_alpha."""

    rigid_avbd_gamma: float = number(0.999, fraction)
    """Fraction of the multipliers that is kept from substep to substep."""

    rigid_contact_history: bool | None = None
    """Whether matched contacts keep their multipliers (no); needs a collision pipeline that matches contacts."""

    rigid_body_contact_buffer_size: int = number(64, ge(1))
    """Contacts with bodies per body; further contacts are ignored."""

    rigid_body_particle_contact_buffer_size: int = number(256, ge(1))
    """Contacts with particles per body; with more contacts, a slower search through all contacts is used."""

    rigid_soft_contact_use_log_barrier: bool = False
    """Whether a logarithmic barrier, in place of a spring, pushes particles away from shapes."""

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

    deterministic: bool | None = None
    """Whether every run on one GPU gives the same bits (no); on the CPU it does. `simulation.determinism` sets it."""

    enable_fast_math: bool = True
    """Whether division and square roots are approximate (CUDA)."""

    particle_collision_frequency: int = number(1, ge(1))
    """Iterations between two detections of self-contacts, if the frequency type is `iterations`."""

    particle_collision_frequency_type: Literal["auto", "pre_init", "pre_post_init", "iterations"] = "auto"
    """Time of detection of self-contacts: before a substep's prediction, also after it (auto), or during iterations."""

    owns_collision_pipeline: bool = False
    """Whether the solver runs its own collision pipeline within a substep, configured by `[collision]`."""

    rigid_collision_frequency: int = number(1, ge(1))
    """Iterations between two detections of the solver's own pipeline, if the frequency type is `iterations`."""

    rigid_collision_frequency_type: Literal["auto", "pre_init", "pre_post_init", "iterations"] = "auto"
    """Time of these detections: before the prediction (auto), also after it (auto with DAT), or during iterations."""

    rigid_soft_enable_dat: bool = False
    """Whether divide and truncate (DAT) keeps rigid and soft bodies from crossing; needs `owns_collision_pipeline`."""

    rigid_soft_dat_use_interval_arithmetic: bool = False
    """Whether DAT certifies complete trajectories, not only samples of them."""


class SolverVBD:
    """Newton's `SolverVBD`, over contacts from Newton's pipeline, which either the host or the solver runs."""

    Config = VBDConfig
    coordinates = "maximal"
    supported_features = RIGID_TREES | {
        "bending",
        "contact_stiffness",
        "disabled_joints",
        "heterogeneous_worlds",
        "inactive_equalities",
        "light_links",
        "limit_stiffness",
        "loop_joints",
        "mimic_joints",
        "particle_worlds",
        "particles",
        "rod_joints",
        "springs",
        "tendons",
        "tetrahedra",
        "triangles",
    }
    deterministic_on = frozenset({"cpu", "cuda"})
    supported_model_changes = RIGID_CHANGES | {
        "BODY_PROPERTIES",
        "CONSTRAINT_PROPERTIES",
        "JOINT_REFERENCE_POSE_PROPERTIES",
        "TENDON_PROPERTIES",
    }
    supported_observables = frozenset({"contact_f"})

    def __init__(self, config: VBDConfig) -> None:
        faults = list(_exclusions(config))
        if faults:
            raise pippin.ConfigError(*faults)
        self.config = config
        self.notes: tuple[str, ...] = ()

    @property
    def runs_pipeline(self) -> bool:
        """Whether contacts are detected within a substep."""
        return self.config.owns_collision_pipeline

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register the solver's attributes, which importers fill from the assets."""
        import newton

        newton.solvers.SolverVBD.register_custom_attributes(builder)

    @pippin.hookimpl
    def complete_builder(self, builder: newton.ModelBuilder) -> None:
        """Colour particles and bodies: elements of one colour are solved in parallel."""
        builder.color(include_bending=builder.edge_count > 0)

    @pippin.hookimpl
    def check_model(self, collision: pippin.CollisionConfig) -> Iterator[str]:
        """Return the options that need matched contacts, if `[collision]` does not match contacts."""
        return _unmatched(self.config, collision)

    @pippin.hookimpl
    def build_solver(self, model: newton.Model, pipeline: newton.CollisionPipeline | None) -> newton.solvers.SolverVBD:
        """Return the solver with all options of the configuration, its pipeline and its schedules."""
        import newton

        solver = newton.solvers.SolverVBD
        options = attrs.asdict(self.config)
        options["deterministic"] = deterministic_mode(self.config.deterministic)
        del options["particle_rebuild_bvh"], options["owns_collision_pipeline"]
        frequency, when = {}, {}
        for name, slot in (("particle", solver.CollisionSlot.SOFT_SELF_CONTACT), ("rigid", solver.CollisionSlot.RIGID)):
            frequency[slot] = options.pop(f"{name}_collision_frequency")
            when[slot] = solver.CollisionFrequencyType[options.pop(f"{name}_collision_frequency_type").upper()]
        self._solver = solver(
            model, collision_pipeline=pipeline, collision_frequency=frequency, collision_frequency_type=when, **options
        )
        return self._solver

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        """Note bodies so far from the origin that a substep's fall is within the rounding of their positions."""
        step = simulation.config.simulation
        self.notes = tuple(_rounded_falls(simulation.model, step.dt / step.substeps))

    @pippin.hookimpl
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
        """Take a step; with `particle_rebuild_bvh`, rebuild the tree of self-contacts first. May be recorded."""
        if self.config.particle_rebuild_bvh:
            solver.rebuild_bvh(state_in)
        solver.step(state_in, state_out, control, contacts, dt, observables=observables)

    def capacities(self) -> tuple[Capacity, ...]:
        """Return the buffers of contacts per body, and of self-contacts per vertex and edge.

        If a body touches too many particles, the solver searches all contacts, which is slower but loses none.
        """
        return (*self._of_bodies(), *self._of_self_contacts())

    def _of_bodies(self) -> Iterator[Capacity]:
        solver = self._solver
        if not solver.model.body_count or self.config.integrate_with_external_rigid_solver:
            return
        yield Capacity(
            field="solver.rigid_body_contact_buffer_size",
            holds="contacts of one body",
            allocated=solver.body_body_contact_buffer_pre_alloc,
            count=solver.body_body_contact_overflow_max,
        )
        yield Capacity(
            field="solver.rigid_body_particle_contact_buffer_size",
            holds="contacts of one body with particles",
            allocated=solver.body_particle_contact_buffer_pre_alloc,
        )

    def _of_self_contacts(self) -> Iterator[Capacity]:
        if not self.config.particle_enable_self_contact or not self._solver.model.particle_count:
            return
        found: Any = self._solver.trimesh_collision_detector.collision_info
        for name, holds, sizes, count in (
            (
                "vertex",
                "triangles near one vertex",
                found.vertex_colliding_triangles_buffer_sizes,
                found.vertex_colliding_triangles_count,
            ),
            ("edge", "edges near one edge", found.edge_colliding_edges_buffer_sizes, found.edge_colliding_edges_count),
        ):
            yield Capacity(
                field=f"solver.particle_{name}_contact_buffer_size",
                holds=holds,
                allocated=int(sizes.numpy().min()),
                count=count,
            )


def _exclusions(config: VBDConfig) -> Iterator[str]:
    """Yield the faults of options that the solver would ignore or refuse."""
    if config.particle_self_contact_margin is not None and config.particle_self_contact_gap is None:
        yield (
            f"particle_self_contact_margin: {config.particle_self_contact_margin}, but"
            " 'particle_self_contact_gap' is missing; add it, such as half the margin"
        )
    for name in ("particle", "rigid"):
        frequency = getattr(config, f"{name}_collision_frequency")
        if frequency != 1 and getattr(config, f"{name}_collision_frequency_type") != "iterations":
            yield (
                f"{name}_collision_frequency: {frequency}, which only counts if '{name}_collision_frequency_type'"
                " is 'iterations'; set it, or leave this key out"
            )
    if not config.owns_collision_pipeline:
        for name, default in (("rigid_collision_frequency_type", "auto"), ("rigid_soft_enable_dat", False)):
            value = getattr(config, name)
            if value != default:
                yield f"{name}: {value!r} needs a pipeline of the solver's own; set owns_collision_pipeline = true"
    if config.rigid_soft_dat_use_interval_arithmetic and not config.rigid_soft_enable_dat:
        yield "rigid_soft_dat_use_interval_arithmetic: True needs rigid_soft_enable_dat = true"


def _unmatched(config: VBDConfig, collision: pippin.CollisionConfig) -> Iterator[str]:
    """Yield the faults of options that need matched contacts, if `[collision]` does not match contacts."""
    if collision.contact_matching != "disabled":
        return
    cure = "but collision.contact_matching is 'disabled'; set it to 'latest' or 'sticky'"
    if config.rigid_contact_history:
        yield f"rigid_contact_history: True, {cure}"
    if config.rigid_collision_frequency_type == "iterations":
        yield f"rigid_collision_frequency_type: 'iterations', {cure}"


_ROUNDING = 16.0
"""Fall of a substep in units of a position's rounding below which velocities are more than some percent off."""


def _rounded_falls(model: newton.Model, dt: float) -> Iterator[str]:
    """Yield a note if gravity moves a body in a substep by little more than a rounding of its position.

    Args:
        model: The model of all worlds.
        dt: Length of a substep [s].
    """
    import numpy as np

    if not model.body_count:
        return
    poses: Any = model.body_q
    gravity: Any = model.gravity
    fall = float(np.linalg.norm(gravity.numpy(), axis=1).max()) * dt**2
    reach = np.abs(poses.numpy()[:, :3]).max(axis=1)
    farthest = int(reach.argmax())
    if 0.0 < fall < _ROUNDING * float(np.spacing(np.float32(reach[farthest]))):
        yield (
            f"body {model.body_label[farthest]!r} starts {reach[farthest]:.3g} m from the origin, where single"
            f" precision rounds the fall of a substep of {dt:.3g} s: velocities are some percent wrong; take longer"
            " substeps, or move the scene to the origin"
        )
