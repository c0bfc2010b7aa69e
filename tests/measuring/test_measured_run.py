"""Measured runs: samples of a run, and what ends it."""

import time

import numpy as np
import pippin
import pytest
from pippin.measuring.measured_run import MeasuredRun

BODY = '<body name="arm"><joint axis="0 1 0"/><geom size="0.1" pos="1 0 0"/></body>'
ARM = f"<mujoco><worldbody>{BODY}</worldbody></mujoco>"


@pytest.fixture
def run(tmp_path):
    """Return a function that measures 30 control steps of an arm that falls, and returns the result."""
    (tmp_path / "arm.xml").write_text(ARM)

    def run(plugins=None, **step):
        step = {"device": "cpu", "dt": 0.01, **step}
        scene = {"assets": [{"path": str(tmp_path / "arm.xml")}]}
        config = pippin.structure(
            {"simulation": step, "scene": scene, "solver": {"type": "featherstone"}, "plugins": plugins or {}}
        )
        return MeasuredRun(config, 30, time.time()).result("featherstone")

    return run


def test_a_run_has_a_sample_at_its_start_and_at_each_step(run):
    result = run()

    np.testing.assert_allclose(result.series["time"].values, 0.01 * np.arange(31), atol=1e-9)
    assert (result.outcome, result.first_diverged_step) == ("finished", None)


def test_no_sample_is_of_a_state_that_has_diverged(run):
    """Results are checked a few times a second, and 30 steps take less."""
    result = run(max_speed=1.0)  # g / l = 9.81 rad/s², 1 m from the axis: at t = 0.102 s

    assert (result.outcome, result.first_diverged_step) == ("failed", 11)
    np.testing.assert_allclose(result.series["time"].values, 0.01 * np.arange(11), atol=1e-9)
    assert "t = 0.11 s" in result.reason


ENDS = """
import attrs
import pippin


@attrs.frozen(kw_only=True)
class EndConfig:
    implementation = "End"


class End:
    is_capturable = False

    def __init__(self, config):
        self.calls = 0

    @pippin.hookimpl
    def before_substep(self):
        self.calls += 1
        if self.calls > 5:
            raise KeyboardInterrupt
"""


def test_a_plugin_that_interrupts_the_run_is_its_reason(run, tmp_path):
    (tmp_path / "ends.py").write_text(ENDS)

    result = run(plugins={"end": {"type": f"{tmp_path / 'ends.py'}:EndConfig"}})

    assert (result.outcome, result.reason) == ("failed", "a plugin raised KeyboardInterrupt")
