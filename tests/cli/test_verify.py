"""`pippin verify` on a file whose plugin draws random numbers: seeded, two runs are equal; unseeded, they are not."""

import json

import pytest
from click.testing import CliRunner
from pippin.cli import main

GUSTS = '''
"""Wind that comes in gusts, as a Pippin plugin."""

import attrs
import numpy as np
import pippin


@attrs.frozen(kw_only=True)
class GustsConfig:
    """Forces of random size."""

    implementation = "Gusts"

    strength: float = 1.0
    """Standard deviation of the force [N]."""

    is_seeded: bool = False
    """Whether `simulation.seed` decides them."""


class Gusts:
    """Pushes the bodies of the last world along x."""

    is_capturable = False

    def __init__(self, config):
        self.config = config

    @pippin.hookimpl
    def bind(self, simulation):
        seed = simulation.config.simulation.seed
        self.random = np.random.default_rng(seed) if self.config.is_seeded else np.random

    @pippin.hookimpl
    def before_substep(self, state):
        wrenches = state.body_f.numpy()
        wrenches[-1, 0] += self.config.strength * self.random.standard_normal()
        state.body_f.assign(wrenches)
'''

BALLS = """
[simulation]
device = "cpu"
dt = 0.01

[scene]
worlds = 2
[[scene.assets]]
path = "ball.xml"

[solver]
type = "semi-implicit"

[plugins.wind]
type = "gusts"
"""

BALL = '<mujoco><worldbody><body name="ball"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'


@pytest.fixture
def balls(tmp_path, monkeypatch, write_files):
    """Two worlds of a ball in the wind, and an installed distribution with the plugin that makes it."""
    site = tmp_path / "site"
    metadata = site / "pippin_plugin_gusts-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    (site / "pippin_plugin_gusts.py").write_text(GUSTS)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: pippin-plugin-gusts\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text("[pippin.plugins]\ngusts = pippin_plugin_gusts:GustsConfig\n")
    monkeypatch.syspath_prepend(site)
    return write_files({"ball.xml": BALL, "balls.toml": BALLS}) / "balls.toml"


@pytest.mark.slow
def test_runs_that_draw_from_the_seed_have_the_same_bits(balls):
    result = CliRunner().invoke(main, ["verify", str(balls), "--steps", "3", "--set", "plugins.wind.is_seeded=true"])

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == "two runs of 3 steps: the same bits"
    assert not (balls.parent / "runs").exists()


@pytest.mark.slow
def test_runs_that_do_not_draw_from_it_part_where_the_first_random_number_acts(balls):
    folder = balls.parent / "verified"
    result = CliRunner().invoke(main, ["verify", str(balls), "--steps", "3", "--out", str(folder), "--json"])

    assert result.exit_code == 4
    assert json.loads((folder / "summary.json").read_text()) == {**json.loads(result.stdout), "compared": 1}
    page = (folder / "report.html").read_text()
    assert "state.body_q of world 1 differs between two runs" in page
    assert "<td>control.joint_f</td>" in page
    found = json.loads(result.stdout)
    difference = found.pop("difference")
    assert found == {"is_same": False, "steps": 3}
    assert difference.pop("others") > 0
    # The gust of the first step [N] becomes a velocity: 0.01 s over 4.2 kg.
    assert 0.0 < difference.pop("largest") < 0.05
    assert difference == {"step": 1, "time": 0.01, "name": "state.body_q", "world": 1}
    (error,) = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    assert error.startswith("error: step 1 (t = 0.01 s): state.body_q of world 1 differs between two runs by ")
    assert "seed what draws random numbers with simulation.seed" in error


def test_a_wrong_file_is_refused_before_it_runs(balls):
    result = CliRunner().invoke(main, ["verify", str(balls), "--set", "plugins.wind.strenght=2.0"])

    assert result.exit_code == 2
    assert "did you mean 'strength'?" in result.stderr
