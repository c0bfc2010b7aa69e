"""The configuration of a file with another solver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pippin.config import SimulationConfig, load
from pippin.config.loading import read_tree, structure_tree
from pippin.config.overrides import Override, apply


def with_solver(file: Path, overrides: Mapping[str, Any] | Iterable[str] | None, solver: str) -> SimulationConfig:
    """Return a file's configuration with a solver, and without viewers and recorders.

    Unless the file names this solver, its settings are the defaults.
    """
    config = load(file, overrides)
    if config.solver is not None and config.solver.type == solver:
        return config.unobserved()
    unwritten = Override(("solver",), {"type": solver}, source="")  # neither the file nor the user has written it
    return structure_tree(apply(read_tree(file, overrides), [unwritten])).unobserved()
