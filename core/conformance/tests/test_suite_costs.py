"""What checks cost, and those that run at each save."""

import json
import re
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner
from pippin.catalog import Catalog, CheckEvidence
from pippin.cli import main
from pippin_conformance import Conformance
from pippin_conformance.runs import Runs
from pippin_conformance.suite import CHECKS, fast
from pippin_conformance.trees import errors_of_trees
from pippin_conformance.trials import measured_features

SPREAD = 5.0
"""Largest ratio of the measured time of a check to the stated one, in units of the ratio of most checks."""


def test_checks_for_each_save_are_cheap_and_have_two_drawn_trees():
    names = fast(CHECKS)

    assert not {"light_import", "feature_gradients", "tree_balls"} & set(names)
    assert [name for name in names if name.startswith("tree_")] == ["tree_a_free_body", "tree_hinges"]
    assert {"entry_point", "free_fall", "reset", "feature_joint_limits", "change_set_masses"} <= set(names)


def test_a_list_of_checks_has_the_cheap_ones_first_and_runs_none():
    listed = CliRunner().invoke(main, ["check-plugin", "featherstone", "--list", "--json"])
    table = CliRunner().invoke(main, ["check-plugin", "featherstone", "--list"])

    rows = json.loads(listed.stdout)
    seconds = [row["seconds"] for row in rows]
    checks = Conformance("solver", "featherstone").checks
    assert listed.exit_code == table.exit_code == 0
    assert seconds == sorted(seconds)
    assert {row["check"]: row["promise"] for row in rows} == {name: each.promise for name, each in checks.items()}
    assert {row["check"] for row in rows if row["fast"]} == set(fast(checks.values()))
    assert re.search(r"tree_hinges +0.3 +yes", table.stdout)
    assert re.search(r"feature_gradients +5 *\n", table.stdout)


@pytest.mark.parametrize("option", [["--check", "schema"], ["--fast"], ["--fuzz", "2"], ["--markdown"]])
def test_a_list_is_refused_beside_what_runs_checks(option):
    result = CliRunner().invoke(main, ["check-plugin", "featherstone", "--list", *option])

    assert result.exit_code == 2
    assert "error: --list: it runs no check; leave out --check, --fast, --fuzz and --markdown" in result.stderr


def test_chosen_checks_simulate_nothing_for_others():
    subject = Conformance("solver", "featherstone").subject
    alone = attrs.evolve(subject, chosen=frozenset({"tree_armature", "feature_ball_joints"}))

    assert errors_of_trees(alone).keys() == {"armature"}
    assert measured_features(alone).keys() == {"ball_joints", "ball_joints at half the step"}


def test_no_check_begins_after_the_time_that_is_given():
    kit = Conformance("actuator", "pd", config={"kp": 20.0})

    assert list(kit.results(["entry_point", "round_trip"], seconds=0.0)) == []
    assert len(list(kit.results(["entry_point", "round_trip"], seconds=1e9))) == 2


def test_a_fast_check_of_a_plugin_tells_what_it_left_out():
    arguments = ["check-plugin", "pd", "--set", "kp=20.0", "--fast", "--json"]
    result = CliRunner().invoke(main, arguments)

    names = list(Conformance("actuator", "pd").checks)
    rows = json.loads(result.stdout)
    assert result.exit_code == 3 * any(row["outcome"] == "failed" for row in rows)
    done = [row["check"] for row in rows]
    left = [name for name in names if name not in done]
    assert done == [name for name in names if name in done]
    assert f"left out: {len(left)} of {len(names)} checks, {', '.join(left)}; without --fast all run" in result.stderr
    assert "light_import" in left


def test_all_checks_together_leave_a_record_and_some_alone_leave_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PIPPIN_EVIDENCE", str(tmp_path / "records"))
    entry, command = Catalog.installed().find("actuator", "pd"), ["check-plugin", "pd", "--set", "kp=20.0"]
    for some in (["--fast"], ["--check", "schema"]):
        CliRunner().invoke(main, [*command, *some])
    assert CheckEvidence.of(entry) is None

    result = CliRunner().invoke(main, command)

    record = CheckEvidence.of(entry)
    assert list(record.outcomes) == list(Conformance("actuator", "pd").checks)
    assert (record.verdict, record.settings) == ("honoured", {"kp": 20.0})
    assert f"actuator 'pd' of pippin-actuator-pd 0.1.0: {record}" in " ".join(result.stdout.split())


@pytest.mark.parametrize("option", [["--check", "schema"], ["--markdown"]])
def test_fast_is_refused_beside_a_choice_and_beside_a_badge(option):
    result = CliRunner().invoke(main, ["check-plugin", "pd", "--fast", *option])

    assert result.exit_code == 2
    assert "error: --fast: it chooses the checks, and not all of them; leave out --check" in result.stderr


def _cpu(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


@pytest.mark.slow
def test_a_fast_check_takes_less_than_two_and_a_half_times_the_imports():
    check = (str(Path(sys.executable).with_name("pippin")), "check-plugin", "featherstone", "--fast")
    _cpu(*check)  # it compiles the kernels

    assert min(_cpu(*check) for _ in range(2)) < 2.5 * min(_cpu(sys.executable, "-c", "import newton") for _ in "ab")


@pytest.mark.slow
def test_checks_take_about_the_time_that_they_state():
    kit = Conformance("solver", "featherstone")
    cheap = [check for check in kit.checks.values() if check.seconds < 1.0]
    ratios = {}
    for check in cheap:
        if kit.run(check.name).outcome == "passed":  # it compiles the kernels
            times = []
            for _ in range(2):
                runs = Runs(attrs.evolve(kit.subject, chosen=frozenset({check.name})))
                start = time.process_time()
                check.run(runs)
                times.append(time.process_time() - start)
            ratios[check.name] = min(times) / check.seconds
    usual = statistics.median(ratios.values())

    assert {name: ratio / usual for name, ratio in ratios.items() if ratio > SPREAD * usual} == {}
    dear = [name for name in ratios if kit.checks[name].seconds >= 0.1 and name != "entry_point"]
    assert {name: ratios[name] / usual for name in dear if ratios[name] < usual / SPREAD} == {}
