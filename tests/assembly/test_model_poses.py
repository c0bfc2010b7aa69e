"""Poses of bodies at the start: in the state, in the model that solvers read at their build, and of links of a URDF on
floating joints."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp

MASS = '<inertial><mass value="1"/><inertia ixx=".01" iyy=".012" izz=".014" ixy="0" ixz="0" iyz="0"/></inertial>'


def joint(name, kind, parent, child, origin):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin {origin}/><axis xyz="0.6 0 0.8"/></joint>'
    )


def built(solver, text, folder, **asset):
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">{text}</robot>')
    return pippin.Simulation(
        {
            "simulation": {"dt": 0.001, "device": "cpu"},
            "solver": {"type": solver},
            "scene": {"worlds": 2, "ground": False, "assets": [{"path": str(path), **asset}]},
        }
    )


@pytest.mark.parametrize("solver", ["xpbd", "vbd"])
def test_a_solver_in_maximal_coordinates_is_built_with_the_poses_of_the_joints(solver, tmp_path):
    turned = joint("j", "continuous", "a", "b", 'xyz="0.2 0 0" rpy="0.3 0.2 1.57"')
    text = f'<link name="a">{MASS}</link><link name="b">{MASS}</link>{turned}'
    with built(solver, text, tmp_path, floating=True, joint_positions={"j": 0.7}, position=[1.0, 2.0, 3.0]) as robot:
        model, state = robot.model, robot.state
        assert np.array_equal(model.body_q.numpy(), state.body_q.numpy())
        assert np.abs(np.diff(state.body_q.numpy()[:2], axis=0)).max() > 0.1


@pytest.mark.parametrize("solver", ["mujoco-native", "featherstone"])
@pytest.mark.parametrize("root", ['<link name="world"/>', f'<link name="world">{MASS}</link>'])
def test_a_link_on_a_floating_joint_starts_at_its_origin_and_falls(solver, root, tmp_path):
    floating = joint("f", "floating", "world", "b", 'xyz="0 0.3 1" rpy="0 0 1.5707963"')
    text = f'{root}<link name="b">{MASS}</link><link name="c">{MASS}</link>{floating}'
    text += joint("h", "continuous", "b", "c", 'xyz="0.2 0 0" rpy="0.4 0 0"')
    with built(solver, text, tmp_path, position=[0.0, 0.0, 0.5]) as robot:
        rows = [row for row, label in enumerate(robot.model.body_label) if label.endswith("/b")]
        start = robot.state.body_q.numpy()[rows].copy()
        robot.step(100)
        end = robot.state.body_q.numpy()[rows]

    assert start == pytest.approx(np.tile([0.0, 0.3, 1.5, 0.0, 0.0, 0.5**0.5, 0.5**0.5], (2, 1)), abs=1e-6)
    assert (end - start)[:, :3] == pytest.approx(np.tile([0.0, 0.0, -0.0495], (2, 1)), abs=1e-3)


@pytest.mark.parametrize("solver", ["vbd", "xpbd"])
def test_a_prototype_moves_alike_with_poses_and_without(solver, simulate):
    """Its links hang on turned frames; the poses of a builder are those of the joints only if the user gives them."""
    ends = []
    turn = wp.quat_from_axis_angle(wp.vec3(1.0, 0.0, 0.0), 0.8)
    for pose in (wp.transform(), wp.transform(wp.vec3(), turn)):
        builder = newton.ModelBuilder()
        inertia = wp.mat33(*(0.05 * np.eye(3)).ravel().tolist())
        link = builder.add_link(xform=pose, mass=1.0, inertia=inertia, com=(0.2, 0.0, 0.0), lock_inertia=True)
        frame = wp.transform(wp.vec3(), turn)
        builder.add_articulation([builder.add_joint_revolute(-1, link, parent_xform=frame, axis=(0.6, 0.0, 0.8))])
        with simulate(builder, solver=solver, dt=0.001, gravity=[3.0, -6.0, -2.0]) as simulation:
            simulation.step(100)
            ends.append(simulation.state.body_q.numpy().copy())

    assert np.array_equal(*ends)
    assert np.abs(ends[0][0] - [0.0, 0.0, 0.0, np.sin(0.4), 0.0, 0.0, np.cos(0.4)]).max() > 0.01


def test_a_loop_is_closed_on_an_asset_where_it_starts(tmp_path):
    """The frame of a joint of the scene is where the robot's link stands in its start pose."""
    text = f'<link name="a">{MASS}</link><link name="b">{MASS}</link>'
    text += joint("j", "continuous", "a", "b", 'xyz="0.2 0 0" rpy="0.3 0.2 1.57"')
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r">{text}</robot>')
    ball = {"type": "body", "label": "ball", "position": [1.0, 0.0, 0.0], "shapes": [{"type": "sphere", "radius": 0.1}]}
    loop = {"type": "fixed", "label": "tie", "parent": "ball", "child": "b"}
    config = {
        "simulation": {"device": "cpu"},
        "solver": {"type": "xpbd"},
        "scene": {
            "ground": False,
            "gravity": [0.0, 0.0, 0.0],
            "assets": [{"path": str(path), "joint_positions": {"j": 0.5}}],
            "objects": [{**ball, "joint": {"type": "free"}}],
            "joints": [loop],
        },
    }
    with pippin.Simulation(config) as simulation:
        start = simulation.state.body_q.numpy().copy()
        simulation.step(20)

        assert simulation.state.body_q.numpy() == pytest.approx(start, abs=1e-5)
