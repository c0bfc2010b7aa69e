"""Searches that leave a local minimum, and whole numbers."""

import json
import runpy
import shutil
import sys
from pathlib import Path

import numpy as np
import pippin
import pippin_fit
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.config import toml_text
from pippin_fit.least_squares import DAMPING, LeastSquares
from pippin_fit.run_fit import check_fit
from pippin_fit.search import Evolution, SeveralStarts, latin_hypercube, population_of

from . import arms


def wavy(points):
    """Residuals with many minima along the first unknown; the lowest one is at 0.7, 0.2."""
    x, y = points[:, 0], points[:, 1]
    return np.stack([2.0 * np.sin(12.0 * (x - 0.7)), 1.5 * (x - 0.7), y - 0.2], axis=1)


LOW, HIGH = np.zeros(2), np.ones(2)


def method(damping, taken):
    return LeastSquares(wavy, LOW, HIGH, tolerance=1e-9, damping=damping, taken=taken)


def searches(starts, earlier=None, slot=9):
    return SeveralStarts(method, starts, 50, slot, earlier)


def some(count):
    return np.concatenate([[[0.05, 0.9]], latin_hypercube(count - 1, LOW, HIGH, 0)])


def test_one_of_several_starts_finds_the_lowest_minimum():
    one, several = searches(some(8)[:1]), searches(some(8))
    one.run(wavy, lambda: None)
    several.run(wavy, lambda: None)

    assert abs(one.ends()[0][1][0] - 0.7) > 0.1
    costs = [cost for cost, _ in several.ends()]
    assert costs == sorted(costs)
    np.testing.assert_allclose(several.ends()[0][1], [0.7, 0.2], atol=1e-3)


def test_searches_side_by_side_find_what_each_finds_alone():
    starts = latin_hypercube(4, LOW, HIGH, 3)
    together = searches(starts)

    alone = [list(method(DAMPING, 0).iterate(start, 50))[-1].x for start in starts]
    together.run(wavy, lambda: None)

    assert sorted(x.tolist() for x in alone) == sorted(x.tolist() for _, x in together.ends())


def test_searches_go_on_from_each_state_to_the_same_ends():
    whole, states = searches(some(8)), []
    whole.run(wavy, lambda: states.append(whole.state()))

    assert len(states) > 8
    for state in states:
        again = searches(some(8), state)
        again.run(wavy, lambda: None)
        np.testing.assert_array_equal([cost for cost, _ in again.ends()], [cost for cost, _ in whole.ends()])
        np.testing.assert_array_equal([x for _, x in again.ends()], [x for _, x in whole.ends()])
    assert not searches(some(8), states[-1]).running


def test_each_part_of_a_range_has_a_start():
    starts = latin_hypercube(5, np.array([0.0, -5.0]), np.array([1.0, 5.0]), 0)

    for column, (low, width) in enumerate([(0.0, 0.2), (-5.0, 2.0)]):
        assert sorted(((starts[:, column] - low) // width).astype(int).tolist()) == [0, 1, 2, 3, 4]


def steps_and_waves(points):
    """Costs of a whole number, best at 3, and of a number among many minima, best at 0.7."""
    return (points[:, 0] - 3.0) ** 2 + (wavy(np.stack([points[:, 1], np.full(len(points), 0.2)], axis=1)) ** 2).sum(1)


def evolution():
    ends = np.array([[0.0, 0.0], [10.0, 1.0]])
    return Evolution(np.array([9.0, 0.05]), *ends, np.array([1.0, 0.0]), seed=0, population=4 * population_of(2))


@pytest.mark.slow
def test_an_evolution_finds_whole_numbers_among_minima():
    method = evolution()

    method.run(steps_and_waves, 100, lambda: None)

    assert method.best[0] == pytest.approx(3.0, abs=1e-9)
    assert method.best[1] == pytest.approx(0.7, abs=0.02)


@pytest.mark.slow
def test_an_evolution_repeats_what_its_costs_tell():
    whole, again, evaluated = evolution(), evolution(), []
    whole.run(steps_and_waves, 20, lambda: None)

    def costs(points):
        evaluated.append(len(points))
        return steps_and_waves(points)

    again.run(costs, 20, lambda: None, whole.history[:12])

    assert len(evaluated) == len(whole.history) - 12
    np.testing.assert_array_equal(again.best, whole.best)
    np.testing.assert_array_equal(again.history, whole.history)


def test_without_its_library_an_evolution_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "cmaes", None)

    with pytest.raises(pippin.PluginError, match=r"pippin\[fit\]|--group fit"):
        evolution()


def tones(folder, lag, seconds=2.5, **values):
    """A log of the true arm, whose commands act late: they swing with a period of 0.5 s."""
    truth = {name: {".*shoulder": one, ".*elbow": two} for name, (one, two) in arms.TRUTH.items()}
    tables = arms.tables(folder, **truth, **values)
    times = np.arange(round(seconds / 0.005)) * 0.005
    told = 0.3 * np.sin(4.0 * np.pi * times)[:, None] * [1.0, -0.7]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arms, "commands", lambda times, seed: told)
        arms.log(folder / "log.npz", tables, seconds=seconds, noise=1e-4, lag=lag)
    known = arms.tables(folder, **truth, **values)
    known["fit"] = {"window": "whole", "logs": ["log.npz"], "accept": ["lag", "commands"]}
    return known


def write(folder, tables, **fit):
    (folder / "arm.toml").write_text(toml_text({**tables, "fit": {**tables["fit"], **fit}}), encoding="utf-8")
    return folder / "arm.toml"


