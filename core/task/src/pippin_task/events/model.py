"""Events that change the model or actuator groups, around the built values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ConfigError, did_you_mean
from pippin.arrays import on_host
from pippin.devices import kind_of
from pippin.labels import match
from pippin.state import VariantSelection

from pippin_task import TermContext

from . import configs
from .kernels.model import draw_variants, move, take_variants, vary_masses, vary_particle_masses
from .variation import ModelEvent, RandomEvent, Variation, chosen_objects, refuse_kinematic, variation_ranges


class Mass(ModelEvent):
    """The event `mass`."""

    model_changes = frozenset({"BODY_INERTIAL_PROPERTIES"})
    kernel = vary_masses

    def __init__(self, config: configs.MassConfig, context: TermContext) -> None:
        super().__init__(config, context)
        model: Any = context.simulation.model
        names, bodies = context.bodies(config.bodies)
        context.claim("mass", names, "bodies")
        refuse_kinematic(context, "bodies", bodies, "so its mass changes nothing")
        variation = Variation(config)
        of_bodies = on_host(model.body_mass)[on_host(bodies)]
        if massless := [name for name, mass in zip(names, of_bodies[0], strict=True) if mass <= 0.0]:
            raise ConfigError(f"bodies: {massless[0]!r} has no mass to change; choose others")
        variation.refuse_below_zero(of_bodies, "mass", above=True)
        arrays = [model.body_mass, model.body_inv_mass, model.body_inertia, model.body_inv_inertia]
        self.shape, self.before, self.ranges = bodies.shape, [bodies], variation.arguments
        self.after = [*map(wp.clone, arrays), *arrays]


class Variants(RandomEvent):
    """The event `variants`."""

    model_changes = VariantSelection.model_changes
    moves_bodies = True  # the velocity of a body is that of its centre of mass

    def __init__(self, config: configs.VariantsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        model: Any = context.simulation.model
        names, self._bodies = context.bodies(config.bodies)
        for what in ("mass", "centre of mass", "friction"):
            context.claim(what, names, "bodies")
        rows, variants = on_host(self._bodies), on_host(model.body_variant)
        if without := [name for name, body in zip(names, rows[0], strict=True) if variants[body] < 0]:
            raise ConfigError(f"bodies: {without[0]!r} has no variants; give its object 'variants', or choose others")
        listed = [model.body_variant_labels(body) for body in rows[0].tolist()]
        allowed = [match(config.variants, labels, "variant", "variants") for labels in listed]
        starts = np.cumsum([0, *map(len, allowed)])
        self._allowed, self._starts = context.ints(np.concatenate(allowed)), context.ints(starts)
        # Graphs of a CPU confuse the overloads of the kernel that copies shapes; see docs/explanation/upstream.md.
        self.is_capturable = kind_of(context.device) != "cpu"
        self._built, self._selection = wp.clone(model.body_variant), VariantSelection(model)

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the variants of the masked worlds."""
        chosen = self._selection.chosen
        chosen.fill_(-1)
        self._draw(draw_variants, self._bodies.shape, world_mask, self._bodies, self._starts, self._allowed, chosen)
        self._selection.apply()

    def restore(self, world_mask: wp.array[wp.bool]) -> None:
        """Give the bodies of the masked worlds the variants that they had when the event was made."""
        chosen = self._selection.chosen
        chosen.fill_(-1)
        inputs = [world_mask, self._bodies, self._built, chosen]
        wp.launch(take_variants, self._bodies.shape, inputs, device=world_mask.device)
        self._selection.apply()


_COEFFICIENTS = {
    "slide": "shape_material_mu",
    "spin": "shape_material_mu_torsional",
    "roll": "shape_material_mu_rolling",
}
"""Arrays of the model with coefficients of friction."""


class Friction(ModelEvent):
    """The event `friction`."""

    model_changes = frozenset({"SHAPE_PROPERTIES"})

    def __init__(self, config: configs.FrictionConfig, context: TermContext) -> None:
        super().__init__(config, context)
        attribute = _COEFFICIENTS[config.coefficient]
        context.refuse_unsupported(attribute)
        names, shapes = context.shapes(config.bodies, shapes=config.shapes)
        context.claim(
            "friction" if config.coefficient == "slide" else f"{config.coefficient} friction", names, "bodies"
        )
        values: Any = getattr(context.simulation.model, attribute)
        variation = Variation(config)
        variation.refuse_below_zero(on_host(values)[on_host(shapes)], "coefficient of friction", above=False)
        self.ranges = variation.arguments
        self._vary(values, np.indices(shapes.shape), on_host(shapes), 0)


_FEATURES = {"armature": "armature", "friction": "joint_friction", "damping": "joint_damping"}
"""Features that parameters of joints ask of the solver; the other ones are limits."""


