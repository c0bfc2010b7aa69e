"""The configuration of a file with another solver, which may ignore what are only numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
from pippin.config import SimulationConfig, load
from pippin.config.layers import Override, apply
from pippin.config.loading import read_tree, structure_tree
from pippin.support.features import FEATURES


def with_solver(file: Path, overrides: Mapping[str, Any] | Iterable[str] | None, solver: str) -> SimulationConfig:
    """Return a file's configuration with a solver, as `--set solver.type=NAME` does, without viewers and recorders.

    Args:
        file: A configuration file.
        overrides: Values on top of it, as for `pippin.load`.
        solver: Name of the solver.

    Raises:
        ConfigError: The file is wrong, with this solver or without it.
        PluginError: The solver cannot be chosen.
    """
    config = load(file, overrides)
    if config.solver is not None and config.solver.type == solver:
        return config.unobserved()
    chosen = Override(("solver", "type"), solver, source="")  # nobody has written it
    return structure_tree(apply(read_tree(file, overrides), [chosen])).unobserved()


def accepting_numbers(config: SimulationConfig) -> SimulationConfig:
    """Return a configuration that accepts the loss of numbers: the result says which ones the solver ignores.

    Args:
        config: The configuration.
    """
    numbers = [name for name, feature in FEATURES.items() if not feature.is_structural]
    accepted = (*config.simulation.accept_unsupported, *numbers)
    return attrs.evolve(config, simulation=attrs.evolve(config.simulation, accept_unsupported=accepted))
