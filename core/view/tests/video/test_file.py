"""Video files that were cut short: by a kill, or by a full disk."""

import subprocess
import sys

import av
import pytest

FRAMES = 40
PROGRAM = f"""
import os, resource, sys
import numpy as np
from pathlib import Path
from pippin.errors import SimulationError
from pippin_view.video.file import VideoFile

path, fate = Path(sys.argv[1]), sys.argv[2]
if fate == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
file = VideoFile(path, (64, 48), 10.0, "medium")
noise = np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8)
try:
    for index in range({FRAMES}):
        file.write(np.roll(noise, index, axis=1), index)
except SimulationError as error:
    print(error)
if fate == "kill":
    os.kill(os.getpid(), 9)
file.close()
"""


def write(path, fate):
    """Write a video in a process of its own, with a bad end; return what it said."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, path, fate], capture_output=True, text=True)
    return done.stdout + done.stderr


def playable(path):
    """Return how many frames of a file can be read."""
    count = 0
    with av.open(str(path)) as container:
        try:
            for _ in container.decode(video=0):
                count += 1
        except av.InvalidDataError:  # the last one, which is not whole
            pass
    return count


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_killed_video_plays_to_its_last_second(tmp_path, suffix):
    said = write(tmp_path / f"video{suffix}", "kill")

    assert said == ""
    assert FRAMES - 10 <= playable(tmp_path / f"video{suffix}") <= FRAMES


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_video_without_room_says_so_and_plays(tmp_path, suffix):
    said = write(tmp_path / f"video{suffix}", "full")

    assert f"video{suffix}' ends after" in said
    assert "(File too large); free some space, or" in said
    assert 1 <= playable(tmp_path / f"video{suffix}") < FRAMES
