"""Benchmarks of solvers: `pippin benchmark`, its figures and its page."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.errors import ConfigError, PluginError
from pippin_benchmark.benchmark import benchmark, load_problem
from pippin_benchmark.measuring import cost_per_step, measured, started_seconds
from pippin_benchmark.result import Benchmark, BenchmarkRow, BenchmarkSeries, tables


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return benchmark(
        ["mujoco-native", "featherstone"],
        ["large-pendulum", "four-bar"],
        dt=[0.01, 0.005],
        worlds=[4],
        variants=["mujoco-native.integrator=rk4"],
        out=tmp_path_factory.mktemp("benchmark") / "out",
    )


@pytest.mark.slow
def test_a_method_of_first_order_halves_its_error_with_its_step(found):
    by_name = {each.name: each for each in found.series("large-pendulum")}

    assert by_name["mujoco-native"].order == pytest.approx(1.0, abs=0.1)
    assert by_name["featherstone"].order == pytest.approx(1.0, abs=0.1)
    assert by_name["mujoco-native integrator=rk4"].finished[0].error < 1e-4
    assert by_name["mujoco-native"].largest_step == 0.01


@pytest.mark.slow
def test_a_solver_without_a_feature_does_not_take_part(found):
    by_name = {each.name: each for each in found.series("four-bar")}

    assert by_name["featherstone"].outcome == "unable"
    assert "loop_joints" in by_name["featherstone"].rows[0].reason
    assert by_name["mujoco-native"].outcome == "held"


@pytest.mark.slow
def test_costs_and_drifts_are_figures(found):
    for row in found.rows:
        if row.outcome == "finished":
            assert row.cost > 0.0
            assert row.cost_among[4] > 0.0
            assert 0.0 <= row.energy_drift < 1.0


@pytest.mark.slow
def test_the_folder_has_all_figures_and_a_page(found):
    summary = json.loads((found.folder / "benchmark.json").read_text())
    with (found.folder / "benchmark.csv").open() as file:
        lines = list(csv.DictReader(file))
    page = (found.folder / "benchmark.html").read_text()

    assert [row["error"] for row in summary["rows"]] == [row.error for row in found.rows]
    assert [float(line["error"]) if line["error"] else None for line in lines] == [row.error for row in found.rows]
    assert page.count('<figure class="chart"') == 4
    assert "loop_joints" in page


@pytest.mark.slow
def test_the_folder_has_tables_for_a_readme(found):
    text = (found.folder / "benchmark.md").read_text()
    (head,) = {line for line in text.splitlines() if line.startswith("| problem | unit")}
    (row,) = [line for line in text.splitlines() if line.startswith("| four-bar | m |")]
    cells = dict(zip(head.split(" | "), row.split(" | "), strict=True))

    by_name = {each.name: each for each in found.series("four-bar")}
    assert cells["`featherstone`"] == ""
    assert float(cells["`mujoco-native`"].strip("*")) == pytest.approx(
        min(row.error for row in by_name["mujoco-native"].rows), rel=0.5
    )
    assert "| four-bar | unable | 5 |" in text


@pytest.mark.slow
@pytest.mark.parametrize("dt", [0.01, 0.005])
def test_a_pendulum_of_mujoco_is_off_by_a_first_order_of_the_step(dt):
    row = BenchmarkRow(solver="mujoco-native", problem="large-pendulum", dt=dt)
    found = measured(load_problem("large-pendulum"), row, {}, device="cpu", patience=9.0)

    assert found.outcome == "finished"
    assert found.error == pytest.approx(0.84 * dt, rel=0.05)


OUTSIDE = """
import attrs
import newton
import pippin


class Springs:
    coordinates = "maximal"
    supported_features = dict.fromkeys(("gravity", "rigid_bodies", "free_joints", "heterogeneous_worlds"), "live")

    def __init__(self, config):
        self.config = config

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverSemiImplicit(model, angular_damping=self.config.damping)


@attrs.frozen(kw_only=True)
class SpringsConfig:
    implementation = "Springs"
    benchmark_variants = VARIANTS

    damping: float = 0.05
