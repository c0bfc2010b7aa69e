"""The page of a simulation: what it shows and what its controls do, in a real browser; its refusals without one."""

import io
import os
import signal
import socket
import sys
import threading
import urllib.request

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from PIL import Image
from pippin import Simulation
from pippin.cli import main
from pippin.quaternions import rotated

from .chromium import Chromium, until

LINKS, WORLDS = 2, 4
PD = {"type": "pd", "joints": [".*"], "kp": 5.0, "kd": 0.0}  # without damping it swings for the whole time

POINTED = "(label => label.hidden ? '' : label.textContent)(document.querySelector('#pippin-pointed'))"

CORNER = "(box => [box.x, box.y])(document.querySelector('#pippin-pointed').getBoundingClientRect())"

needs_browser = pytest.mark.skipif(not Chromium.is_installed(), reason="there is no Chromium on this machine")


def build(worlds=WORLDS, scene=(), **page):
    """Return a simulation of hanging chains with a page; `scene` has further keys of the scene."""
    import newton
    import warp as wp
    from pippin_conformance import scenes

    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_chain(builder, [1.0] + [0.0] * (LINKS - 1), length=0.5)
    skin = newton.ModelBuilder.ShapeConfig(density=0.0)
    for body in range(LINKS):
        middle = wp.transform((0.0, 0.0, -0.25), wp.quat_identity())
        builder.add_shape_capsule(body, xform=middle, radius=0.05, half_height=0.15, cfg=skin)
    tables = {
        "simulation": {"device": "cpu", "dt": 0.005, "decimation": 2},
        "scene": {"worlds": worlds, **dict(scene)},
        "solver": {"type": "featherstone"},
        "actuators": {"arm": PD},
        "viewers": {"page": {"type": "viser", **page}},
    }
    return Simulation(pippin.structure(tables), prototype=builder)


class Run:
    """A simulation that another thread steps, as a program does, and its page in a tab."""

    def __init__(self, simulation, browser):
        self.simulation, self.page = simulation, simulation.viewers["page"]
        self.program = simulation.program
        self._is_over = False
        self._thread = threading.Thread(target=self._step)
        self._thread.start()
        self.tab = browser.open(self.page.url)

    def _step(self):
        while not self._is_over:
            self.simulation.step()

    def joint_q(self):
        return self.simulation.state.joint_q.numpy().reshape(WORLDS, LINKS).copy()

    def targets(self):
        return self.simulation.actuators["arm"].position_targets.numpy().copy()

    def pause(self):
        """Pause by the checkbox, and wait until no step is under way."""
        self.tab.press("Pause")
        until(lambda: self.simulation.is_waiting and self.tab.shows("paused"), "the pause")

    def resume(self):
        self.tab.press("Pause")
        until(lambda: not self.tab.shows("paused"), "the end of the pause")

    def end(self):
        self._is_over = True
        self.page.pause(False)
        self._thread.join()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Chromium(tmp_path_factory.mktemp("chromium"), (800, 500))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def run(browser):
    """One simulation and one server for all tests: each leaves it running, with all worlds chosen."""
    with build(worlds=WORLDS, speed=1.0, rate=10.0) as simulation:
        run = Run(simulation, browser)
        try:
            until(lambda: run.tab.shows("real time"), "the page")
            yield run
        finally:
            run.end()


@pytest.mark.slow
@needs_browser
def test_the_page_shows_every_shape_of_the_worlds(run):
    until(lambda: run.tab.instance_count() == run.simulation.model.shape_count, "the shapes")


@pytest.mark.slow
@needs_browser
def test_the_page_shows_every_block_of_a_terrain(browser):
    terrain = {"levels": 1, "patches": {"up": {"type": "stairs", "step_height": [0.1, 0.1]}}}
    with build(worlds=1, scene={"terrain": terrain}, speed=1.0) as simulation:
        tab = browser.open(simulation.viewers["page"].url)
        simulation.step(5)
        shapes = np.count_nonzero(simulation.model.shape_body.numpy() < 0)
        until(lambda: tab.instance_count() == LINKS + shapes, "the blocks")
        tab.close()

    assert shapes > 5


@needs_browser
def test_the_image_is_neither_blank_nor_still(run):
    def image():
        image = Image.open(io.BytesIO(run.tab.screenshot())).convert("RGB")
        return np.asarray(image).astype(int)[:, :460]  # beside the panel

    def changed():
        return (np.abs(image() - first).max(axis=-1) > 30).mean()

    first = image()
    until(lambda: changed() > 0.001, "another image")

    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 50


