"""Declared attributes: their defaults, what is refused, and names that are nearly those of declared ones."""

from typing import ClassVar

import newton
import pippin
import pytest
from pippin import sensing
from pippin.actuation import DriveActuator
from pippin.catalog.entries import Catalog
from pippin.components.registry import Components
from pippin.components.runtime_attributes import RuntimeAttributes
from pippin.errors import PluginError
from pippin.support.declaration import Declaration
from pippin.support.features import FEATURES


class Solver:
    """A solver that declares nothing."""

    @pippin.hookimpl
    def build_solver(self):
        return None


def with_attribute(name, value, base=Solver):
    return type("Tried", (base,), {name: value, "__module__": __name__})


def registered(component):
    config = pippin.SimulationConfig()
    return Components(config, {"tried": component}, Catalog.installed())


def test_a_component_that_declares_nothing_has_the_defaults():
    components = registered(Solver())
    declared, attributes = components.declarations["plugins:tried"], components.attributes["plugins:tried"]

    assert declared == Declaration()
    assert (declared.supported_features, declared.coordinates, declared.deterministic_on) == (None, "reduced", {"cpu"})
    assert (attributes.is_capturable, attributes.is_differentiable, attributes.worlds) == (True, False, None)
    assert (attributes.state_arrays(), attributes.capacities(), attributes.raise_errors()) == ({}, (), None)


def test_any_collection_of_names_is_taken():
    declared = Declaration.of(with_attribute("supported_observables", ["contact_f"])(), "solver")

    assert declared.supported_observables == frozenset({"contact_f"})


def test_a_feature_that_a_solver_says_it_does_not_have_is_left_out():
    levels = {"armature": "no", "joint_damping": "build", "gravity": "live"}
    declared = Declaration.of(with_attribute("supported_features", levels)(), "solver")

    assert declared.supported_features == {"joint_damping": "build", "gravity": "live"}


def test_live_features_tell_which_changes_the_solver_follows():
    levels = {"gravity": "live", "joint_stiffness": "live", "rigid_bodies": "build", "armature": "build"}
    declared = Declaration.of(with_attribute("supported_features", levels)(), "solver")

    joints = {"JOINT_DOF_PROPERTIES", "JOINT_DOF_FORCE_PROPERTIES", "JOINT_REFERENCE_POSE_PROPERTIES"}
    assert declared.live_changes == {"MODEL_PROPERTIES", *joints}
    assert Declaration().live_changes is None


def test_every_change_of_newton_belongs_to_a_feature():
    told = {flag for feature in FEATURES.values() for flag in feature.flags}

    assert set(newton.ModelFlags.__members__) - told == {"ALL", "JOINT_DOF_PROPERTIES"}


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("supported_featurs", "supported_features"),
        ("supports_features", "supported_features"),
        ("SUPPORTED_FEATURES", "supported_features"),
        ("coordinate", "coordinates"),
        ("detect_contacts", "detects_contacts"),
        ("is_capturabel", "is_capturable"),
        ("state_array", "state_arrays"),
    ],
)
def test_a_misspelt_declaration_of_a_solver_is_refused(misspelt, meant):
    with pytest.raises(PluginError) as refused:
        registered(with_attribute(misspelt, frozenset())())

    told = f"plugins:tried: {misspelt} is not a declaration; did you mean {meant}? If not, rename it"
    assert str(refused.value) == told


def test_a_method_with_the_name_of_a_hook_and_no_mark_is_refused():
    """It would never be called, for example if it overrides a marked method of a base class."""

    class Solving(Solver):
        def before_substep(self, state):
            raise NotImplementedError

    with pytest.raises(PluginError, match="before_substep is the name of a hook, but the method has no mark; decorate"):
        registered(Solving())


def test_a_misspelt_annotation_is_refused():
    class Solving(Solver):
        supported_featurs: ClassVar[frozenset[str]]

    with pytest.raises(PluginError, match="did you mean supported_features"):
        registered(Solving())