"""


@pytest.fixture
def outside(tmp_path):
    """Return a function that writes a solver of a file, which declares options, and returns its name."""

    def write(variants):
        (tmp_path / "springs.py").write_text(OUTSIDE.replace("VARIANTS", repr(variants)))
        return f"{tmp_path / 'springs.py'}:SpringsConfig"

    return write


@pytest.mark.slow
def test_a_solver_runs_once_more_with_each_option_that_it_declares(outside, tmp_path):
    name = outside(("damping=0.0", "damping=0.5"))
    plan = {"dt": [0.01], "worlds": [1]}
    whole = benchmark([name], ["free-top"], **plan, out=tmp_path / "whole")
    chosen = benchmark([name], ["free-top"], **plan, variants=[f"{name}.damping=0.2"], out=tmp_path / "chosen")
    quick = benchmark([name], ["free-top"], **plan, is_quick=True, out=tmp_path / "quick")

    errors = {row.variant: row.error for row in whole.rows}
    assert list(errors) == ["", "damping=0.0", "damping=0.5"]
    assert errors["damping=0.0"] < errors[""] < errors["damping=0.5"]
    assert [row.variant for row in chosen.rows] == ["", "damping=0.2"]
    assert [row.variant for row in quick.rows] == [""]


@pytest.mark.parametrize(
    ("variants", "fault"),
    [
        ("damping=0.0", r"SpringsConfig\.benchmark_variants: expected a tuple of options, .*got 'damping=0\.0'"),
        (("damping",), r"SpringsConfig\.benchmark_variants: expected a tuple of options"),
        (("dumping=0.0",), r"benchmark_variants: solver\.dumping: unknown key; did you mean 'damping'"),
    ],
)
def test_options_that_a_solver_declares_wrongly_are_refused(outside, variants, fault, tmp_path):
    with pytest.raises(PluginError, match=fault):
        benchmark([outside(variants)], out=tmp_path / "out")


@pytest.mark.slow
def test_the_error_is_that_of_the_problem_on_each_device(device):
    """On a GPU the cost is the time until it has finished, alone and among worlds."""
    row = BenchmarkRow(solver="featherstone", problem="large-pendulum", dt=0.01)
    problem = load_problem("large-pendulum")
    found = measured(problem, row, {}, device=device, patience=60.0)
    among = cost_per_step(problem, row, {}, device=device, worlds=64)

    assert found.outcome == "finished", found.reason
    assert found.error == pytest.approx(0.84 * 0.01, rel=0.1)
    assert found.cost > 0.0
    assert 0.0 < among < found.cost * row.dt, "64 worlds cost less each than one alone"


@pytest.mark.slow
@pytest.mark.cuda
def test_the_command_measures_costs_on_a_gpu(tmp_path):
    wp = pytest.importorskip("warp")
    if not wp.is_cuda_available():
        pytest.skip("no CUDA device")
    words = ["benchmark", "featherstone", "--problem", "free-top", "--dt", "0.01", "--device", "cuda:0", "--json"]
    result = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "out")])
    found = json.loads(result.stdout)
    (row,) = found["rows"]

    assert found["machine"] == wp.get_device("cuda:0").name
    assert row["outcome"] == "finished", row["reason"]
    assert 0.0 < row["cost_among"]["64"] < row["cost"]


def test_a_run_that_costs_too_much_ends():
    row = BenchmarkRow(solver="mujoco-native", problem="large-pendulum", dt=0.01)
    found = measured(load_problem("large-pendulum"), row, {}, device="cpu", patience=1e-6)

    assert found.outcome == "slow"
    assert found.error is None


def series(*rows, limit=0.1):
    made = (BenchmarkRow(solver="s", problem="c", dt=dt, error=error, outcome=outcome) for dt, error, outcome in rows)
    return BenchmarkSeries(name="s", rows=tuple(made), limit=limit)


@pytest.mark.alone
def test_the_largest_step_is_that_from_which_all_smaller_ones_hold():
    own = series((0.02, 0.01, "finished"), (0.01, None, "failed"), (0.005, 0.02, "finished"), (0.002, 0.01, "finished"))

    assert own.largest_step == 0.005
    assert series((0.01, 0.5, "finished")).outcome == "lost"


def test_a_table_marks_a_floor_and_leaves_out_what_no_solver_has():
    rows = [(0.02, 0.04), (0.01, 0.01), (0.005, 0.01)]
    made = [
        BenchmarkRow(solver="s", problem="large-pendulum", dt=dt, error=error, outcome="finished") for dt, error in rows
    ]
    problems = {"large-pendulum": type(load_problem("large-pendulum"))}
    text = tables(Benchmark(rows=tuple(made), problems=problems, machine="m", seconds=1.0, folder=Path()))

    assert "| large-pendulum | m | 0.03 | **0.01** |" in text
    assert "| large-pendulum | 10 |" in text
    assert "## Drift" not in text


def test_a_floor_is_an_error_that_smaller_steps_do_not_lessen():
    assert series((0.02, 0.04, "finished"), (0.01, 0.01, "finished"), (0.005, 0.01, "finished")).floor == 0.01
    assert series((0.02, 0.04, "finished"), (0.01, 0.01, "finished")).floor is None
    assert series((0.02, 0.04, "finished"), (0.01, 0.01, "finished")).order == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        ({"dt": [0.03]}, "take a step that divides it"),
        ({"patience": 0.0}, "positive time"),
        ({"worlds": [0]}, "at least 1"),
        ({"solvers": ["xpbd", "xpbd"]}, "named twice"),
        ({"solvers": ["xpbd"], "variants": ["xpdb.iterations=4"]}, "is not SOLVER.KEY=VALUE"),
        ({"solvers": ["xpbd"], "variants": ["xpbd.=4"]}, "is not SOLVER.KEY=VALUE"),
        ({"solvers": ["xpbd"], "variants": ["xpbd.iteration=4"]}, "iterations"),
    ],
)
def test_a_wrong_argument_is_refused(arguments, cure, tmp_path):
    with pytest.raises(ConfigError, match=cure):
        benchmark(**arguments, out=tmp_path / "out")


def test_a_solver_or_a_problem_that_is_not_installed_is_refused(tmp_path):
    with pytest.raises(PluginError, match=r"mujocoo.*did you mean 'mujoco'"):
        benchmark(["mujocoo"], out=tmp_path / "out")
    with pytest.raises(PluginError, match=r"large-pendulums.*did you mean 'large-pendulum'"):
        benchmark(problems=["large-pendulums"], out=tmp_path / "out")


def test_an_engine_in_another_environment_has_the_same_error():
    problem = load_problem("large-pendulum")
    here, there = (
        measured(problem, BenchmarkRow(solver=name, problem="", dt=0.05), {}, device="cpu", patience=30.0)
        for name in ("mujoco-native", f"mujoco-native@{sys.prefix}")
    )

    assert here.error == there.error


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell it")
def test_the_cost_has_the_time_of_a_process_that_was_started():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            end = time.monotonic() + 60.0
            while (taken := started_seconds()) < 0.2 and time.monotonic() < end:
                time.sleep(0.05)
        finally:
            busy.kill()

    assert taken >= 0.2


def test_a_solver_that_is_unknown_is_refused_with_an_environment():
    with pytest.raises(PluginError, match="physics"):
        benchmark(["physics@envs/physx"])
