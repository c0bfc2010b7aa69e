"""The loop of studies: the order of its calls, its files, and its ends."""

import json
import re
import signal
import tomllib
from pathlib import Path

import attrs
import pippin
import pytest
from pippin.errors import SimulationError
from pippin.report import Chart, section
from pippin.studies import Overlay, RunFolder, Study, kept_overrides, run_study


@attrs.frozen
class Count:
    """How far a study has counted."""

    folder: Path
    number: int

    def summary(self):
        return {"number": self.number}


class Counting(Study[Count]):
    """Counts to three; at two, something may happen."""

    kind, needs_newton = "counting", False

    def __init__(self, at_two=lambda: None):
        self.at_two, self.number, self.calls = at_two, 0, []

    def prepare(self, config, file):
        self.calls.append("prepare")
        return config

    def build(self, config, folder):
        self.calls.append("build")

    def run(self, progress, stop_if_asked):
        self.calls.append("run")
        for number in (1, 2, 3):
            stop_if_asked()
            self.number = number
            if number == 2:
                self.at_two()

    def result(self, folder):
        return Count(folder, self.number) if self.number else None

    def write(self, result, folder):
        folder.write_text("number.txt", str(result.number))

    def overlay(self, result):
        comments = {("simulation", "dt"): "of the count"}
        return Overlay(name="counted.toml", tables={"simulation": {"dt": 0.001 * result.number}}, comments=comments)

    def page(self, result, file):
        yield section(f"Count of {file.name}", [Chart.of("Number", {"n": [1.0, result.number]}, [0.0, 1.0])])

    def close(self):
        self.calls.append("close")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.toml"
    path.write_text("[simulation]\ndt = 0.01\n")
    return path


def test_it_goes_through_all_stages_and_leaves_all_files(file, tmp_path):
    study = Counting()
    overrides = (each for each in ["simulation.decimation=2"])

    found = run_study(study, file, overrides, out=tmp_path / "out")

    assert study.calls == ["prepare", "build", "run", "close"]
    assert found == Count(tmp_path / "out", 3)
    texts = {path.name: path.read_text() for path in found.folder.iterdir()}
    assert set(texts) == {"config.toml", "summary.json", "number.txt", "counted.toml", "report.html"}
    assert json.loads(texts["summary.json"]) == {"number": 3}
    assert tomllib.loads(texts["config.toml"])["simulation"]["decimation"] == 2
    assert re.search("dt = 0.003 *# of the count", texts["counted.toml"])
    assert "<title>some: counting</title>" in texts["report.html"]
    assert "<h2>Settings</h2>" in texts["report.html"]
    lower = pippin.load(found.folder / "counted.toml").simulation
    assert (lower.dt, lower.decimation) == (0.003, 2)


def test_ctrl_c_ends_it_where_it_may_end_and_the_result_is_written(file, tmp_path):
    study = Counting(lambda: signal.raise_signal(signal.SIGINT))

    with pytest.raises(KeyboardInterrupt) as caught:
        run_study(study, file, out=tmp_path / "out")

    assert caught.value.args == (Count(tmp_path / "out", 2),)
    assert (tmp_path / "out" / "number.txt").read_text() == "2"
    assert study.calls[-1] == "close"


def test_a_study_that_waits_is_ended_at_once(file, tmp_path):
    def wait():
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("it went on")

    study = Counting(wait)
    study.is_waiting = True

    with pytest.raises(KeyboardInterrupt):
        run_study(study, file, out=tmp_path / "out")


def test_a_failure_tells_where_the_rest_is(file, tmp_path):
    def fail():
        raise SimulationError("world 0: diverged")

    with pytest.raises(SimulationError, match=r"world 0: diverged; what was found until then is in .*out"):
        run_study(Counting(fail), file, out=tmp_path / "out")

    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == {"number": 2}


def test_without_a_result_nothing_is_written(file, tmp_path):
    study = Counting()
    study.run = lambda *_: signal.raise_signal(signal.SIGINT)
    study.is_waiting = True

    with pytest.raises(KeyboardInterrupt) as caught:
        run_study(study, file, out=tmp_path / "out")

    assert caught.value.args == ()
    assert not (tmp_path / "out").exists()


def test_a_study_continues_in_a_folder_that_says_so(file, tmp_path):
    run_study(Counting(), file, out=tmp_path / "out")

    with pytest.raises(pippin.ConfigError, match="is not empty"):
        run_study(Counting(), file, out=tmp_path / "out")

    assert run_study(Counting(), file, out=RunFolder(tmp_path / "out", continues=True)).number == 3


def test_a_study_without_a_folder_writes_where_it_is_told_to_alone(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = Counting(lambda: signal.raise_signal(signal.SIGINT))
    study.has_folder = False

    with pytest.raises(KeyboardInterrupt) as caught:
        run_study(study, file)

    assert caught.value.args[0].number == 2
    assert list(tmp_path.iterdir()) == [file]
    (tmp_path / "runs").write_text("no folder, and nothing to be written there")
    study.at_two = lambda: None
    assert run_study(study, file).number == 3
    assert run_study(study, file, out=tmp_path / "out").number == 3
    assert (tmp_path / "out" / "report.html").exists()


def test_tables_stand_for_a_file_of_another_format(tmp_path):
    """They are below the overrides, in the simulation and in the overlay, and see files from where they stand."""
    study, seen = Counting(), []

    def base(folder):
        seen.append(folder)
        return {"scene": {"assets": [{"path": "some.xml"}]}}

    study.base = base
    run_study(study, tmp_path / "some.xml", {"scene.worlds": 2}, out=tmp_path / "out")

    written = tomllib.loads((tmp_path / "out" / "counted.toml").read_text())
    assert written == {"scene": {"assets": [{"path": "some.xml"}], "worlds": 2}, "simulation": {"dt": 0.003}}
    assert seen == [None, tmp_path / "out"]


def test_a_study_without_a_file_is_named_by_its_kind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = Counting()
    study.overlay = lambda result: None

    found = run_study(study, None)

    assert study.calls == ["run", "close"]
    assert found.folder.name.startswith("counting-")
    assert {path.name for path in found.folder.iterdir()} == {"summary.json", "number.txt", "report.html"}


def test_overrides_of_a_generator_can_be_read_twice():
    kept = kept_overrides(f"{key}=1" for key in ("a", "b"))

    assert (list(kept), list(kept)) == (["a=1", "b=1"], ["a=1", "b=1"])
    assert kept_overrides({"a": 1}) == {"a": 1}
    assert kept_overrides(None) == ()
