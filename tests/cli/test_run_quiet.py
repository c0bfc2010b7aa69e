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


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Exit code and lines of each program, all of which run at once."""
    folder = tmp_path_factory.mktemp("quiet")
    (folder / "ball.toml").write_text(FILE)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    started = {
        name: subprocess.Popen([sys.executable, "-c", *words], cwd=folder, **pipes) for name, words in PROGRAMS.items()
    }
    return {name: (process.communicate()[0].splitlines(), process.returncode) for name, process in started.items()}


@pytest.mark.required
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_line_is_of_another_library(program, printed):
    lines, code = printed[program]

    assert code == 0, lines
    assert [line for line in lines if re.search(FOREIGN, line)] == []
