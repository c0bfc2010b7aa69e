"""Demonstrations by a user of the page: handles become actions, buttons keep or discard; one in a real browser."""

import asyncio
import json
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pippin
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin_record.replay import replay
from pippin_view.configs import ViserConfig
from pippin_view.subcommands._pages import RECORDER, for_operator
from pippin_view.viser.operator import _turns
from pippin_view.viser.viewer import ViewerViser

from .chromium import Chromium, until

REACH = Path(__file__).parents[4] / "docs" / "examples" / "reach.toml"
ROBOT = """<mujoco><worldbody><body><joint name="hip" axis="0 1 0"/><geom size="0.05" pos="0.2 0 0"/>
<body pos="0.4 0 0"><joint name="knee" axis="0 1 0"/><geom size="0.05" pos="0.1 0 0"/></body>
</body></worldbody></mujoco>"""
SWING = """
simulation = { dt = 0.005, decimation = 4, device = "cpu" }
scene = { worlds = 3, assets = [{ path = "robot.xml" }] }
solver.type = "mujoco-native"
actuators.leg = { type = "pd", joints = [".*"], kp = 5.0, kd = 0.1 }
motions.swing = { type = "sine", actuator = "leg", amplitude = 0.5, frequency = 2.0 }

[task]
episode_length = 0.1
actions.targets = { type = "joint-targets", actuator = "leg" }
terminations.far = { type = "outside", of = "joint-positions", low = -0.01, high = 0.01 }
"""


def operated(file, path, wanted=None, overrides=None):
    """Return a simulation and its page, on which a user demonstrates."""
    page = ViewerViser(ViserConfig())
    page.tells_url, page.demonstrations = False, (RECORDER, wanted)
    config = for_operator(pippin.load(file, {"simulation.device": "cpu", **(overrides or {})}), path)
    return pippin.Simulation(config, {"page": page}), page


@pytest.fixture
def swing(tmp_path):
    (tmp_path / "robot.xml").write_text(ROBOT)
    (tmp_path / "swing.toml").write_text(SWING)
    return tmp_path / "swing.toml"


def info_of(dataset):
    return json.loads((dataset / "meta" / "info.json").read_text())


def column(dataset, name):
    return np.array(pq.read_table(dataset / "data").column(name).to_pylist())


@pytest.mark.slow
def test_a_dragged_handle_becomes_actions_within_their_bounds(tmp_path):
    simulation, page = operated(REACH, tmp_path / "demos", wanted=1, overrides={"solver.type": "mujoco-native"})
    with simulation:
        operator, [handle] = page._operator, page._goals.handles
        operator.start()
        simulation.step(1)
        home = simulation.controllers["hand"].goals.numpy()[0, 0].copy()
        place = home[:3] + np.array([0.05, 0.1, 0.0])
        target = SimpleNamespace(position=place, wxyz=home[[6, 3, 4, 5]])
        asyncio.run(handle._drag(SimpleNamespace(client_id=1, target=target, phase="start")))
        page._panel.user_input.process()
        simulation.step(10)
        goal = simulation.controllers["hand"].goals.numpy()[0, 0].copy()
        is_complete_before = page.is_complete
        operator.decide(True)

    steps = column(tmp_path / "demos", "action") * 0.02  # [m]
    assert goal[:3] == pytest.approx(place, abs=1e-6)
    assert steps.sum(axis=0) == pytest.approx([0.05, 0.1, 0.0], abs=1e-6)
    assert steps[1:4] == pytest.approx(np.array([[0.02, 0.02, 0.0], [0.02, 0.02, 0.0], [0.01, 0.02, 0.0]]), abs=1e-6)
    assert (is_complete_before, page.is_complete) == (False, True)
    assert replay(tmp_path / "demos")[0].largest == 0.0


