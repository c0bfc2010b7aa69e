"""A solver on a file: the configuration that it gets, and the figures of its run with their units, titles and texts."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
from pippin.config import SimulationConfig, load
from pippin.config.layers import Override, apply
from pippin.config.loading import read_tree, structure_tree
from pippin.recording.series import Series
from pippin.support.features import FEATURES

_FILE: Mapping[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
UNITS = _FILE["units"]
"""The figures of a result, with their units."""

COLUMNS = _FILE["columns"]
"""The figures of a table, with their titles."""


def with_solver(file: Path, overrides: Mapping[str, Any] | Iterable[str] | None, solver: str) -> SimulationConfig:
    """Return a file's configuration with a solver, as `--set solver.type=NAME` does, without viewers and recorders.

    Args:
        file: A configuration file.
        overrides: Values on top of it, as for `pippin.load`.
        solver: Name of the solver; `NAME@FOLDER` for its engine in the environment of a folder.

    Raises:
        ConfigError: The file is wrong, with this solver or without it.
        PluginError: The solver cannot be chosen.
    """
    config, (name, _, environment) = load(file, overrides), solver.partition("@")
    wanted = {} if config.solver is not None and config.solver.type == name else {"type": name}
    if environment:
        wanted["environment"] = str(Path(environment).absolute())
    if not wanted:
        return config.unobserved()
    chosen = [Override(("solver", key), value, source="") for key, value in wanted.items()]  # nobody has written it
    return structure_tree(apply(read_tree(file, overrides), chosen)).unobserved()


def accepting_numbers(config: SimulationConfig) -> SimulationConfig:
    """Return a configuration that accepts the loss of numbers: the result says which ones the solver ignores.

    Args:
        config: The configuration.
    """
    numbers = [name for name, feature in FEATURES.items() if not feature.is_structural]
    accepted = (*config.simulation.accept_unsupported, *numbers)
    return attrs.evolve(config, simulation=attrs.evolve(config.simulation, accept_unsupported=accepted))


@attrs.frozen(kw_only=True)
class SolverRun:
    """Result of one solver on a file. A figure is None if there was nothing to measure, or the run ended before."""

    solver: str
    """The solver's name."""

    outcome: str
    """"finished", "failed" (during the run) or "unable" (refused before the run)."""

    reason: str | None = None
    """Reason why the run did not finish."""

    ignored: tuple[str, ...] = ()
    """Features of the scene that the solver ignores: those that the file accepts to lose, and all that are only
    numbers if the file names another solver."""

    warnings: tuple[str, ...] = ()
    """Warnings of the run."""

    is_captured: bool | None = None
    """Whether the whole step was replayed from a graph."""

    first_diverged_step: int | None = None
    """The first control step whose result was not finite or beyond the bounds, counted from 1."""

    world_steps_per_second: float | None = None
    """Physics steps of all worlds per second, after the first control step [1/s]."""

    time_to_first_step: float | None = None
    """Time from the start of the process to the end of its first control step, with compilation [s]."""

    energy_drift: float | None = None
    """The largest change of mechanical energy since the start that is not the work of actuators, in any world [J]. None
    if a joint limit is violated, or if something else does work: see `unmeasured_work`."""

    unmeasured_work: tuple[str, ...] = ()
    """What does work of an amount that nobody knows: features of the scene, such as contacts, and tables of the file;
    there is no energy drift with one of them."""

    relative_energy_drift: float | None = None
    """The energy drift in units of the largest kinetic energy that the reference reaches in any world."""

    angle_limit_violation: float | None = None
    """Largest violation of a joint's angle limits [rad]."""

    length_limit_violation: float | None = None
    """Largest violation of a joint's length limits [m]."""

    joint_gap: float | None = None
    """Largest distance between the two anchors of a joint [m]."""

    penetration: float | None = None
    """The deepest penetration of two rigid shapes [m]."""

    distance: float | None = None
    """Largest distance to the reference: root mean square over the positions of bodies and particles [m]."""

    series: Mapping[str, Series] = attrs.field(factory=dict, repr=False)
    """Samples by name: `time` and `distance`, shape [samples]; the others per world, shape [samples, world_count]."""

    def figures(self) -> dict[str, Any]:
        """Return everything but the series, as plain data."""
        return attrs.asdict(self, filter=lambda field, _: field.name != "series")


def figure_text(name: str, value: float | None) -> str:
    """Return a figure as a table shows it.

    Args:
        name: Name of the figure, as in `COLUMNS`.
        value: Its value, in the unit of `UNITS`; None gives no text.
    """
    if value is None:
        return ""
    return f"{value:,.0f}" if name == "world_steps_per_second" else f"{value:.3g}"
