"""Page of a comparison of solvers."""

import json
import re
from pathlib import Path

import attrs
import numpy as np
from pippin.measuring import SolverRun
from pippin.recording import Series
from pippin.report import page
from pippin_benchmark.comparison import Comparison, comparison_page


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


def shown(comparison: Comparison) -> str:
    return page("comparison", comparison_page(comparison))


def made() -> tuple[str, list[dict]]:
    text = shown(COMPARISON)
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    return text, json.loads(data)["charts"]


def test_each_solver_is_a_row_and_an_empty_column_is_left_out():
    text, _ = made()

    assert '<td>vbd</td><td><span class="badge bad">failed</span></td>' in text
    assert "joint gap [m]" in text
    assert "distance [m]" not in text
    assert "1 of 3 finished" in text
    assert "vbd: distance is 3" in text


def test_reasons_and_warnings_stand_beside_their_solver():
    text, _ = made()

    assert "<dt>vbd</dt><dd><p>step 4: &lt;far&gt;</p><p>use a smaller dt</p><p>no armature</p></dd>" in text
    assert "<dt>style3d</dt><dd><p>no rigid bodies</p></dd>" in text


def test_a_chart_shows_the_worst_world_and_one_that_diverges_leaves_it():
    _, (gap,) = made()

    assert gap["log"]
    assert [line["name"] for line in gap["lines"]] == ["xpbd", "vbd"]
    np.testing.assert_allclose(10.0 ** np.array(gap["high"][0]), [0.1, 100.0])
    np.testing.assert_allclose(gap["top"], 0.3)
    assert gap["lines"][0]["style"] != gap["lines"][1]["style"]


def test_a_bar_is_as_long_as_its_share():
    text, _ = made()

    assert 'width: 100.00%; background: var(--c0)"></i><b>' in text


def test_what_a_solver_ignores_stands_beside_its_outcome_and_its_speed():
    results = [*RESULTS[1:], attrs.evolve(RESULTS[0], ignored=("armature", "joint_damping"))]

    text = shown(attrs.evolve(COMPARISON, solvers={result.solver: result for result in results}))

    assert "<th>outcome</th><th>ignores</th>" in text
    assert '<span class="badge good">finished</span></td><td>armature, joint_damping</td>' in text
    assert "first control step; xpbd without armature, joint_damping" in text
    assert "ignores" not in shown(COMPARISON)
