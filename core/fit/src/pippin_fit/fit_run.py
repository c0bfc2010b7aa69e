"""Run of a fit: exploration, least squares, the selection of values, and the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

import attrs
import numpy as np
from pippin import ConfigError, Simulation, SimulationConfig
from pippin.studies import RunProgress

from pippin_fit.config import FitConfig

from .candidates import JUDGED
from .checks import align, say_faults
from .evidence import Evidence
from .identifiability import Identifiability, ValueSelection, WholeNumbers
from .journal import FitState, Journal, key_of
from .least_squares import Point
from .log import log_paths
from .minimisation import Minimisation, unseen_starts
from .problem import FitProblem, Rollouts
from .replay_checks import SaturationWatch, gain_faults
from .result import FitResult, LogAlignment, Trace
from .search import Exploration
from .verdicts import FitVerdict, is_refuted, kept_values


class FitRun(AbstractContextManager["FitRun"]):
    """One fit of a file to logs by its table `[fit]`, perhaps with other logs. It continues where its journal, a folder
    of the same fit, ends; without one, it is a look.
    """

    def __init__(
        self,
        config: SimulationConfig,
        table: FitConfig,
        files: Sequence[str],
        journal: Path | None,
        processes: int | Literal["auto"] = 1,
    ) -> None:
        if not files:
            raise ConfigError("fit.logs: there is no log; name files there, or by --log")
        paths = log_paths([*files, *table.validation_logs])
        notes = None if journal is None else Journal(journal, key_of(config, paths))
        earlier = None if notes is None else notes.last()
        self.problem: FitProblem = FitProblem(config, table, files, processes)
        #: The rollouts of the least squares, and their simulation.
        self.rollouts: Rollouts = self.problem.rollouts
        self.simulation: Simulation = self.rollouts.simulation
        unknowns = self.problem.unknowns
        self._state = earlier or FitState(unknowns=unknowns.start, is_free=~unknowns.is_whole)
        self._whole = WholeNumbers(self.problem)
        self._minimisation = Minimisation(self.problem, self._state, notes, is_resumed=earlier is not None)
        self._exploration = Exploration(self.problem, self._state, notes, self._minimisation)
        self._selection = ValueSelection(self.problem, self._state)
        self._begun = time.perf_counter()
        #: A delay of the commands, on straight lines [s], and the residual with it [σ]; None without a trial.
        self.delay: tuple[float, float] | None = None

    def __exit__(self, *error: object) -> None:
        self.problem.close()

    @property
    def costs(self) -> Sequence[float]:
        """Root mean squares of the residuals so far; empty as long as there is no result."""
        return self._state.costs if self._minimisation.minimum is not None else ()

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Lower the cost until the end. Unobservable values are reset to the file, and the others are fitted once
        more; if the fit got worse, the logs contradict the file, and the estimates are restored.

        Raises:
            ConfigError: Whole numbers vary in a method that needs derivatives, or an effort is at its limit.
            SimulationError: The simulation diverges with the values of the file.
        """
        self._begun = time.perf_counter()
        if self.problem.table.method == "least-squares":
            self.problem.unknowns.refuse_whole_numbers()
        self._refuse_saturation()
        state, minimisation = self._state, self._minimisation
        if not state.costs:
            self._exploration.run(progress, stop_if_asked)
        is_open = True
        while is_open:
            if state.is_free.any():
                minimisation.run(progress, stop_if_asked)
            is_open = (
                self._step_whole_numbers(stop_if_asked)
                or self._selection.restore(minimisation.minimum)
                or self._selection.reset(minimisation.minimum)
            )

    def _refuse_saturation(self) -> None:
        """Roll the values of the file out if limits of efforts exist, and report the joints that stay at them."""
        rollouts = self.rollouts
        watch = SaturationWatch(self.simulation, self.problem.logs[0].joints, len(rollouts.parts[0].windows))
        if watch.is_needed:
            rollouts.roll_out(self.problem.unknowns.file_values[None], watch.look)
            say_faults([("", fault) for fault in watch.faults()], self.problem.table)

    def _step_whole_numbers(self, stop_if_asked: Callable[[], None]) -> bool:
        if not self.problem.unknowns.is_whole.any():
            return False
        self._state.verdicts |= self._judge_whole_numbers(stop_if_asked, is_fitted=True)
        moved = self._whole.step(self._state.unknowns)
        if moved is not None:
            self._state.unknowns = moved
        return moved is not None

    def _judge_whole_numbers(self, stop_if_asked: Callable[[], None], *, is_fitted: bool) -> dict[int, FitVerdict]:
        state = self._state
        residuals = self._minimisation.residuals(self.rollouts, state.unknowns, state.is_free, stop_if_asked)
        return self._whole.judge(residuals, state.unknowns, state.is_free, is_fitted=is_fitted)

    def expect(self, *, is_right: bool) -> tuple[FitVerdict, ...]:
        """Return the verdict on each value that a fit would give if it ended at the values of the file, after a few
        rollouts.

        If these values do not explain the logs, the residuals are no noise, and the noise is the one that the fit
        assumes.
        """
        state = self._state
        state.unknowns = self.problem.unknowns.of_file.copy()
        minimum = self._minimisation.linearise(state.unknowns, state.is_free)
        if not is_right:
            share = Identifiability(self.problem, minimum).share
            noise = np.full(len(minimum.point.residuals), np.sqrt(share))
            minimum = attrs.evolve(minimum, point=attrs.evolve(minimum.point, residuals=noise))
        found = Identifiability(self.problem, minimum).verdicts({})
        found |= self._judge_whole_numbers(lambda: None, is_fitted=is_right)
        return tuple(found[number] for number in sorted(found))

    def look(self) -> Point:
        """Return the residuals of the file's values and their derivatives, after a rollout that must not diverge."""
        unknowns = self.problem.unknowns.of_file
        return self._minimisation.linearise(unknowns, self._state.is_free, is_refined=False).point

    def result(self, folder: Path) -> FitResult:
        """Return the result, after rollouts with the values of the file and with the ones that are kept."""
        problem, rollouts, state = self.problem, self.rollouts, self._state
        seconds, shifts = time.perf_counter() - self._begun, self._minimisation.shifts()
        found, evidence = self._verdicts(), self._evidence()
        judged = np.stack([problem.unknowns.file_values, kept_values(found)])
        unseen = None if problem.table.start == "measured" else unseen_starts(rollouts, judged, shifts)
        rollouts.roll_out(judged, shifts=shifts, unseen=unseen)
        validating = rollouts.residuals(rollouts.parts[1])
        errors = np.sqrt((validating**2).mean(axis=1)).tolist() if validating.shape[1] else None
        traces = tuple(self._traces())
        rows = sum(len(each.times) for each in traces if not each.is_validation)
        say_faults([("", fault) for fault in gain_faults(errors)], problem.table)
        validation = None if errors is None else (errors[0], errors[1])
        facts = {"is_refuted": is_refuted(validation), "residual": state.costs[-1], "rows": rows}
        concluded = tuple(each.concluded(**facts) for each in found)
        return FitResult(
            correlated=() if evidence is None else evidence.names,
            correlations=() if evidence is None else evidence.correlations(),
            directions=() if evidence is None else evidence.directions(),
            folder=folder,
            verdicts=concluded,
            delay=self.delay,
            costs=tuple(state.costs),
            ends=state.ends,
            validation=validation,
            start=problem.table.start,
            rollouts=rollouts.count,
            seconds=seconds,
            ended=state.ended or "it was stopped",
            noise={kind: tuple(noise.tolist()) for kind, noise in rollouts.noise.items()},
            traces=traces,
        )

    def _verdicts(self) -> list[FitVerdict]:
        minimum, found = self._minimisation.minimum, dict(self._state.verdicts)
        if minimum is not None and self._state.is_free.any():
            found |= Identifiability(self.problem, minimum).verdicts(found)
        if len(found) < len(self._state.unknowns):  # stopped before the whole numbers were judged
            found |= self._judge_whole_numbers(lambda: None, is_fitted=True)
        return [found[number] for number in sorted(found)]

    def _evidence(self) -> Evidence | None:
        """Return the evidence about all values that are no whole numbers, held ones included; None without any."""
        minimum, is_free = self._minimisation.minimum, ~self.problem.unknowns.is_whole
        if minimum is None or not is_free.any():
            return None
        if not np.array_equal(self._state.is_free, is_free):
            minimum = self._minimisation.linearise(self._state.unknowns, is_free)
        return Identifiability(self.problem, minimum).evidence

    def _traces(self) -> Iterator[Trace]:
        for part, is_validation in zip(self.rollouts.parts, (False, True), strict=True):
            for kind, values in self.rollouts.signals(part).items():
                for window, samples in part.slices:
                    log = self.problem.logs[window.log]
                    for column, joint in enumerate(log.joints):
                        both = values[:JUDGED, samples, column]
                        yield Trace(
                            log=log.name,
                            joint=joint,
                            signal=kind,
                            unit=("m" if joint in log.sliding else "rad") + "/s" * (kind == "velocity"),
                            is_validation=is_validation,
                            times=log.times[window.samples],
                            commanded=log.commanded[window.samples, column],
                            values=np.stack([part.measured[kind][samples, column], *both], axis=1),
                        )

    def alignments(self) -> Iterator[LogAlignment]:
        """Yield length and rate of each log, and the lag of its motion."""
        for log in self.problem.logs:
            aligned = None if self.problem.table.command == "feedforward" else align(log, self.problem.table)
            lag, drift = (None, 0.0) if aligned is None else (aligned.lag, aligned.drift)
            rate = 1.0 / log.period
            yield LogAlignment(name=log.name, seconds=log.duration, rate=rate, lag=lag, drift=drift, notes=log.notes)

    def identified_tables(self, result: FitResult) -> tuple[dict[str, Any], dict[tuple[Any, ...], str]]:
        """Return the tables of a file with the values that are kept, and a comment for each value."""
        tables: dict[str, Any] = {}
        comments: dict[tuple[Any, ...], str] = {}
        verdicts = [
            (each, [own for own in result.verdicts if own.key == each.key]) for each in self.rollouts.parameters
        ]
        for parameter, own in verdicts:
            parameter.write(np.tile(kept_values(own), (self.simulation.world_count, 1)))
        for parameter, own in verdicts:
            if any(each.is_kept for each in own):
                parameter.write_tables(tables, comments, [_comment(each) for each in own])
        return tables, comments


def _comment(verdict: FitVerdict) -> str:
    if verdict.is_identified:
        return f"± {verdict.half_width:.2g}"
    return ", ".join([verdict.verdict, *(f"coupled to {each}" for each in verdict.coupled)])