def test_a_turn_is_a_vector_of_the_world():
    start = np.array([[0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)], [0.0, 0.0, 0.0, 1.0]])
    quarter = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])  # about x
    end = np.stack([[0.5, -0.5, 0.5, 0.5], -quarter])  # the first: a quarter about x after one about z

    assert _turns(start, end) == pytest.approx(np.array([[np.pi / 2, 0.0, 0.0]] * 2), abs=1e-6)
    assert _turns(start, start) == pytest.approx(np.zeros((2, 3)), abs=1e-9)


def test_buttons_that_end_an_episode_act_while_there_is_one(swing, tmp_path):
    simulation, page = operated(swing, tmp_path / "demos")
    with simulation:
        operator, states = page._operator, []
        for act in (lambda: None, operator.start, lambda: simulation.step(3), lambda: operator.decide(True)):
            act()
            states.append([button.disabled for button in operator.decisions])

        assert [button.label for button in operator.decisions] == ["Keep", "Discard"]
        assert [button.color for button in operator.decisions] == ["green", "red"]
    assert states == [[True] * 2, [False] * 2, [False] * 2, [True] * 2]


def test_buttons_keep_and_discard_episodes(swing, tmp_path):
    simulation, page = operated(swing, tmp_path / "demos")
    targets = simulation.actuators["leg"].position_targets
    with simulation:
        operator, controls = page._operator, page._panel.controls
        paused = [controls.is_paused]
        operator.decide(True)  # nothing is recorded yet
        for count, target, keep in ((8, 0.3, True), (5, 0.6, False), (12, 0.9, True)):
            operator.start()
            paused.append(controls.is_paused)
            targets.fill_(target)
            simulation.step(count)
            operator.decide(keep)
            paused.append(controls.is_paused)
            page.pause(False)
            simulation.step()  # after the end, a step belongs to no episode
        text = operator._text.text

    assert paused == [True, *[False, True] * 3]
    assert "**2** kept, 1 discarded" in text
    assert info_of(tmp_path / "demos")["total_episodes"] == 2
    assert column(tmp_path / "demos", "episode_index").tolist() == [0] * 8 + [1] * 12
    actions = column(tmp_path / "demos", "action")  # neither the motion nor the task wrote targets
    assert actions == pytest.approx(np.repeat([0.3, 0.9], [8, 12])[:, None] * np.ones(2), abs=1e-6)
    assert np.flatnonzero(column(tmp_path / "demos", "next.done")).tolist() == [7, 19]


@pytest.mark.parametrize(
    ("name", "fault"),
    [("demos.txt", r"ends with \.txt"), ("taken", "is not empty"), ("taken/file.hdf5", "exists; choose another")],
)
def test_a_path_that_is_taken_is_refused(swing, tmp_path, name, fault):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file.hdf5").write_text("")

    with pytest.raises(pippin.ConfigError, match=fault):
        for_operator(pippin.load(swing), tmp_path / name)


@pytest.mark.slow
@pytest.mark.skipif(not Chromium.is_installed(), reason="there is no Chromium on this machine")
def test_a_user_of_a_browser_demonstrates(swing, tmp_path, monkeypatch):
    urls, dataset, faults = [], tmp_path / "demos", []
    monkeypatch.setattr("webbrowser.open", urls.append)
    browser = Chromium(tmp_path / "profile", (800, 900))

    def demonstrate():
        until(lambda: urls, "the page")
        tab = browser.open(urls[0])
        try:
            until(lambda: tab.shows("Press Start."), "the buttons")
            for button, key in (("Discard", "End"), ("Keep", "Home")):
                tab.press("Start")
                until(lambda: tab.shows("Recording: "), "the episode")
                tab.key(0, key)
                until(lambda: tab.shows("Recording: 1 s."), "a second of the recording", 20.0)
                tab.press(button)
                if button == "Discard":  # after the last episode that is wanted, the page is closed
                    until(lambda: tab.shows("1 discarded"), "the end of the episode")
        except AssertionError as error:
            faults.append((str(error), tab.evaluate("document.body.innerText")))
        finally:
            tab.close()

    thread = threading.Thread(target=demonstrate)
    thread.start()
    try:
        arguments = ["teleoperate", str(swing), "--record", str(dataset), "--episodes", "1", "--instruction", "swing"]
        result = CliRunner().invoke(main, [*arguments, "--browser", "--until-closed"])
    finally:
        thread.join()
        browser.close()

    assert faults == []
    assert result.exit_code == 0, result.output
    assert info_of(dataset)["total_episodes"] == 1
    assert pq.read_table(dataset / "meta/tasks.parquet").to_pydict()["task"] == ["swing"]
    actions, states = column(dataset, "action"), column(dataset, "simulation.joint_q")
    assert actions[0].tolist() == [0.0, 0.0]
    assert actions[-1] == pytest.approx([-np.pi, 0.0], abs=1e-3)  # the end of the slider, half a turn
    assert np.abs(states[-1] - states[0]).max() > 0.1


