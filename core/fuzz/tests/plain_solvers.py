"""Newton's solvers without what their plugins mend: errors that random mechanisms found, each in a solver that claims
just what shows it.
"""

from typing import ClassVar

import attrs
import newton
import pippin
import warp as wp


class Plain:
    """A solver of Newton as it is built by hand."""

    coordinates = "maximal"
    joints: ClassVar[tuple[str, ...]] = ()

    def __init__(self, config) -> None:
        self.config = config
        named = ("gravity", "rigid_bodies", "heterogeneous_worlds", *self.joints)
        self.supported_features = dict.fromkeys(named, "live")

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register what Kamino reads."""
        newton.solvers.SolverKamino.register_custom_attributes(builder)

    @pippin.hookimpl
    def complete_builder(self, builder: newton.ModelBuilder) -> None:
        """Colour bodies for VBD."""
        builder.color()

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverBase:
        """Return the solver."""
        return newton.solvers.SolverXPBD(model)


class Sliders(Plain):
    """XPBD leaves each axis free that a skew slider touches."""

    joints = ("prismatic_joints",)


class Hinges(Plain):
    """XPBD relaxes the two halves of an impulse otherwise by default, which is another inertia."""

    joints = ("revolute_joints",)


class Cylinders(Plain):
    """Kamino takes a slide and a hinge of one body for a cylindrical joint, whatever their axes."""

    joints = ("revolute_joints", "prismatic_joints", "d6_joints")

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverBase:
        """Return the solver."""
        return newton.solvers.SolverKamino(model)


class Unplaced(Plain):
    """VBD takes the poses of the model for those in which joints rest, and nobody has placed the bodies."""

    joints = ("revolute_joints",)

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverBase:
        """Return the solver."""
        placed = wp.clone(model.body_q)
        model.body_q.assign([wp.transform_identity()] * model.body_count)
        solver = newton.solvers.SolverVBD(model, rigid_joint_linear_ke=1e7, rigid_joint_angular_ke=1e6)
        wp.copy(model.body_q, placed)
        return solver


@attrs.frozen(kw_only=True)
class SlidersConfig:
    """See `Sliders`."""

    implementation = "Sliders"


@attrs.frozen(kw_only=True)
class HingesConfig:
    """See `Hinges`."""

    implementation = "Hinges"


@attrs.frozen(kw_only=True)
class CylindersConfig:
    """See `Cylinders`."""

    implementation = "Cylinders"


@attrs.frozen(kw_only=True)
class UnplacedConfig:
    """See `Unplaced`."""

    implementation = "Unplaced"
