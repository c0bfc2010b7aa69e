"""An emulated robot keeps real time, or says that it does not."""

import re

import pippin
import pytest
from pippin.studies import RunProgress, progress_shown_by
from pippin_robot import emulate

from .conftest import FILE


class Remarks(RunProgress):
    """Keeps the lines that stay."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def note(self, text, *, once=""):
        self.lines.append(text)


@pytest.mark.parametrize(("decimation", "is_slow"), [(1, True), (40, False)])
def test_a_robot_that_cannot_keep_time_tells_so_once(tmp_path, decimation, is_slow):
    dt = 1e-5 if is_slow else 5e-3
    changes = {"robot.port": str(tmp_path / "bus"), "simulation.device": "cpu", "simulation.dt": dt}
    changes["simulation.decimation"] = decimation
    shown = Remarks()
    with progress_shown_by(shown):
        found = emulate(pippin.load(FILE, changes), duration=300 * dt * decimation if is_slow else 1.0)

    told = [line for line in shown.lines if "slower than real time" in line]
    assert len(told) == is_slow
    if is_slow:
        assert found.dropped > 300  # no step of a simulation takes 10 us
        assert re.search(r"\d+ of \d+ steps were left out; a step of 0\.01 ms takes [\d.e+]+ ms", told[0])
        assert "raise simulation.decimation" in told[0]
