"""A process that is killed while it saves a checkpoint leaves the last one whole."""

import random
import signal
import subprocess
import sys
import time

import pytest
from pippin.state.checkpoint import Checkpoint

SAVING = """
import sys

import numpy as np
from pippin.state.checkpoint import Checkpoint

number = 0
while True:
    number += 1
    arrays = {f"array {index}": np.full(200_000, number) for index in range(10)}
    Checkpoint(config="", step_count=number, model_changes=0, versions={}, arrays=arrays, numbers={}).write(sys.argv[1])
"""


@pytest.mark.slow
def test_a_kill_in_the_middle_of_a_save_leaves_the_last_checkpoint(tmp_path):
    file, found = tmp_path / "run.npz", []
    pause = random.Random(0)
    for _ in range(8):
        with subprocess.Popen([sys.executable, "-c", SAVING, str(file)]) as process:
            while not file.exists():
                time.sleep(0.01)
            time.sleep(pause.uniform(0.0, 0.2))
            process.send_signal(signal.SIGKILL)
        saved = Checkpoint.read(file)
        found.append(saved.step_count)
        assert all((array == saved.step_count).all() for array in saved.arrays.values())
        file.unlink()

    assert max(found) > 1
