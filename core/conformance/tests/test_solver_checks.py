"""A solver says of each feature "live" or "build": the kit finds one that follows less than it says, and one that
follows more.
"""

import numpy as np
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


def featherstone(monkeypatch, **attributes):
    """Return the checks of Featherstone, of which some attributes are others."""
    plugin = PluginUnderTest(kind="solver", name="featherstone").plugin
    for name, value in attributes.items():
        monkeypatch.setattr(plugin, name, value, raising=False)
    return Conformance("solver", "featherstone")


def test_a_solver_that_hides_what_is_not_finite_is_found(monkeypatch):
    @pippin.hookimpl
    def after_substep(self, state):
        for name in ("body_q", "body_qd", "joint_q", "joint_qd"):
            array = getattr(state, name)
            array.assign(np.nan_to_num(array.numpy()))

    result = featherstone(monkeypatch, after_substep=after_substep, is_capturable=False).run("divergence")

    assert "in world 1 are not told, but nothing; leave what is not finite in the state" in result.reason


def test_a_solver_that_claims_contacts_and_takes_the_host_s_is_found_without_them(monkeypatch):
    """Without `initialize_contacts`, the host detects contacts too, in every scene that is let in."""
    plugin = PluginUnderTest(kind="solver", name="featherstone").plugin
    features = {name: level for name, level in plugin.supported_features.items() if name != "rigid_contacts"}

    found = featherstone(monkeypatch, supported_features=features, detects_contacts=True).run("contacts")
    monkeypatch.undo()
    modest = featherstone(monkeypatch, supported_features=features).run("contacts")

    assert "detects_contacts is True, but its simulation says False" in found.reason
    assert modest.outcome == "not applicable"


@pytest.mark.parametrize(("moment", "is_said"), [("build", True), ("never", False)])
def test_a_tree_that_is_wrong_after_the_change_alone_says_so(monkeypatch, moment, is_said):
    """One keeps to the gravity of its build; the other has masses that are wrong from the start on."""
    if moment == "build":
        keep_from("build", monkeypatch, ["gravity"])
        result = Conformance("solver", "featherstone").run("tree_hinges")
    else:

        @pippin.hookimpl
        def before_substep(self, state):
            wp.copy(state.body_f, wp.array(2.0 * state.body_f.numpy(), dtype=wp.spatial_vector, device="cpu"))

        result = featherstone(monkeypatch, before_substep=before_substep, is_capturable=False).run("tree_hinges")

    assert result.outcome == "failed"
    assert ("as built, it is right until 0.04 s, and wrong after the change of gravity" in result.reason) is is_said
