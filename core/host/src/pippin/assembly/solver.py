"""Construction of a simulation's solver and contact source from the answers of the components."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import attrs
import newton
import warp as wp
from pippin.arrays import present
from pippin.assets.actuators.servos import target_ranges
from pippin.assets.mjcf.completion import DIMENSIONS
from pippin.catalog.entries import Catalog
from pippin.components.registry import Components
from pippin.config import CollisionConfig, SimulationConfig, SimulationOptions
from pippin.coupling import build_pipeline
from pippin.errors import ConfigError, PluginError
from pippin.solving.contact_source import Capacity, ContactSource, pipeline_capacities
from pippin.spelling import listed
from pippin.support.requirements import find_gaps, refuse_gaps, refuse_part, refuse_unsupported, unsettable
from pippin.support.rigid_users import barrels_of
from pippin.support.solver_support import SolverSupport

from .model import features_of, reads_dimensions


def newton_pipeline(model: newton.Model, config: CollisionConfig) -> ContactSource:
    """Return Newton's collision pipeline over `model`, with buffers of the configured capacity.

    If no two shapes and no particle can collide, the source has a buffer and no pipeline: an empty detection would take
    longer than a small step, and the first pipeline of a process takes 0.2 s to build.

    Raises:
        ConfigError: Newton refuses the configuration for this model.
    """
    can_meet = model.shape_contact_pair_count > 0 or model.particle_count > 0
    if not can_meet and config == CollisionConfig():
        attributes = model.get_requested_contact_attributes()  # those that sensors asked the model for
        options = {"requires_grad": model.requires_grad, "device": model.device, "requested_attributes": attributes}
        return ContactSource(contacts=newton.Contacts(0, 0, **options))
    pipeline = build_pipeline(model, config)
    contacts = pipeline.contacts()
    capacities = pipeline_capacities(pipeline, contacts, config)
    if config.interval == "adaptive":
        return _adaptive(model, pipeline, contacts, capacities)
    return ContactSource(
        contacts=contacts, pipeline=pipeline if can_meet else None, interval=config.interval, capacities=capacities
    )


def _adaptive(
    model: newton.Model, pipeline: newton.CollisionPipeline, contacts: newton.Contacts, capacities: Sequence[Capacity]
) -> ContactSource:
    reason = "the scene has particles, whose contacts it does not foresee" if model.particle_count else None
    reason = "a tape records fixed detections" if model.requires_grad else reason
    if reason is not None:
        raise ConfigError(f"collision.interval: 'adaptive', but {reason}; set a number of substeps")
    overtravel = wp.zeros(1, dtype=int, device=model.device)
    expected = Capacity(
        field="collision.interval",
        holds="travel",
        allocated=0,
        count=overtravel,
        is_flag=True,
        reason="bodies moved farther in a substep than speculative_contact_gap_max",
        cure="raise simulation.substeps, or collision.speculative_contact_gap_max",
    )
    return ContactSource(
        contacts=contacts, pipeline=pipeline, overtravel=overtravel, capacities=(*capacities, expected)
    )


def pipeline_of_solver(solver: newton.solvers.SolverBase, config: CollisionConfig) -> ContactSource:
    """Return the contacts of a solver that runs a pipeline within its step."""
    if config.interval != 1:
        raise ConfigError(
            f"collision.interval: {config.interval!r}, but the solver detects contacts within its step; leave it out"
        )
    pipeline, contacts = present(solver.collision_pipeline), present(solver.contacts)
    capacities = pipeline_capacities(pipeline, contacts, config)
    return ContactSource(contacts=contacts, pipeline=pipeline, is_run_by_solver=True, capacities=capacities)


class SolverBuilding:
    """The build phases of the solver and their checks.

    Raises:
        ConfigError: No component builds a solver; or the solver lacks an observable, or would ignore `[collision]`.
    """

    def __init__(
        self, components: Components, config: SimulationConfig, original_collision: CollisionConfig, catalog: Catalog
    ) -> None:
        self._components, self.config, self._catalog = components, config, catalog
        self._original_collision = original_collision
        #: What the build chose for the user.
        self.notes: list[str] = []
        if components.single("build_solver") is None:
            raise ConfigError(self._no_solver())
        #: The name of the solver in errors.
        self.name = type(components.solver).__name__ if config.solver is None else config.solver.type
        #: The declaration of the solver's component.
        self.declaration = components.declarations[components.solver_name]
        if self.declaration.supported_observables is not None:
            self._refuse_sensors(self.declaration.supported_observables)
        self._refuse_ignored_collision(self.declaration.detects_contacts)

    def refuse_gaps(self, model: newton.Model, *, are_stated: bool) -> Mapping[str, Sequence[str]]:
        """Refuse features that nothing would honour, and return those that are ignored, with their users.

        `are_stated` tells whether robot files state the features of the model, and not a user in Python.

        Raises:
            ConfigError: A feature is neither honoured nor in `accept_unsupported`; or the model has only a part of the
                worlds of a run, and worlds depend on each other.
        """
        refuse_part(model, self.declaration, self.name, self.config.scene.run_worlds)
        accepted, actuators = self.config.simulation.accept_unsupported, self._components.attributes.values()
        used = features_of(model, self.config.collision)
        found = find_gaps(used, self.declaration, accepted, actuators, are_stated=are_stated)
        return refuse_gaps(found, self.declaration, self.name, accepted, self._catalog)

    def choose_substeps(self, model: newton.Model) -> SimulationOptions:
        """Return the `[simulation]` table with a number of substeps: the user's, or what contacts need here."""
        step, longest = self.config.simulation, self.declaration.longest_contact_step
        if step.substeps == "auto":
            can_touch = model.shape_contact_pair_count or (model.particle_count and model.shape_count)
            count = math.ceil(step.dt / longest * (1.0 - 1e-9)) if longest is not None and can_touch else 1
            self.config = attrs.evolve(self.config, simulation=attrs.evolve(step, substeps=count))
            if count > 1:
                self.notes = [
                    f"simulation.substeps: {count}, as contacts on {self.name!r} need; set it to choose another"
                ]
        return self.config.simulation

    def refuse_faults(self, model: newton.Model) -> None:
        """Refuse a model that a component cannot simulate, with everything that its `check_model` says."""
        faults = []
        if self.declaration.detects_contacts and (barrels := barrels_of(model)):  # no engine has them
            faults.append(
                f"barrel_radius: of {listed(barrels)}, but solver {self.name!r} detects contacts itself and takes a"
                " straight cylinder; leave it out, or let the solver use Newton's contacts"
            )
        accepted = self.config.simulation.accept_unsupported
        for answer in self._components.implementations("check_model"):
            try:
                with self._components.during(answer.owner, "check_model"):
                    _raise(answer.call(model=model, accepted=accepted, **self._arguments), answer.owner)
            except ConfigError as error:
                faults += error.faults
        if faults:
            raise ConfigError(*faults)

    def pose(self, model: newton.Model) -> None:
        """Write what the joints give the bodies into the model, as poses at rest, which a solver reads at its build.

        Other solvers start from the joints, and to MuJoCo poses of free bodies in the model are its reference.
        """
        if model.joint_count and self.declaration.coordinates in ("maximal", "mixed"):
            positions: Any = model.joint_q
            velocities: Any = model.joint_qd
            newton.eval_fk(model, positions, velocities, model)

    def build(self, model: newton.Model) -> newton.solvers.SolverBase:
        """Return the solver of the model.

        Raises:
            ConfigError: The solver refuses the model or its settings, or does not compute an observable for a sensor.
            PluginError: The component returns None.
        """
        answer = self._components.single("build_solver")
        assert answer is not None, "refused by the constructor"
        collision = self.config.collision
        pipeline = build_pipeline(model, collision) if self.declaration.runs_pipeline else None
        solver = answer.call(model=model, pipeline=pipeline, **self._arguments)
        if not isinstance(solver, newton.solvers.SolverBase):
            raise PluginError(
                f"{answer.owner}: build_solver returned {solver!r}; return the solver of the model, a"
                " newton.solvers.SolverBase"
            )
        self._refuse_sensors(solver.supported_observables)
        return solver

    def reported(self, solver: newton.solvers.SolverBase) -> frozenset[str]:
        """Return the observables that the solver reports: those of the declaration, or of a solver without one."""
        declared = self.declaration.supported_observables
        return frozenset(map(str, solver.supported_observables)) if declared is None else declared

    def support(self, model: newton.Model) -> SolverSupport:
        """Return the features that the built solver has: a user may set nothing else while it runs."""
        declared, accepted = self.declaration, self.config.simulation.accept_unsupported
        support = SolverSupport(
            self.name,
            declared.supported_features,
            accepted,
            declared.features_fixed_at_build,
            declared.features_kept_from_build,
            lambda feature: unsettable(feature, self.name, declared, self._catalog, accepted),
            model,
            cache(lambda: DIMENSIONS if reads_dimensions(self._components) else {}),
        )
        for array, bounds in {} if support.fault("asset_actuators") is None else target_ranges(model).items():
            support.bound(array, bounds)
        return support

    def find_contacts(self, model: newton.Model, solver: newton.solvers.SolverBase) -> ContactSource:
        """Return the contact source: a component's, the pipeline that the solver runs, or the host's pipeline.

        Raises:
            ConfigError: The solver cannot use the contacts that `[collision]` describes.
        """
        collision = self.config.collision
        answer = self._components.single("initialize_contacts")
        source = None
        if answer is not None:
            source = answer.call(model=model, solver=solver, collision=collision)
            if not isinstance(source, ContactSource | None):
                raise PluginError(
                    f"{answer.owner}: initialize_contacts returned {source!r}; return a"
                    " pippin.solving.ContactSource, or None for the pipeline of the host"
                )
        if source is None and solver.collision_pipeline is not None:
            return pipeline_of_solver(solver, collision)
        if source is None:
            if collision.body_pair_reduction is not None and not solver.supports_body_pair_reduced_contacts:
                # Newton would refuse them only in the first step.
                raise ConfigError(
                    f"collision.body_pair_reduction: solver {self.name!r} needs every contact of a pair of bodies;"
                    " leave it out, or choose another solver, such as steel"
                )
            return newton_pipeline(model, collision)
        self._refuse_ignored_collision(source.pipeline is None)
        return source

    @property
    def _arguments(self) -> dict[str, Any]:
        step = self.config.simulation
        return {"collision": self.config.collision, "dt": step.solver_dt, "substeps": step.substep_count}

    def _refuse_sensors(self, supported: Iterable[str]) -> None:
        observables = self.config.simulation.observables
        refuse_unsupported(self._components.declarations, observables, frozenset(supported), self.name, self._catalog)

    def _refuse_ignored_collision(self, detects_contacts: bool) -> None:
        if detects_contacts and self._original_collision != CollisionConfig():
            raise ConfigError(
                f"collision: solver {self.name!r} detects contacts itself and would ignore this table;"
                " leave it out, or let the solver use Newton's contacts"
            )
        for index, asset in enumerate(self.config.scene.assets):
            if detects_contacts and not asset.convex_hulls:
                raise ConfigError(
                    f"scene.assets[{index}].convex_hulls: false, but solver {self.name!r} detects contacts itself, and"
                    " decides how meshes collide; leave it out, or let the solver use Newton's contacts"
                )

    def _no_solver(self) -> str:
        solver = self.config.solver
        if solver is not None:
            return f"solver.type: plugin {solver.type!r} does not implement build_solver; choose another one"
        installed = ", ".join(self._catalog.names("solver")) or "none"
        return f"solver: missing; add a [solver] table with a type (installed: {installed})"


def _raise(faults: Any, owner: str) -> None:
    if faults is None:
        return
    found = (faults,) if isinstance(faults, str) or not isinstance(faults, Iterable) else tuple(faults)
    if isinstance(faults, str) or not all(isinstance(fault, str) and ": " in fault for fault in found):
        returned = faults if found == (faults,) else list(found)
        raise PluginError(
            f"{owner}: check_model returned {returned!r}; return a sequence of faults `key: what; cure`, empty for none"
        )
    if found:
        raise ConfigError(*found)
