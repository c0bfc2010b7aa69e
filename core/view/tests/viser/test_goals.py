"""Handles of goals on a page: they write the goals of the chosen world, and follow what else writes them."""

import asyncio
import math
import time
import urllib.error
import urllib.request
from types import SimpleNamespace

import numpy as np
import pippin
import pytest


@pytest.fixture(scope="module")
def simulation(examples):
    """Two arms side by side, whose goals nothing else writes, and a page that nobody has opened."""
    overrides = {"scene.worlds": 2, "simulation.device": "cpu", "motions": {"extends": False}}
    overrides |= {"viewers.page": {"type": "viser"}, "task": {"events": {"extends": False}}}
    with pippin.Simulation.from_file(examples / "arm_pick.toml", overrides) as simulation:
        yield simulation


@pytest.fixture
def page(simulation):
    return simulation.viewers["page"]


def drag(page, place, wxyz, phase="start", client=1):
    [handle] = page._goals.handles
    target = SimpleNamespace(position=place, wxyz=wxyz)
    asyncio.run(handle._drag(SimpleNamespace(client_id=client, target=target, phase=phase)))
    page._panel.user_input.process()


def test_a_handle_stands_at_the_goal_as_it_is_drawn(simulation, page):
    [handle] = page._goals.handles
    goal = simulation.controllers["hand"].goals.numpy()[0, 0]
    offset = page._panel.page.offsets_of([0])[0]

    assert handle.handle.position == pytest.approx(goal[:3] + offset, abs=1e-5)
    assert handle.handle.wxyz == pytest.approx(goal[[6, 3, 4, 5]], abs=1e-5)


@pytest.mark.slow
def test_a_drag_leads_the_tool_of_the_chosen_world(simulation, page):
    simulation.reset()
    home = simulation.controllers["hand"].goals.numpy()[:, 0].copy()
    offset = page._panel.page.offsets_of([0])[0]
    place = home[0, :3] + [0.05, 0.1, 0.05]
    page._goals.follow()
    drag(page, place + offset, home[0, [6, 3, 4, 5]])
    simulation.step(100)
    goals = simulation.controllers["hand"].goals.numpy()[:, 0]
    tools = simulation.controllers["hand"].poses().numpy()[:, 0]

    assert goals[0, :3] == pytest.approx(place, abs=1e-6)
    assert goals[0, 3:] == pytest.approx(home[0, 3:], abs=1e-6)
    assert goals[1] == pytest.approx(home[1], abs=1e-6)
    assert tools[0, :3] == pytest.approx(place, abs=0.02)
    assert "1 goal" in page.notes[0]


def test_a_dragged_handle_is_not_put_back(page):
    """The browser has it already; a message per frame would pull the handle from under the pointer."""
    [handle] = page._goals.handles
    drag(page, np.array([0.3, 0.2, 0.4]), np.array([0.0, 1.0, 0.0, 0.0]), phase="update")
    before = handle.handle.position
    page._goals.follow()

    assert handle.handle.position is before


def test_a_handle_follows_what_else_writes_goals_and_the_chosen_world(simulation, page):
    [handle] = page._goals.handles
    goals = simulation.controllers["hand"].goals.numpy().copy()
    goals[1, 0, :3] = [0.4, 0.2, 0.3]
    simulation.controllers["hand"].goals.assign(goals)
    page._panel.controls.worlds = [1]
    page._goals.follow()
    position = handle.handle.position
    page._panel.controls.worlds = [0, 1]

    assert position == pytest.approx(np.array([0.4, 0.2, 0.3]) + page._panel.page.offsets_of([1])[0], abs=1e-5)


def test_handles_can_be_hidden(page):
    [handle] = page._goals.handles
    page._goals.is_shown = False
    page._goals.follow()
    is_hidden = not handle.handle.visible
    page._goals.is_shown = True
    page._goals.follow()

    assert is_hidden
    assert handle.handle.visible


def ask(page, message):
    """Send a message of the pad by a plain request, as the pad does, and return the status and the text."""
    try:
        with urllib.request.urlopen(f"{page.url}/pad{message}") as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_a_held_pad_moves_and_turns_the_goal_of_the_chosen_world_until_it_is_let_go(simulation, page):
    simulation.reset()
    page._panel.controls.worlds = [1]
    goals = simulation.controllers["hand"].goals
    before, dt = goals.numpy()[:, 0].copy(), simulation.control_dt

    answers = [ask(page, "/1,-0.5,0,0,0.8")]
    page._panel.user_input.process()
    acted = [page.act() for _ in range(10)]
    after = goals.numpy()[:, 0].copy()
    time.sleep(0.35)  # a closed window tells nothing more
    acted += [page.act(), page.act()]
    page._panel.controls.worlds = [0, 1]

    half = 0.5 * 10 * 0.8 * dt  # half of the angle about z [rad]
    x, y, z, w = before[1, 3:]
    turned = np.array([-math.sin(half) * y, math.sin(half) * x, math.sin(half) * w, -math.sin(half) * z])
    assert answers == [(200, "")]
    assert acted == [True] * 11 + [False]
    assert after[0] == pytest.approx(before[0])
    assert after[1, :3] - before[1, :3] == pytest.approx(10 * dt * 0.25 * np.array([1.0, -0.5, 0.0]), abs=1e-6)
    assert after[1, 3:] == pytest.approx(math.cos(half) * before[1, 3:] + turned, abs=1e-5)
    assert goals.numpy()[:, 0] == pytest.approx(after, abs=1e-6)


def test_a_message_that_is_no_pad_is_refused_and_the_page_is_found(page):
    status, text = ask(page, "")

    assert (status, "Keys and gamepad" in text, "BASE" in text) == (200, True, False)
    assert ask(page, "/1,0,0")[0] == 400
    assert ask(page, "/nan,0,0,0,0") == (400, "a pad has 5 numbers from -1 to 1: x, y, z, pitch, yaw\n")
    assert ask(page, "/grip") == (400, "'grip' is no button of: reset\n")
    assert ask(page, "/reset") == (200, "")
    page._panel.user_input.process()
