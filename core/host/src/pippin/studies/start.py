"""Start of whatever simulates: the import of Newton."""

from __future__ import annotations

import gc

from pippin.config import SimulationConfig
from pippin.config.extras import refuse_missing_extras
from pippin.simulation import import_hot_modules

from .progress import RunProgress


def import_newton(config: SimulationConfig, progress: RunProgress) -> None:
    """Import Newton and Warp, which takes seconds.

    Args:
        config: The configuration: it tells whether kernels have gradients.
        progress: Shows the phase.

    Raises:
        ConfigError: The configuration needs an extra that is not installed.
    """
    refuse_missing_extras(config)
    with progress.phase("import"):
        import_hot_modules(requires_grad=config.simulation.requires_grad)
    if progress.owns_process:
        gc.freeze()  # the collector need not walk what was imported during the run
