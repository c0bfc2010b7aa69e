"""Outcome of a fit: signals before and after it, alignments of its logs, and the tables of its file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .candidates import JUDGED
from .motion_checks import align
from .problem import FitProblem
from .result import FitResult, LogAlignment, Trace
from .verdicts import FitVerdict, kept_values


def traces(problem: FitProblem) -> Iterator[Trace]:
    """Yield the signals of the last rollout, with the values of the file and with the ones that were found."""
    rollouts = problem.rollouts
    for part in rollouts.parts:
        for kind, values in rollouts.signals(part).items():
            for window, samples in part.slices:
                log = problem.logs[window.log]
                for column, joint in enumerate(log.joints):
                    both = values[:JUDGED, samples, column]
                    yield Trace(
                        log=log.name,
                        joint=joint,
                        signal=kind,
                        is_validation=window.is_validation,
                        times=log.times[window.samples],
                        values=np.stack([part.measured[kind][samples, column], *both], axis=1),
                    )


def alignments(problem: FitProblem) -> Iterator[LogAlignment]:
    """Yield length and rate of each log, and the lag of its motion."""
    for log in problem.logs:
        aligned = None if problem.table.command == "feedforward" else align(log, problem.table)
        lag, drift = (None, 0.0) if aligned is None else (aligned.lag, aligned.drift)
        rate = 1.0 / log.period
        yield LogAlignment(name=log.name, seconds=log.duration, rate=rate, lag=lag, drift=drift, notes=log.notes)


def identified_tables(problem: FitProblem, result: FitResult) -> tuple[dict[str, Any], dict[tuple[Any, ...], str]]:
    """Return the tables of a file with the values that are kept, and a comment for each value."""
    tables: dict[str, Any] = {}
    comments: dict[tuple[Any, ...], str] = {}
    parameters, worlds = problem.rollouts.parameters, problem.rollouts.simulation.world_count
    verdicts = {parameter: [each for each in result.verdicts if each.key == parameter.key] for parameter in parameters}
    for parameter, own in verdicts.items():
        parameter.write(np.tile(kept_values(own), (worlds, 1)))
    for parameter, own in verdicts.items():
        if any(each.is_kept for each in own):
            parameter.write_tables(tables, comments, [_comment(each) for each in own])
    return tables, comments


def _comment(verdict: FitVerdict) -> str:
    if verdict.is_identified:
        return f"± {verdict.half_width:.2g}"
    return ", ".join([verdict.verdict, *(f"coupled to {each}" for each in verdict.coupled)])
