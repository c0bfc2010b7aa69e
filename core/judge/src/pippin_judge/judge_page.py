"""Page of a judgement: the answer, each candidate, where they differ, and the values of the winner."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import numpy as np
from pippin.report import Axis, Chart, Line, Markup, bars, element, heading, noted, section, table

from .judgement import Candidate, Judgement

HEADS = ("solver", "law", "values", "error in the unseen [σ]", "95 %", "[mrad or mm]", "÷ the best, 95 %", "time [s]", "")
"""Heads of the table of candidates."""

_DRAWN = 8
"""Most candidates that a chart shows."""

_STYLES = ("solid", "dashed", "dotted", "dash-dotted")


def rows(found: Judgement) -> list[tuple[str, ...]]:
    """Return a row of texts for each candidate."""
    alike, best = found.alike, found.candidates[0].unseen
    texts = []
    for each in found.candidates:
        if each.fit is None or each.unseen is None or best is None:
            texts.append((each.solver, each.law, "", "", "", "", "", "", "refused"))
            continue
        is_best = each is found.candidates[0]
        verdict = "worse" if each not in alike else "the best" if len(alike) == 1 else "cannot be told apart"
        texts.append(
            (
                each.solver,
                each.law,
                str(each.value_count),
                f"{each.error:.3g}",
                _interval(each.unseen.interval(found.seed)),
                f"{1e3 * each.unseen.distance:.3g}",
                "" if is_best else _interval(each.unseen.ratio(best, found.seed)),
                f"{each.fit.seconds:.1f}",
                f"{verdict}, named" if each is found.winner and len(alike) > 1 else verdict,
            )
        )
    return texts


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3g} to {ends[1]:.3g}"


def answer(found: Judgement) -> Iterator[str]:
    """Yield the answer in sentences."""
    winner, alike = found.winner, found.alike
    if found.is_explained:
        yield f"{winner.name} explains the logs: in what no fit has seen, {winner.error:.3g} σ are left."
    else:
        left = max(winner.error, winner.fit.costs[-1] if winner.fit is not None else 0.0)
        hint = "" if found.start == "estimated" else ' Windows start from noisy states: try fit.start = "estimated".'
        yield (
            f"None explains this log: {winner.name}, the least wrong one, leaves {left:.3g} σ, and 5 σ is the bar. All"
            f" candidates lack something; do not use the values.{hint}"
        )
    if len(found.solvers) > 1:
        yield f"The solvers {_listed(found.solvers)} cannot be told apart under {winner.law}."
    if len(found.laws) > 1:
        yield (
            f"The laws {_listed(found.laws)} cannot be told apart; {winner.name} has the fewest values,"
            f" {winner.value_count}."
        )
    worse = [each for each in found.fitted if each not in alike]
    if worse:
        yield f"The next one, {worse[0].name}, leaves {worse[0].error / found.candidates[0].error:.3g} times as much."
    if found.nominal is not None and math.isfinite(found.nominal):
        yield f"The file as it is leaves {found.nominal:.3g} σ there: the winner {winner.error / found.nominal:.3g} of it."


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
        "candidates": f"{len(found.fitted)} of {len(found.candidates)} fitted",
    }
    command = shlex.join(["pippin", "run", str(found.file)])
    yield heading(f"Judgement of {file.name}", command, tiles)
    yield section("Answer", *(element("p", line) for line in answer(found)))
    cells = [(row[0], _linked(each, found), *row[2:]) for each, row in zip(found.candidates, rows(found), strict=True)]
    note = (
        "All were fitted to the same windows, and are compared by windows that no fit has seen. The interval of a ratio"
        " compares two candidates in the same samples of blocks: if it holds 1, or the error is larger by no more than"
        " 5 %, the two cannot be told apart."
    )
    yield section("Candidates", table(HEADS, cells), element("p", element("small", note)))
    yield section("Error in the unseen", _bars(found), [_over_blocks(found)])
    yield section("Values of the winner", table(_VALUES, _values(winner)))
    refused = {each.name: each.reason.splitlines() for each in found.candidates if each.fit is None}
    yield section("Not fitted", noted(refused))
    yield section("Notes", noted({each.name: each.notes for each in found.candidates}))


def _linked(each: Candidate, found: Judgement) -> object:
    if each.fit is None:
        return each.law
    place = Path(os.path.relpath(each.fit.folder, found.folder)) / "report.html"
    return element("a", each.law, href=quote(place.as_posix()))


def _bars(found: Judgement) -> Markup:
    drawn = {each.name: each.error for each in found.fitted if math.isfinite(each.error)}
    return bars(
        {name: math.log10(1.0 + error) for name, error in drawn.items()},
        {name: f"{error:.3g} σ" for name, error in drawn.items()},
    )


def _over_blocks(found: Judgement) -> Chart:
    shown = [(each, each.unseen) for each in found.fitted if each.unseen is not None][:_DRAWN]
    places = shown[0][1].places
    axis = Axis.of([f"{Path(log).name}, {time:.3g} s" for log, time in places])
    lines = {
        Line(name=each.name, color=number, style=_STYLES[number % len(_STYLES)]): np.sqrt(own.squares / own.counts)
        for number, (each, own) in enumerate(shown)
    }
    return Chart.of("Error by block of the unseen logs", lines, axis, "σ", is_logarithmic=True)


_VALUES = ("parameter", "joint", "found", "± 95 %", "by blocks", "verdict")


def _values(winner: Candidate) -> Iterator[tuple[str, ...]]:
    for each in winner.fit.verdicts if winner.fit is not None else ():
        blocks = "" if each.block_half_width is None else f"{each.block_half_width:.2g}"
        yield each.key, each.name, f"{each.value:.5g}", f"{each.half_width:.2g}", blocks, each.verdict
