"""The judgement of solvers and laws by logs, as a study: one fit after the other, under one contract."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError, PluginError, Simulation, SimulationConfig, SimulationError, did_you_mean, load
from pippin.config import toml_text, unstructure
from pippin.report import Markup
from pippin.studies import Overlay, RunFolder, RunProgress, Study, run_study
from pippin.studies.progress import progress_shown_by
from pippin_fit import FitConfig, FitResult, FitSignalConfig, fit

from .judgement import Candidate, Judgement
from .laws import BEFORE, LAWS, SERVOS, Group, Loads
from .unseen import Unseen, largest_loads

CANDIDATES = "candidates"
"""The folder of the fits, in that of the results."""

FILE = "file"
"""Name of the law that the file has."""

_FIRST_ANGLE, _FIRST_SPEED = 0.3, 5.0
"""Distance to a target [rad or m], and a speed, before a fit has told those of the logs."""

_OF_JOINTS = ("armature", "damping", "friction", "offset")
"""Numbers of a group that are none of its law."""

_LIMITED = 0.7
"""Second start of a limit of efforts, as a share of the largest effort: the residuals then change with the limit."""

_AT_NOISE = 1.2
"""Residual [σ] below which nothing but noise is left."""

Overrides = Mapping[str, Any] | Iterable[str] | None
Logs = Sequence[str | os.PathLike[str]]


def judge(
    file: str | os.PathLike[str],
    logs: Logs = (),
    overrides: Overrides = None,
    *,
    solvers: Sequence[str] = (),
    laws: Sequence[str] = (),
    holdout: Logs = (),
    noise: float | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
) -> Judgement:
    """Find the solver and the law of actuators that explain logs of a robot.

    Each solver with each law is a candidate. All are fitted to the same windows of the same logs, as the table `[fit]`
    of the file says, and are compared by other windows, which no fit sees.

    Args:
        file: The configuration file, with a table `[fit]`.
        logs: Logs besides those of `fit.logs`.
        overrides: Values on top of the file, as for `pippin.load`.
        solvers: Names of solvers; by default that of the file.
        laws: Names of laws: those of `LAWS`, `servo` for all its formulas, `file` for the law of the file under each
            solver, or a TOML file with other tables `[actuators]` and `[fit.parameters]`; by default all of `LAWS`.
        holdout: Logs that no fit sees, besides what `fit.validation` and `fit.validation_logs` hold out.
        noise: Standard deviation of the positions [rad or m], which are then the only signal; by default it is
            estimated from the logs.
        seed: Seed of the samples that intervals come from.
        out: The folder, new or empty; by default `runs/NAME-DATE-TIME`. In the folder of a judgement that was stopped,
            the same call continues.

    Raises:
        ConfigError: The file, a log or an argument is wrong, or no candidate could be fitted.
        PluginError: A plugin of the file cannot be loaded.
        KeyboardInterrupt: Ctrl-C ended it; `args[0]` is the result so far, if there is one.
    """
    folder = None if out is None else RunFolder(Path(out), continues=(Path(out) / CANDIDATES).is_dir())
    study = JudgeStudy(logs, solvers, laws, holdout, noise, seed)
    return run_study(study, file, overrides, out=folder)


class JudgeStudy(Study[Judgement]):
    """The judgement of solvers and laws; the arguments are those of `judge`."""

    kind = "judgement"

    def __init__(
        self,
        logs: Logs,
        solvers: Sequence[str],
        laws: Sequence[str],
        holdout: Logs,
        noise: float | None,
        seed: int,
    ) -> None:
        self._logs, self._solvers, self._laws = _absolute(logs), tuple(solvers), laws_of(laws)
        self._holdout, self._noise, self._seed = _absolute(holdout), noise, seed
        self._groups: tuple[Group, ...] = ()
        self._candidates: list[Candidate] = []

    def prepare(self, config: SimulationConfig, file: Path) -> SimulationConfig:
        """Return the configuration that all candidates share, with the logs."""
        table = config.fit
        if not isinstance(table, FitConfig):
            raise ConfigError(f"{file}: has no [fit] table; add one, with parameters")
        if config.solver is None:
            raise ConfigError(f"{file}: has no [solver]; add one")
        table = attrs.evolve(
            table, logs=(*table.logs, *self._logs), validation_logs=(*table.validation_logs, *self._holdout)
        )
        if not (table.validation or table.validation_logs):
            raise ConfigError(
                "holdout: no log is held out, so that nothing judges the candidates; give --holdout LOG, or set"
                " fit.validation to a share of the windows"
            )
        if set(self._laws) & set(LAWS) and table.command != "position_targets":
            raise ConfigError(
                f"fit.command: {table.command!r} has no target to which {LAWS[0]!r} could pull; write laws into files,"
                " --law FILE.toml"
            )
        if self._noise is not None:
            table = attrs.evolve(table, signals={"position": FitSignalConfig(std=self._noise)})
        self._solvers = self._solvers or (config.solver.type,)
        if twice := [name for number, name in enumerate(self._solvers) if name in self._solvers[:number]]:
            raise ConfigError(f"solver: {twice[0]!r} is named twice; name each solver once")
        return config.unobserved().with_tables(fit=table)

    def build(self, config: SimulationConfig, folder: RunFolder) -> None:
        """Read the numbers of the groups, and write the file that all candidates extend."""
        self._config, self._folder = config, folder.path / CANDIDATES
        labels = dict.fromkeys(key.split(".")[1] for key in config.fit.parameters if key.startswith("actuators."))
        with Simulation(config) as simulation:
            self._groups = tuple(_group(simulation, config, label) for label in labels)
        RunFolder(self._folder, continues=True).write_text("file.toml", toml_text(unstructure(config)))

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Fit one candidate after the other: first the file as it is."""
        own = self._config.solver.type
        first = own if own in self._solvers else self._solvers[0]
        known = {group.law or FILE for group in self._groups}
        name = known.pop() if len(known) == 1 else FILE
        base = self._judged(first, FILE, None, progress, stop_if_asked, name)
        for solver in self._solvers:
            fits = {FILE: base, **({name: base} if solver == first else {})}
            for law in self._laws:
                if law not in fits or (law == FILE and solver != first):
                    fits[law] = self._judged(solver, law, fits, progress, stop_if_asked)
        if not any(each.fit for each in self._candidates):
            raise ConfigError(*(f"{each.name}: {each.reason}" for each in self._candidates))

    def _judged(
        self,
        solver: str,
        law: str,
        fits: Mapping[str, FitResult | None] | None,
        progress: RunProgress,
        stop_if_asked: Callable[[], None],
        called: str = "",
    ) -> FitResult | None:
        """Fit a candidate, and keep it, perhaps called otherwise; return its fit, or None if it was not fitted."""
        called = called or Path(law).stem
        name = f"{solver}.{Path(law).stem}".replace("/", "-")
        stop_if_asked()
        try:
            with progress.phase(name), progress_shown_by(_Line(progress)), warnings.catch_warnings(record=True) as noted:
                warnings.simplefilter("always")
                found = self._fit(name, solver, law, fits or {})
            one = Candidate(solver=solver, law=called, fit=found, unseen=Unseen.of(found))
        except (ConfigError, PluginError, SimulationError) as error:
            one = Candidate(solver=solver, law=called, reason=str(error))
        texts = dict.fromkeys(" ".join(str(each.message).split()) for each in noted)
        self._candidates.append(attrs.evolve(one, notes=tuple(texts)))
        return one.fit

    def _fit(self, name: str, solver: str, law: str, fits: Mapping[str, FitResult | None]) -> FitResult:
        """Fit a candidate; if its law has a limit and does not explain the logs, from a second start, too."""
        found = fit(self._write(name, solver, law, fits), out=self._folder / name, tries_delay=False)
        if law not in ("dc-motor", "servo-m1") or found.costs[-1] < _AT_NOISE:
            return found
        name = f"{name}.limited"
        file = self._write(name, solver, law, fits, limit=_LIMITED)
        other = fit(file, out=self._folder / name, tries_delay=False)
        return min(found, other, key=lambda each: each.costs[-1])

    def _write(
        self, name: str, solver: str, law: str, fits: Mapping[str, FitResult | None], **start: float
    ) -> Path:
        """Write the file of a candidate, whose search has a start."""
        tables: dict[str, Any] = {"extends": ["file.toml"]}
        if solver != self._config.solver.type:
            tables["solver"] = {"extends": False, "type": solver}
        if law in LAWS:
            tables |= self._tables_of(law, fits, **start)
        elif law != FILE:
            tables["extends"].append(os.path.abspath(law))
        RunFolder(self._folder, continues=True).write_text(f"{name}.toml", toml_text(tables))
        return self._folder / f"{name}.toml"

    def _tables_of(self, law: str, fits: Mapping[str, FitResult | None], **first: float) -> dict[str, Any]:
        """Return the tables of a law, which starts from the values of a simpler one."""
        before = next((each for each in BEFORE[law] if fits.get(each) is not None), FILE)
        if law in SERVOS and before not in SERVOS and all(group.kind == "servo" for group in self._groups):
            before = FILE
        result = fits.get(before)
        actuators: dict[str, Any] = {}
        varied: dict[str, Any] = {}
        for group in self._groups:
            start = group if result is None else _refitted(group, before, result)
            logged = [label for label in group.joints if result is None or label in result.joints]
            actuators[group.label], own = start.under(law, attrs.evolve(_loads(start, result), **first), logged)
            varied |= own
        kept = {key: each for key, each in self._config.fit.parameters.items() if not key.startswith("actuators.")}
        return {"actuators": actuators, "fit": {"parameters": {"extends": False, **unstructure(kept), **varied}}}

    def result(self, folder: Path) -> Judgement | None:
        """Return the candidates so far; None before the first fit."""
        found = sorted(self._candidates, key=lambda each: each.error)
        if not any(each.fit for each in found):
            return None
        base = self._candidates[0].fit
        nominal = None if base is None else Unseen.of(base, column=1)
        return Judgement(
            folder=folder,
            candidates=tuple(found),
            nominal=None if nominal is None else nominal.error,
            nominal_distance=None if nominal is None else nominal.distance,
            seed=self._seed,
            start=self._config.fit.start,
        )

    def overlay(self, result: Judgement) -> Overlay:
        """Return the file with the solver and the law of the winner, and with its values."""
        from .judge_page import answer

        winner = result.winner
        assert winner.fit is not None, "a winner was fitted"
        found, labels = load(winner.fit.file), [group.label for group in self._groups]
        actuators = {label: {"extends": False, **unstructure(found.actuators[label])} for label in labels}
        tables: dict[str, Any] = {"solver": {"extends": False, **unstructure(found.solver)}, "actuators": actuators}
        if found.scene.bodies:
            tables["scene"] = {"bodies": {"extends": False, **unstructure(found.scene.bodies)}}
        tables["fit"] = {"parameters": {"extends": False, **unstructure(found.fit.parameters)}}
        return Overlay(name=result.file.name, tables=tables, notes=[line for line in answer(result) if line])

    def page(self, result: Judgement, file: Path) -> Iterator[Markup]:
        """Return the answer, the candidates, and the values of the winner."""
        from .judge_page import judge_page

        return judge_page(result, file)


