"""A solver says of each feature "live" or "build": the kit finds one that follows less than it says, and one that
follows more.
"""

import pippin
import pytest
import warp as wp
from pippin_conformance import Conformance
from pippin_conformance.plugin_under_test import PluginUnderTest

pytestmark = pytest.mark.slow

CASES = [
    ("joint_damping", "change_set_attribute_joint_damping", ["joint_damping"]),
    ("armature", "change_set_dof_armatures", ["joint_armature"]),
    ("joint_limits", "change_set_dof_limits", ["joint_limit_lower", "joint_limit_upper"]),
    ("joint_drives", "change_set_dof_dampings", ["joint_target_kd"]),
    ("rigid_bodies", "change_set_masses", ["body_mass", "body_inv_mass", "body_inertia", "body_inv_inertia"]),
    ("gravity", "feature_gravity", ["gravity"]),
]
"""Feature, the check of its changes, and the arrays of its numbers. Featherstone follows all of them."""


def checked(monkeypatch, feature, level, check):
    """Return the result of a check of Featherstone, which declares a feature so."""
    plugin = PluginUnderTest(kind="solver", name="featherstone").plugin
    monkeypatch.setattr(plugin, "supported_features", plugin.supported_features | {feature: level})
    return Conformance("solver", "featherstone").run(check)


def keep_from(moment, monkeypatch, arrays):
    """Let Featherstone keep to the numbers of the build, or of the first step."""
    plugin = PluginUnderTest(kind="solver", name="featherstone").plugin

    def copy(self):
        if not hasattr(self, "kept"):
            self.kept = [(getattr(self.model, name), wp.clone(getattr(self.model, name))) for name in arrays]

    @pippin.hookimpl
    def bind(self, simulation):
        self.model = simulation.model
        if moment == "build":
            copy(self)

    def restore(self):
        copy(self)
        for array, kept in self.kept:
            wp.copy(array, kept)

    @pippin.hookimpl
    def before_substep(self):
        restore(self)

    @pippin.hookimpl
    def notify_model_changed(self, solver, flags):
        restore(self)
        solver.notify_model_changed(flags)

    for hook in (bind, before_substep, notify_model_changed):
        monkeypatch.setattr(plugin, hook.__name__, hook, raising=False)


@pytest.mark.first_cases(2)
@pytest.mark.parametrize(("feature", "check", "arrays"), CASES)
def test_a_solver_that_follows_what_it_reads_at_the_build_only_is_found(monkeypatch, feature, check, arrays):
    result = checked(monkeypatch, feature, "build", check)

    assert result.outcome == "failed"
    assert "'live', so that users may change it" in result.reason


@pytest.mark.first_cases(2)
@pytest.mark.parametrize(("feature", "check", "arrays"), CASES)
def test_a_solver_that_reads_at_the_build_what_it_says_passes(monkeypatch, feature, check, arrays):
    keep_from("build", monkeypatch, arrays)

    result = checked(monkeypatch, feature, "build", check)

    assert (result.outcome, result.reason) == ("passed", "")


@pytest.mark.first_cases(4)
@pytest.mark.parametrize("moment", ["build", "first step"])
@pytest.mark.parametrize(("feature", "check", "arrays"), CASES)
def test_a_solver_that_does_not_follow_what_it_calls_live_is_found(monkeypatch, feature, check, arrays, moment):
    keep_from(moment, monkeypatch, arrays)
    check = "model_changes" if feature == "gravity" else check

    result = checked(monkeypatch, feature, "live", check)

    assert result.outcome == "failed"
    assert f"{feature if feature == 'gravity' else 'what it needs'} 'build' in supported_features" in result.reason