def test_a_misspelt_declaration_of_an_actuator_is_refused():
    class Actuator(DriveActuator):
        unread_target: ClassVar = {}

        def build_drive(self, lanes):
            raise NotImplementedError

    with pytest.raises(PluginError, match="unread_target is not a declaration; did you mean unread_targets"):
        registered(Actuator(None))


def test_a_misspelt_declaration_of_a_sensor_is_refused():
    class Sensor(sensing.Sensor):
        observabels = frozenset({"body_qdd"})

        def build_outputs(self, binding):
            raise NotImplementedError

        def measure(self, state, contacts, observables, dt):
            raise NotImplementedError

    with pytest.raises(PluginError, match="observabels is not a declaration; did you mean observables"):
        registered(Sensor(sensing.SensorConfig()))


@pytest.mark.parametrize("name", ["world", "output", "note", "checks", "gain", "supported", "contacts", "_worldz"])
def test_an_honest_name_of_its_own_is_left_alone(name):
    assert registered(with_attribute(name, 1)()).declarations["plugins:tried"] == Declaration()


def test_a_base_class_of_another_package_is_not_asked():
    base = type("Base", (), {"observable": None, "__module__": "another_library.bases"})

    assert registered(type("Tried", (Solver, base), {"__module__": __name__})())


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("coordinates", "generalised", "coordinates: 'generalised'; declare 'reduced', 'joint', 'maximal' or 'mixed'"),
        (
            "supported_features",
            "armature",
            "supported_features: expected a mapping from features to 'live', .* got 'armature'; write",
        ),
        ("supported_features", {"warp_drive": "live"}, "supported_features has 'warp_drive', which does not exist"),
        ("supported_features", {"armatur": "no"}, "supported_features has 'armatur', .* did you mean 'armature'"),
        (
            "supported_features",
            {"armature": True},
            "supported_features: armature: True; declare 'live', 'build' or",
        ),
        ("optional_features", {"armature"}, "optional_features: expected a mapping"),
        ("optional_features", {"warp_drive": "on"}, "optional_features has 'warp_drive', which does not exist"),
        ("observables", None, "observables: expected names, got None"),
        ("deterministic_on", {"gpu"}, "deterministic_on has 'gpu', which does not exist"),
        ("detects_contacts", "no", "detects_contacts: expected True or False, got 'no'"),
        ("period", 0.0, "period: expected a number above 0"),
        ("period", True, "period: expected a number above 0"),
    ],
)
def test_a_wrong_value_is_refused(name, value, told):
    with pytest.raises(PluginError, match=f"^plugins:tried: {told}"):
        registered(with_attribute(name, value)())


@pytest.mark.parametrize(
    ("name", "value"),
    [("is_capturable", "no"), ("eager_reason", 3), ("notes", "one phrase"), ("unsaved_reason", False)],
)
def test_a_wrong_value_is_refused_when_it_is_read_after_bind(name, value):
    attributes = RuntimeAttributes(with_attribute(name, value)(), "sensors:tried")

    with pytest.raises(PluginError, match=f"^sensors:tried: {name}: expected "):
        getattr(attributes, name)


def test_a_property_that_lacks_something_is_not_a_default():
    class Broken(Solver):
        @property
        def detects_contacts(self):
            return self.config.detects

    with pytest.raises(PluginError, match=r"detects_contacts cannot be read: .* no attribute 'config'"):
        registered(Broken())


def test_a_class_is_asked_without_its_properties():
    class Solving(Solver):
        supported_features: ClassVar = {"armature": "live"}

        @property
        def detects_contacts(self):
            return True

    declared = Declaration.of(Solving, "solver")

    assert (declared.supported_features, declared.detects_contacts) == ({"armature": "live"}, False)


def test_what_is_known_after_bind_is_read_each_time():
    component = Solver()
    attributes = RuntimeAttributes(component, "solver")
    before = attributes.notes
    component.notes = ("read me",)

    assert (before, attributes.notes) == ((), ("read me",))
