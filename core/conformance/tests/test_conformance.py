"""The conformance kit itself: each check against a plugin that breaks that promise, and how results are told.

The plugins that keep every promise are those of this repository, in their own tests.
"""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pippin_conformance as conformance
import pytest
from click.testing import CliRunner
from pippin import PluginError
from pippin.catalog.entries import Catalog
from pippin.cli import main
from pippin.views import ARTICULATION, RIGID_BODY
from pippin_conformance.runtime_changes import RUNTIME_CHANGES
from pippin_conformance.suite import CHECKS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]

TRUTHS = {
    "entry_point": "module 'pippin_broken_plugins.solvers' has no class 'Missing'",
    "light_import": "its import starts Warp",
    "documented_keys": "UndocumentedConfig.stiffness: no docstring",
    "round_trip": "its table is read back as another one",
    "unknown_keys": "options.no_such_key: accepted",
    "schema": "gain: any value would do",
    "lifecycle": "the engine is in use",
    "capture": "before_substep(solver) is not captured",
    "determinism": "two runs differ in ",
    "substeps": "two in a step differ from two steps in ",
    "allocation": "ten steps allocated Warp memory",
    "reset": "one with a state of its own asks step_solver for written_worlds",
    "worlds": "a reset of another world changed this one in ",
    "checkpoint": "a resumed run differs in ",
    "side_by_side": "another simulation beside it changed it in ",
    "divergence": "a world whose velocities are not finite changed ",
    "free_fall": "after a free fall of 0.1 s, the speed is 50.",
    "pendulum": "a quarter of a swing after the start of a pendulum, the angle is ",
    "coordinates": "claims reduced coordinates, but a body is ",
    "contacts": "detects_contacts is True, but its simulation says False",
    "features": "supported_features has 'warp_drive', which does not exist",
    "feature_joint_friction": "declares joint_friction, but not so that friction of 5 N slows a slider",
    "observables": "claims the observables body_qdd, but does not write them",
    "model_changes": "MODEL_PROPERTIES: gravity of the last world was changed",
    "feature_gradients": "the way of a flight depends on its velocity by 0 times the duration",
    "feature_particle_worlds": "declares particle_worlds, but particles of another world moved those of a world by",
    "efforts": "the joints move as they do without it",
    "driven_joints": "changes control.joint_f of the DOFs [1",
    "addition": "overwrites effort that others added",
    "open_loop": "declares is_open_loop, but changes control.joint_f between",
    "outputs": "output 'linear_acceleration' has no unit",
    "readings": "no reading changes",
    "effect": "efforts, readings and the state are the same as without it",
    "goals": "after a reset, a goal is ",
    "targets": "the goal was moved in the last of 3 worlds, but no target changed",
    "labels": "give each number a text of its own",
    "numbers": "some numbers are not finite, or left as they were",
    "verdicts": "some verdicts are left as they were",
    "actions": "give 1 values each, the lowest first",
    "mask": "changes state.joint_qd",
    "intervals": "steps after a reset differ from the first ones in ",
    "jobs": "the job that returns: expected one end",
    "observation": "changes body_q, body_qd",
    "folder": "made broken-folder.rows in the working folder",
    "frames": "switched off at t = ",
    "rows": "left no file in the folder",
    "reading": "reads 'time', ",
    "content": "several of kind body are called 'ball'",
    "place": "a body is 2 m away from its place",
    "copies": "two copies have a body 'ball'; begin it with the place's label",
    "options": "declares the option scale, and reads the same with None and 2.0",
    "simulation": "expected finite numbers",
    "ground": "equal arguments give different ground",
    "stand": "that falls on the patch of level 0 is",
}
"""What each check says of the plugin that breaks its promise."""

KINDS = ("solver", "actuator", "sensor", "viewer", "recorder")

CONFIGS = {
    "pendulum": {"joint_linear_relaxation": 1.0, "joint_angular_relaxation": 1.0},
    "efforts": {"kp": 20.0},
    "addition": {"kp": 20.0},
    "open_loop": {"kp": 20.0},
    "driven_joints": {"kp": 20.0, "joints": ["hinge_.*"]},
    "goals": {"actuator": "legs", "body": "link_1"},
    "targets": {"actuator": "legs", "body": "link_1"},
}


