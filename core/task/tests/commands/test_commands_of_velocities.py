"""Commands: velocities, the share that stands, and headings that are held."""

import numpy as np
import pippin
import pytest

VELOCITY = {"type": "velocity", "x": [-1.0, 1.0], "y": [0.1, 0.2], "yaw": [-0.5, 0.5]}


def command(simulation) -> np.ndarray:
    return simulation.task.commands["velocity"].value.numpy().copy()


def test_velocities_lie_in_their_ranges_and_a_share_stands(floating):
    simulation = floating({}, worlds=400, commands={"velocity": {**VELOCITY, "standing": 0.25}})

    values = command(simulation)

    stands = ~values.any(axis=1)
    moving = values[~stands]
    # The share of n draws has a standard error of √(p (1 - p) / n).
    assert abs(stands.mean() - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 400)
    assert (moving >= [-1.0, 0.1, -0.5]).all()
    assert (moving <= [1.0, 0.2, 0.5]).all()
    assert abs(moving[:, 0].mean()) < 4 * 2.0 / np.sqrt(12 * len(moving))


def test_a_yaw_rate_turns_to_the_heading(floating):
    """Yaw rate = stiffness × angle, the short way round, within the range."""
    held = {**VELOCITY, "heading": [3.0, 3.0], "heading_stiffness": 0.2}
    start = {"root": {"type": "root", "yaw": [-3.0, 3.0]}}
    simulation = floating(start, worlds=50, commands={"velocity": held})

    simulation.reset()

    q = simulation.state.joint_q.numpy().reshape(50, 9)
    angle = 3.0 - 2.0 * np.arctan2(q[:, 5], q[:, 6])
    angle = (angle + np.pi) % (2.0 * np.pi) - np.pi
    np.testing.assert_allclose(command(simulation)[:, 2], np.clip(0.2 * angle, -0.5, 0.5), atol=1e-5)
    assert (0.2 * np.abs(angle) > 0.5).any()


def test_shares_go_straight_ahead_and_have_a_heading(floating):
    """A third goes straight ahead, at 0.3 m/s or more; of the others, a half has a heading, straight behind."""
    shares = {"heading": [3.0, 3.0], "heading_stiffness": 1.0, "heading_share": 0.5}
    ahead = {"straight": 1.0 / 3.0, "least_straight": 0.3}
    simulation = floating({}, worlds=400, commands={"velocity": {**VELOCITY, **shares, **ahead}})

    values = command(simulation)

    is_straight = (values[:, 1:] == 0.0).all(axis=1)
    turns = values[~is_straight, 2] == 0.5  # the largest yaw rate: three radians are to go
    assert abs(is_straight.mean() - 1.0 / 3.0) < 4 * np.sqrt(2.0 / 9.0 / 400)
    assert abs(turns.mean() - 0.5) < 4 * np.sqrt(0.25 / len(turns))
    assert values[is_straight, 0].min() == np.float32(0.3)
    assert abs(np.mean(values[is_straight, 0] == np.float32(0.3)) - 0.3) < 0.2  # of speeds in ±1
    assert (values[~is_straight, 1] >= 0.1).all()


def test_a_command_is_drawn_anew_after_its_period(floating):
    simulation = floating({}, commands={"velocity": {**VELOCITY, "period": [0.03, 0.03]}})
    values = [command(simulation)]

    for _ in range(4):
        simulation.step()
        values.append(command(simulation))

    is_new = (np.diff(values, axis=0) != 0.0).any(axis=(1, 2))
    assert is_new.tolist() == [False, False, True, False]


@pytest.mark.slow
@pytest.mark.parametrize("period", [[0.025, 0.025], [0.012, 0.02]])
def test_times_between_steps_have_their_mean(floating, period):
    """A time that is no whole number of steps [of 10 ms] ends with the step that it ends in, and the next one begins
    where it ended: 150 steps have 1.5 s / mean draws, at most one less or one more for a fixed time.
    """
    simulation = floating({}, worlds=50, commands={"velocity": {**VELOCITY, "period": period}})
    draws, before = 0, command(simulation)

    for _ in range(150):
        simulation.step()
        after = command(simulation)
        draws, before = draws + (after != before).any(axis=1), after

    mean = sum(period) / 2
    spread = (period[1] - period[0]) / 12**0.5 * (1.5 / mean**3) ** 0.5  # of the number of draws of one world
    assert abs(draws.mean() - 1.5 / mean) < 1.0 + 4 * spread / 50**0.5


@pytest.mark.parametrize(
    "tables",
    [
        {"commands": {"velocity": {**VELOCITY, "period": [0.005, 0.02]}}},
        {"events": {"push": {"type": "push", "period": [0.005, 0.02], "x": [0.0, 1.0]}}},
    ],
)
def test_a_period_below_a_control_step_is_refused(floating, tables):
    with pytest.raises(pippin.ConfigError, match=r"task\..*\.period: 0\.005 s is below the control step of 0\.01 s"):
        floating(**{"events": {}, **tables})


def test_a_target_of_another_unit_is_refused(floating):
    """The third number of a velocity is a yaw rate, which a velocity along z is not."""
    reward = {"type": "l2", "of": "root-linear-velocity", "axes": "z", "target": "velocity", "weight": 1.0}

    floating({}, commands={"velocity": VELOCITY}, rewards={"r": {**reward, "of": "root-angular-velocity"}})
    with pytest.raises(
        pippin.ConfigError, match=r"rewards\.r\.target: yaw of 'velocity' is in rad/s, and the quantity"
    ):
        floating({}, commands={"velocity": VELOCITY}, rewards={"r": reward})


def test_a_reset_draws_the_commands_of_its_worlds(floating):
    simulation = floating({}, commands={"velocity": VELOCITY})
    before = command(simulation)

    simulation.reset([2])

    assert (command(simulation) != before).any(axis=1).tolist() == [False, False, True, False]


def test_a_share_above_one_is_refused(floating):
    with pytest.raises(pippin.ConfigError, match=r"commands\.velocity\.standing"):
        floating({}, commands={"velocity": {**VELOCITY, "standing": 2.0}})


@pytest.mark.parametrize("key", ["heading_share", "least_straight"])
def test_a_key_without_effect_is_refused(floating, key):
    with pytest.raises(pippin.ConfigError, match=rf"commands\.velocity\.{key}: needs"):
        floating({}, commands={"velocity": {**VELOCITY, key: 0.5}})
