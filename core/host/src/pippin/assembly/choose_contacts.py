"""Sources of contacts: Newton's collision pipeline, run by the host or by the solver."""

from __future__ import annotations

from collections.abc import Sequence

import newton
import warp as wp
from pippin.arrays import present
from pippin.assets.mjcf.contact_dimensions import has_dimensions
from pippin.components.registry import Components
from pippin.config import CollisionConfig
from pippin.coupling import build_pipeline
from pippin.errors import ConfigError
from pippin.solving.capacities import Capacity, pipeline_capacities
from pippin.solving.contact_source import ContactSource


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
        contacts=contacts,
        pipeline=pipeline if can_meet else None,
        interval=config.interval,
        capacities=capacities,
    )


def _adaptive(
    model: newton.Model,
    pipeline: newton.CollisionPipeline,
    contacts: newton.Contacts,
    capacities: Sequence[Capacity],
) -> ContactSource:
    """Return a source whose pipeline runs as the bodies' speeds demand."""
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


def refuse_unusable(config: CollisionConfig, solver: newton.solvers.SolverBase, name: str) -> None:
    """Refuse contacts that the solver does not accept; Newton would refuse them only in the first step."""
    if config.body_pair_reduction is not None and not solver.supports_body_pair_reduced_contacts:
        raise ConfigError(
            f"collision.body_pair_reduction: solver {name!r} needs every contact of a pair of bodies;"
            " leave it out, or choose another solver, such as steel"
        )


def reads_dimensions(components: Components) -> bool:
    """Tell whether the solver reads dimensions of contacts: its `configure_builder` registers them."""
    builder, solver = newton.ModelBuilder(), components.single("build_solver")
    for answer in components.implementations("configure_builder"):
        if solver is not None and answer.owner == solver.owner:
            answer.call(builder=builder)
    return has_dimensions(builder)
