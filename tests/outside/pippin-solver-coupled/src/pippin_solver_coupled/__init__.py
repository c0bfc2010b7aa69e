"""Rigid bodies of one solver in the sand of another one: a solver made of two, both chosen by name."""

from typing import Annotated

import attrs
import pippin
from attrs.validators import ge, gt


@attrs.frozen(kw_only=True)
class CoupledConfig:
    """A solver for the bodies, and implicit MPM for the particles; each acts on the other one."""

    implementation = ".solver:SolverCoupled"

    rigid: Annotated[pippin.ComponentConfig, "solver"]
    """The solver of bodies and joints: a table with its `type` and its keys."""

    particles: Annotated[pippin.ComponentConfig, "solver"]
    """The solver of particles, for example `implicit-mpm`."""

    iterations: int = attrs.field(default=1, validator=ge(1))
    """Passes over both solvers in a substep, so that forces of the sand act in the substep that causes them."""

    mass_scale: float = attrs.field(default=1.0, validator=gt(0.0))
    """Mass with which a body stands in the sand, as a multiple of its own: smaller values are more stable."""