@pytest.fixture(scope="module", autouse=True)
def broken_plugins(install_outside):
    """Install the broken plugins for the tests of this file, and for the processes that they start."""
    with install_outside("pippin-broken-plugins") as site, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(site))
        yield


def broken(check, **options):
    """Return the checks of the plugin that breaks one promise."""
    name = "broken-" + check.replace("_", "-")
    (entry,) = (entry for entry in Catalog.installed().entries if entry.name == name)
    if entry.kind == "importer":
        options["file"] = __file__  # its importers read any file
    if entry.kind == "controller":
        options["tables"] = {"actuators": {"legs": {"type": "pd", "joints": ["hinge_.*"], "kp": 50.0, "kd": 2.0}}}
    return conformance.Conformance(entry.kind, name, config=CONFIGS.get(check), **options)


SLOW = ("feature_gradients",)
"""Checks that start a process."""


@pytest.mark.parametrize("check", [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in TRUTHS])
def test_a_broken_promise_is_found_by_its_check(check, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # one of the plugins writes into the working folder

    result = broken(check).run(check)

    assert result.outcome == "failed"
    assert TRUTHS[check] in result.reason
    assert ";" in result.reason or not isinstance(result.error, PluginError), "it says what to do"


@pytest.fixture(scope="module")
def deaf():
    """Two solvers that declare every feature: one lets everything fall, and the other moves nothing."""
    return [conformance.Conformance("solver", f"broken-every-feature-{kind}") for kind in ("loose", "frozen")]


IGNORED = [name for name, each in RUNTIME_CHANGES.items() if each.feature or each.flags]
IGNORED.remove("set_root_transforms")  # the host moves the body; see test_benches.py for its joint


@pytest.mark.parametrize("name", IGNORED)
def test_what_is_declared_and_ignored_is_found_by_the_check_of_the_change(deaf, name):
    reasons = [each.run(f"change_{name}").reason for each in deaf]

    ignored, refused = f"{name} in the last of 3 worlds, but not so that ", f"declares what {name} needs, but refuses"
    assert any(ignored in reason or refused in reason for reason in reasons), reasons


def test_every_setter_of_a_view_is_a_runtime_change():
    tables = (*ARTICULATION.values(), *RIGID_BODY.values())
    setters = {f"set_{each.name}": each for each in tables if each.is_settable}

    assert setters.keys() <= RUNTIME_CHANGES.keys()
    for name, quantity in setters.items():
        assert (RUNTIME_CHANGES[name].feature, RUNTIME_CHANGES[name].flags) == (quantity.feature, quantity.flags), name


def test_a_command_that_draws_for_worlds_outside_the_mask_is_found():
    result = conformance.Conformance("command", "broken-mask-of-command").run("mask")

    assert (result.outcome, result.reason.partition(";")[0]) == (
        "failed",
        "command 'broken-mask-of-command': changes value of worlds that the mask leaves out",
    )


def test_a_term_reads_what_more_tables_bring():
    """A sensor beside it, as a file would have it; without the sensor the term cannot be built."""
    sensors = {"sensors": {"joints": {"type": "joint-state", "joints": ["hinge_.*"]}}}
    config = {"sensor": "joints", "output": "position"}
    bare, whole = (
        conformance.Conformance("quantity", "sensor", config=config, tables=tables) for tables in ({}, sensors)
    )

    assert "there is no sensor 'joints'" in bare.run("numbers").reason
    assert whole.run("numbers").outcome == "passed"


@pytest.mark.parametrize(
    ("kind", "name", "check"),
    [
        ("clamping", "max-effort", "effect"),
        ("stage", "bias", "reset"),
        ("command", "velocity", "worlds"),
        ("event", "gravity", "intervals"),
        ("event", "root", "intervals"),  # it takes none
    ],
)
def test_what_acts_within_something_else_is_checked_there(kind, name, check):
    settings = {"max-effort": {"max_effort": 3.0}, "bias": {"std": 0.1}, "velocity": {"x": [-1.0, 1.0]}}
    settings |= {"gravity": {"x": [1.0, 2.0]}, "root": {"body": "ball"}}

    assert conformance.Conformance(kind, name, config=settings[name]).run(check).outcome == "passed"


def test_every_check_has_a_plugin_that_breaks_it_and_a_promise():
    names = [check.name for check in CHECKS]

    assert len(set(names)) == len(names)
    # These have tests of their own.
    families = ("feature_", "change_", "tree_", "observable_", "relation_", "forms", "isolation", "delay", "rates")
    assert {name for name in names if not name.startswith(families)} <= TRUTHS.keys()
    assert all(check.promise.endswith(".") for check in CHECKS)


def test_every_plugin_of_this_repository_is_held_to_the_checks():
    """Their tests name a CONFORMANCE, which the page of exceptions is written from.

    `coupled` is left out: its entries name elements, and the scenes of the kit have no labels in common. Its own tests
    hold it to momentum, resets, captured steps and several worlds.
    """
    declared = runpy.run_path(str(ROOT / "docs" / "write_reference.py"))["conformance"].conformances()
    found = {(each.subject.kind, each.subject.name) for each in declared}
    installed = {
        (entry.kind, entry.name) for entry in Catalog.installed().entries if not entry.name.startswith("broken-")
    }

    assert found == {(kind, name) for kind, name in installed if kind in KINDS} - {("solver", "coupled")}


def test_an_expected_failure_is_told_with_its_reason():
    result = broken("schema", expected_failures={"schema": "the engine reads it"}).run("schema")

    assert (result.outcome, result.reason) == ("expected failure", "the engine reads it")


def test_an_expected_failure_that_passes_has_failed():
    result = broken("schema", expected_failures={"entry_point": "it was moved"}).run("entry_point")

    assert result.outcome == "failed"
    assert "entry_point does not fail, as expected_failures says; take it out there" in result.reason


def test_a_check_that_is_expected_to_fail_and_has_nothing_to_try_has_failed():
    options = {"expected_failures": {"feature_armature": "some day"}}
    result = conformance.Conformance("solver", "xpbd", **options).run("feature_armature")

    assert result.outcome == "failed"


def test_what_is_not_declared_is_not_tried():
    result = conformance.Conformance("solver", "xpbd").run("feature_armature")

    assert (result.outcome, result.reason) == ("not applicable", "it does not declare it")


def test_an_expected_failure_of_an_unknown_check_is_refused():
    with pytest.raises(PluginError, match=r"has 'shema', which is not a check of a solver; did you mean 'schema'\?"):
        broken("schema", expected_failures={"shema": "why not"})


def test_a_check_that_does_not_exist_is_no_result():
    with pytest.raises(PluginError, match="'capturee' is not a check of a solver; did you mean 'capture'"):
        broken("schema").run("capturee")


def test_check_raises_every_failure_in_one_error():
    with pytest.raises(PluginError) as caught:
        broken("schema").check()

    told = str(caught.value)
    assert told.startswith("round_trip: ")
    assert "\nschema: solver 'broken-schema': gain: any value would do" in told


def test_a_plugin_that_cannot_be_loaded_fails_one_check():
    [result] = conformance.Conformance("solver", "broken-entry-point").results()

    assert (result.check, result.outcome) == ("entry_point", "failed")
    assert result.reason.startswith("solver 'broken-entry-point' of pippin-broken-plugins 0.1.0: ")


TESTS = """
import pytest
from pippin_conformance import Conformance, parametrize
from pippin_conformance.suite import CHECKS

def schema(**expected):
    return Conformance("solver", "broken-schema", expected_failures=expected)

@parametrize(schema())
def test_plain(check):
    check()

@parametrize(schema(schema="numbers"))
def test_known(check):
    check()

@parametrize(schema(entry_point="some day"))
def test_repaired(check):
    check()
"""


def test_an_author_runs_the_checks_with_pytest(tmp_path):
    (tmp_path / "test_plugin.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "-k", "entry_point or schema"]

    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    told = dict(reversed(line.split()[:2]) for line in done.stdout.splitlines() if "test_plugin.py::" in line)
    assert told == {
        "test_plugin.py::test_plain[entry_point]": "PASSED",
        "test_plugin.py::test_plain[schema]": "FAILED",
        "test_plugin.py::test_known[entry_point]": "PASSED",
        "test_plugin.py::test_known[schema]": "XFAIL",
        "test_plugin.py::test_repaired[entry_point]": "FAILED",
        "test_plugin.py::test_repaired[schema]": "FAILED",
    }


def test_pytest_is_not_imported_by_the_kit():
    code = "import sys, pippin_conformance; print('pytest' in sys.modules, 'newton' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False False\n"


def check_plugin(*arguments):
    """Run the command with two checks that build nothing."""
    result = CliRunner().invoke(main, ["check-plugin", "broken-schema", "--check", "entry_point", *arguments])
    return result.exit_code, result.stdout


def test_check_plugin_prints_a_table_and_fails_where_a_check_does():
    code, text = check_plugin("--check", "schema")

    rows = [line.split() for line in text.splitlines()]
    assert code == 3
    assert ["entry_point", "passed"] in rows
    assert ["schema", "failed"] in rows
    assert "schema: solver 'broken-schema': gain: any value would do; annotate it" in text


def test_check_plugin_takes_an_expected_failure_and_prints_json():
    code, text = check_plugin("--check", "schema", "--expect", "schema=numbers", "--json")

    assert code == 0
    rows = json.loads(text)
    assert all(row.pop("seconds") > 0.0 for row in rows)
    assert rows == [
        {"check": "entry_point", "outcome": "passed", "reason": ""},
        {"check": "schema", "outcome": "expected failure", "reason": "numbers"},
    ]


def test_fuzz_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PIPPIN_CATALOG_BLOCK", "pippin-fuzz")
    result = CliRunner().invoke(main, ["check-plugin", "xpbd", "--fuzz", "3", "--check", "schema"])

    assert result.exit_code == 2
    assert "error: --fuzz: `pippin fuzz` is not installed; run `uv pip install pippin-fuzz`" in result.stderr


def test_check_plugin_prints_a_badge_and_a_table_for_a_readme():
    code, text = check_plugin("--check", "schema", "--markdown")
    badge, versions, *rows = [line for line in text.splitlines() if line]

    assert code == 3
    assert badge.startswith("![pippin contract 1: 1 of 2 checks](https://")
    assert badge.endswith("-red)")
    assert versions.startswith("Solver `broken-schema`, tested with pippin ")
    assert rows[2:3] == ["| entry_point | passed |  |"]
    assert rows[3].startswith("| schema | failed | solver 'broken-schema': gain: any value would do")


def test_check_plugin_sets_keys_and_tries_every_check_that_there_is():
    result = CliRunner().invoke(main, ["check-plugin", "pd", "--set", "kp=20.0", "--set", "delay.steps=2"])

    assert result.exit_code == 0, result.output
    names = list(conformance.Conformance("actuator", "pd").checks)
    listed = [line.split()[:2] for line in result.stdout.splitlines() if line.split()[:1] and line.split()[0] in names]
    assert listed == [[name, "not" if name == "open_loop" else "passed"] for name in names]  # "not applicable"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["no-such"], 3, "check-plugin: 'no-such' is not installed; plugins: "),
        (["nois"], 3, "check-plugin: 'nois' is not installed; did you mean 'noise'?"),
        (["outside"], 2, "check-plugin: 'outside' is a reward and a termination; choose one with --kind"),
        (
            ["import-network"],
            3,
            "check-plugin: 'import-network' is a subcommand, which has no checks; try `pippin import",
        ),
        (["imu", "--prototype", "nowhere:scene"], 2, "--prototype: 'nowhere:scene' is not found "),
        (["imu", "--expect", "outputs"], 2, "--expect: 'outputs' has no reason; write CHECK=REASON"),
        (
            ["imu", "--fuzz", "3"],
            2,
            "--fuzz: a solver moves mechanisms, and no sensor; leave it out",
        ),
        (["imu", "--check", "output"], 2, "--check: 'output' is not a check of a sensor; there are "),
    ],
)
def test_check_plugin_refuses_what_it_cannot_find(arguments, code, message):
    result = CliRunner().invoke(main, ["check-plugin", *arguments])

    assert result.exit_code == code
    assert f"error: {message}" in result.stderr
