"""Recordings of a format that somebody else brings: an installed package has the recorder and the reader."""

import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pippin
import pytest
from click.testing import CliRunner
from pippin.catalog.entries import Catalog
from pippin.cli import main
from pippin.recording import Recording
from pippin_conformance.templates.writing import templates, write_package
from pippin_view.viser.ports import free_port

CARTPOLE = Path(__file__).parents[2] / "docs" / "examples" / "cartpole.toml"


@pytest.fixture(scope="module")
def site(uv, tmp_path_factory):
    """The folder in which a package of `pippin new recorder` is installed, as any package is."""
    folder = tmp_path_factory.mktemp("package")
    package = write_package(templates()["recorder"], "kite-log", folder)
    command = [uv, "pip", "install", "-q", "--no-deps", "--python", sys.executable, "--target", folder / "site"]
    subprocess.run([*command, package], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder / "site")
        patch.setenv("PYTHONPATH", str(folder / "site"))
        yield folder / "site"
    for module in [name for name in sys.modules if name.startswith("pippin_recorder_kite_log")]:
        del sys.modules[module]


@pytest.fixture(scope="module")
def folder(site, simulate, tmp_path_factory):
    """A folder with a recording in that format, and the same one as npz."""
    folder = tmp_path_factory.mktemp("run") / "run"
    shared = {"worlds": [0, 2], "series": [".*"]}
    with simulate(folder, {"kites": {"type": "kite-log", **shared}, "npz": {"type": "npz", **shared}}) as simulation:
        simulation.step(10)
    return folder


def test_a_run_has_the_recordings_of_an_installed_reader(folder):
    with pippin.Run(folder) as run:
        ours, theirs = run.recordings["npz"], run.recordings["kites"]
        assert theirs.path.suffix == ".kite-log"
        assert (theirs.worlds, set(theirs)) == ((0, 2), set(ours))
        for name in ("time", *ours):
            assert ours[name].values.tobytes() == theirs[name].values.tobytes(), name
            assert ours[name].units == theirs[name].units


def test_a_damaged_file_names_the_reader(folder, tmp_path):
    good = next(folder.glob("*.kite-log")).read_text()
    (tmp_path / "log.kite-log").write_text(good.replace("0.", "zero.", 3000))

    with pippin.Run(tmp_path) as run:
        [fault] = run.unread.values()

    assert "log.kite-log: not a recording of Pippin (" in fault


def test_a_file_whose_reader_raises_names_it(folder, tmp_path):
    lines = next(folder.glob("*.kite-log")).read_text().splitlines()
    (tmp_path / "log.kite-log").write_bytes("\r\n".join([f"{lines[0]}\nnames", "1,2,3", ""]).encode())

    with pytest.raises(pippin.ConfigError, match=r"\(reader 'kite-log' of pippin-recorder-kite-log 0\.1\.0 raised V"):
        Recording(tmp_path / "log.kite-log")


def test_without_the_package_the_file_is_no_recording(folder, site, monkeypatch):
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(site)])

    with pippin.Run(folder) as run:
        assert set(run.recordings) == {"npz"}
    with pytest.raises(pippin.ConfigError, match=r"not a recording; .* with \.h5, \.mcap, \.npz, \.rows"):
        Recording(next(folder.glob("*.kite-log")))


@pytest.mark.slow
def test_worlds_of_several_processes_become_one_file_and_a_report(site, tmp_path):
    """The command line: two processes, whose files are joined; the page of the run has charts of the recording."""
    sets = ["scene.worlds=4", "simulation.device='cpu'", "recorders.kites={type='kite-log', worlds=':'}"]
    options = [word for each in sets for word in ("--set", each)]
    command = ["run", str(CARTPOLE), "--steps", "10", "--processes", "2", "--out", str(tmp_path / "run"), *options]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output

    with pippin.Run(tmp_path / "run") as run:
        assert run.recordings["kites"].path == tmp_path / "run" / "kites.kite-log"
        assert run.worlds == (0, 1, 2, 3)
        assert run["joint_q"].shape == (10, 4, 3)
    assert "<h2>Series</h2>" in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.slow
def test_view_replays_it(site, tmp_path):
    """`pippin view RUN` with no other recording in the folder."""
    overrides = {"simulation.device": "cpu", "scene.worlds": 1, "recorders.kites": {"type": "kite-log"}}
    result = pippin.run(CARTPOLE, overrides, steps=10, out=tmp_path / "run")
    assert {path.suffix for path in result.folder.iterdir()} >= {".kite-log"}
    assert not list(result.folder.glob("*.npz"))
    port = free_port(None, "port")
    program = Path(sys.executable).with_name("pippin")
    command = [program, "view", result.folder, "--port", str(port), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        timer = threading.Timer(120.0, process.kill)
        timer.start()
        page = next(line for line in process.stdout if "page: " in line)
        with urllib.request.urlopen(page.partition("page: ")[2].split()[0]) as answer:
            status = answer.status
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        timer.cancel()

    assert status == 200
    assert process.returncode == 0, rest


def test_the_reader_is_listed_with_the_recorder(site):
    kinds = {entry.kind for entry in Catalog.installed().entries if entry.name == "kite-log"}

    assert kinds == {"recorder", "reader"}