def window_point(run, point):
    """Return where a point of the scene is in the window, from the camera that viser reports [px]."""
    [client] = run.page._panel.page.server.get_clients().values()
    camera = client.camera
    w, *axis = camera.wxyz
    conjugate = np.array([*(-np.array(axis)), w])
    across, down, ahead = rotated(conjugate[None], (np.asarray(point) - camera.position)[None])[0]
    size = np.array(
        run.tab.evaluate("(c => [c.width, c.height])(document.querySelector('canvas').getBoundingClientRect())")
    )
    unit = size[1] / 2.0 / np.tan(camera.fov / 2.0)
    return size / 2.0 + unit * np.array([across, down]) / ahead


def apart(run):
    """Return the link whose middle is farthest from those of others in the window: its world, number, place."""
    bodies = [(world, link) for world in range(WORLDS) for link in range(LINKS)]
    poses = run.simulation.state.body_q.numpy()
    offsets = run.page._panel.page.offsets_of([world for world, _ in bodies])
    middles = poses[:, :3] + rotated(poses[:, 3:], np.tile([0.0, 0.0, -0.25], (len(poses), 1))) + offsets
    places = np.array([window_point(run, middle) for middle in middles])
    distances = np.linalg.norm(places[:, None] - places, axis=-1) + 1e6 * np.eye(len(places))
    is_free = (places[:, 0] > 20) & (places[:, 0] < 440) & (places[:, 1] > 170) & (places[:, 1] < 480)
    index = np.argmax(distances.min(axis=1) * is_free)
    assert is_free[index]
    return *bodies[index], places[index]


@pytest.mark.slow
@needs_browser
def test_the_name_of_what_is_under_the_pointer_follows_it(run):
    for _ in range(2):
        run.pause()
        world, link, place = apart(run)
        name = f"link_{link} of world {world}"
        run.tab.move(*place)
        until(lambda name=name: run.tab.evaluate(POINTED) == name, f"the name {name!r}")
        corner = np.array(run.tab.evaluate(CORNER))
        run.tab.move(5, 5)
        until(lambda: run.tab.evaluate(POINTED) == "", "the end of the name")
        run.resume()

        np.testing.assert_allclose(corner, place + 14.0, atol=1.5)


@needs_browser
def test_a_pause_holds_the_time_and_step_takes_one_step(run):
    run.pause()
    held = run.simulation.step_count
    run.tab.press("Step")
    until(lambda: run.simulation.step_count > held, "the step")
    until(lambda: run.simulation.is_waiting, "the pause")

    assert run.simulation.step_count == held + 1
    run.resume()
    until(lambda: run.simulation.step_count > held + 1, "more steps")


