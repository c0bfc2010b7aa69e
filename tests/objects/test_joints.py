"""Joints between objects: trees, loops, frames and errors."""

import newton
import numpy as np
import pippin
import pytest

LINK = {"type": "body", "shapes": [{"type": "box", "size": [0.1, 0.1, 1.0]}]}


def build(objects, joints=(), solver="featherstone", worlds=1, **scene):
    tables = {
        "simulation": {"device": "cpu", "dt": 0.001},
        "scene": {"objects": objects, "joints": list(joints), "worlds": worlds, **scene},
        "solver": {"type": solver},
    }
    return pippin.Simulation(pippin.structure(tables))


def body(label, shape, **keys):
    return {"type": "body", "label": label, "shapes": [shape], **keys}


def hinge(**keys):
    return {"type": "revolute", "axis": [0.0, 1.0, 0.0], "child_position": [0.0, 0.0, 0.5], **keys}


def test_a_pendulum_swings_with_the_period_of_the_formula():
    swinging = {**LINK, "label": "rod", "position": [0.0, 0.0, -0.5], "joint": hinge(position=0.05)}
    with build([swinging], solver="mujoco") as simulation:
        angles = []
        for _ in range(1700):
            simulation.step()
            angles.append(float(simulation.state.joint_q.numpy()[0]))

    inertia, arm = 10.0 / 12 * (1.0 + 0.01) + 10.0 * 0.25, 0.5
    half_period = np.pi * np.sqrt(inertia / (10.0 * 9.81 * arm))
    crossings = np.flatnonzero(np.diff(np.sign(angles)))
    assert (crossings[1] - crossings[0]) * 1e-3 == pytest.approx(half_period, rel=2e-3)


def test_a_chain_in_any_order_is_one_articulation_with_parents_first():
    heights = {"low": -2.5, "mid": -1.5, "top": -0.5}
    links = [{**LINK, "label": name, "position": [0.0, 0.0, height]} for name, height in heights.items()]
    joints = [hinge(child="low", parent="mid"), hinge(child="mid", parent="top"), hinge(child="top")]
    with build(links, joints, worlds=2) as simulation:
        model = simulation.model
        assert model.joint_label[:3] == ["top_joint", "mid_joint", "low_joint"]
        assert model.articulation_count == 2
        np.testing.assert_allclose(simulation.state.body_q.numpy()[:3, 2], [-2.5, -1.5, -0.5], atol=1e-6)


def test_a_body_without_a_joint_is_free_and_may_carry_others():
    ball = body("ball", {"type": "sphere", "radius": 0.1}, position=[0.0, 0.0, -1.0])
    with build([{**LINK, "label": "carrier"}, ball], [hinge(child="ball", parent="carrier")]) as simulation:
        kinds = simulation.model.joint_type.numpy().tolist()

    assert kinds == [newton.JointType.FREE, newton.JointType.REVOLUTE]


def test_a_second_joint_of_a_body_closes_a_loop():
    low = [0.0, 0.0, -0.5]
    bars = [
        {**LINK, "label": "left", "position": [0.0, 0.0, 0.5], "joint": hinge(child_position=low, velocity=0.5)},
        {**LINK, "label": "right", "position": [1.0, 0.0, 0.5], "joint": hinge(child_position=low, velocity=0.5)},
        body("top", {"type": "box", "size": [1.0, 0.1, 0.1]}, position=[0.5, 0.0, 1.0]),
    ]
    ends = [
        hinge(child="top", parent=parent, child_position=[x, 0.0, 0.0], label=f"to_{parent}")
        for parent, x in (("left", -0.5), ("right", 0.5))
    ]
    with build(bars, ends, solver="mujoco") as simulation:
        model = simulation.model
        loop = model.joint_label.index("to_right")
        assert model.joint_articulation.numpy()[loop] == -1
        simulation.step(300)
        poses = simulation.state.body_q.numpy()

    left, right, top = (poses[model.body_label.index(name), :3] for name in ("left", "right", "top"))
    assert np.linalg.norm(right - left) == pytest.approx(1.0, abs=0.02)
    assert top[2] < 0.999


def test_a_static_parent_is_a_part_of_the_world():
    post = {**LINK, "label": "post", "motion": "static", "position": [2.0, 0.0, 0.0]}
    arm = {**LINK, "label": "arm", "position": [2.0, 0.0, -1.0]}
    joint = hinge(child="arm", parent="post", parent_position=[0.0, 0.0, -0.5])
    with build([post, arm], [joint]) as simulation:
        np.testing.assert_allclose(simulation.state.body_q.numpy()[0, :3], [2.0, 0.0, -1.0], atol=1e-6)


def test_a_mimic_follows_its_leader():
    screw = {**LINK, "label": "screw", "joint": hinge(velocity=2.0, child_position=[0.0, 0.0, 0.0])}
    nut = {**LINK, "label": "nut", "position": [1.0, 0.0, 0.0]}
    slider = {"type": "prismatic", "child": "nut", "axis": [0, 0, 1], "mimic": {"of": "screw_joint", "ratio": 0.5}}
    with build([screw, nut], [slider], gravity=[0.0, 0.0, 0.0], solver="mujoco") as simulation:
        simulation.step(200)
        positions = simulation.state.joint_q.numpy()

    assert positions[0] > 0.05
    assert positions[1] == pytest.approx(0.5 * positions[0], abs=5e-3)


