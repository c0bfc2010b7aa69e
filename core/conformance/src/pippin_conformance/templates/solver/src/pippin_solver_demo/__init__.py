"""Free rigid bodies that fall and tumble, as a Pippin solver: the settings. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import ge


@attrs.frozen(kw_only=True)
class DemoConfig:
    """Symplectic Euler for free rigid bodies: first new velocities, then new poses from the new velocities."""

    implementation = ".solver:SolverDemo"

    damping: float = attrs.field(default=0.0, validator=ge(0.0))
    """Rate at which velocities decay [1/s]."""