class JointParameters(ModelEvent):
    """The event `joint-parameters`."""

    def __init__(self, config: configs.JointParametersConfig, context: TermContext) -> None:
        super().__init__(config, context)
        host, name = context.simulation, config.parameter
        support, feature = host.services.support, _FEATURES.get(name, "joint_limits")
        if fault := support.left_out(feature) or support.change_fault(feature, f"joint_{name}"):
            raise ConfigError(f"parameter: {fault}")
        labels, _, dofs = context.joints(config.joints)
        context.claim(name, labels, "joints")
        for group, actuator in host.actuators.items():
            if name in getattr(actuator, "drawn_parameters", ()) and set(labels) & set(actuator.joint_labels):
                raise ConfigError(f"parameter: the group {group!r} draws {name!r} itself; leave its joints out")
        self.model_changes = frozenset({f"JOINT_DOF_{'INERTIAL' if name == 'armature' else 'FORCE'}_PROPERTIES"})
        values: Any = getattr(host.model, f"joint_{name}")
        variation, built = Variation(config), on_host(values)[on_host(dofs)]
        self._refuse_values(variation, built, labels, on_host(dofs))
        self.ranges = variation.arguments
        self._vary(values, np.indices(dofs.shape), on_host(dofs), 0)

    def _refuse_values(self, variation: Variation, built: Any, labels: Sequence[str], dofs: Any) -> None:
        """Refuse ranges that reach values which no joint can have, or which the built solver cannot take over."""
        host, name = self.context.simulation, self.config.parameter
        lowest, highest = variation.ends_of(built)
        if name in _FEATURES:
            variation.refuse_below_zero(built, name, above=False)
        else:
            other = "limit_upper" if name == "limit_lower" else "limit_lower"
            end = on_host(getattr(host.model, f"joint_{other}"))[dofs]
            wrong = (np.abs(built) > 1e6) | (highest >= end if name == "limit_lower" else lowest <= end)
            for world, column in np.argwhere(wrong)[:1]:
                raise ConfigError(
                    f"parameter: {labels[column]!r} has limits in world {world} that cannot vary so, or none; narrow"
                    " the range, or leave it out"
                )
        if (found := host.services.support.range_of(f"joint_{name}")) is not None:
            wrong = (lowest < np.asarray(found.low)[dofs]) | (highest > np.asarray(found.high)[dofs])
            for _, column in np.argwhere(wrong)[:1]:
                raise ConfigError(
                    f"parameter: the built solver cannot vary the {name} of {labels[column]!r}; give {found.what} in"
                    " the file, or set scene.settable_joints = true"
                )


class MovedVectors(ModelEvent):
    """Vectors of the model that are moved at random from where they were built."""

    kernel = move

    def __init__(self, config: Any, context: TermContext, indices: wp.array, values: Any) -> None:
        super().__init__(config, context)
        self.shape, self.before, self.after = indices.shape, [indices], [wp.clone(values), values]
        self.ranges = [wp.vec3(*end) for end in config.ends], [wp.vec3()] * 2


class CentreOfMass(MovedVectors):
    """The event `centre-of-mass`."""

    model_changes = frozenset({"BODY_INERTIAL_PROPERTIES"})
    moves_bodies = True  # the velocity of a body is that of its centre of mass

    def __init__(self, config: configs.CentreOfMassConfig, context: TermContext) -> None:
        names, bodies = context.bodies(config.bodies)
        context.claim("centre of mass", names, "bodies")
        refuse_kinematic(context, "bodies", bodies, "so its centre of mass changes nothing")
        super().__init__(config, context, bodies, context.simulation.model.body_com)


class Gravity(MovedVectors):
    """The event `gravity`."""

    model_changes = frozenset({"MODEL_PROPERTIES"})

    def __init__(self, config: configs.GravityConfig, context: TermContext) -> None:
        context.claim("gravity", ["the worlds"], "type")
        worlds = context.ints(range(context.world_count)).reshape((-1, 1))
        super().__init__(config, context, worlds, context.simulation.model.gravity)


_SPRINGS, _TRIANGLES, _EDGES, _TETRAHEDRA = "spring_indices", "tri_indices", "edge_indices", "tet_indices"

