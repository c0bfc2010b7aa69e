"""Events that change the model: masses, centres of mass, friction and gravity. Each draws around the built values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs
from pippin.errors import ConfigError
from pippin.task.ranges import ZERO, Range, ordered, ranged
from pippin.task.terms import Event, EventConfig

if TYPE_CHECKING:
    import newton
    import numpy as np
    import warp as wp
    from pippin.task.context import TermContext

__all__ = ["CentreOfMass", "Friction", "Gravity", "Mass", "Variation", "VariedConfig"]

_ONE: Range = (1.0, 1.0)


def _stands_alone(instance: VariedConfig, attribute: attrs.Attribute[Any], value: Range | None) -> None:
    if value is not None and (instance.scale != _ONE or instance.add != ZERO):
        raise ValueError("'range' stands in place of 'scale' and 'add'; leave it, or the others, out")


@attrs.frozen(kw_only=True)
class VariedConfig(EventConfig):
    """A random value: scale × the built value + a number. Or a value of its own, from `range`."""

    when: Literal["startup", "reset", "interval"] = "startup"
    """Time of the event: once at the start, at the beginning of each episode, or after random times."""

    scale: Range = ranged(_ONE)
    """Range of the factor of the built value."""

    add: Range = ranged()
    """Range of what is added, in the unit of the value."""

    range: Range | None = attrs.field(default=None, validator=[ordered, _stands_alone])
    """Range of the value itself, in place of `scale` and `add`."""

    shared: bool = False
    """Whether all chosen parts of a world take one draw; by default each has its own."""


class Variation:
    """The ranges of random values around built ones.

    Args:
        config: The ranges.
    """

    def __init__(self, config: VariedConfig) -> None:
        is_set = config.range is not None
        self.scale: Range = ZERO if is_set else config.scale
        self.add: Range = config.add if config.range is None else config.range
        #: Columns that tell draws apart: 0 for one draw in a world, 1 for one of each part.
        self.stride = 0 if config.shared else 1

    @property
    def arguments(self) -> list[Any]:
        """The ranges and the stride, for kernels."""
        import warp as wp

        return [wp.vec2(*self.scale), wp.vec2(*self.add), self.stride]

    def refuse_below_zero(self, built: np.ndarray, what: str, *, above: bool) -> None:
        """Refuse ranges that reach values below zero, or zero itself if values must be above it.

        Raises:
            ConfigError: Tells the lowest value.
        """
        lowest = float((built[..., None] * self.scale).min(initial=float("inf"))) + self.add[0]
        if lowest < 0.0 or (above and lowest == 0.0):
            bound = "above 0" if above else "at least 0"
            raise ConfigError(f"the {what} can become {lowest:g}, and must be {bound}; choose narrower ranges")


@attrs.frozen(kw_only=True)
class MassConfig(VariedConfig):
    """Random masses of bodies [kg]. Inertias are scaled with them."""

    bodies: tuple[str, ...] = (".*",)
    """Patterns of names of bodies."""


class Mass(Event):
    """The event `mass`."""

    Config: ClassVar[type] = MassConfig
    model_changes = frozenset({"BODY_INERTIAL_PROPERTIES"})

    def __init__(self, config: MassConfig, context: TermContext) -> None:
        super().__init__(config, context)
        import warp as wp

        model: Any = context.simulation.model
        names, self._bodies = context.bodies(config.bodies)
        context.claim("mass", names, "bodies")
        self._variation = Variation(config)
        of_bodies = model.body_mass.numpy()[self._bodies.numpy()]
        if massless := [name for name, mass in zip(names, of_bodies[0], strict=True) if mass <= 0.0]:
            raise ConfigError(f"bodies: {massless[0]!r} has no mass to change; choose others")
        self._variation.refuse_below_zero(of_bodies, "mass", above=True)
        self._arrays = [model.body_mass, model.body_inv_mass, model.body_inertia, model.body_inv_inertia]
        self._built = [wp.clone(array) for array in self._arrays]
        self.draws = context.draws()

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the masses in the masked worlds."""
        import warp as wp

        from .kernels.model import vary_masses

        inputs = [world_mask, *self.draws.arguments, self._bodies, *self._variation.arguments]
        wp.launch(vary_masses, self._bodies.shape, [*inputs, *self._built], [*self._arrays], device=world_mask.device)
        self.draws.advance(world_mask)


