"""Vertex block descent: a solver for Pippin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import attrs
import newton
import numpy as np
import pippin
import warp as wp
from pippin.solving import RIGID_TREES, BallEfforts, Capacity, deterministic_mode, soft_joint_notes

from . import VBDConfig
from .kernels import turn_hinges

__all__ = ["SolverVBD"]


class SolverVBD:
    """Newton's `SolverVBD`, over contacts from Newton's pipeline, which either the host or the solver runs."""

    coordinates = "maximal"
    supported_features = RIGID_TREES | {
        "body_variants": "live",
        "attachments": "live",
        "bending": "live",
        "bending_damping": "live",
        "carried_sliders": "no",
        "contact_stiffness": "live",
        "disabled_joints": "live",
        "heterogeneous_worlds": "live",
        "inactive_equalities": "live",
        "light_links": "live",
        "limit_stiffness": "live",
        "loop_joints": "live",
        "mimic_joints": "live",
        "particle_worlds": "live",
        "particles": "live",
        "rest_angles": "live",
        "rod_joints": "live",
        "soft_contact_friction": "live",
        "soft_contact_stiffness": "live",
        "springs": "live",
        "tendons": "live",
        "tetrahedra": "live",
        "tetrahedron_damping": "live",
        "triangle_damping": "live",
        "triangles": "live",
    }
    optional_features: ClassVar = {"face_contacts": "particle_enable_self_contact"}
    deterministic_on = frozenset({"cpu", "cuda"})
    supported_observables = frozenset({"contact_f"})

    def __init__(self, config: VBDConfig) -> None:
        faults = list(_exclusions(config))
        if faults:
            raise pippin.ConfigError(*faults)
        self.config = config
        if config.particle_enable_self_contact:
            self.supported_features = type(self).supported_features | {"face_contacts": "live"}
        self.notes: tuple[str, ...] = ()

    @property
    def runs_pipeline(self) -> bool:
        """Whether contacts are detected within a substep."""
        return self.config.owns_collision_pipeline

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register the solver's attributes, which importers fill from the assets."""
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
        solver = newton.solvers.SolverVBD
        options = attrs.asdict(self.config)
        options["deterministic"] = deterministic_mode(self.config.deterministic)
        del options["particle_rebuild_bvh"], options["owns_collision_pipeline"]
        if not model.tri_count:  # without faces there is nothing to touch, and Newton's search ends the process
            options["particle_enable_self_contact"] = False
        frequency, when = {}, {}
        for name, slot in (("particle", solver.CollisionSlot.SOFT_SELF_CONTACT), ("rigid", solver.CollisionSlot.RIGID)):
            frequency[slot] = options.pop(f"{name}_collision_frequency")
            when[slot] = solver.CollisionFrequencyType[options.pop(f"{name}_collision_frequency_type").upper()]
        built = _RebuiltVBD if self.config.particle_rebuild_bvh else _SteadyVBD
        self._solver = built(
            model, collision_pipeline=pipeline, collision_frequency=frequency, collision_frequency_type=when, **options
        )
        return self._solver

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        """Note bodies so far out that positions round the fall of a substep."""
        step = simulation.config.simulation
        model, stiffness = simulation.model, self.config.rigid_joint_linear_ke
        stiffness = _JOINTS if stiffness is None else stiffness
        soft = (
            soft_joint_notes(model, stiffness, "rigid_joint_linear_ke and solver.iterations")
            if model.joint_count
            else []
        )
        self.notes = (*_rounded_falls(model, step.solver_dt), *soft)

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
        if not self._solver.particle_enable_self_contact or not self._solver.model.particle_count:
            return
        found: Any = self._solver.trimesh_collision_info  # of the detector, or of the solver's own pipeline
        for name, holds, sizes, count in (
            (
                "vertex",
                "triangles near one vertex",
                found.vertex_colliding_triangles_buffer_sizes,
                found.vertex_colliding_triangles_count,
            ),
            ("edge", "edges near one edge", found.edge_colliding_edges_buffer_sizes, found.edge_colliding_edges_count),
        ):
            if len(sizes):  # a soft body, and triangles of a stage, may have no edges
                yield Capacity(
                    field=f"solver.particle_{name}_contact_buffer_size",
                    holds=holds,
                    allocated=int(sizes.numpy().min()),
                    count=count,
                )


_OF_JOINTS = ("joint_X_p", "joint_X_c", "joint_axis")
"""Arrays of the model that describe joints."""


class _SteadyVBD(newton.solvers.SolverVBD):
    """Newton's solver, with efforts of ball joints along the axes of their frames, and hinges about coordinate axes.

    Newton takes the free axis a out of what a hinge holds by 1 - a aᵀ. Rounding lets |a| differ from 1, so that a part
    of 1e-7 of `rigid_joint_angular_ke` acts as a spring about the axis itself.
    """

    def __init__(self, model: newton.Model, **options: Any) -> None:
        super().__init__(model, **options)
        self._ball_efforts = BallEfforts(model)
        self._turned = {name: wp.clone(getattr(model, name)) for name in _OF_JOINTS} if model.joint_count else {}

    def step(self, state_in: Any, state_out: Any, control: Any, contacts: Any, dt: float, **options: Any) -> None:
        """Take a step. May be recorded."""
        control = self.model.control() if control is None else control
        with self._ball_efforts.in_world(state_in, control), self._hinges():
            super().step(state_in, state_out, control, contacts, dt, **options)

    @contextmanager
    def _hinges(self) -> Iterator[None]:
        """Give the model turned joints in the block."""
        model: Any = self.model
        stated = {name: getattr(model, name) for name in self._turned}
        if stated:
            inputs = [model.joint_type, model.joint_qd_start, model.joint_dof_dim, *stated.values()]
            wp.launch(turn_hinges, model.joint_count, inputs, [*self._turned.values()], device=model.device)
        try:
            for name, turned in self._turned.items():
                setattr(model, name, turned)
            yield
        finally:
            for name, each in stated.items():
                setattr(model, name, each)


class _RebuiltVBD(_SteadyVBD):
    """A solver that rebuilds the tree of self-contacts before each step."""

    def step(self, state_in: Any, *arguments: Any, **options: Any) -> None:
        """Take a step. May be recorded."""
        self.rebuild_bvh(state_in)
        super().step(state_in, *arguments, **options)


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


_JOINTS = 1e5
"""Newton's stiffness of joints [N/m]."""

_ROUNDING = 16.0
"""Fall of a substep in units of a position's rounding below which velocities are more than some percent off."""


def _rounded_falls(model: newton.Model, dt: float) -> Iterator[str]:
    """Yield a note if gravity moves a body in a substep by little more than a rounding of its position.

    Args:
        model: The model of all worlds.
        dt: Length of a substep [s].
    """
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
