"""`pippin demo`: robots that walk on a page, without a file."""

import shutil
import sys

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin_demo.demo import FILE

from tests.pages import until_ctrl_c


def moved(seconds, **keys):
    """Return the distance of each trunk from its start on the ground, and its height [m], after some time."""
    with pippin.Simulation(pippin.load(FILE, {"simulation.device": "cpu", "simulation.seed": 1} | keys)) as simulation:
        simulation.reset()
        start = simulation.state.joint_q.numpy().reshape(simulation.world_count, -1)[:, :3].copy()
        simulation.step(round(seconds / simulation.control_dt))
        simulation.raise_errors()
        end = simulation.state.joint_q.numpy().reshape(simulation.world_count, -1)[:, :3]
        return np.linalg.norm((end - start)[:, :2], axis=1), end[:, 2]


@pytest.mark.alone
def test_the_robot_stands_without_its_policy(tmp_path):
    """The file needs what this package requires, and no more."""
    text, mark, _ = FILE.read_text(encoding="utf-8").partition("[policy]")
    copy = shutil.copytree(FILE.parent, tmp_path / "go1") / "go1.toml"
    copy.write_text(text, encoding="utf-8")

    with pippin.Simulation.from_file(copy, {"scene.worlds": 1}) as simulation:
        simulation.step(100)
        height = simulation.state.joint_q.numpy()[2]

    assert mark
    assert 0.2 < height < 0.3


def test_nine_robots_walk_and_none_falls():
    """The tightest curve, 0.4 m/s and 0.5 rad/s, is 1.6 m wide: each robot is a metre away at one time or the other."""
    pytest.importorskip("onnx")
    distances, heights = zip(
        *(moved(seconds, **{"task.autoreset": "disabled"}) for seconds in (3.0, 10.0)), strict=True
    )

    assert (np.max(distances, axis=0) > 1.0).all()
    assert (np.array(heights) > 0.2).all()


def test_the_robots_do_not_walk_by_themselves():
    pytest.importorskip("onnx")
    distances, _ = moved(3.0, **{"task.commands.velocity.x": [0.0, 0.0], "task.commands.velocity.y": [0.0, 0.0]})

    assert (distances < 0.5).all()


def test_the_page_is_served_without_a_file_until_ctrl_c():
    pytest.importorskip("viser")
    served, result = until_ctrl_c(["demo", "--no-browser", "--worlds", "2", "--device", "cpu"], seconds=400.0)

    assert served == [200], result.output
    assert result.exit_code == 0, result.output
    assert result.output.startswith(f"file: {FILE}\n")
    assert result.output.endswith("stopped\n")


def test_options_reach_the_file():
    pytest.importorskip("viser")
    result = CliRunner().invoke(main, ["demo", "--no-browser", "--set", "solver.type=nothing"])

    assert result.exit_code != 0
    assert "'nothing'" in result.output


def test_a_missing_library_is_named_with_its_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "warp_nn", None)  # as if it were not installed

    result = CliRunner().invoke(main, ["demo"])

    assert result.exit_code == 3
    assert "'warp_nn' cannot be imported" in result.output
    assert "demo" in result.output.partition("install it by")[2]
