"""The asset's own actuators: off under a group that drives their joints, and acting by their inputs otherwise."""

import numpy as np
import pippin
import pytest
from pippin.recording.channels import channels

ARM = """<mujoco><worldbody>
  <site name="base" pos="0 0 1.5"/>
  <body name="upper" pos="0 0 1"><joint name="hip" axis="0 1 0" {reference}/><geom size=".05" pos=".5 0 0" mass="1"/>
    <body name="lower" pos="1 0 0"><joint name="knee" axis="0 1 0"/><geom size=".05" mass=".1" pos=".1 0 0"/>
      <site name="toe" pos=".2 0 0"/></body></body>
</worldbody>{more}</mujoco>"""

FIXED = '<tendon><fixed name="belt"><joint joint="hip" coef="1"/>{more}</fixed></tendon>'
SPATIAL = '<tendon><spatial name="cord"><site site="base"/><site site="toe"/></spatial></tendon>'
SPRING = 'gainprm="1000" biastype="affine" biasprm="1 -1000 -20"'
KNEE = '<joint joint="knee" coef="1"/>'

OFF = {"type": "pd", "joints": ["hip"], "kp": 0.0, "kd": 0.0}
OWN = {"type": "control", "actuators": [".*"]}


@pytest.fixture
def arm(simulate, tmp_path):
    """Return a function that builds an arm with actuators of its own, which starts horizontally."""

    def arm(more, groups=None, worlds=1, reference="", gravity=-9.81):
        path = tmp_path / "arm.xml"
        path.write_text(ARM.format(more=more, reference=reference))
        keys = {"worlds": worlds, "gravity": gravity, "actuators": groups or {}}
        return simulate(dt=0.005, assets=[{"path": str(path)}], solver="mujoco-native", **keys)

    return arm


def hip_after(simulation, steps=40):
    """Return the angle of the hip after a fifth of a second [rad], per world; it falls by 0.3 rad if nothing holds."""
    with simulation:
        simulation.step(steps)
        return simulation.state.joint_q.numpy().reshape(simulation.world_count, -1)[:, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        pytest.param(f'<actuator><general joint="hip" {SPRING}/></actuator>', id="general"),
        pytest.param(f'<actuator><general jointinparent="hip" {SPRING}/></actuator>', id="joint in parent"),
        pytest.param('<actuator><position joint="hip" kp="1000" kv="20"/></actuator>', id="servo"),
        pytest.param('<actuator><position joint="hip" kp="1000" timeconst=".001"/></actuator>', id="filtered servo"),
        pytest.param('<actuator><damper joint="hip" kv="5" ctrlrange="1 2"/></actuator>', id="damper"),
        pytest.param('<actuator><dcmotor joint="hip" motorconst="1" resistance=".2"/></actuator>', id="DC motor"),
        pytest.param('<actuator><motor joint="hip" gear="9" ctrlrange="-2 -1"/></actuator>', id="motor"),
        pytest.param(
            '<actuator><motor joint="hip" forcerange="-90 -50" forcelimited="true"/></actuator>', id="limited force"
        ),
        pytest.param(
            FIXED.format(more="") + '<actuator><position tendon="belt" kp="1000" kv="20"/></actuator>', id="tendon"
        ),
        pytest.param(
            SPATIAL + '<actuator><position tendon="cord" kp="40" kv="5" ctrlrange=".1 .2"/></actuator>', id="cord"
        ),
        pytest.param(
            '<actuator><general site="toe" refsite="base" gear="0 0 1 0 0 0" gainprm="50" biastype="affine" '
            'biasprm="9 -50 -2"/></actuator>',
            id="site",
        ),
        pytest.param(
            '<actuator><general cranksite="toe" slidersite="base" cranklength="2" gainprm="1" biastype="affine" '
            'biasprm="9 0 -1"/></actuator>',
            id="slider-crank",
        ),
    ],
)
def test_a_group_switches_off_every_actuator_that_drives_its_joints(arm, more):
    free = hip_after(arm("", {"arm": OFF}))

    alone, driven = hip_after(arm(more)), hip_after(arm(more, {"arm": OFF}))

    np.testing.assert_allclose(driven, free, atol=1e-6)
    assert abs(alone - free) > 0.05


