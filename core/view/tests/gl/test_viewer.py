"""The window, on a display of the test's own: it opens, draws, pauses and ends."""

import shutil
import subprocess
import sys

import pippin
import pytest

SCRIPT = """
import numpy as np, pippin
tables = {"viewers.window": {"type": "gl", "size": [160, 120], "worlds": [1]}, "scene.worlds": 2}
with pippin.Simulation.from_file("docs/examples/cartpole.toml", tables) as simulation:
    viewer = simulation.viewers["window"]
    window = viewer._window
    simulation.step(3)
    image = window.get_frame().numpy()
    assert image.shape == (120, 160, 3) and image.std() > 1.0, "blank"
    window._paused, window._step_requested = True, True
    assert (viewer.wait_time(), viewer.wait_time()) == (0.0, float("inf"))
    window._paused = False
    window._reset_callback()
    simulation.step(1)
    viewer.frame(simulation, simulation.time)
    assert simulation.notes["viewers:window"] == ["all worlds were reset 1 times from the window"], simulation.notes
    window.renderer.window.dispatch_event("on_close")
    try:
        viewer.frame(simulation, simulation.time)
    except KeyboardInterrupt:
        print("ended")
"""


@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="needs Xvfb, a display without a screen")
def test_a_window_draws_pauses_resets_and_ends():
    pytest.importorskip("pyglet", reason="needs pippin[gl]")
    command = ["xvfb-run", "-a", "-s", "-screen 0 640x480x24", sys.executable, "-c", SCRIPT]

    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stderr
    assert "ended" in done.stdout


def test_without_libraries_or_a_display_the_cure_is_named(ball, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    config = pippin.structure({"solver": {"type": "xpbd"}, "viewers": {"window": {"type": "gl"}}})

    with pytest.raises(
        pippin.PippinError, match=r"--group gl|pip install 'pippin\[gl\]'|choose 'viser', a page"
    ) as error:
        pippin.Simulation(config, prototype=ball())

    assert "viewers.window" in str(error.value)
