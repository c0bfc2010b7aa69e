"""The largest effort of a group: that of its table, else that of the asset."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp

MJCF = """<mujoco><worldbody><body><joint name="h" axis="0 1 0" {joint}/><geom size=".05" mass="1"/></body></worldbody>
{rest}</mujoco>"""


def hinges(*limits):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for index, limit in enumerate(limits):
        link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
        builder.add_articulation([builder.add_joint_revolute(-1, link, label=f"joint_{index}", effort_limit=limit)])
    return builder


def applied(prototype=None, assets=(), worlds=1, set_to=None, **group):
    """Return efforts of a group that asks for 1000 N·m of each joint, the notes on it and its parameters."""
    tables = {
        "simulation": {"device": "cpu"},
        "scene": {"worlds": worlds, "gravity": [0.0, 0.0, 0.0], "assets": [*assets]},
        "solver": {"type": "featherstone"},
        "actuators": {"legs": {"type": "pd", "joints": [".*"], "kp": 1000.0, **group}},
    }
    with pippin.Simulation(pippin.structure(tables), prototype=prototype) as simulation:
        legs = simulation.actuators["legs"]
        if set_to is not None:
            legs.set("effort_limit", set_to)
        legs.position_targets.fill_(1.0)
        simulation.step()
        return legs.applied_effort.numpy().tolist(), simulation.notes.get("actuators:legs", []), legs.parameters


@pytest.mark.parametrize(
    ("joint", "rest"),
    [
        ('actuatorfrcrange="-5 5"', ""),
        ("", '<actuator><position joint="h" kp="10" forcerange="-5 5"/></actuator>'),
    ],
)
def test_the_limit_of_the_asset_holds_and_is_told(tmp_path, joint, rest):
    (tmp_path / "arm.xml").write_text(MJCF.format(joint=joint, rest=rest))

    efforts, notes, _ = applied(assets=[{"path": str(tmp_path / "arm.xml")}])

    assert efforts == [[5.0]]
    assert notes == ["effort_limit: that of the asset, 5 for h; give the key to set another"]


def test_joints_without_a_limit_have_none():
    efforts, notes, _ = applied(hinges(5.0, 1e6, 20.0, 0.0), worlds=2)

    assert efforts == [[5.0, 1000.0, 20.0, 1000.0]] * 2
    assert notes == ["effort_limit: that of the asset, 5 for joint_0; 20 for joint_2; give the key to set another"]


def test_a_group_without_any_limit_has_an_infinite_one():
    efforts, notes, parameters = applied(hinges(1e6))

    assert (efforts, notes, parameters) == (
        [[1000.0]],
        [],
        ("kp", "kd", "const_effort", "effort_limit", "armature", "friction", "damping"),
    )
    assert applied(hinges(1e6), set_to=30.0)[0] == [[30.0]]


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ({"effort_limit": 50.0}, [50.0, 50.0]),
        ({"effort_limit": {"joint_0": 1.0, "joint_1": 1e5}}, [1.0, 1000.0]),
        ({"clamping": [{"type": "max-effort", "max_effort": 70.0}]}, [70.0, 70.0]),
        ({"clamping": [{"type": "dc-motor", "saturation_effort": 7.0, "velocity_limit": 9.0}]}, [5.0, 7.0]),
    ],
)
def test_a_limit_of_the_table_replaces_that_of_the_asset(group, expected):
    efforts, notes, _ = applied(hinges(5.0, 10.0), **group)

    assert efforts == [expected]
    assert len(notes) == (expected == [5.0, 7.0])


def test_the_limit_is_set_while_it_runs():
    assert applied(hinges(5.0), set_to=3.0)[0] == [[3.0]]


def test_the_limit_holds_in_the_implicit_mode():
    efforts, _, _ = applied(hinges(5.0, 1e6), effort_mode="implicit")

    assert efforts[0][0] == pytest.approx(5.0)
    assert np.abs(efforts[0][1]) > 100.0