@needs_browser
def test_a_reset_restores_the_chosen_world_alone(run):
    run.pause()
    before = run.joint_q()
    run.tab.choose("World", "2")
    until(lambda: run.tab.instance_count() == run.simulation.model.shape_count // WORLDS, "one world")
    run.tab.press("Reset this world")
    until(lambda: not np.array_equal(run.joint_q()[2], before[2]), "the reset")
    one = run.joint_q()
    run.tab.press("Reset")
    until(lambda: not np.array_equal(run.joint_q(), one), "the reset of all")

    np.testing.assert_array_equal(np.delete(one, 2, axis=0), np.delete(before, 2, axis=0))
    np.testing.assert_allclose(run.joint_q(), [[1.0] + [0.0] * (LINKS - 1)] * WORLDS, atol=1e-6)
    run.tab.choose("World", "all")
    run.resume()


@needs_browser
def test_a_slider_writes_the_target_of_the_chosen_world_alone(run):
    run.tab.choose("World", "1")
    before = run.targets()
    run.tab.key(1, "End")
    until(lambda: not np.array_equal(run.targets(), before), "the target")
    after, step = run.targets(), run.simulation.step_count
    until(lambda: run.simulation.step_count > step + 2, "steps with it")

    assert np.argwhere(after != before).tolist() == [[1, 1]]
    assert after[1, 1] == pytest.approx(np.pi, abs=1e-3), "half a turn, as the joint has no limits"
    assert run.simulation.program is run.program
    assert "target" in run.simulation.notes["viewers:page"][0]
    run.tab.choose("World", "all")


@needs_browser
def test_the_page_plots_a_chosen_channel(run):
    run.tab.choose("Series", "joint_q")
    until(lambda: run.tab.evaluate("document.querySelector('.uplot canvas')?.width > 0"), "the plot")
    title = run.tab.evaluate("document.querySelector('.u-title').textContent")
    run.tab.choose("Series", "none")
    until(lambda: run.tab.evaluate("!document.querySelector('.uplot')"), "the end of the plot")

    assert title == "joint_q [rad]"


@needs_browser
def test_the_page_is_as_dark_as_the_browser_and_keeps_its_address(run):
    for scheme in ("dark", "light"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        run.tab.call("Emulation.setEmulatedMedia", features=features)
        shown = "document.documentElement.dataset.mantineColorScheme"
        until(lambda: run.tab.evaluate(shown) == scheme, scheme)  # noqa: B023

    assert run.tab.evaluate("location.href") == run.page.url


@needs_browser
def test_physics_continues_while_the_browser_stands_still(run, browser):
    """At real time, a second has 100 control steps and 10 frames, of which nobody fetches one."""
    browser.freeze()
    try:
        step = run.simulation.step_count
        until(lambda: run.simulation.step_count > step + 100, "steps without a browser", patience=20.0)
    finally:
        browser.thaw()
    later = run.joint_q()

    until(lambda: not np.array_equal(run.joint_q(), later), "more motion")
    assert run.tab.shows("real time")
    assert not [note for note in run.simulation.notes.get("viewers:page", []) if "switched off" in note]


@needs_browser
def test_a_closed_tab_ends_nothing(run):
    until(lambda: run.page.clients.count == 1, "the tab")
    run.tab.close()
    until(lambda: run.page.clients.count == 0, "the end of the tab")
    step = run.simulation.step_count
    until(lambda: run.simulation.step_count > step + 2, "more steps")

    assert not run.page.wants_frame()


@pytest.mark.slow
@needs_browser
def test_a_view_ends_with_its_last_tab_if_asked(browser, tmp_path, monkeypatch):
    file, urls = tmp_path / "ball.toml", []
    monkeypatch.setattr("webbrowser.open", urls.append)
    (tmp_path / "ball.xml").write_text(
        '<mujoco><worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
    )
    file.write_text(
        '[simulation]\ndevice = "cpu"\n[solver]\ntype = "featherstone"\n[[scene.assets]]\npath = "ball.xml"\n'
    )

    def look():
        until(lambda: urls, "the page")
        tab = browser.open(urls[0])
        until(lambda: tab.shows("real time"), "the robots")
        tab.close()

    thread = threading.Thread(target=look)
    thread.start()
    result = CliRunner().invoke(main, ["view", str(file), "--browser", "--until-closed"])
    thread.join()

    assert result.exit_code == 0, result.output
    assert not answers(urls[0])


def answers(url):
    """Tell whether a page is served."""
    try:
        return urllib.request.urlopen(url).status == 200
    except OSError:
        return False


def test_a_page_that_is_kept_open_is_served_until_ctrl_c(monkeypatch, caplog):
    master, terminal = os.openpty()
    simulation, served = build(worlds=1, keep_open=True), []
    simulation.step()
    url = simulation.viewers["page"].url

    def interrupt():
        until(lambda: "stays open" in caplog.text, "the end of the run")
        served.append(answers(url))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with os.fdopen(terminal) as stdin, os.fdopen(master):
        monkeypatch.setattr("sys.stdin", stdin)
        simulation.close()
    thread.join()

    assert served == [True]
    assert not answers(url)


def test_nobody_wants_frames_of_a_page_that_nobody_opened(capfd):
    with build() as simulation:
        simulation.step(3)
        page = simulation.viewers["page"]

        assert not page.wants_frame()
        assert page.wait_time() == 0.0
        assert page.url.startswith("http://127.0.0.1:")
        assert page.notes == []
    assert not [
        line for line in capfd.readouterr().out.splitlines() if "viser" in line and not line.startswith("Module ")
    ]


def test_a_port_in_use_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        with pytest.raises(
            pippin.ConfigError, match=rf"viewers\.page\.port: port {port} of 127\.0\.0\.1 cannot be used"
        ):
            build(port=port)


def test_a_pattern_without_an_actuator_is_refused():
    with pytest.raises(
        pippin.ConfigError, match=r"viewers\.page\.sliders: no actuator matches 'arms'; did you mean 'arm'"
    ):
        build(sliders=["arms"])


@pytest.mark.slow
def test_a_pattern_without_a_channel_is_refused():
    with pytest.raises(pippin.ConfigError, match=r"viewers\.page\.plots: no channel matches 'joint_x'; did you mean"):
        build(plots=["joint_x"])


@pytest.mark.slow
def test_a_missing_viser_is_refused_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    for name in [name for name in sys.modules if name.startswith("pippin_view.viser.")]:
        monkeypatch.delitem(sys.modules, name)

    with pytest.raises(
        pippin.PluginError, match=r"viewer 'viser' .* could not be imported .*('pippin\[viser\]'|--group viser)"
    ):
        build()
