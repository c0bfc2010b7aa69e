"""Pinocchio as a solver: free motion of robots of hinges, sliders and free bodies, in double precision."""

import attrs


@attrs.frozen(kw_only=True)
class PinocchioConfig:
    """The articulated-body algorithm and a semi-implicit Euler step, on the CPU; nothing collides."""

    implementation = ".solver:SolverPinocchio"
