"""The judgement of solvers and laws by logs, as a study: one fit after the other, under one contract."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs
from pippin import ConfigError, PluginError, SimulationConfig, SimulationError, did_you_mean, load
from pippin.report import Markup
from pippin.studies import Overlay, RunFolder, RunProgress, Study, progress_shown_by, run_study
from pippin_fit import FitConfig, FitResult, FitSignalConfig, fit, is_explained

from .candidate_files import FILE, CandidateFiles, Fits, Start, is_at_noise
from .judgement import Candidate, Judgement
from .laws import BEFORE, LAWS, SERVOS
from .unseen import BlockErrors

CANDIDATES = "candidates"
"""The folder of the fits, in that of the results."""

_IDLE, _LIMIT = 2.0, 0.7
"""First limits of efforts, as shares of the largest effort: one without an effect, and one that acts."""

_WORSE = 1.05
"""Ratio of what is left after a fit to what another one leaves, from which on its search starts anew."""

Logs = Sequence[str | os.PathLike[str]]


def judge(
    file: str | os.PathLike[str],
    logs: Logs = (),
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    *,
    solvers: Sequence[str] = (),
    laws: Sequence[str] = (),
    holdout: Logs = (),
    noise: float | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    processes: int | Literal["auto"] = 1,
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
            solver, or a TOML file that extends the other one and has a law of its own; by default all of `LAWS`.
        holdout: Logs that no fit sees, besides what `fit.validation` and `fit.validation_logs` hold out.
        noise: Standard deviation of the positions [rad or m], which are then the only signal; by default it is
            estimated from the logs.
        seed: Seed of the samples that intervals come from.
        out: The folder, new or empty; by default `runs/NAME-DATE-TIME`. In the folder of a judgement that was stopped,
            the same call continues.
        processes: Number of processes that share the worlds of each fit, 8 at most, with the same bits; "auto" means as
            many as there are cores, and 1 for a solver that uses all cores itself. A script calls this below
            `if __name__ == "__main__":` if there are several.

    Raises:
        ConfigError: The file, a log or an argument is wrong, or no candidate could be fitted.
        PluginError: A plugin of the file cannot be loaded.
        KeyboardInterrupt: Ctrl-C ended it; `args[0]` is the result so far, if there is one.
    """
    folder = None if out is None else RunFolder(Path(out), continues=(Path(out) / CANDIDATES).is_dir())
    study = JudgeStudy(logs, solvers, laws, holdout, noise, seed, processes)
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
        processes: int | Literal["auto"] = 1,
    ) -> None:
        self._logs, self._holdout = ([os.path.abspath(log) for log in each] for each in (logs, holdout))
        self._solvers, self._laws, self._noise, self._seed = tuple(solvers), laws_of(laws), noise, seed
        self._processes = processes
        if processes not in ("auto", *range(1, 9)):  # a fit of one value has 8 candidates
            raise ConfigError(f"processes: expected 1 to 8, or 'auto', got {processes!r}; give one of these")
        self._candidates: dict[str, Candidate] = {}

    def prepare(self, config: SimulationConfig, file: Path) -> SimulationConfig:
        """Return the configuration that all candidates share, with the logs."""
        table = config.fit
        if not isinstance(table, FitConfig) or config.solver is None:
            raise ConfigError(f"{file}: has no table [fit] or [solver]; add one")
        unseen = (*table.validation_logs, *self._holdout)
        table = attrs.evolve(table, logs=(*table.logs, *self._logs), validation_logs=unseen)
        if not (table.validation or table.validation_logs):
            cure = "give --holdout LOG, or set fit.validation to a share of the windows"
            raise ConfigError(f"holdout: no log is held out, so that nothing judges the candidates; {cure}")
        if set(self._laws) & set(LAWS) and table.command != "position_targets":
            raise ConfigError(
                f"fit.command: {table.command!r} has no target that {LAWS[0]!r} could pull to; write laws into files,"
                " --law FILE.toml"
            )
        if self._noise is not None:
            table = attrs.evolve(table, signals={"position": FitSignalConfig(std=self._noise)})
        self._solvers = self._solvers or (config.solver.type,)
        if len(set(self._solvers)) < len(self._solvers):
            raise ConfigError(f"solver: one of {', '.join(self._solvers)} is named twice; name each solver once")
        first = config.solver.type if config.solver.type in self._solvers else self._solvers[0]
        self._solvers = (first, *(name for name in self._solvers if name != first))
        return config.unobserved().with_tables(fit=table)

    def build(self, config: SimulationConfig, folder: RunFolder) -> None:
        """Read the numbers of the groups, and write the file that all candidates extend."""
        self._folder = folder.path / CANDIDATES
        self._files = CandidateFiles(config, self._folder)

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Fit one candidate after the other: first the file as it is, with its own solver if that is judged."""
        base: FitResult | None = None
        for number, solver in enumerate(self._solvers):
            fits: dict[str, FitResult | None] = {FILE: base}
            known = (FILE, self._files.law) if number == 0 else ()
            for law in [*known[:1], *(law for law in self._laws if law not in known)]:
                one = self._called(solver, law)
                with progress.phase(one.name), progress_shown_by(_CandidateLine(progress)):
                    stop_if_asked()
                    fits[law] = self._judge(one, law, fits)
            base = fits[FILE]
        with progress.phase("again"), progress_shown_by(_CandidateLine(progress)):
            for one in list(self._candidates.values()):
                stop_if_asked()
                self._judge_again(one)
        if not any(each.fit for each in self._candidates.values()):
            raise ConfigError(*(f"{each.name}: {each.reason}" for each in self._candidates.values()))

    def _called(self, solver: str, law: str) -> Candidate:
        """Return a candidate that is not fitted yet; the first one is the file, and has the name of its law."""
        return Candidate(solver=solver, law=Path(law).stem if self._candidates else self._files.law)

    def _judge(self, one: Candidate, law: str, fits: Fits) -> FitResult | None:
        """Fit a candidate, and keep it; return its fit, or None if it was not fitted."""
        other = self._candidates.get(f"{self._solvers[0]} / {one.law}")
        most = 0.0 if other is None or other.fit is None else _WORSE * other.fit.costs[-1]
        try:
            for suffix, start, first in self._starts(law, fits, None if other is None else other.fit):
                one = self._searched(one, suffix, law, start, **first)
                if one.fit is not None and (is_at_noise(one.fit) or one.fit.costs[-1] <= most):
                    break
        except (ConfigError, PluginError, SimulationError) as error:
            one = one if one.fit is not None else attrs.evolve(one, reason=str(error))
        self._candidates[one.name] = one
        return one.fit

    def _starts(self, law: str, fits: Fits, other: FitResult | None) -> Iterator[tuple[str, Start, dict[str, Any]]]:
        """Yield what the search of a law starts from, one after the other until the logs are explained: its fit with
        the first solver; the fit of a simpler law, with limits of efforts that do not act; and with those that do.
        """
        start = self._files.start_of(law, fits)
        if other is not None and law in LAWS:
            yield ".first", (law, other), {}
        yield "", start, {"limit": _IDLE}
        if law == "dc-motor" or (law == "servo-m1" and not self._files.has_servos):
            yield ".limited", start, {"limit": _LIMIT}
            yield ".limited-file", start, {"limit": _LIMIT, "is_of_file": True}
            if any(len(group.joints) > 1 for group in self._files.groups):  # perhaps one joint alone is at its limit
                yield ".limited-all", start, {"limit": _LIMIT, "is_of_file": True, "is_shared": True}
        elif law in SERVOS and start[0] in SERVOS:
            yield ".limited", start, {}

    def _judge_again(self, one: Candidate) -> None:
        """Fit a candidate once more from another one that leaves less, to be sure of its end: from its law with another
        solver, or if it nearly explains the logs, from a law that has its law within it.
        """
        if one.fit is None or one.law not in LAWS or is_at_noise(one.fit):
            return
        left = one.fit.costs[-1]
        others = [
            (each.fit.costs[-1], (each.law, each.fit))
            for each in self._candidates.values()
            if each.fit is not None
            and (each.law == one.law or (each.solver == one.solver and is_explained(left)))
            and one.law in (each.law, *BEFORE.get(each.law, ()))
        ]
        least, start = min(others, key=lambda each: each[0])
        if left > _WORSE * least:
            self._candidates[one.name] = self._searched(one, ".again", one.law, start)

    def _searched(self, one: Candidate, suffix: str, law: str, start: Start, **first: Any) -> Candidate:
        """Return a candidate with its fit from a start, if that leaves less than the one that it has."""
        name = f"{one.solver}.{one.law}{suffix}".replace("/", "-")
        with warnings.catch_warnings(record=True, action="always") as noted:
            try:
                file = self._files.write(name, one.solver, law, start, **first)
                found = fit(file, out=self._folder / name, processes=self._processes, tries_delay=False)
            except SimulationError:
                if one.fit is None:
                    raise
                return one
        if one.fit is not None and one.fit.costs[-1] <= found.costs[-1]:
            return one
        notes = dict.fromkeys(" ".join(str(each.message).split()) for each in noted)
        return attrs.evolve(one, fit=found, unseen=BlockErrors.of(found), notes=tuple(notes))

    def result(self, folder: Path) -> Judgement | None:
        """Return the candidates so far; None before the first fit."""
        found = tuple(sorted(self._candidates.values(), key=lambda each: (each.fit is None, each.error)))
        if not any(each.fit for each in found):
            return None
        base = next(iter(self._candidates.values())).fit
        nominal = None if base is None else BlockErrors.of(base, column=1)
        return Judgement(folder=folder, candidates=found, nominal=nominal, seed=self._seed)

    def overlay(self, result: Judgement) -> Overlay:
        """Return the file with the solver and the law of the winner, and with its values."""
        from .judge_page import answer

        assert result.winner.fit is not None, "a winner was fitted"
        tables = self._files.tables_in(load(result.winner.fit.file))
        return Overlay(name=result.file.name, tables=tables, notes=[*answer(result)])

    def page(self, result: Judgement, file: Path) -> Iterator[Markup]:
        """Return the answer, the candidates, and the values of the winner."""
        from .judge_page import judge_page

        return judge_page(result, file)


def laws_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of laws, simple ones first, and files of laws at the end."""
    known = [FILE, *LAWS]
    chosen = [law for name in names or LAWS for law in (SERVOS if name == "servo" else (name,))]
    for name in chosen:
        if name not in known and not (name.endswith(".toml") and Path(name).is_file()):
            near = did_you_mean(name, [*known, "servo"])
            raise ConfigError(f"law: {name!r} is none{near}; there are {', '.join(known)}, servo, and files .toml")
    return tuple(sorted(dict.fromkeys(chosen), key=lambda name: known.index(name) if name in known else len(known)))


class _CandidateLine(RunProgress):
    """Shows the progress of a fit as the live line of a candidate."""

    def __init__(self, outer: RunProgress) -> None:
        super().__init__()
        self._outer = outer

    def update(self, text: str) -> None:
        """Show the line."""
        self._outer.update(text)
