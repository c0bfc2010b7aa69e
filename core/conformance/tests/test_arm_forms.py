"""An arm in five forms: a solver that reads a frame of a joint in part moves some of them otherwise."""

import numpy as np
import pippin
import pytest
from pippin_conformance import Conformance
from pippin_conformance.arm_forms import motions_of_forms
from pippin_conformance.plugin_under_test import PluginUnderTest


@pytest.mark.slow
def test_a_solver_that_reads_half_a_frame_is_found(monkeypatch):
    plugin = PluginUnderTest(kind="solver", name="featherstone").plugin
    build = plugin.build_solver

    @pippin.hookimpl
    def build_solver(self, model):
        frames = model.joint_X_c.numpy()
        frames[:, 3:] = [0.0, 0.0, 0.0, 1.0]
        model.joint_X_c.assign(frames)
        return build(self, model)

    monkeypatch.setattr(plugin, "build_solver", build_solver)
    result = Conformance("solver", "featherstone").run("forms")

    assert result.outcome == "failed"
    assert "than the same arm made by calls of Newton: as usd, the pose at the start of link 1 is" in result.reason


@pytest.mark.slow
def test_the_arm_moves():
    forms = motions_of_forms(PluginUnderTest(kind="solver", name="steel"))

    assert {"urdf", "mjcf", "objects", "python"} <= forms.keys()
    assert all(np.abs(rows[:, 14:]).max() > 1.0 for rows in forms.values())
