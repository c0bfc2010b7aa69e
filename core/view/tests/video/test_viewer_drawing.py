"""Drawing beside a run: the run does not wait for images, and the video is whole however the run ends."""

import os
import signal
import subprocess
import sys
import time

import av
import pippin
import pytest

MODEL = '<mujoco><worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
CODE = """
import os, signal, sys, pippin
simulation = pippin.Simulation.from_file(sys.argv[1])
simulation.step(20)
drawing = simulation.viewers["film"]._drawing
drawing._frames.close()
drawing._frames.join_thread()
os.kill(os.getpid(), signal.SIGKILL)
"""

beside = pytest.mark.skipif(sys.platform != "linux", reason="a process cannot be copied there")


@pytest.fixture
def drawing(tmp_path):
    """Return a function that writes a configuration with a video of a falling ball, and returns its file."""
    (tmp_path / "ball.xml").write_text(MODEL)
    path = tmp_path / "ball.mp4"

    def written(size=(64, 48)):
        file = tmp_path / "ball.toml"
        file.write_text(
            f"""
            simulation = {{ device = "cpu", dt = 0.01 }}
            solver.type = "xpbd"
            scene.assets = [{{ path = "ball.xml" }}]
            viewers.film = {{ type = "video", path = "{path}", rate = 100.0, size = {list(size)} }}
            """
        )
        return file

    return written, path


def frame_count(path):
    with av.open(str(path)) as container:
        return len(list(container.decode(video=0)))


@pytest.mark.slow
@beside
def test_the_run_does_not_wait_for_pictures(drawing):
    written, path = drawing
    with pippin.Simulation.from_file(written((320, 240))) as simulation:
        simulation.step(2)
        start = time.process_time()
        simulation.step(15)
        taken = time.process_time() - start
    [note] = simulation.notes["viewers:film"]

    assert frame_count(path) == 18
    cost = float(note.split(", ")[-1].split()[0])
    assert taken < 0.5 * 15 * cost, "images in this process would take all of it"


@beside
@pytest.mark.slow
def test_a_killed_run_leaves_a_whole_video(drawing):
    written, path = drawing
    done = subprocess.run([sys.executable, "-c", CODE, str(written())], capture_output=True)
    end = time.monotonic() + 60.0
    count = 0
    while count < 21 and time.monotonic() < end:
        time.sleep(0.2)
        try:
            count = frame_count(path)
        except (OSError, av.FFmpegError):
            count = 0

    assert done.returncode == -signal.SIGKILL
    assert count == 21


@beside
def test_a_killed_drawing_ends_no_run_and_is_noted(drawing, caplog):
    written, _ = drawing
    with pippin.Simulation.from_file(written()) as simulation:
        simulation.step(2)
        process = simulation.viewers["film"]._drawing._process
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        simulation.step(5)

    assert simulation.step_count == 7
    assert "the process that draws the video ended with exit code -9" in caplog.text
