"""Clips made of recorded motions: beside formulas, in any order of columns, and the motions that are refused."""

import numpy as np
import pippin
import pippin_task
import pytest
from click.testing import CliRunner
from pippin import quaternions
from pippin.cli import main
from pippin.motions import Clip

ROBOT = """
<mujoco>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.1" pos="0.05 0 0.02" mass="3"/>
      <body name="arm" pos="0 0 0.2">
        <joint name="shoulder" axis="0 1 0"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.1 0 0.4" mass="1"/>
        <body name="hand" pos="0 0 0.4">
          <joint name="wrist" axis="1 0 0"/>
          <geom type="sphere" size="0.05" pos="0 0 0.1" mass="0.5"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
RATE, DT = 125.0, 0.02
"""Frames of a recording per second [Hz]; control step [s]."""


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """Return a configuration with a free robot of two hinges, whose control step is 20 ms."""
    folder = tmp_path_factory.mktemp("robot")
    (folder / "robot.xml").write_text(ROBOT, encoding="utf-8")
    file = folder / "robot.toml"
    tables = ["[simulation]", "dt = 0.01", "decimation = 2", "[solver]", 'type = "featherstone"']
    file.write_text("\n".join([*tables, "[[scene.assets]]", 'path = "robot.xml"']), encoding="utf-8")
    return file


def angles(times):
    """Return the angles of shoulder and wrist [rad], which repeat after a second, shape [frames, 2]."""
    return np.stack([0.4 * np.sin(2 * np.pi * times), 0.3 * np.cos(2 * np.pi * times)], axis=1)


def roots(times):
    """Return a root on a circle, at 0.6 m/s and 0.5 rad/s, shape [frames, 7]."""
    zero = np.zeros_like(times)
    turn = [zero, zero, np.sin(0.25 * times), np.cos(0.25 * times)]
    return np.stack([1.2 * np.sin(0.5 * times), 1.2 - 1.2 * np.cos(0.5 * times), zero + 0.8, *turn], axis=1)


def recording(seconds=1.0):
    return np.arange(round(seconds * RATE) + 1) / RATE


@pytest.fixture(scope="module")
def csv(robot):
    """Return a csv with a second of the motion."""
    file = robot.parent / "motion.csv"
    times = recording()
    np.savetxt(file, np.concatenate([roots(times), angles(times)], axis=1), delimiter=",")
    return file


def test_a_clip_has_the_motion_at_control_steps_with_its_velocities(robot, csv, tmp_path):
    clip = pippin_task.convert_motion(csv, tmp_path / "clip.npz", robot, fps=RATE)
    read = Clip.read(str(tmp_path / "clip.npz"), "path")

    times = np.arange(51) * DT
    assert (clip.frame_count, clip.rate, clip.root, clip.is_loop) == (51, 50.0, "trunk", False)
    assert (clip.joint_names, clip.body_names) == (("shoulder", "wrist"), ("trunk", "arm", "hand"))
    # A line between samples 8 ms apart is off by h² / 8 × the largest acceleration.
    np.testing.assert_allclose(clip.joint_positions, angles(times), atol=0.4 * (2 * np.pi / RATE) ** 2 / 8)
    # Sine and cosine differentiate to each other; differences over 2 × 20 ms are off by (w dt)² / 6 = 0.3 %.
    wanted = 2 * np.pi * np.stack([0.4 * np.cos(2 * np.pi * times), -0.3 * np.sin(2 * np.pi * times)], axis=1)
    np.testing.assert_allclose(clip.joint_velocities[1:-1], wanted[1:-1], atol=0.02)
    np.testing.assert_allclose(clip.body_poses[:, 0], roots(times), atol=1e-4)
    np.testing.assert_allclose(clip.body_velocities[:, 0, 3:], [[0.0, 0.0, 0.5]] * 51, atol=1e-4)
    for name in ("joint_positions", "joint_velocities", "body_poses", "body_velocities"):
        np.testing.assert_array_equal(getattr(read, name), getattr(clip, name))


@pytest.mark.slow
def test_the_velocities_of_bodies_are_those_of_their_centres_of_mass(robot, csv):
    clip = pippin_task.convert_motion(csv, None, robot, fps=RATE)
    with pippin.Simulation.from_file(robot, {"simulation.device": "cpu"}) as simulation:
        com = simulation.model.body_com.numpy().astype(float)

    places = clip.body_poses[..., :3] + quaternions.rotated(clip.body_poses[..., 3:], com[None])
    moved = (places[2:] - places[:-2]) / (2 * DT)
    turns = quaternions.product(clip.body_poses[2:, :, 3:], quaternions.conjugate(clip.body_poses[:-2, :, 3:]))
    spins = quaternions.rotation_vectors(turns) / (2 * DT)
    # Up to 2.5 rad/s and 1.7 m/s; the differences of positions have an error of (w dt)² / 6, too.
    np.testing.assert_allclose(clip.body_velocities[1:-1, :, :3], moved, atol=0.01)
    np.testing.assert_allclose(clip.body_velocities[1:-1, :, 3:], spins, atol=0.01)


@pytest.mark.slow
def test_a_loop_is_as_fast_at_its_ends_as_the_motion_that_continues(robot, csv):
    clip = pippin_task.convert_motion(csv, None, robot, fps=RATE, loop=True)
    times = recording(2.0)
    longer = robot.parent / "longer.csv"
    np.savetxt(longer, np.concatenate([roots(times), angles(times)], axis=1), delimiter=",")
    twice = pippin_task.convert_motion(longer, None, robot, fps=RATE)

    np.testing.assert_allclose(clip.stride, roots(np.array([1.0]))[0] * (1, 1, 0, 1, 1, 1, 1), atol=1e-6)
    np.testing.assert_allclose(clip.joint_velocities[-1], twice.joint_velocities[50], atol=1e-4)
    np.testing.assert_allclose(clip.body_velocities[-1], twice.body_velocities[50], atol=1e-3)
    np.testing.assert_allclose(clip.joint_velocities[0], clip.joint_velocities[-1], atol=1e-6)


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("source", ["csv", "mjlab", "isaac"])
def test_files_are_read_by_their_declared_order(robot, csv, tmp_path, source):
    wanted = pippin_task.convert_motion(csv, None, robot, fps=RATE)
    times = recording()
    root, joints = roots(times), angles(times)[:, ::-1]
    turns = np.roll(root[:, 3:], 1, axis=1)
    file, order = tmp_path / ("swapped.csv" if source == "csv" else "swapped.npz"), ["wrist", "shoulder"]
    options = {"joints": order}
    if source == "csv":
        np.savetxt(file, np.concatenate([root[:, :3], turns, joints], axis=1), delimiter=",")
        options |= {"quaternion": "wxyz", "fps": RATE}
    elif source == "mjlab":
        arrays = {"joint_pos": joints, "body_pos_w": root[:, None, :3], "body_quat_w": turns[:, None]}
        np.savez(file, fps=RATE, **arrays)
    else:
        others = np.zeros((len(times), 1, 7))
        bodies = np.concatenate([others, np.concatenate([root[:, :3], turns], axis=1)[:, None]], axis=1)
        arrays = {"dof_positions": joints, "body_positions": bodies[..., :3], "body_rotations": bodies[..., 3:]}
        np.savez(file, fps=RATE, dof_names=order, body_names=["hand", "trunk"], **arrays)
        options = {}

    clip = pippin_task.convert_motion(file, None, robot, **options)

    np.testing.assert_allclose(clip.joint_positions, wanted.joint_positions, atol=1e-6)
    np.testing.assert_allclose(clip.body_poses, wanted.body_poses, atol=1e-5)


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({}, r"fps: the file tells none; give the frames per second"),
        ({"fps": 125.0, "joints": ["wrist"]}, r"joints: joint 'shoulder' of the robot is missing; add its column"),
        ({"fps": 125.0, "joints": ["wrist", "sholder"]}, r"joints: the robot has no joint 'sholder'; did you mean"),
        ({"fps": 124.0, "loop": True}, r"loop: the motion lasts 1\.00806 s, no whole number of control steps of 0\.02"),
        ({"fps": 125.0, "quaternion": "wxyz", "loop": True}, r"loop: the last frame is not the first one: the tilt"),
        ({"fps": 1e4}, r"source: the motion lasts 0\.0125 s, less than a control step of 0\.02 s; add frames"),
    ],
)
def test_a_motion_that_does_not_fit_is_refused(robot, csv, options, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        pippin_task.convert_motion(csv, None, robot, **options)


@pytest.mark.slow
def test_files_that_do_not_fit_are_refused_by_name(robot, csv, tmp_path):
    np.savetxt(tmp_path / "short.csv", np.zeros((3, 8)), delimiter=",")
    np.savetxt(tmp_path / "flat.csv", np.zeros((3, 9)), delimiter=",")
    np.savez(tmp_path / "empty.npz", fps=50.0)
    np.savez(tmp_path / "other.npz", fps=50.0, dof_positions=np.zeros((3, 2)), dof_names=["shoulder", "elbow"])

    for name, fault in {
        "short.csv": r"has 8 columns, and the robot needs 9: 7 of the root 'trunk' and 2 of joints",
        "flat.csv": r"the quaternion of frame 0 has the length 0, not 1",
        "empty.npz": r"has no array 'joint_positions' or 'joint_pos' or 'dof_positions'; add it",
        "other.npz": r"has no array 'body_positions' or 'body_pos_w'; add it",
        "none.csv": r"source: no file",
        "clip.txt": r"is neither \.csv nor \.npz",
    }.items():
        with pytest.raises(pippin.ConfigError, match=fault):
            pippin_task.convert_motion(tmp_path / name, None, robot, fps=50.0)
    two = {"scene.assets": [{"path": str(robot.parent / "robot.xml")}] * 2}
    with pytest.raises(pippin.ConfigError, match=r"robot: the scene has 2 robots"):
        pippin_task.convert_motion(csv, None, robot, two, fps=RATE)
    with pytest.raises(
        pippin.ConfigError, match=r"path: .* holds no clip \(.*\); write one by `pippin motion convert`"
    ):
        Clip.read(str(tmp_path / "other.npz"), "path")


@pytest.mark.slow
def test_the_command_writes_a_clip(robot, csv, tmp_path):
    words = ["motion", "convert", str(csv), str(tmp_path / "clip.npz"), "--robot", str(robot), "--fps", "125", "--loop"]

    result = CliRunner().invoke(main, words)

    assert result.exit_code == 0, result.output
    assert "a loop of 51 frames at 50 Hz, 1 s; 2 joints, 3 bodies" in result.output
    assert Clip.read(str(tmp_path / "clip.npz"), "path").is_loop
