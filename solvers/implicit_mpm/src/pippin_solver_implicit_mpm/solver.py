"""The implicit material point method: a solver for Pippin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

import attrs
import newton
import pippin
from pippin.arrays import on_host
from pippin.devices import kind_of
from pippin.solving import ContactSource
from warp import fem

from . import ImplicitMPMConfig
from .particles import ParticlesMPM

__all__ = ["SolverImplicitMPM"]


class SolverImplicitMPM:
    """Newton's `SolverImplicitMPM`. All shapes that collide with particles are colliders; the solver detects
    contacts itself.

    Only particles move. Bodies keep the poses of the state, and particles exert no forces on them.
    """

    coordinates = "maximal"
    detects_contacts = True
    steps_in_place = True
    supported_features: Mapping[str, str] = {
        "gravity": "live",
        "heterogeneous_worlds": "live",
        "particle_contacts": "live",
        "particles": "build",
    }
    optional_features: ClassVar = {"particle_worlds": "separate_worlds"}
    supported_observables = frozenset[str]()
    mixed_worlds = "its iterations end for all worlds at once"
    unsaved_reason = "'implicit-mpm' lays its grid out anew in each substep, with what it keeps on it for the next one"

    def __init__(self, config: ImplicitMPMConfig) -> None:
        self.config = config
        self.eager_reason = _eager_reason(config)
        if config.separate_worlds:
            self.supported_features = {**type(self).supported_features, "particle_worlds": "live"}

    @property
    def is_capturable(self) -> bool:
        """True on CUDA if no substep allocates a grid."""
        return self.eager_reason is None

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register additional attributes of particles: stiffness, yield and friction, strain and stress."""
        newton.solvers.SolverImplicitMPM.register_custom_attributes(builder)

    @pippin.hookimpl
    def check_model(self, model: newton.Model) -> Iterator[str]:
        """Yield a fault if nothing can move, and for each other shape than a collider. A grain without a mass stays."""
        if not model.particle_count:
            yield "type: 'implicit-mpm' moves particles, got 0; add some, or choose another solver"
            return
        shapes = zip(
            on_host(model.shape_type).tolist(), on_host(model.shape_flags).tolist(), model.shape_label, strict=True
        )
        for kind, flags, label in shapes:
            if flags & newton.ShapeFlags.COLLIDE_PARTICLES and newton.GeoType(kind) not in _COLLIDERS:
                yield (
                    f"type: 'implicit-mpm' has no collider of type {newton.GeoType(kind).name}, as {label!r} is; make"
                    " a mesh of it, or set has_particle_collision = false"
                )

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverImplicitMPM:
        """Return the solver with all options of the configuration.

        Raises:
            ConfigError: A grid cannot be built.
        """
        if kind_of(model.device) == "cpu":
            self.eager_reason = "on the CPU, a graph of it does not replay what was recorded"
        options = attrs.asdict(self.config)
        projects = options.pop("project_outside_colliders")
        timing = {name: options.pop(name) for name in ("verbose", "enable_timers")}
        try:
            return ParticlesMPM(
                model, ParticlesMPM.Config(**options), projects, temporary_store=fem.TemporaryStore(), **timing
            )
        except RuntimeError as error:
            raise pippin.ConfigError(f"grid_type: {self.config.grid_type!r} cannot be built: {error}") from error
        except ZeroDivisionError as error:
            raise pippin.ConfigError(
                f"grid_type: {self.config.grid_type!r} cannot be built around particles that all lie in a plane, or in"
                " a line; add particles beside it"
            ) from error

    @pippin.hookimpl
    def initialize_contacts(self) -> ContactSource:
        """Return a source without contacts: colliders act through the grid."""
        return ContactSource()

    @pippin.hookimpl
    def after_step(self, simulation: pippin.Simulation) -> None:
        """Raise if a bounded grid was too small. Synchronises with the device if the grid is bounded.

        Raises:
            SimulationError: Names the keys to raise.
        """
        if self.config.max_active_cell_count < 0:
            return
        try:
            simulation.solver.check_sparse_grid_rebuild_status()  # pyrefly: ignore[missing-attribute]
        except RuntimeError as error:
            raise pippin.SimulationError(f"solver: step {simulation.step_count}: {error}") from error


_COLLIDERS = frozenset(
    getattr(newton.GeoType, name) for name in ("BOX", "CAPSULE", "CONE", "CYLINDER", "MESH", "PLANE", "SPHERE")
)
"""Types of shapes that Newton makes colliders of; it fails on others."""


def _eager_reason(config: ImplicitMPMConfig) -> str | None:
    """Return the reason why a step cannot be recorded on any device, or None."""
    bases = (config.strain_basis, config.collider_basis)
    if config.enable_timers:
        return "enable_timers synchronises with the device"
    if config.grid_type == "dense" or config.max_active_cell_count < 0:
        return "its grid is allocated in each substep; set max_active_cell_count, and a sparse or fixed grid"
    if "pic" in bases:
        return "a basis of particles must be bounded, as in 'pic8'"
    if config.grid_type == "sparse" and not _is_rebuilt_in_place(config):
        return "this sparse grid is allocated in each substep; it needs no padding and simpler bases"
    return None


def _is_rebuilt_in_place(config: ImplicitMPMConfig) -> bool:
    strain = re.fullmatch(r"pic\d+|P0|P1d|Q1d?", config.strain_basis)
    collider = re.fullmatch(r"pic\d+|Q1|S2|S3", config.collider_basis)
    return config.grid_padding == 0 and strain is not None and collider is not None
