"""The policy of the page "Play a policy that others trained" walks. Needs the groups `robots` and `policy`."""

import re
import runpy
import sysconfig
from pathlib import Path

import numpy as np
import pippin
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "play-a-foreign-policy.md"
BLOCKS = re.findall(r"^```\w+\n# (anymal\w*\.\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
DATA = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data")

WORLDS = 2


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of somebody who has done what the page says."""
    for name, text in BLOCKS:
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("anymal_policy.py")
    return tmp_path


def normalised(values):
    """Return what the network makes of observations first, in deviations from the means of the training."""
    import onnx
    from onnx import numpy_helper

    tensors = {each.name: numpy_helper.to_array(each) for each in onnx.load("anymal.onnx").graph.initializer}
    return values @ tensors["weight_0"].T + tensors["bias_0"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*is not that of a body:UserWarning")  # of cameras, whose file has them so
@pytest.mark.parametrize(("acts", "seconds"), [(True, 10), (False, 2)], ids=["policy", "zero actions"])
def test_a_robot_walks_upright_by_a_policy_that_others_trained(acts, seconds, folder):
    """At 0.61 m/s, from starts whose joints are up to 0.1 rad elsewhere. With zero actions it stands still."""
    if not DATA.exists():
        pytest.skip("needs the group 'robots'")
    (folder / "example-robot-data").symlink_to(DATA)
    overrides = {"scene.worlds": WORLDS, "simulation.device": "cpu", "task.autoreset": "disabled"}
    states, seen = [], []
    with pippin.Simulation.from_file("anymal.toml", overrides) as simulation:
        simulation.task.policy_switch.fill_(acts)
        start = simulation.state.joint_q.numpy().reshape(WORLDS, -1)
        start[1:, 7:] += np.random.default_rng(0).uniform(-0.1, 0.1, (WORLDS - 1, 12))
        simulation.state.joint_q.assign(start.ravel())
        simulation.invalidate("joints")
        for _ in range(60 * seconds):
            simulation.step()
            states.append(simulation.state.joint_q.numpy().reshape(WORLDS, -1)[:, :7].copy())
            seen.append(simulation.task.observations["policy"].values.numpy().copy())

    states = np.array(states)
    uprightness = 1.0 - 2.0 * (states[:, :, 3:5] ** 2).sum(axis=2)
    speeds = (states[-1, :, 0] - states[60, :, 0]) / (seconds - 1)
    assert uprightness.min() > 0.9, "the vertical of the base leans by less than 26°"
    assert states[:, :, 2].min() > 0.5
    if acts:
        assert speeds.min() > 0.4
        assert np.abs(normalised(np.array(seen)[60:].mean(axis=(0, 1)))).max() < 2.5, "the gait is that of the training"
    else:
        assert np.abs(speeds).max() < 0.05
