"""For solvers that other solvers are made of: the elements that patterns name, and collision pipelines of parts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import attrs
import newton
import numpy as np

from .config import CollisionConfig
from .config.collision import PARTICLE_NUMBERS
from .errors import ConfigError
from .labels import match
from .matter import OF_PARTICLES, Matter
from .solving.tables import SubSolver
from .support.requirements import find_gaps, without
from .support.used_features import used_features

__all__ = ["build_pipeline", "part_faults", "particles_of"]


def particles_of(model: newton.Model, patterns: Sequence[str], where: str) -> np.ndarray:
    """Return the ascending indices of the particles of some objects, shape [particles]. Reads from the device.

    The objects are those of all worlds.

    Args:
        model: The model.
        patterns: Patterns of labels of objects with particles, such as `flag` or `bed_.*`.
        where: Key path of the patterns, for errors.

    Raises:
        ConfigError: A pattern is not a regular expression, or matches no object.
    """
    objects = Matter.of(model, *OF_PARTICLES)
    rows = np.array(match(patterns, objects.labels, "object with particles", where), dtype=int)
    particles = objects.elements(rows)
    return np.unique(particles[particles >= 0])


def part_faults(
    part: SubSolver, key: str, model: newton.Model, accepted: Collection[str], **arguments: Any
) -> Iterator[str]:
    """Yield why a solver cannot simulate its part of a model, as faults of the solver around it.

    Args:
        part: The solver.
        key: Key path of its table in that of the solver around it: `rigid`.
        model: Its part of the model.
        accepted: Features that the user does without, `simulation.accept_unsupported`.
        arguments: The other arguments of `check_model`.
    """
    gaps = find_gaps(used_features(model, ()), part.declaration, accepted, (), are_stated=True).refused
    for feature, users in gaps.items():
        yield f"{key}: {without(feature, part.type_name, part.declaration, part.catalog, users)}"
    yield from (f"{key}.{fault}" for fault in part.call("check_model", model=model, **arguments) or ())


def build_pipeline(model: newton.Model, config: CollisionConfig) -> newton.CollisionPipeline:
    """Return Newton's collision pipeline with all options of the configuration.

    Raises:
        ConfigError: Newton refuses the configuration for this model, or would ignore a part of it.
    """
    try:
        pipeline = newton.CollisionPipeline(model, **_options(config))
    except (NotImplementedError, ValueError) as error:
        raise ConfigError(f"collision: newton refused it for this model: {error}") from error
    if config.hydroelastic is not None and pipeline.hydroelastic_sdf is None:
        raise ConfigError(
            "collision.hydroelastic: no two shapes that may collide are hydroelastic; leave it out, or set"
            " scene.shapes.is_hydroelastic"
        )
    return pipeline


def _options(config: CollisionConfig) -> dict[str, Any]:
    """Return the arguments of Newton's constructor; nested tables become Newton's own classes."""
    options = attrs.asdict(config, recurse=False)
    for name in ("interval", *PARTICLE_NUMBERS):
        del options[name]
    hydroelastic, reduction = options.pop("hydroelastic"), options.pop("body_pair_reduction")
    if hydroelastic is not None:
        options["sdf_hydroelastic_config"] = newton.geometry.HydroelasticSDF.Config(**attrs.asdict(hydroelastic))
    if reduction is not None:
        reduced = newton.CollisionPipeline.BodyPairReductionConfig
        options["body_pair_reduction"] = reduced(**attrs.asdict(reduction))
    return options
