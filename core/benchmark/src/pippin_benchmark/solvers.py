"""Solvers that are measured: their names, and the configuration that each of them runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pippin import ConfigError, SimulationConfig, load
from pippin.catalog import Catalog
from pippin.measuring import accepting_numbers, with_solver

Overrides = Mapping[str, Any] | Sequence[str]


def solvers_of(names: Sequence[str], config: SimulationConfig | None = None) -> tuple[str, ...]:
    """Return the solvers of some names; by default those without settings, and the one of a configuration."""
    twice = [name for index, name in enumerate(names) if name in names[:index]]
    if twice:
        raise ConfigError(f"solver: {twice[0]!r} is named twice; name each solver once")
    own = () if config is None or config.solver is None else (config.solver.type,)
    return tuple(names) or tuple(dict.fromkeys((*Catalog.installed().names_without_settings("solver"), *own)))


def solver_table(solver: str) -> dict[str, Any]:
    """Return the table of a solver; that of `NAME@FOLDER` names the environment of the folder.

    Raises:
        PluginError: No such solver is installed.
    """
    name, _, environment = solver.partition("@")
    Catalog.installed().find("solver", name)
    return {"type": name, **({"environment": str(Path(environment).absolute())} if environment else {})}


def measurable(file: Path, overrides: Overrides, solver: str) -> SimulationConfig:
    """Return the configuration of a file with a solver, which may ignore numbers if the file has another one."""
    own, config = load(file, overrides).solver, with_solver(file, overrides, solver)
    return config if own is not None and own.type == solver.partition("@")[0] else accepting_numbers(config)
