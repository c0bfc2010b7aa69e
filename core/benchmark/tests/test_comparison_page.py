"""Page of a comparison of solvers."""

import json
import re
from pathlib import Path

import attrs
import numpy as np
from pippin.measuring.figures import SolverRun
from pippin.recording.series import Series
from pippin_benchmark.comparison import Comparison
from pippin_benchmark.comparison_page import comparison_page


def run(solver, outcome, samples, gap, **figures) -> SolverRun:
    """Return a result whose joint gap grows to `gap` in the second of two worlds."""
    gaps = np.linspace(0.0, gap, samples)[:, None] * [0.5, 1.0]
    series = {"time": Series(values=0.1 * np.arange(samples)), "joint_gap": Series(values=gaps, units=("m",))}
    return SolverRun(solver=solver, outcome=outcome, joint_gap=gap, series=series, **figures)


RESULTS = [
    run("xpbd", "finished", 11, 0.1, world_steps_per_second=1234.5),
    run("vbd", "failed", 4, 100.0, reason="step 4: <far>\nuse a smaller dt", warnings=("no armature",)),
    SolverRun(solver="style3d", outcome="unable", reason="no rigid bodies"),
]


COMPARISON = Comparison(
    file=Path("scenes/arm.toml"),
    steps=100,
    reference="xpbd",
    solvers={result.solver: result for result in RESULTS},
    exceeded=("vbd: distance is 3",),
    folder=Path("out"),
)


def made() -> tuple[str, list[dict]]:
    page = comparison_page(COMPARISON)
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    return page, json.loads(text)["charts"]


def test_each_solver_is_a_row_and_an_empty_column_is_left_out():
    page, _ = made()

    assert '<td>vbd</td><td><span class="badge bad">failed</span></td>' in page
    assert "joint gap [m]" in page
    assert "distance [m]" not in page
    assert "1 of 3 finished" in page
    assert "vbd: distance is 3" in page


def test_reasons_and_warnings_stand_beside_their_solver():
    page, _ = made()

    assert "<dt>vbd</dt><dd><p>step 4: &lt;far&gt;</p><p>use a smaller dt</p><p>no armature</p></dd>" in page
    assert "<dt>style3d</dt><dd><p>no rigid bodies</p></dd>" in page


def test_a_chart_shows_the_worst_world_and_one_that_diverges_leaves_it():
    _, (gap,) = made()

    assert gap["log"]
    assert [line["name"] for line in gap["lines"]] == ["xpbd", "vbd"]
    np.testing.assert_allclose(10.0 ** np.array(gap["high"][0]), [0.1, 100.0])
    np.testing.assert_allclose(gap["top"], 0.3)
    assert gap["lines"][0]["style"] != gap["lines"][1]["style"]


def test_a_bar_is_as_long_as_its_share():
    page, _ = made()

    assert 'width: 100.00%; background: var(--c0)"></i><b>' in page


def test_what_a_solver_ignores_stands_beside_its_outcome_and_its_speed():
    results = [*RESULTS[1:], attrs.evolve(RESULTS[0], ignored=("armature", "joint_damping"))]

    page = comparison_page(attrs.evolve(COMPARISON, solvers={result.solver: result for result in results}))

    assert "<th>outcome</th><th>ignores</th>" in page
    assert '<span class="badge good">finished</span></td><td>armature, joint_damping</td>' in page
    assert "first control step; xpbd without armature, joint_damping" in page
    assert "ignores" not in comparison_page(COMPARISON)
