"""The job of a variant: it reads a configuration, runs it, and leaves a folder with its summary."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping
from pathlib import Path

from pippin import PippinError, load
from pippin.studies import import_hot_modules

from .sweep_folder import publish


def prepare(*, requires_grad: bool) -> None:
    """Import and start Warp, and import Newton and the run of a variant, which takes seconds."""
    import_hot_modules(requires_grad=requires_grad)
    from . import variant_run  # noqa: F401

    gc.freeze()  # the collector need not walk it in each variant


def run(
    *,
    folder: str,
    final: str,
    steps: int,
    kernels: str,
    requires_grad: bool,
    settings: Mapping[str, str],
    is_shared: bool,
) -> None:
    """Run the configuration in a folder, write its summary beside it, and rename the folder.

    Args:
        folder: Folder with `config.toml`.
        final: The name that the folder gets when it is whole.
        steps: Control steps to simulate.
        kernels: `Variant.kernels`.
        requires_grad: Whether kernels are compiled with gradients, because some variant of the sweep needs them.
        settings: The swept keys and their values, for the summary.
        is_shared: Whether other variants run on this machine at the same time, so that times are not measurements.
    """
    started = time.perf_counter()
    import_hot_modules(requires_grad=requires_grad)
    from .variant_run import run_variant

    try:
        config = load(Path(folder) / "config.toml")
        summary = run_variant(config, Path(folder), steps, kernels)
    except PippinError as error:  # before the first step: the file, a plugin, or the solver
        summary = {"outcome": "refused", "reason": str(error)}
    facts = {"seconds": time.perf_counter() - started, "settings": dict(settings), "is_shared": is_shared}
    publish(Path(folder), Path(final), {**summary, **facts})