def laws_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of laws, simple ones first, and files of laws at the end."""
    chosen: list[str] = []
    for name in names or LAWS:
        if name == "servo":
            chosen += SERVOS
        elif name in (*LAWS, FILE):
            chosen.append(name)
        elif not name.endswith(".toml"):
            near = did_you_mean(name, [*LAWS, "servo", FILE])
            raise ConfigError(f"law: {name!r} is none{near}; there are {', '.join(LAWS)}, servo, file and files .toml")
        elif not Path(name).is_file():
            raise ConfigError(f"law: there is no file '{name}'; name one with the tables [actuators] and [fit]")
        else:
            chosen.append(name)
    known = [FILE, *LAWS]
    return tuple(sorted(dict.fromkeys(chosen), key=lambda name: known.index(name) if name in known else len(known)))


def _group(simulation: Simulation, config: SimulationConfig, label: str) -> Group:
    if label not in simulation.actuators:
        near = did_you_mean(label, simulation.actuators)
        raise ConfigError(f"fit.parameters: there is no actuator {label!r}{near}")
    actuator, start = simulation.actuators[label], f"actuators.{label}."
    parameters: Any = unstructure(config.fit.parameters)
    names = [name for name in getattr(actuator, "parameters", ()) if "[" not in name]
    table = dict(unstructure(config.actuators[label]))
    if (mode := getattr(actuator.config, "mode", None)) is not None:
        table["mode"] = mode  # that of the library
    return Group(
        label=label,
        kind=config.actuators[label].type,
        file_kind=config.actuators[label].type,
        joints=tuple(actuator.joint_labels),
        table=table,
        parameters={key.removeprefix(start): each for key, each in parameters.items() if key.startswith(start)},
        numbers={name: actuator.get(name).numpy()[0].astype(float) for name in names},
    )


def _refitted(group: Group, law: str, result: FitResult) -> Group:
    """Return a group under a law that was fitted, with the values that it found."""
    kind = group.kind if law == FILE else "servo" if law in SERVOS else law
    numbers = {key: each for key, each in group.numbers.items() if kind == group.kind or key in _OF_JOINTS}
    for key, values in _flat(unstructure(load(result.file).actuators[group.label])):
        if values.keys() == {re.escape(label) for label in group.joints}:
            numbers[key] = np.array([values[re.escape(label)] for label in group.joints], dtype=float)
    return attrs.evolve(group, kind=kind, numbers=numbers)


def _flat(table: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each table in a table, and its place."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield f"{place}{key}", value
            yield from _flat(value, f"{place}{key}.")


def _loads(group: Group, result: FitResult | None) -> Loads:
    """Return the loads that the logs show with the values of a group; without a fit, guesses."""
    stiffness, damping, _ = group.spring
    if result is None:
        guess = _FIRST_ANGLE * stiffness
        return Loads(pull=guess, effort=guess, speed=np.full_like(stiffness, _FIRST_SPEED))
    pull, effort, speed = largest_loads(result, stiffness, damping, group.joints)
    return Loads(pull=pull, effort=effort, speed=speed, is_explained=result.costs[-1] < _AT_NOISE)


def _absolute(logs: Logs) -> tuple[str, ...]:
    return tuple(os.path.abspath(log) for log in logs)


class _Line(RunProgress):
    """Shows the progress of a fit as the live line of a candidate."""

    def __init__(self, outer: RunProgress) -> None:
        super().__init__()
        self._outer = outer

    def update(self, text: str) -> None:
        """Show the line."""
        self._outer.update(text)

    def note(self, text: str, *, once: str = "") -> None:
        """Show a note of the fit once: all candidates read the same logs."""
        self._outer.note(text, once=once or text)
