"""Actions: what reaches a group, and what a reset puts back."""

import numpy as np
import pippin
import pytest


def test_a_target_is_the_initial_position_plus_the_scaled_and_clipped_number(floating):
    action = {
        "type": "joint-targets",
        "actuator": "arm",
        "scale": {"shoulder": 0.5, "elbow": 0.25},
        "clip": [-1.0, 1.0],
    }
    simulation = floating({}, actions={"arm": action})
    simulation.task.episodes.action.assign(np.tile([0.5, -3.0], (4, 1)).astype(np.float32))

    simulation.step()

    np.testing.assert_allclose(simulation.actuators["arm"].position_targets.numpy(), [[0.65, -0.25]] * 4, atol=1e-6)
    assert [end.tolist() for end in simulation.task.action_bounds] == [[-1.0, -1.0], [1.0, 1.0]]
    assert simulation.task.action_labels == ("arm/shoulder", "arm/elbow")


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(
    ("kind", "array"), [("joint-velocity-targets", "velocity_targets"), ("joint-efforts", "feedforward")]
)
def test_velocity_targets_and_efforts_are_the_scaled_numbers(floating, kind, array):
    simulation = floating({}, actions={"arm": {"type": kind, "actuator": "arm", "scale": 2.0}})
    simulation.task.episodes.action.fill_(0.3)

    simulation.step()

    np.testing.assert_allclose(getattr(simulation.actuators["arm"], array).numpy(), 0.6, atol=1e-6)


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(("worlds", "capture"), [(4, "require"), (1, "off")])
def test_a_number_is_a_step_from_the_present_position(floating, worlds, capture):
    """Target = q + scale a, with q at the start of the control step, also by encoders that are off."""
    action = {"type": "joint-targets", "actuator": "arm", "scale": 0.5, "offset": "current"}
    events = {"zero": {"type": "joint-offsets", "action": "arm", "range": [0.01, 0.02]}}
    with floating(events, worlds, simulation={"capture": capture}, actions={"arm": action}) as simulation:
        for number in (0.2, -0.1, 0.3):
            before = simulation.state.joint_q.numpy().reshape(worlds, 9)[:, 7:].copy()
            simulation.task.episodes.action.fill_(number)
            simulation.step()
            targets = simulation.actuators["arm"].position_targets.numpy()
            np.testing.assert_allclose(targets, before + 0.5 * number, atol=1e-6)
        assert np.abs(before - [0.4, 0.0]).min() > 1e-5


def test_targets_are_a_moving_average_in_each_episode(floating):
    """A constant a: target = initial + a (1 − share^k) after k steps, and after a reset again."""
    action = {"type": "joint-targets", "actuator": "arm", "smoothing": 0.75}
    with floating({}, actions={"arm": action}) as simulation:
        for k in (1, 2, 3, 1, 2):
            if k == 1:
                simulation.reset()
            simulation.task.episodes.action.fill_(0.1)
            simulation.step()
            expected = np.array([0.4, 0.0]) + 0.1 * (1.0 - 0.75**k)
            targets = simulation.actuators["arm"].position_targets.numpy()
            np.testing.assert_allclose(targets, np.tile(expected, (4, 1)), atol=1e-6)


def test_a_reset_puts_the_targets_of_its_worlds_back(floating):
    actions = {"arm": {"type": "joint-targets", "actuator": "arm", "offset": "zero"}}
    simulation = floating({}, actions=actions)
    simulation.task.episodes.action.fill_(0.1)
    simulation.step()

    simulation.reset([1, 3])

    targets = simulation.actuators["arm"].position_targets.numpy()
    np.testing.assert_allclose(targets, [[0.1, 0.1], [0.4, 0.0]] * 2, atol=1e-6)


@pytest.mark.parametrize(
    ("action", "fault"),
    [
        ({"type": "joint-targets", "actuator": "leg"}, "actions.it.actuator: there is no actuator 'leg'"),
        ({"type": "inputs", "actuator": "arm"}, "actions.it.actuator: 'arm' has no inputs; choose a group that has"),
        ({"type": "joint-targets", "actuator": "arm", "scale": {"shoulder": 1.0}}, "actions.it.scale: .*elbow"),
        ({"type": "joint-targets", "actuator": "arm", "clip": [1.0, -1.0]}, r"clip: must be a range \[low, high\]"),
    ],
)
def test_bad_input_is_refused_with_its_place(floating, action, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        floating({}, actions={"it": action})


def test_two_actions_for_the_same_targets_are_refused(floating):
    action = {"type": "joint-targets", "actuator": "arm"}

    with pytest.raises(pippin.ConfigError, match=r"actions\.two.actuator: actions\.one changes the position targets"):
        floating({}, actions={"one": action, "two": action})
