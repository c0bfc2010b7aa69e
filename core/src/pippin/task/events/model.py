"""Events that change the model: masses, centres of mass, friction and gravity. Each draws around the built values."""

from __future__ import annotations

from typing import Any

import newton
import warp as wp
from pippin import ConfigError
from pippin.arrays import on_host
from pippin.task import TermContext

from .config import CentreOfMassConfig, FrictionConfig, GravityConfig, MassConfig, MovedConfig
from .kernels.model import move, vary, vary_masses
from .variation import RandomEvent, Variation


class Mass(RandomEvent):
    """The event `mass`."""

    model_changes = frozenset({"BODY_INERTIAL_PROPERTIES"})

    def __init__(self, config: MassConfig, context: TermContext) -> None:
        super().__init__(config, context)
        model: Any = context.simulation.model
        names, self._bodies = context.bodies(config.bodies)
        context.claim("mass", names, "bodies")
        self._variation = Variation(config)
        built, chosen = on_host(model.body_mass), on_host(self._bodies)
        of_bodies = built[chosen]
        if massless := [name for name, mass in zip(names, of_bodies[0], strict=True) if mass <= 0.0]:
            raise ConfigError(f"bodies: {massless[0]!r} has no mass to change; choose others")
        self._variation.refuse_below_zero(of_bodies, "mass", above=True)
        self._arrays = [model.body_mass, model.body_inv_mass, model.body_inertia, model.body_inv_inertia]
        self._built = [wp.clone(array) for array in self._arrays]

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the masses in the masked worlds."""
        inputs = [self._bodies, *self._variation.arguments, *self._built, *self._arrays]
        self._draw(vary_masses, self._bodies.shape, world_mask, *inputs)


class Friction(RandomEvent):
    """The event `friction`."""

    model_changes = frozenset({"SHAPE_PROPERTIES"})

    def __init__(self, config: FrictionConfig, context: TermContext) -> None:
        super().__init__(config, context)
        context.refuse_unsupported("shape_material_mu")
        names, self._shapes = context.shapes(config.bodies)
        context.claim("friction", names, "bodies")
        self._values: Any = context.simulation.model.shape_material_mu
        self._built = wp.clone(self._values)
        self._variation = Variation(config)
        built = on_host(self._built)[on_host(self._shapes)]
        self._variation.refuse_below_zero(built, "coefficient of friction", above=False)

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the coefficients in the masked worlds."""
        inputs = [self._shapes, *self._variation.arguments, self._built, self._values]
        self._draw(vary, self._shapes.shape, world_mask, *inputs)


class MovedVectors(RandomEvent):
    """Vectors of the model that are moved at random from where they were built."""

    def __init__(self, config: MovedConfig, context: TermContext, indices: wp.array, values: Any) -> None:
        super().__init__(config, context)
        self._indices, self._values, self._built = indices, values, wp.clone(values)

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the vectors of the masked worlds."""
        ends = [wp.vec3(*end) for end in self.config.ends]
        self._draw(move, self._indices.shape, world_mask, self._indices, *ends, self._built, self._values)


class CentreOfMass(MovedVectors):
    """The event `centre-of-mass`."""

    model_changes = frozenset({"BODY_INERTIAL_PROPERTIES"})
    moves_bodies = True  # the velocity of a body is that of its centre of mass

    def __init__(self, config: CentreOfMassConfig, context: TermContext) -> None:
        names, bodies = context.bodies(config.bodies)
        context.claim("centre of mass", names, "bodies")
        super().__init__(config, context, bodies, context.simulation.model.body_com)


class Gravity(MovedVectors):
    """The event `gravity`."""

    model_changes = frozenset({"MODEL_PROPERTIES"})

    def __init__(self, config: GravityConfig, context: TermContext) -> None:
        context.claim("gravity", ["the worlds"], "type")
        worlds = context.ints(range(context.world_count)).reshape((-1, 1))
        super().__init__(config, context, worlds, context.simulation.model.gravity)