def test_a_muscle_is_off_as_well(arm):
    muscle = '<actuator><muscle tendon="cord" lengthrange=".5 1.5" force="500" range=".2 .5"/></actuator>'
    free = hip_after(arm("", {"arm": OFF}))

    found = hip_after(arm(SPATIAL + muscle, {"arm": OFF}))

    np.testing.assert_allclose(found, free, atol=1e-6)


def test_an_actuator_that_drives_other_joints_stays(arm):
    knee = {**OFF, "joints": ["knee"]}
    more = f'<actuator><general joint="hip" {SPRING}/></actuator>'

    assert abs(hip_after(arm(more, {"arm": knee}))) < 0.05


def test_a_tendon_that_is_driven_in_part_is_off_and_named(arm):
    more = FIXED.format(more=KNEE) + '<actuator><position name="pull" tendon="belt" kp="1000"/></actuator>'
    with arm(more, {"arm": OFF}) as simulation:
        (note,) = simulation.notes["scene"]

    assert note == "actuator 'pull' is off, since a group drives some of its joints; nothing drives the others: knee"


def test_the_servo_s_force_limit_becomes_the_joint_s(arm):
    more = '<actuator><position joint="hip" kp="1" ctrlrange="-1 1" forcerange="-5 5"/></actuator>'
    drive = {"type": "solver-pd", "joints": ["hip"], "kp": 100.0, "kd": 1.0}
    with arm(more, {"arm": drive}) as simulation:
        model = simulation.solver.mj_model

        assert simulation.model.joint_effort_limit.numpy()[0] == 5.0
        assert not model.actuator_ctrllimited.any()
        np.testing.assert_allclose(model.jnt_actfrcrange[0], [-5.0, 5.0])


def test_inputs_reach_motors_servos_and_tendons_of_each_world(arm):
    """At rest without gravity, Δq̇ of the hip is proportional to the inputs: 3 u₁, 100 u₂ and u₃ [N·m]."""
    more = FIXED.format(more="") + (
        '<actuator><motor name="motor" joint="hip" gear="3"/><position name="servo" joint="hip" kp="100"/>'
        '<motor name="pull" tendon="belt"/></actuator>'
    )
    with arm(more, {"arm": OWN}, worlds=4, gravity=0.0) as simulation:
        group = simulation.actuators["arm"]
        group.set("ctrl", [[2.0, 0.0, 0.0], [0.0, 0.06, 0.0], [0.0, 0.0, 6.0], [0.0, 0.0, 0.0]])
        simulation.step()

        speeds = simulation.state.joint_qd.numpy().reshape(4, 2)[:, 0]

    assert group.actuator_labels == ("motor", "servo", "pull")
    assert speeds[0] > 0.01
    np.testing.assert_allclose(speeds, speeds[0] * np.array([1.0, 1.0, 1.0, 0.0]), rtol=1e-3)


def test_the_input_of_a_servo_counts_from_the_zero_of_the_file(arm):
    """With ref = 30°, the file's zero is Newton's -0.52 rad."""
    more = '<actuator><position joint="hip" kp="1000" kv="50"/></actuator>'
    with arm(more, {"arm": {**OWN, "ctrl": 0.4}}, reference='ref="30"') as simulation:
        simulation.step(200)

        assert simulation.actuators["arm"].ctrl.numpy()[0, 0] == np.float32(0.4)
        assert simulation.state.joint_q.numpy()[0] == pytest.approx(0.4 - np.pi / 6, abs=0.02)


def test_inputs_are_recorded_with_the_names_of_the_actuators(arm):
    more = '<actuator><motor name="motor" joint="hip"/></actuator>'
    with arm(more, {"arm": {**OWN, "ctrl": 0.25}}, worlds=2) as simulation:
        (inputs,) = channels(simulation, [0, 1], ["actuators/arm/ctrl"])

        assert inputs.labels == ("motor",)
        np.testing.assert_array_equal(inputs.numpy(), np.full((2, 1), 0.25))


@pytest.mark.parametrize("order", [("own", "arm"), ("arm", "own")])
def test_an_actuator_of_a_driven_joint_cannot_be_controlled(arm, order):
    more = f'<actuator><general name="spring" joint="hip" {SPRING}/></actuator>'
    groups = {name: {"own": OWN, "arm": OFF}[name] for name in order}
    with pytest.raises(pippin.ConfigError, match=r"actuators\.\w+\.\w+: another group .* 'spring'"):
        arm(more, groups)
