"""What a page draws and what a hand does, without a browser: contacts, names, and the spring of a drag."""

import time
from types import SimpleNamespace

import newton
import numpy as np
import pippin
import pytest
from pippin_conformance import scenes

from .chromium import until

RADIUS, MASS = 0.1, 1.0


@pytest.fixture(scope="module")
def simulation():
    """Two worlds with a ball of 1 kg that lies on the ground, and a page that nobody has opened."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_ball(builder, 0.099, mass=MASS, radius=RADIUS)
    tables = {
        "simulation": {"device": "cpu", "dt": 0.002, "observables": ["contact_f"]},
        "scene": {"ground": True, "worlds": 2},
        "solver": {"type": "xpbd"},
        "viewers": {"page": {"type": "viser"}},
    }
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        simulation.step(100)
        yield simulation


@pytest.fixture
def panel(simulation):
    return simulation.viewers["page"]._panel


def frame(simulation):
    simulation.viewers["page"]._panel.page.show(simulation, simulation.time)


def test_frames_that_take_long_are_shown_less_often(simulation, panel, monkeypatch):
    """A frame of 50 ms leaves the steps 93 % of the time: the next one is due 660 ms later."""
    viewer = simulation.viewers["page"]
    monkeypatch.setattr(panel, "clients", SimpleNamespace(count=1))
    monkeypatch.setattr(panel.page, "marks", [*panel.page.marks, lambda: time.sleep(0.05)])
    start = time.perf_counter()
    viewer.frame()
    end = time.perf_counter()
    is_due_at_once = viewer.wants_frame()
    time.sleep(0.3)
    is_due_later = viewer.wants_frame()

    assert not is_due_at_once
    assert not is_due_later
    assert viewer._next_frame - end < 1.1 * (end - start) / 0.07  # on a busy machine a frame takes more than 50 ms


def test_what_the_thread_of_the_server_takes_counts_as_time_of_a_frame(simulation, panel):
    def work():
        start = time.thread_time()
        while time.thread_time() - start < 0.05:
            pass

    viewer = simulation.viewers["page"]
    viewer.frame()
    panel.page.server.get_event_loop().call_soon_threadsafe(work)
    before = panel.page.sending_time
    until(lambda: viewer.frame() or panel.page.sending_time >= before + 0.05, "the thread of the server")
    viewer._next_frame = 0.0
    viewer._sending_time = before
    viewer.frame()

    assert viewer._next_frame - time.perf_counter() > 0.5


def marks(simulation, panel):
    """Return the contact marks, as the boxes of the page make them."""
    return panel.controls.contact_marks()


def test_the_arrows_of_a_ball_carry_its_weight_at_the_scale_of_the_page(simulation, panel):
    shown = marks(simulation, panel)
    shown.shows_points = shown.shows_forces = True
    frame(simulation)
    points, arrows = shown._points.points.copy(), shown._forces.points.copy()
    shown.shows_points = shown.shows_forces = False
    frame(simulation)

    offsets = panel.page.offsets_of([0, 1])
    np.testing.assert_allclose(points, offsets, atol=0.01)
    np.testing.assert_allclose(arrows[:, 0], points, atol=1e-6)
    lengths = np.linalg.norm(arrows[:, 1] - arrows[:, 0], axis=1)
    np.testing.assert_allclose(lengths, MASS * 9.81 * shown.scale, rtol=0.02)
    assert (arrows[:, 1, 2] > arrows[:, 0, 2]).all(), "the ground pushes upwards"
    assert not shown._points.visible
    assert not shown._forces.visible


def test_contacts_of_hidden_worlds_are_not_drawn(simulation, panel):
    shown = marks(simulation, panel)
    shown.shows_points = True
    shown.show([1])
    points = shown._points.points.copy()
    shown.shows_points = False

    np.testing.assert_allclose(points, panel.page.offsets_of([1]), atol=0.01)


def test_shapes_are_transparent_while_forces_are_shown(simulation, panel):
    shown = marks(simulation, panel)
    opacities = []
    for shows_forces in (True, False):
        shown.shows_forces = shows_forces
        frame(simulation)
        frame(simulation)  # the marks come after the shapes
        [ball] = [each for each in panel.page._scene_handles.values() if hasattr(each, "batched_opacities")]
        opacities.append(float(np.max(ball.batched_opacities)))

    assert opacities == [pytest.approx(0.3, abs=0.01), 1.0]


def ray_to(simulation, panel, world):
    """Return a point beside a ball as it is drawn, and its middle."""
    [centre] = panel.page.body_positions(simulation)[world : world + 1]
    return centre - np.array([0.0, 3.0, 0.0]), centre


def test_a_click_names_the_body(simulation, panel):
    origin, centre = ray_to(simulation, panel, 1)
    panel.page.on_click(SimpleNamespace(ray_origin=origin, ray_direction=(centre - origin) / 3.0))
    panel.user_input.process()

    name = simulation.model.body_label[1].rpartition("/")[2]
    assert panel.hand.text.startswith(f"**{name}** of world 1")
    assert "1 kg" in panel.hand.text
    assert not panel.page.picking.is_picking(), "a click pulls nothing"


def drag(panel, phase, start, end, client=7):
    camera = SimpleNamespace(position=np.array(start) - np.array([0.0, 3.0, 0.0]))
    event = {"client": SimpleNamespace(camera=camera), "client_id": client, "phase": phase}
    panel.page.on_drag(SimpleNamespace(start_position=tuple(start), end_position=tuple(end), **event))


def test_a_dragged_ball_hangs_from_the_hand_by_a_spring_until_it_is_released(simulation, panel):
    """The spring accelerates the taken point by k Δx − c v; at rest, k Δx balances gravity.

    The ball still swings a little from the point at its side.
    """
    _, centre = ray_to(simulation, panel, 0)
    grip = centre - [0.0, RADIUS, 0.0]
    before = simulation.state.body_q.numpy()[:, 2].copy()
    drag(panel, "start", grip, grip)
    drag(panel, "update", grip, grip + np.array([0.0, 0.0, 0.5]))
    program = simulation.program
    simulation.step(1500)
    lifted = simulation.state.body_q.numpy()[:, 2] - before
    point, target = np.array(panel.page.picking.pick_point), np.array(panel.page.picking.pick_target)
    frame(simulation)
    drag(panel, "end", grip, grip)
    simulation.step(400)
    fallen = simulation.state.body_q.numpy()[:, 2] - before

    stiffness = panel.page.picking.pick_stiffness
    assert (target - point)[2] == pytest.approx(9.81 / stiffness, rel=0.25)
    assert lifted[0] > 0.3
    assert abs(lifted[1]) < 1e-3, "only the chosen world"
    assert abs(fallen[0]) < 0.01
    assert simulation.program is program
    assert "changed from the page: 1 pull" in simulation.notes["viewers:page"]


def test_another_browser_does_not_take_the_body_away(simulation, panel):
    _, centre = ray_to(simulation, panel, 0)
    drag(panel, "start", centre, centre, client=1)
    drag(panel, "end", centre, centre, client=2)
    panel.user_input.process()
    is_held = panel.page.picking.is_picking()
    drag(panel, "end", centre, centre, client=1)
    panel.user_input.process()

    assert is_held
    assert not panel.page.picking.is_picking()


def test_names_of_the_bodies_move_along_with_them(simulation, panel):
    panel.controls.names.shows_bodies = True
    frame(simulation)
    handles = dict(panel.controls.names._handles)
    panel.controls.names.shows_bodies = False
    frame(simulation)

    [label] = handles.values()
    np.testing.assert_allclose(label.position, panel.page.body_positions(simulation)[0], atol=1e-6)
    assert label.text == simulation.model.body_label[0].rpartition("/")[2]
    assert not panel.controls.names._handles


def test_the_colours_are_those_of_a_video(simulation, panel):
    """The browser takes linear colours, and shows them with a gamma of 2.2."""
    frame(simulation)
    [handle] = [each for each in panel.page._scene_handles.values() if hasattr(each, "batched_colors")][:1]

    expected = simulation.model.shape_color.numpy()[0] ** 2.2 * 255.0
    np.testing.assert_allclose(handle.batched_colors[0], expected, atol=1.0)


def test_the_page_can_be_dark(simulation, panel):
    panel.page.is_dark = True
    frame(simulation)
    grid = next(iter(panel.page._plane_handles.values()))[0]
    dark = grid.cell_color
    panel.page.is_dark = False
    frame(simulation)

    assert max(dark) < 100 < min(grid.cell_color)


def test_the_first_line_tells_the_worlds_drawn_and_the_time_since_a_reset(simulation, panel):
    panel.status.show(simulation, is_paused=True, drawn=1, start=simulation.time - 0.5)
    some = panel.status._state.text
    panel.status.show(simulation, is_paused=True, drawn=2, start=simulation.time)

    assert some == "**t = 0.50 s** · paused · 1 of 2 worlds drawn"
    assert panel.status._state.text == "**t = 0.00 s** · paused · 2 worlds"