def test_filtered_shapes_do_not_collide():
    crate = {"type": "body", "label": "crate", "shapes": [{"type": "box", "size": [0.2] * 3}]}
    floor = {"type": "body", "label": "floor", "motion": "static", "shapes": [{"type": "box", "size": [2.0, 2.0, 0.2]}]}
    crates = [{**crate, "position": [0.0, 0.0, 0.2]}, {**crate, "label": "ghost", "position": [0.6, 0.0, 0.2]}]
    filters = [{"a": ["ghost/.*"], "b": ["floor/.*"]}]
    with build([floor, *crates], solver="xpbd", filters=filters) as simulation:
        simulation.step(300)
        heights = simulation.state.body_q.numpy()[:, 2]

    assert heights[0] == pytest.approx(0.2, abs=5e-3)
    assert heights[1] < 0.0


def test_shapes_of_different_groups_do_not_collide():
    crate = {"type": "body", "label": "crate", "shapes": [{"type": "box", "size": [0.2] * 3, "collision_group": 1}]}
    ghost = {"type": "body", "label": "ghost", "shapes": [{"type": "box", "size": [0.2] * 3, "collision_group": 2}]}
    floor = {"type": "box", "size": [2.0, 2.0, 0.2], "collision_group": 1}
    objects = [
        {"type": "body", "label": "floor", "motion": "static", "shapes": [floor]},
        {**crate, "position": [0.0, 0.0, 0.2]},
        {**ghost, "position": [0.6, 0.0, 0.2]},
    ]
    with build(objects, solver="xpbd") as simulation:
        simulation.step(300)
        heights = simulation.state.body_q.numpy()[:, 2]

    assert heights[0] == pytest.approx(0.2, abs=5e-3)
    assert heights[1] < 0.0


@pytest.mark.parametrize(
    ("joint", "reason"),
    [
        ({"type": "fixed"}, r"joints\[0\]\.child: expected the label of a body"),
        ({"type": "fixed", "child": "lnk"}, r"joints\[0\]\.child: no body 'lnk'.*did you mean 'link'"),
        ({"type": "fixed", "child": "link", "parent": "link"}, r"hangs on itself"),
        ({"type": "hinge", "child": "link"}, r"joints\.0\.type"),
        ({"type": "revolute", "child": "link", "axis": [0, 0, 0]}, r"axis: must be a direction"),
        ({"type": "revolute", "child": "link", "mimic": {"of": "none"}}, r"mimic\.of: no joint 'none'"),
        (
            {"type": "d6", "child": "link", "linear": [{}], "positions": [1.0, 2.0]},
            r"for each of the 1 axes",
        ),
    ],
)
def test_a_wrong_joint_is_refused(joint, reason):
    with pytest.raises(pippin.ConfigError, match=reason):
        build([{**LINK, "label": "link"}], [joint])


def test_a_joint_on_a_robot_of_a_file_is_refused():
    tool = {**LINK, "label": "tool", "position": [0.0, 0.0, 3.0]}
    robot = [{"path": "docs/examples/hinge.xml"}]
    with build([tool], assets=robot, solver="mujoco") as simulation:
        arm = next(label for label in simulation.model.body_label if label != "tool")

    with pytest.raises(pippin.ConfigError, match="is a body of a robot file or of a rod, whose joints are complete"):
        build([tool], [{"type": "fixed", "child": "tool", "parent": arm}], assets=robot, solver="mujoco")


LINKS = {
    "trunk": {**LINK, "label": "trunk", "position": [0.0, 0.0, -0.5]},
    "left": {**LINK, "label": "left", "position": [0.0, 0.3, -1.5]},
    "right": body("right", {"type": "sphere", "radius": 0.15}, position=[0.0, -0.3, -1.5]),
    "hand": {**LINK, "label": "hand", "position": [0.0, 0.3, -2.5]},
}
HINGES = [
    hinge(child="trunk", position=0.3),
    hinge(child="left", parent="trunk", position=0.5),
    hinge(child="right", parent="trunk"),
    hinge(child="hand", parent="left", position=-0.4),
]
"""A tree of four links, of which the third has another mass and inertia."""

ORDERS = [("trunk", "left", "hand", "right"), ("trunk", "left", "right", "hand"), ("hand", "right", "left", "trunk")]


@pytest.mark.parametrize("order", ORDERS)
def test_the_joints_of_a_tree_come_depth_first(order):
    """Where they do not, Newton warns that MuJoCo's order of the axes is another one."""
    with build([LINKS[name] for name in order], HINGES, solver="mujoco-native") as simulation:
        joints = [label.removesuffix("_joint") for label in simulation.model.joint_label]

    assert joints[0] == "trunk"
    assert joints[joints.index("left") + 1] == "hand"


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("solver", ["featherstone", "mujoco-native", "steel", "vbd", "xpbd", "kamino", "mujoco"])
def test_a_tree_moves_alike_however_its_bodies_are_listed(solver):
    """After a tenth of a second. Newton's featherstone takes the inertia of body i for that of the child of joint i."""
    ends = []
    for order in ORDERS:
        with build([LINKS[name] for name in order], HINGES, solver=solver, worlds=2) as simulation:
            simulation.step(100)
            poses = dict(zip(simulation.model.body_label[4:], simulation.state.body_q.numpy()[4:], strict=True))
        ends.append(np.array([poses[name] for name in LINKS]))

    assert np.abs(ends[0][:, 3:] - [0.0, 0.0, 0.0, 1.0]).max() > 0.1
    np.testing.assert_allclose(ends[1], ends[0], atol=2e-4)
    np.testing.assert_allclose(ends[2], ends[0], atol=2e-4)