_PLACES: Mapping[str, tuple[str, str, int]] = {
    "spring_ke": ("spring_stiffness", _SPRINGS, 0),
    "spring_kd": ("spring_damping", _SPRINGS, 0),
    "tri_ke": ("tri_materials", _TRIANGLES, 0),
    "tri_ka": ("tri_materials", _TRIANGLES, 1),
    "tri_kd": ("tri_materials", _TRIANGLES, 2),
    "tri_drag": ("tri_materials", _TRIANGLES, 3),
    "tri_lift": ("tri_materials", _TRIANGLES, 4),
    "edge_ke": ("edge_bending_properties", _EDGES, 0),
    "edge_kd": ("edge_bending_properties", _EDGES, 1),
    "k_mu": ("tet_materials", _TETRAHEDRA, 0),
    "k_lambda": ("tet_materials", _TETRAHEDRA, 1),
    "k_damp": ("tet_materials", _TETRAHEDRA, 2),
}
"""Array of the model, the particles of its elements, and the column, of each number."""


class Material(ModelEvent):
    """The event `material`."""

    def __init__(self, config: configs.MaterialConfig, context: TermContext) -> None:
        super().__init__(config, context)
        model: Any = context.simulation.model
        array, ends, column = _PLACES.get(config.number, ("particle_mass", "", 0))
        context.refuse_unsupported(array, "number")
        matter, numbers = chosen_objects(context, config.objects, config.number)
        owners = np.full(model.particle_count, -1)  # the row of the object of each particle
        for row, label in enumerate(matter.labels):
            if label in numbers and matter.worlds[row] >= 0:
                owners[matter.starts[row] :][: matter.counts[row]] = row
        values: Any = getattr(model, array)
        of_elements = owners if not ends else _owners(owners, getattr(model, ends))
        built = on_host(values).reshape(len(of_elements), -1) if len(of_elements) else np.zeros((0, column + 1))
        elements = np.flatnonzero(of_elements >= 0)
        elements = elements[built[elements, column] > 0.0]  # what is pinned has no mass
        found = {matter.labels[row] for row in of_elements[elements]}
        if missing := [label for label in numbers if label not in found]:
            raise ConfigError(
                f"number: {missing[0]!r} has no {config.number} to change; state one in the object,"
                " or choose other objects"
            )
        variation = Variation(config)
        variation.refuse_below_zero(built[elements, column], config.number, above=config.number == "particle_mass")
        rows = of_elements[elements]
        of_worlds, of_labels = matter.worlds[rows], [numbers[matter.labels[row]] for row in rows]
        self.ranges = variation.arguments
        self._vary(values, (of_worlds, of_labels), elements, column)
        if not ends:
            self.kernel, arrays = vary_particle_masses, [values, model.particle_inv_mass]
            self.after = [*map(wp.clone, arrays), *arrays]


def _owners(owners: np.ndarray, indices: Any) -> np.ndarray:
    """Return the row of the object of each element, given that of each particle; -1 for none."""
    if indices is None:
        return np.zeros(0, dtype=int)
    corners: Any = on_host(indices)
    return owners[corners.reshape(-1, 2 if corners.ndim == 1 else corners.shape[1]).max(axis=1)]  # springs are flat


class Gains(ModelEvent):
    """The event `gains`."""

    def __init__(self, config: configs.GainsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._group = context.actuator(config.actuator)
        self._refuse_unknown()
        context.claim(config.gain, [config.actuator], "gain")
        self.model_changes = frozenset(self._group.gain_changes)
        variation, values = Variation(config), self._group.gain(config.gain)
        built = on_host(values)
        variation.refuse_below_zero(built, config.gain, above=bool(built.any()))
        self.ranges, indices = variation.arguments, np.indices(built.shape)
        self._vary(values, indices, *indices)

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the gain in the masked worlds."""
        super().apply(state, world_mask)
        self._group.write_gains()

    def restore(self, world_mask: wp.array[wp.bool]) -> None:
        """Put the built gain of the masked worlds back."""
        super().restore(world_mask)
        self._group.write_gains()

    def _refuse_unknown(self) -> None:
        group, config = self._group, self.config
        gains = tuple(getattr(group, "gains", ()))
        if config.gain not in gains:
            hint = did_you_mean(config.gain, gains)
            known = ", ".join(gains) or "none"
            raise ConfigError(f"gain: {config.actuator!r} has no gain {config.gain!r}{hint}; gains: {known}")
        if config.gain in group.drawn_parameters:
            raise ConfigError(
                f"gain: the group {config.actuator!r} draws {config.gain!r} itself at a reset; give it one value there,"
                " or leave the event out"
            )


class JointOffsets(ModelEvent):
    """The event `joint-offsets`."""

    def __init__(self, config: configs.JointOffsetsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        errors = getattr(context.action(config.action, "action"), "errors", None)
        if errors is None:
            raise ConfigError(f"action: {config.action!r} has no targets that may be off; choose another")
        context.claim("offset", [config.action], "action")
        none, indices = (0.0, 0.0), np.indices(errors.shape)
        self.ranges = [variation_ranges(none, config.range, stride=1)], [variation_ranges(none)]
        self._vary(errors, indices, *indices)
