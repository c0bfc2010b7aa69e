"""Claims that a keyframe starts the robot as MuJoCo does: poses and velocities of all bodies, and targets of servos."""

import logging

import mujoco
import newton
import numpy as np
import pytest
import warp as wp
from pippin.assembly.scene import add_assets, new_builder
from pippin.attribute_rows import numbers, texts
from pippin.config.model import AssetConfig, SceneConfig
from pippin.errors import ConfigError

# A free joint, two hinges that Newton merges, a ball, and three joints that it takes apart.
ROBOT = """<mujoco model="m"><compiler angle="radian"/><worldbody>
<body name="base" pos="0 0 1"><freejoint name="root"/><geom size=".1" pos=".05 0 0" mass="1"/>
  <body name="leg" pos="0 0 -.2"><joint name="hip-x" axis="1 0 0"/><joint name="hip-y" axis="0 1 0" ref=".1"/>
    <geom size=".03" pos="0 0 -.1" mass=".3"/>
    <body name="foot" pos="0 0 -.2"><joint name="ankle" type="ball"/><geom pos=".1 0 0" size=".04" mass=".1"/></body>
  </body></body>
<body name="cart" pos="1 0 0"><joint name="s" type="slide" axis="1 0 0"/><joint name="h" axis="0 0 1"/>
  <joint name="t" type="slide" axis="0 1 0"/><geom size=".1" mass="1"/></body></worldbody>
<actuator><position name="px" joint="hip-x" kp="10"/><velocity name="vy" joint="hip-y" kv="3"/>
  <motor name="engine" joint="h"/><position joint="s" kp="3"/></actuator>
<keyframe><key name="home" qpos="1 2 3 .5 .5 .5 .5 .2 .3 .8 .6 0 0 .4 .5 .6" ctrl=".25 .5 0 .7"
  qvel=".1 .2 .3 .4 .5 .6 .7 .8 .9 1 1.1 1.2 1.3 1.4"/>
<key name="still" qpos="1 2 3 1 0 0 0 .2 .3 .8 .6 0 0 .4 .5 .6"/>
<key name="driven" ctrl="0 0 1.5 0"/></keyframe></mujoco>"""


@pytest.fixture
def robot(tmp_path):
    (tmp_path / "robot.xml").write_text(ROBOT)

    def robot(**options) -> newton.ModelBuilder:
        scene = SceneConfig(assets=(AssetConfig(path=str(tmp_path / "robot.xml"), **options),))
        builder = new_builder(scene)
        add_assets(builder, scene)
        return builder

    return robot


def started(keyframe: int) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return MuJoCo's model and data at a keyframe."""
    model = mujoco.MjModel.from_xml_string(ROBOT)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, keyframe)
    mujoco.mj_forward(model, data)
    return model, data


def velocity(model: mujoco.MjModel, data: mujoco.MjData, body: str) -> np.ndarray:
    """Return the velocity of a body's centre of mass, linear part first."""
    found = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, model.body(body).id, found, 0)
    return np.concatenate([found[3:], found[:3]])


def targets(builder: newton.ModelBuilder, name: str) -> list[float]:
    joint = next(index for index, label in enumerate(builder.joint_label) if label.endswith(f"/{name}"))
    start, count = builder.joint_q_start[joint], sum(builder.joint_dof_dim[joint])
    return builder.joint_target_q[start : start + count]


@pytest.mark.parametrize(
    "place",
    [(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), (0.3, -0.2, 0.5, 0.5, -0.5, 0.5, 0.5)],
    ids=["at the origin", "placed and turned"],
)
def test_every_body_starts_where_mujoco_has_it_and_moves_alike(robot, place):
    builder = robot(keyframe="home", position=place[:3], rotation=place[3:])
    model = builder.finalize(device="cpu", skip_validation_inertia=True)  # MuJoCo has checked the inertias
    state = model.state()
    placement = wp.transform(place[:3], place[3:])

    newton.eval_fk(model, model.joint_q, model.joint_qd, state)

    theirs, data = started(0)
    for name in ("base", "leg", "foot", "cart"):
        body = next(index for index, label in enumerate(builder.body_label) if label.endswith(f"/{name}"))
        w, x, y, z = data.body(name).xquat
        pose = placement * wp.transform(data.body(name).xpos, (x, y, z, w))
        turned = [wp.quat_rotate(placement.q, wp.vec3(*each)) for each in np.split(velocity(theirs, data, name), 2)]
        ours = state.body_q.numpy()[body]
        assert ours[:3] == pytest.approx(np.array(pose.p), abs=2e-6)
        assert abs(np.dot(ours[3:], np.array(pose.q))) == pytest.approx(1.0, abs=1e-6)
        assert state.body_qd.numpy()[body] == pytest.approx(np.concatenate(turned), abs=1e-5)


def test_servos_start_at_the_controls_of_the_keyframe(robot):
    builder = robot(keyframe="home")

    assert targets(builder, "hip_x_hip_y") == pytest.approx([0.25, 0.0])
    assert targets(builder, "s") == pytest.approx([0.7])
    assert builder.joint_target_qd == pytest.approx([0.0] * 7 + [0.5] + [0.0] * 6)


def test_without_controls_servos_hold_the_keyframe_and_what_replaces_it(robot):
    builder = robot(keyframe="still", joint_positions={"s": 0.9})

    assert targets(builder, "hip_x_hip_y") == pytest.approx([0.2, 0.0])
    assert targets(builder, "s") == pytest.approx([0.9])


def test_an_unknown_keyframe_is_refused_with_the_nearest_one(robot):
    with pytest.raises(
        ConfigError, match=r"keyframe: 'hom' is not a keyframe.*; did you mean 'home'\? keyframes: home, "
    ):
        robot(keyframe="hom")


@pytest.mark.filterwarnings("ignore:.*position actuator references unknown joint 's'")
def test_a_root_that_is_fixed_stays_and_a_note_says_so(robot, caplog):
    with caplog.at_level(logging.INFO):
        builder = robot(keyframe="still", floating=False)

    assert "keyframe: leaves out the poses of bodies that `floating` fixes: base" in caplog.text
    assert targets(builder, "hip_x_hip_y") == pytest.approx([0.2, 0.0])


def test_a_motor_starts_at_its_control(robot):
    builder = robot(keyframe="driven")

    names = [label.rpartition("/")[2] for label in texts(builder, "mujoco:actuator_label")]
    assert numbers(builder, "mujoco:ctrl")[names.index("engine")] == pytest.approx(1.5)