@attrs.frozen(kw_only=True)
class FrictionConfig(VariedConfig):
    """Random coefficients of friction of the shapes of bodies. The solver combines those of two shapes that touch."""

    bodies: tuple[str, ...] = (".*",)
    """Patterns of names of bodies."""


class Friction(Event):
    """The event `friction`."""

    Config: ClassVar[type] = FrictionConfig
    model_changes = frozenset({"SHAPE_PROPERTIES"})

    def __init__(self, config: FrictionConfig, context: TermContext) -> None:
        super().__init__(config, context)
        import warp as wp

        context.refuse_unsupported("shape_material_mu")
        names, self._shapes = context.shapes(config.bodies)
        context.claim("friction", names, "bodies")
        self._values: Any = context.simulation.model.shape_material_mu
        self._built: Any = wp.clone(self._values)
        self._variation = Variation(config)
        self._variation.refuse_below_zero(
            self._built.numpy()[self._shapes.numpy()], "coefficient of friction", above=False
        )
        self.draws = context.draws()

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the coefficients in the masked worlds."""
        import warp as wp

        from .kernels.model import vary

        inputs = [world_mask, *self.draws.arguments, self._shapes, *self._variation.arguments]
        wp.launch(vary, self._shapes.shape, [*inputs, self._built, self._values], device=world_mask.device)
        self.draws.advance(world_mask)


@attrs.frozen(kw_only=True)
class MovedConfig(EventConfig):
    """Ranges of what is added to a vector."""

    when: Literal["startup", "reset", "interval"] = "startup"
    """Time of the event: once at the start, at the beginning of each episode, or after random times."""

    x: Range = ranged()
    """Range along x."""

    y: Range = ranged()
    """Range along y."""

    z: Range = ranged()
    """Range along z."""

    @property
    def ends(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The lowest and the highest values along x, y and z."""
        low, high = zip(self.x, self.y, self.z, strict=True)
        return low, high


@attrs.frozen(kw_only=True)
class CentreOfMassConfig(MovedConfig):
    """Random centres of mass of bodies: the ranges are of what is added, in axes of the body [m]."""

    bodies: tuple[str, ...] = (".*",)
    """Patterns of names of bodies."""


class CentreOfMass(Event):
    """The event `centre-of-mass`."""

    Config: ClassVar[type] = CentreOfMassConfig
    model_changes = frozenset({"BODY_INERTIAL_PROPERTIES"})
    moves_bodies = True  # the velocity of a body is that of its centre of mass

    def __init__(self, config: CentreOfMassConfig, context: TermContext) -> None:
        super().__init__(config, context)
        names, self._bodies = context.bodies(config.bodies)
        context.claim("centre of mass", names, "bodies")
        self._vectors = _Vectors(context, self._bodies, context.simulation.model.body_com, config)

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the centres of mass in the masked worlds."""
        self._vectors.move(world_mask)


@attrs.frozen(kw_only=True)
class GravityConfig(MovedConfig):
    """Random gravity: the ranges are of what is added, in axes of the world [m/s²]."""


class Gravity(Event):
    """The event `gravity`."""

    Config: ClassVar[type] = GravityConfig
    model_changes = frozenset({"MODEL_PROPERTIES"})

    def __init__(self, config: GravityConfig, context: TermContext) -> None:
        super().__init__(config, context)
        import numpy as np
        import warp as wp

        context.claim("gravity", ["the worlds"], "type")
        rows = np.arange(context.world_count, dtype=np.int32)[:, None]
        indices: Any = wp.array(rows, dtype=int, device=context.device)
        self._vectors = _Vectors(context, indices, context.simulation.model.gravity, config)

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the gravity of the masked worlds."""
        self._vectors.move(world_mask)


class _Vectors:
    """Vectors of the model that are moved at random from where they were built.

    Args:
        context: The context of the event.
        indices: Index of each vector, shape [worlds, vectors].
        values: The array of the model.
        config: The ranges.
    """

    def __init__(self, context: TermContext, indices: wp.array, values: Any, config: MovedConfig) -> None:
        import warp as wp

        self._indices, self._values, self._built = indices, values, wp.clone(values)
        self._config, self.draws = config, context.draws()

    def move(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the vectors of the masked worlds."""
        import warp as wp

        from .kernels.model import move

        ends = [wp.vec3(*end) for end in self._config.ends]
        inputs = [world_mask, *self.draws.arguments, self._indices, *ends, self._built, self._values]
        wp.launch(move, self._indices.shape, inputs, device=world_mask.device)
        self.draws.advance(world_mask)
