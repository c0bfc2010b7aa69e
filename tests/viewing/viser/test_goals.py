"""Handles of goals on a page: they write the goals of the chosen world, and follow what else writes them."""

import asyncio
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
    [handle] = page._goals._handles
    target = SimpleNamespace(position=place, wxyz=wxyz)
    asyncio.run(handle._drag(SimpleNamespace(client_id=client, target=target, phase=phase)))
    page._panel.user_input.process()


def test_a_handle_stands_at_the_goal_as_it_is_drawn(simulation, page):
    [handle] = page._goals._handles
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
    [handle] = page._goals._handles
    drag(page, np.array([0.3, 0.2, 0.4]), np.array([0.0, 1.0, 0.0, 0.0]), phase="update")
    before = handle.handle.position
    page._goals.follow()

    assert handle.handle.position is before


def test_a_handle_follows_what_else_writes_goals_and_the_chosen_world(simulation, page):
    [handle] = page._goals._handles
    goals = simulation.controllers["hand"].goals.numpy().copy()
    goals[1, 0, :3] = [0.4, 0.2, 0.3]
    simulation.controllers["hand"].goals.assign(goals)
    page._panel.controls.worlds = [1]
    page._goals.follow()
    position = handle.handle.position
    page._panel.controls.worlds = [0, 1]

    assert position == pytest.approx(np.array([0.4, 0.2, 0.3]) + page._panel.page.offsets_of([1])[0], abs=1e-5)


def test_handles_can_be_hidden(page):
    [handle] = page._goals._handles
    page._goals.is_shown = False
    page._goals.follow()
    is_hidden = not handle.handle.visible
    page._goals.is_shown = True
    page._goals.follow()

    assert is_hidden
    assert handle.handle.visible