@pytest.mark.slow
@pytest.mark.filterwarnings("default:.*moves against its command")
def test_a_delay_beyond_a_local_minimum_needs_several_starts_or_an_evolution(tmp_path):
    tables = tones(tmp_path, lag=128)  # 0.64 s, and the minimum near 0.14 s is a period away
    file = write(tmp_path, tables, parameters={"signals.delay": {"range": [0.0, 0.9], "scale": "linear"}})

    one = pippin_fit.fit(file, out=tmp_path / "one")
    several = pippin_fit.fit(file, overrides={"fit.starts": 6}, out=tmp_path / "several")
    evolved = pippin_fit.fit(file, overrides={"fit.method": "cmaes"}, out=tmp_path / "evolved")

    assert abs(one.value("signals.delay")["commands"] - 0.64) > 0.3
    assert several.value("signals.delay")["commands"] == pytest.approx(0.64, abs=1e-3)
    assert evolved.value("signals.delay")["commands"] == pytest.approx(0.64, abs=1e-3)
    assert len(several.ends) == 6
    assert several.ends[-1] > 5.0 * several.ends[0]
    assert several.costs[0] == pytest.approx(one.costs[0], rel=1e-3)
    assert "starts ended within" in (tmp_path / "several" / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_whole_number_of_steps_is_found_beside_the_others(tmp_path):
    truth = {name: {".*shoulder": one, ".*elbow": two} for name, (one, two) in arms.TRUTH.items()}
    delay = {"steps": 4, "max_steps": 10}
    arms.log(tmp_path / "log.npz", arms.tables(tmp_path, **truth, delay=delay), seconds=2.0, noise=1e-4)
    tables = arms.tables(tmp_path, delay={"steps": 0, "max_steps": 10})
    parameters = {
        "actuators.arm.delay.steps": {"range": [0, 10], "each": "group"},
        "actuators.arm.armature": {"range": [1e-3, 1.0]},
        "actuators.arm.damping": {"range": [0.0, 5.0]},
        "actuators.arm.friction": {"range": [0.0, 2.0]},
    }
    tables["fit"] = {"logs": ["log.npz"], "method": "cmaes", "parameters": parameters, "validation": 0.25}
    file = write(tmp_path, tables)

    told = check_fit(file)
    blind = check_fit(file, overrides={"fit.signals.position.std": 10.0})
    result = pippin_fit.fit(file, out=tmp_path / "out")
    (tmp_path / "again" / "iterations").mkdir(parents=True)
    shutil.copy(tmp_path / "out" / "iterations" / "explored.npz", tmp_path / "again" / "iterations")
    again = pippin_fit.fit(file, out=tmp_path / "again")

    assert result.is_identified
    assert [each.key for each in told.verdicts] == [each.key for each in result.verdicts]
    assert [each.verdict for each in told.verdicts] == ["identified"] * 7
    assert told.verdicts[0].half_width == 0.5
    assert blind.verdicts[0].verdict == "not identifiable", "noise of 10 rad hides a step"
    assert list(result.value("actuators.arm.delay.steps").values()) == [4.0]
    assert result.costs[-1] < 1.5, "the delay starts with the commands before each window"
    for name, pair in arms.TRUTH.items():
        np.testing.assert_allclose(list(result.value(f"actuators.arm.{name}").values()), pair, rtol=0.05)
    with pippin.Simulation(result.file) as simulation:
        assert simulation.actuators["arm"].get("delay.steps").numpy().tolist() == [[4, 4]]
    assert again.value("actuators.arm.armature") == result.value("actuators.arm.armature")
    assert again.rollouts == result.rollouts


@pytest.mark.slow
def test_windows_lead_past_the_minima_of_an_arm_without_a_drive(tmp_path):
    """From this start, both optimisers of `mujoco.sysid` end with errors of 98 %, which the benchmark shows."""
    benchmark = runpy.run_path(str(Path(__file__).parents[3] / "tests" / "benchmarks" / "fit_minima.py"))

    found = benchmark["ours"](benchmark["log"](), tmp_path)

    assert benchmark["worst"](found) < 1e-3


WHOLE = "fit.parameters.'actuators.arm.delay.steps'"


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({WHOLE: {"range": [0, 3], "each": "group"}}, 'set fit.method = "cmaes"'),
        ({WHOLE: {"range": [0, 3]}}, 'one whole number; vary it by each = "group"'),
        ({WHOLE: {"range": [0, 2.5], "each": "group"}, "fit.method": "cmaes"}, "0 to 2.5 must be whole numbers"),
        ({"fit.method": "cmaes", "fit.starts": 3}, "starts: are those of"),
        ({"fit.starts": 0}, "starts"),
    ],
)
def test_a_search_that_cannot_be_is_refused(tmp_path, changes, words):
    tables = arms.tables(tmp_path, delay={"steps": 0, "max_steps": 3})
    arms.log(tmp_path / "log.npz", arms.tables(tmp_path), seconds=1.0)
    tables["fit"] = {"logs": ["log.npz"], "parameters": {"actuators.arm.kp": {"range": [10.0, 100.0]}}}
    file = write(tmp_path, tables)

    with pytest.raises(pippin.ConfigError, match=words):
        pippin_fit.fit(file, overrides=changes, out=tmp_path / "out")


@pytest.mark.slow
def test_the_command_says_how_many_starts_agree(tmp_path):
    tables = tones(tmp_path, lag=10, seconds=1.5)
    file = write(tmp_path, tables, parameters={"signals.delay": {"range": [0.0, 0.3], "scale": "linear"}})
    arguments = ["fit", str(file), "--set", "fit.starts=2", "--json", "--out", str(tmp_path / "out")]

    outcome = CliRunner().invoke(main, arguments)

    assert outcome.exit_code == 0, outcome.output
    assert "of 2 starts ended within 5 %" in outcome.stderr
    assert len(json.loads(outcome.stdout)["ends"]) == 2
