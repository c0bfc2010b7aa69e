"""A solver that moves mechanisms wrongly is found, and each finding is small and runs."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin_fuzz import mechanisms
from pippin_fuzz.files import RandomFile
from pippin_fuzz.keyframes import Start
from pippin_fuzz.run_fuzz import Fuzzer, Plan, fuzz
from pippin_fuzz.shrinking import shrink
from pippin_fuzz.statements import unclaimed, words_in
from pippin_fuzz.subcommands.fuzz import fuzz as command
from pippin_fuzz.verdicts import Subject, judge

SOLVERS = Path(__file__).with_name("wrong_solvers.py")
PLAIN = Path(__file__).with_name("plain_solvers.py")


def plan(name, **keys):
    return Plan(solver=f"{SOLVERS}:{name}Config", **keys)


def first_finding(name, folder):
    fuzzer = Fuzzer(plan(name), folder)
    found = (fuzzer.outcome(seed) for seed in range(20))
    return next(each for each in found if each.finding)


def shrunk(folder, found):
    return ElementTree.parse(folder / found.finding / f"{found.finding}.xml")


def test_a_solver_with_heavy_bodies_is_found_and_shrunk_to_one_body(tmp_path):
    found = first_finding("Heavy", tmp_path)

    file = shrunk(tmp_path, found)
    assert found.word == "SILENT"
    assert len(file.findall(".//body")) == len(file.findall(".//joint") or file.findall(".//freejoint")) == 1
    assert "| 0.5 |" in (tmp_path / found.finding / "issue.md").read_text()


def test_check_plugin_with_fuzz_fails_and_names_the_folder_of_the_findings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["--kind", "solver", "--check", "entry_point", "--fuzz", "1", "--json"]
    heavy = CliRunner().invoke(main, ["check-plugin", f"{SOLVERS}:HeavyConfig", *arguments])
    right = CliRunner().invoke(main, ["check-plugin", f"{SOLVERS}:RightConfig", *arguments])

    entry, found = json.loads(heavy.stdout)
    folder = re.search(r"see '(runs/fuzz-HeavyConfig-.*)': mechanisms-0", found["reason"])
    assert (heavy.exit_code, right.exit_code) == (3, 0)
    assert (entry["outcome"], found["check"], found["outcome"]) == ("passed", "fuzz", "failed")
    assert Path(folder[1], "mechanisms-0", "issue.md").exists()
    assert [row["outcome"] for row in json.loads(right.stdout)] == ["passed", "passed"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Centred", "Mirrored", "Unplaced"])
def test_another_wrong_solver_is_found_and_shrunk_to_one_body(name, tmp_path):
    found = first_finding(name, tmp_path)

    assert len(shrunk(tmp_path, found).findall(".//body")) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [("Sliders", 1), ("Hinges", 1), ("Unplaced", 5)])
def test_an_error_of_newton_s_own_solvers_is_found_and_shrunk_to_one_body(name, count, tmp_path):
    fuzzer = Fuzzer(Plan(solver=f"{PLAIN}:{name}Config"), tmp_path)
    found = next(each for each in map(fuzzer.outcome, range(count)) if each.finding)

    assert len(shrunk(tmp_path, found).findall(".//body")) == 1


@pytest.mark.slow
def test_a_slide_and_a_hinge_that_are_no_cylinder_are_found(tmp_path):
    """Shrinking it to one body takes nine minutes, as each model compiles kernels of its own."""
    subject = Subject.of(f"{PLAIN}:CylindersConfig")
    file = mechanisms.draw(24, unclaimed(subject.features))

    assert judge(file, subject, tmp_path).word == "SILENT"


def test_the_right_solver_has_no_finding_and_seeds_are_not_repeated(tmp_path):
    found = fuzz(plan("Right"), range(3), tmp_path)
    again = fuzz(plan("Right"), range(4), tmp_path)

    assert [each.word for each in again] == ["equal"] * 4
    assert again[:3] == found
    assert len((tmp_path / "verdicts.jsonl").read_text().splitlines()) == 5


def test_a_folder_of_another_plan_is_refused(tmp_path):
    fuzz(plan("Right"), range(1), tmp_path)

    with pytest.raises(pippin.ConfigError, match="another plan"):
        fuzz(plan("Right", tolerance=0.1), range(1), tmp_path)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"form": "cad"}, "'cad' is not drawn; there are mjcf"),
        ({"without": ("dampings",)}, "'dampings' leaves nothing out of mechanisms.*did you mean 'damping'"),
        ({"form": "urdf", "without": ("mimics",)}, "out of urdf;.* lower, massless, mimic, .*did you mean 'mimic'"),
    ],
)
def test_what_is_not_drawn_is_refused(tmp_path, keys, message):
    with pytest.raises(pippin.ConfigError, match=message):
        fuzz(plan("Right", **keys), range(1), tmp_path)


def test_the_folder_of_a_finding_runs_and_shows_it(tmp_path):
    result = CliRunner().invoke(
        command, [f"{SOLVERS}:HeavyConfig", "--count", "1", "--seed", "1", "--out", str(tmp_path), "--json"]
    )

    found = json.loads(result.stdout)[0]
    name = found["finding"]
    with pippin.Simulation.from_file(tmp_path / name / f"{name}.toml") as simulation:
        simulation.step(5)
    text = (tmp_path / name / f"{name}.xml").read_text()
    verdict = judge(
        RandomFile(suffix=".xml", text=text, reference=text), Subject.of(f"{SOLVERS}:HeavyConfig"), tmp_path
    )
    assert (result.exit_code, verdict.word) == (3, "SILENT")


def test_several_processes_find_what_one_does(tmp_path):
    found = fuzz(plan("Right"), range(3), tmp_path / "two", processes=2)

    assert found == fuzz(plan("Right"), range(3), tmp_path / "one")


@pytest.mark.alone
def test_shrinking_leaves_what_the_verdict_needs():
    files = map(mechanisms.draw, range(100))

    def has_a_hinge(smaller):
        return re.search(r"hinge[^/]*armature", smaller.text) is not None

    file = next(each for each in files if has_a_hinge(each) and each.text.count("<body") > 2)
    small = shrink(file, has_a_hinge, tries=500)
    root = ElementTree.fromstring(small.text)
    assert len(root.findall(".//joint")) == 1
    assert len(root.findall(".//body")) == 1
    assert not any(any(each) for each in Start.of(small.text).velocities.values())


@pytest.mark.alone
def test_mechanisms_have_what_a_solver_claims_and_nothing_else():
    without = unclaimed({"revolute_joints", "armature"})

    texts = [mechanisms.draw(seed, without).text for seed in range(30)]
    assert not any(word in text for text in texts for word in ("slide", "ball", "freejoint", "damping", "position "))
    assert any("armature" in text for text in texts)


@pytest.mark.alone
def test_a_refusal_names_the_statements_that_it_is_about():
    text = "solver: 'xpbd' does not support armature (rotor inertia of joints), used by j0; solvers that do: 'mujoco'"

    assert words_in(text) == {"armature"}
    assert words_in("margins of contacts") == {"margin"} or words_in("margin 0 of geom g1") == {"margin"}


def test_the_handler_of_mujocos_warnings_is_the_one_of_before(tmp_path):
    plan = Plan(solver="featherstone", form="mjcf")

    Fuzzer(plan, tmp_path).outcome(0)

    assert mujoco.get_mju_user_warning() is None
