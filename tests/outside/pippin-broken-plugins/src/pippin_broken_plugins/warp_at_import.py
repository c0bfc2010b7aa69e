"""A solver whose module makes an array, which starts Warp and asks for a GPU."""

import attrs
import warp as wp
from pippin_solver_xpbd import XPBDConfig
from pippin_solver_xpbd.solver import SolverXPBD

__all__ = ["WarpAtImport"]

ZEROS = wp.zeros(3, device="cpu")


@attrs.frozen(kw_only=True)
class WarpAtImportConfig(XPBDConfig):
    """Settings of `WarpAtImport`."""

    implementation = "WarpAtImport"


class WarpAtImport(SolverXPBD):
    """Keeps every promise but that of its module."""
