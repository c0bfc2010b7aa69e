"""Events that change the model: masses, centres of mass, friction, joints and gravity, around the built values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.arrays import on_host

from pippin_task import TermContext

from .configs import (
    CentreOfMassConfig,
    FrictionConfig,
    GravityConfig,
    JointParametersConfig,
    MassConfig,
    MovedConfig,
)
from .kernels.model import move, vary_masses
from .variation import ModelEvent, Variation, refuse_kinematic


class Mass(ModelEvent):
    """The event `mass`."""

    model_changes = frozenset({"BODY_INERTIAL_PROPERTIES"})
    kernel = vary_masses

    def __init__(self, config: MassConfig, context: TermContext) -> None:
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


class Friction(ModelEvent):
    """The event `friction`."""

    model_changes = frozenset({"SHAPE_PROPERTIES"})

    def __init__(self, config: FrictionConfig, context: TermContext) -> None:
        super().__init__(config, context)
        context.refuse_unsupported("shape_material_mu")
        names, shapes = context.shapes(config.bodies)
        context.claim("friction", names, "bodies")
        values: Any = context.simulation.model.shape_material_mu
        variation = Variation(config)
        variation.refuse_below_zero(on_host(values)[on_host(shapes)], "coefficient of friction", above=False)
        self.ranges = variation.arguments
        self._vary(values, np.indices(shapes.shape), on_host(shapes), 0)


_FEATURES = {"armature": "armature", "friction": "joint_friction", "damping": "joint_damping"}
"""Features that parameters of joints ask of the solver; the other ones are limits."""


class JointParameters(ModelEvent):
    """The event `joint-parameters`."""

    def __init__(self, config: JointParametersConfig, context: TermContext) -> None:
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

    def __init__(self, config: MovedConfig, context: TermContext, indices: wp.array, values: Any) -> None:
        super().__init__(config, context)
        self.shape, self.before, self.after = indices.shape, [indices], [wp.clone(values), values]
        self.ranges = [wp.vec3(*end) for end in config.ends], [wp.vec3()] * 2


class CentreOfMass(MovedVectors):
    """The event `centre-of-mass`."""

    model_changes = frozenset({"BODY_INERTIAL_PROPERTIES"})
    moves_bodies = True  # the velocity of a body is that of its centre of mass

    def __init__(self, config: CentreOfMassConfig, context: TermContext) -> None:
        names, bodies = context.bodies(config.bodies)
        context.claim("centre of mass", names, "bodies")
        refuse_kinematic(context, "bodies", bodies, "so its centre of mass changes nothing")
        super().__init__(config, context, bodies, context.simulation.model.body_com)


class Gravity(MovedVectors):
    """The event `gravity`."""

    model_changes = frozenset({"MODEL_PROPERTIES"})

    def __init__(self, config: GravityConfig, context: TermContext) -> None:
        context.claim("gravity", ["the worlds"], "type")
        worlds = context.ints(range(context.world_count)).reshape((-1, 1))
        super().__init__(config, context, worlds, context.simulation.model.gravity)
