"""What commands and Python leave to themselves: the words of Warp, of a driver, and sizes of buffers that fit."""

import re
import subprocess
import sys

import pytest

FILE = """\
[simulation]
dt = 0.01
device = "cpu"

[scene]
ground = true

[[scene.objects]]
type = "body"
label = "ball"
position = [0.0, 0.0, 0.2]
shapes = [{ type = "sphere", radius = 0.1 }]

[solver]
type = "mujoco"
"""

COMMAND = "import pippin_start; pippin_start.main()"
PROGRAMS = {
    "run": [COMMAND, "run", "ball.toml", "--steps", "3"],
    "check-plugin": [COMMAND, "check-plugin", "pd", "--check", "lifecycle"],
    "python": ["import pippin; pippin.Simulation.from_file('ball.toml').step()"],
}
FOREIGN = r"(?i)\bmodule\b|\bcuda\b|\bwarp \d|\bwarning\b|\broom for\b|njmax|nconmax"


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_line_is_of_another_library(program, tmp_path):
    (tmp_path / "ball.toml").write_text(FILE)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}

    done = subprocess.run([sys.executable, "-c", *PROGRAMS[program]], cwd=tmp_path, **pipes)

    assert done.returncode == 0, done.stdout
    assert [line for line in done.stdout.splitlines() if re.search(FOREIGN, line)] == []
