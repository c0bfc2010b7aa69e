"""Poses as commands: their ranges, and targets of quantities in the frame of a body."""

import numpy as np
import pippin
import pytest
from pippin import quaternions

pytestmark = pytest.mark.slow

GOAL = {"type": "pose", "x": [0.2, 0.4], "y": [-0.1, 0.1], "z": [0.5, 0.5], "pitch": [0.3, 0.3], "yaw": [-1.0, 2.0]}
AIMED = {"type": "relative-position", "body": "upper", "reference": "box", "frame": "reference"}


def test_poses_lie_in_their_ranges_and_turn_about_x_then_y_then_z(floating):
    with floating({}, worlds=400, commands={"goal": {**GOAL, "roll": [0.2, 0.2]}}) as simulation:
        values = simulation.task.commands["goal"].value.numpy().astype(float)

    low, high = [0.2, -0.1, 0.5], [0.4, 0.1, 0.5]
    assert (values[:, :3] >= np.array(low) - 1e-6).all()
    assert (values[:, :3] <= np.array(high) + 1e-6).all()
    # The mean of n uniform numbers has a standard error of (b - a) / √(12 n).
    middle, error = np.add(low, high) / 2.0, np.subtract(high, low) / np.sqrt(12 * 400)
    assert (abs(values[:, :3].mean(axis=0) - middle) <= 4.0 * error + 1e-6).all()
    turned = quaternions.matrix(values[:, 3:])
    assert np.allclose(turned[:, 2, :], [-np.sin(0.3), np.cos(0.3) * np.sin(0.2), np.cos(0.3) * np.cos(0.2)], atol=1e-6)
    yaw = np.arctan2(turned[:, 1, 0], turned[:, 0, 0])
    assert -1.0 <= yaw.min() < -0.9 < 1.9 < yaw.max() <= 2.0


def test_errors_count_from_the_command_in_the_frame_of_a_body(floating):
    error = {"type": "pose-error", "body": "upper", "command": "goal", "offset": [0.1, 0.2, 0.3]}
    observations = {
        "inside": {"x": {"of": {**error, "reference": "box"}}},
        "turn": {"x": {"of": {**error, "reference": "box", "what": "rotation"}}},
        "outside": {"x": {"of": error}},
    }
    rewards = {"near": {"type": "norm", "weight": 1.0, "of": AIMED, "target": "goal", "axes": "xyz"}}
    start = {"root": {"type": "root", "x": [-1.0, 1.0], "roll": [-1.0, 1.0], "yaw": [-3.0, 3.0]}}
    keys = {"commands": {"goal": GOAL}, "rewards": rewards, "observations": observations}
    with floating(start, worlds=3, **keys) as simulation:
        simulation.step()
        reward = simulation.task.episodes.reward_terms.numpy()[0]
        found = {name: group.values.numpy() for name, group in simulation.task.observations.items()}
        goals = simulation.task.commands["goal"].value.numpy().astype(float)
        body_q = simulation.state.body_q.numpy().reshape(3, -1, 7).astype(float)
        labels = [label.rpartition("/")[2] for label in simulation.model.body_label[: body_q.shape[1]]]

    box, upper = (body_q[:, labels.index(name)] for name in ("box", "upper"))
    place = quaternions.rotated(quaternions.conjugate(box[:, 3:]), upper[:, :3] - box[:, :3])
    np.testing.assert_allclose(reward, np.linalg.norm(place - goals[:, :3], axis=1), atol=1e-5)
    point = upper[:, :3] + quaternions.rotated(upper[:, 3:], np.array([0.1, 0.2, 0.3]))
    wanted = box[:, :3] + quaternions.rotated(box[:, 3:], goals[:, :3])
    np.testing.assert_allclose(found["inside"], point - wanted, atol=1e-5)
    np.testing.assert_allclose(found["outside"], point - goals[:, :3], atol=1e-5)
    turn = quaternions.product(box[:, 3:], goals[:, 3:])
    turn = quaternions.rotation_vectors(quaternions.product(upper[:, 3:], quaternions.conjugate(turn)))
    np.testing.assert_allclose(found["turn"], turn, atol=1e-5)


def test_an_error_needs_a_pose(floating):
    observations = {"x": {"x": {"of": {"type": "pose-error", "command": "speed"}}}}
    with pytest.raises(pippin.ConfigError, match=r"command: 'speed' is no pose; choose one of type 'pose'"):
        floating({}, commands={"speed": {"type": "velocity"}}, observations=observations)
