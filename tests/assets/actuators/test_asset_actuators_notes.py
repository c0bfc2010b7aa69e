"""Notes on the asset's own actuators that act without anybody's will."""

import pippin
import pytest

HAND = """<mujoco><worldbody><body><joint name="a"/><geom size=".05" mass="1"/>
<body pos=".2 0 0"><joint name="b"/><geom size=".05" mass="1"/></body></body></worldbody>
<actuator>{}</actuator></mujoco>"""

SERVO = '<position name="A1" joint="a" kp="10"/>'
MOTOR = '<motor joint="b"/>'


@pytest.fixture
def notes(tmp_path):
    def notes(actuators, groups=None, solver="featherstone"):
        path = tmp_path / "hand.xml"
        path.write_text(HAND.format(actuators))
        tables = {
            "simulation": {"device": "cpu"},
            "scene": {"assets": [{"path": str(path)}], "worlds": 2},
            "solver": {"type": solver},
            "actuators": groups or {},
        }
        with pippin.Simulation(pippin.structure(tables)) as simulation:
            return simulation.notes.get("scene", [])

    return notes


def test_a_servo_that_nobody_drives_is_named(notes):
    assert notes(SERVO) == [
        "1 actuator of the asset stays at ctrl = 0, which may hold joints at 0: A1;"
        ' drive them by a group of type = "control"'
    ]


def test_a_motor_that_nobody_drives_is_named_by_its_joint(notes):
    (note,) = notes(MOTOR)

    assert "exerts nothing: b;" in note


@pytest.mark.parametrize(
    "group",
    [
        {"type": "pd", "joints": [".*"], "kp": 1.0},
        {"type": "solver-pd", "joints": [".*"], "kp": 1.0, "kd": 0.0},
        {"type": "control", "actuators": ["A1"], "ctrl": 0.1},
    ],
)
def test_what_somebody_drives_is_not_named(notes, group):
    assert notes(SERVO, {"group": group}) == []


def test_motors_at_rest_need_no_solver_with_actuators_of_assets(notes):
    with pytest.raises(pippin.ConfigError, match=r"does not support asset_actuators .* used by b;"):
        notes(MOTOR, {"own": {"type": "control", "actuators": [".*"]}})
    assert len(notes(MOTOR)) == 1
