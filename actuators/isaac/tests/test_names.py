"""Names, arguments and defaults of `isaacsim.core.experimental.actuators`, as its documentation lists them."""

import inspect
import math
from pathlib import Path

import attrs
import pippin_isaac
import pytest

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "isaac.md"

NEEDED = inspect.Parameter.empty

CONSTRUCTORS = {
    "ArticulationActuators": {"paths": NEEDED, "auto_step_pre_physics": True, "device": None},
    "ActuatorConfig": {"controller": NEEDED, "clamping": [], "delay": None},
    "PDControlConfig": {"kp": NEEDED, "kd": NEEDED, "const_effort": 0.0},
    "PIDControlConfig": {
        "kp": NEEDED,
        "ki": NEEDED,
        "kd": NEEDED,
        "integral_max": math.inf,
        "const_effort": 0.0,
    },
    "NeuralControlConfig": {"model_path": NEEDED},
    "MaxEffortClampingConfig": {"max_effort": NEEDED},
    "DCMotorClampingConfig": {"saturation_effort": NEEDED, "velocity_limit": NEEDED, "max_motor_effort": NEEDED},
    "PositionBasedClampingConfig": {"lookup_positions": NEEDED, "lookup_efforts": NEEDED},
    "DelayConfig": {"delay_steps": NEEDED},
}

METHODS = {
    "from_actuators": {"paths": NEEDED, "actuators": NEEDED, "auto_step_pre_physics": True},
    "set_dof_feedforward_effort_targets": {
        "target_feedforward_efforts": NEEDED,
        "indices": None,
        "dof_indices": None,
    },
    "step_actuators": {"step_dt": NEEDED, "context": None},
    "reset": {},
    "close": {},
    "enable_auto_step_pre_physics": {},
    "disable_auto_step_pre_physics": {},
    "__enter__": {},
}

PROPERTIES = ("actuated_dof_indices", "actuators", "articulation")

BY_NAME_ALONE = {"auto_step_pre_physics", "device", "indices", "dof_indices"}


def stated(function):
    """Return the arguments of a function with their defaults; one that a class makes anew is called."""
    found = {}
    for name, each in inspect.signature(function).parameters.items():
        if name == "self":
            continue
        assert (each.kind is inspect.Parameter.KEYWORD_ONLY) == (name in BY_NAME_ALONE), name
        is_made = each.default is attrs.NOTHING
        found[name] = attrs.fields_dict(function)[name].default.factory() if is_made else each.default
    return found


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_a_class_has_its_arguments_and_defaults(name):
    assert stated(getattr(pippin_isaac, name)) == CONSTRUCTORS[name]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_has_its_arguments_and_defaults(name):
    assert stated(getattr(pippin_isaac.ArticulationActuators, name)) == METHODS[name]


def test_the_properties_are_there():
    assert all(isinstance(getattr(pippin_isaac.ArticulationActuators, name), property) for name in PROPERTIES)


def test_the_comparison_of_names_has_each():
    table = PAGE.read_text(encoding="utf-8").partition("## Comparison of names")[2].partition("\n## ")[0]
    theirs = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| ")]
    listed = " ".join(theirs)

    assert [name for name in (*CONSTRUCTORS, *METHODS, *PROPERTIES) if name not in listed and name != "__enter__"] == []


def test_no_other_class_is_public_but_the_error():
    assert {*pippin_isaac.__all__} == {*CONSTRUCTORS, "add_actuator", "ArgumentError"}
