"""Page of a judgement: the answer, each candidate, where they differ, and the values of the winner."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import numpy as np
from pippin.report import Axis, Chart, Line, Markup, element, heading, noted, section, table

from .judgement import Candidate, Judgement

HEADS = ("solver", "law", "values", "error [σ]", "95 %", "[mrad or mm]", "÷ least, 95 %", "time [s]", "")
"""Heads of the table of candidates; errors are those in what no fit has seen."""

_VALUES = ("parameter", "joint", "found", "± 95 %", "by blocks", "verdict")

_DRAWN = 8
"""Most candidates that a chart shows."""

_STYLES = ("solid", "dashed", "dotted", "dash-dotted")

_NOTE = (
    "All were fitted to the same windows, and are compared by windows that no fit has seen. The interval of a ratio"
    " compares two candidates in the same samples of blocks: if it holds 1, or the error is larger by no more than 5 %,"
    " the two cannot be told apart."
)


def rows(found: Judgement) -> Iterator[tuple[str, ...]]:
    """Yield a row of texts for each candidate."""
    alike, best = found.alike, found.candidates[0]
    for each in found.candidates:
        if each.fit is None or each.unseen is None or best.unseen is None:
            yield (each.solver, each.law, *[""] * 6, "not fitted")
            continue
        verdict = "worse" if each not in alike else "the best" if len(alike) == 1 else "cannot be told apart"
        yield (
            each.solver,
            each.law,
            str(each.value_count),
            f"{each.error:.3g}",
            _interval(each.unseen.interval(found.seed)),
            f"{1e3 * each.unseen.distance:.3g}",
            "" if each is best else _interval(each.unseen.ratio(best.unseen, found.seed)),
            f"{each.fit.seconds:.1f}",
            f"{verdict}, named" if each is found.winner and len(alike) > 1 else verdict,
        )


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3g} to {ends[1]:.3g}"


def answer(found: Judgement) -> Iterator[str]:
    """Yield the answer in sentences."""
    winner, least = found.winner, found.candidates[0].error
    if found.is_explained:
        yield f"{winner.name} explains the logs: {winner.error:.3g} σ are left in what no fit has seen."
    elif winner.fit is not None:
        left = max(winner.error, winner.fit.costs[-1])
        is_noisy = winner.fit.start == "measured"
        hint = ' Windows start from noisy states: fit.start = "estimated" tells whether that is it.' if is_noisy else ""
        yield (
            f"None explains these logs: {winner.name}, the least wrong one, leaves {left:.3g} σ, more than 5 σ. All"
            f" candidates lack something.{hint}"
        )
    if len(found.solvers) > 1:
        yield f"The solvers {_listed(found.solvers)} cannot be told apart under the law {winner.law}."
    if len(found.laws) > 1:
        fewest = f"that of {winner.name} has the fewest values, {winner.value_count}"
        yield f"The laws {_listed(found.laws)} cannot be told apart; {fewest}."
    if worse := [each for each in found.fitted if each not in found.alike]:
        yield f"The next one, {worse[0].name}, leaves {worse[0].error / least:.3g} times as much as the least."
    if found.nominal is not None:
        share = winner.error / found.nominal.error
        yield f"The file as it is leaves {found.nominal.error:.3g} σ there; the winner leaves {share:.2g} of it."


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def judge_page(found: Judgement, file: Path) -> Iterator[Markup]:
    """Yield the parts of the page of a judgement of a file."""
    winner = found.winner
    tiles = {
        "solver": " or ".join(found.solvers),
        "law": winner.law,
        "error in the unseen": f"{winner.error:.3g} σ",
        "explained": "yes" if found.is_explained else "no",
        "cannot be told apart": str(len(found.alike)),
        "candidates that were fitted": f"{len(found.fitted)} of {len(found.candidates)}",
    }
    yield heading(f"Judgement of {file.name}", shlex.join(["pippin", "run", str(found.file)]), tiles)
    yield section("Answer", *(element("p", line) for line in answer(found)))
    cells = [(row[0], _linked(each, found), *row[2:]) for each, row in zip(found.candidates, rows(found), strict=True)]
    yield section("Candidates", table(HEADS, cells), element("p", element("small", _NOTE)))
    yield section("Where they differ", [_over_blocks(found)])
    yield section(f"Values of {winner.name}", table(_VALUES, _values(winner)))
    reasons = {each.name: [*each.reason.splitlines(), *each.notes] for each in found.candidates}
    yield section("Reasons and notes", noted(reasons))


def _linked(each: Candidate, found: Judgement) -> object:
    if each.fit is None:
        return each.law
    place = Path(os.path.relpath(each.fit.folder, found.folder)) / "report.html"
    return element("a", each.law, href=quote(place.as_posix()))


def _over_blocks(found: Judgement) -> Chart:
    shown = [(each.name, each.unseen) for each in found.fitted if each.unseen is not None][:_DRAWN]
    lines = {}
    for number, (name, own) in enumerate(shown):
        error = np.sqrt(own.squares / own.counts)
        look = Line(name=name, color=number, style=_STYLES[number % len(_STYLES)])
        lines[look] = np.where(np.isfinite(error), error, math.nan)
    axis = Axis.of([f"{Path(log).name}, {time:.3g} s" for log, time in shown[0][1].places])
    return Chart.of("Error by block of the unseen logs", lines, axis, "σ", is_logarithmic=True)


def _values(winner: Candidate) -> Iterator[tuple[str, ...]]:
    for each in winner.fit.verdicts if winner.fit is not None else ():
        blocks = "" if each.block_half_width is None else f"{each.block_half_width:.2g}"
        yield each.key, each.name, f"{each.value:.5g}", f"{each.half_width:.2g}", blocks, each.verdict