GAMEPAD = """navigator.getGamepads = () => [{ mapping: "standard", axes: [0, 0.05, 0, -1],
    buttons: Array.from({ length: 17 }, () => ({ pressed: false })) }]"""
"""A gamepad whose right stick is pushed up, and whose left one does not rest quite in the middle."""


@pytest.mark.slow
@pytest.mark.skipif(not Chromium.is_installed(), reason="there is no Chromium on this machine")
def test_held_keys_and_a_gamepad_demonstrate(tmp_path, monkeypatch):
    """`R` starts, a held `A` moves the hand to the left, the right stick moves it up, and `Enter` keeps."""
    urls, dataset, faults = [], tmp_path / "demos", []
    monkeypatch.setattr("webbrowser.open", urls.append)
    browser = Chromium(tmp_path / "profile", (800, 900))

    def demonstrate():
        until(lambda: urls, "the page")
        tab = browser.open(urls[0])
        until(lambda: tab.shows("Press Start."), "the buttons")
        pad = browser.open(f"{urls[0]}/pad")
        try:
            until(lambda: pad.shows("Hold keys"), "the pad")

            def key(kind, code):
                pad.call("Input.dispatchKeyEvent", type=kind, code=code, key=code)

            key("keyDown", "KeyR")
            until(lambda: tab.shows("Recording: "), "the episode")
            key("keyDown", "KeyA")
            until(lambda: pad.shows("0.000,1.000,0.000"), "the number")
            time.sleep(0.5)
            key("keyUp", "KeyA")
            until(lambda: pad.shows("0.000,0.000,0.000"), "the end of it")
            pad.evaluate(GAMEPAD)
            until(lambda: pad.shows("0.000,0.000,1.000"), "the stick")
            time.sleep(0.5)
            key("keyDown", "Enter")
        except AssertionError as error:
            faults.append((str(error), pad.evaluate("document.body.innerText")))
            tab.press("Keep")
        finally:
            until(lambda: not tab.shows("Recording: ") or tab.shows("ended"), "the end", 20.0)
            pad.close()
            tab.close()

    thread = threading.Thread(target=demonstrate)
    thread.start()
    try:
        arguments = ["teleoperate", str(REACH), "--record", str(dataset), "--episodes", "1", "--browser"]
        overrides = ["--set", 'solver.type="mujoco-native"', "--set", 'simulation.device="cpu"']
        result = CliRunner().invoke(main, [*arguments, *overrides, "--until-closed"])
    finally:
        thread.join()
        browser.close()

    assert faults == []
    assert result.exit_code == 0, result.output
    moved = np.sign(np.round(column(dataset, "action"), 3))
    assert {tuple(row) for row in moved.tolist()} == {(0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)}
    assert (moved[:, 1] > 0.0).sum() > 10
    assert (moved[:, 2] > 0.0).sum() > 10
