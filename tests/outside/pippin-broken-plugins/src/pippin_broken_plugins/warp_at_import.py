"""A solver whose module makes an array, which starts Warp and asks for a GPU."""

import warp as wp
from pippin_solver_xpbd import SolverXPBD

__all__ = ["WarpAtImport"]

ZEROS = wp.zeros(3, device="cpu")


class WarpAtImport(SolverXPBD):
    """Keeps every promise but that of its module."""
