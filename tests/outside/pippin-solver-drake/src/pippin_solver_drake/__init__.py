"""Drake's multibody dynamics in double precision, as a Pippin solver: the settings. Imports neither Warp nor Newton."""

import attrs


@attrs.frozen(kw_only=True)
class DrakeConfig:
    """Trees of joints by Drake's equations of motion, in double precision, by semi-implicit Euler, on the CPU.

    Springs and dampers of joints are implicit. Nothing touches.
    """

    implementation = ".solver:SolverDrake"
