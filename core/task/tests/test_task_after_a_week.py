"""What depends on time, on the seventh day: by its counts, as a checkpoint sets them, against numbers of float64."""

import numpy as np
import pytest

DT, STEPS = 0.01, 13
WEEK = round(7 * 86400.0 / DT)
TERMS = {
    "clock": {"of": {"type": "phase", "frequency": 7.3, "offsets": [0.3]}},
    "left": {"of": {"type": "remaining-time", "share": True}},
    "walk": {"of": {"type": "command", "command": "walk"}},
    "late": {"of": {"type": "command", "command": "walk"}, "delay": [2, 2]},
}
WALK = {"type": "velocity", "x": [-1.0, 1.0], "y": [-1.0, 1.0], "yaw": [-1.0, 1.0], "period": [4 * DT, 4 * DT]}
PUSH = {"type": "push", "when": "interval", "body": "box", "x": [1.0, 2.0], "period": [3 * DT, 3 * DT]}
STAGES = [{"step": WEEK + 3, "numbers": {"x": [2.0, 3.0]}}, {"step": WEEK + 103, "numbers": {"x": [3.0, 4.0]}}]


@pytest.fixture(scope="module")
def rows(floating):
    """Return what each control step after a week shows: observations, jumps of the speed, and ranges, by name."""
    task = {"commands": {"walk": WALK}, "observations": {"policy": TERMS}, "episode_length": 14 * 86400.0}
    task["curricula"] = {"faster": {"type": "stages", "of": "commands.walk", "stages": STAGES, "interpolate": True}}
    found = {"seen": [], "jumps": [], "ranges": []}
    with floating({"push": PUSH}, worlds=2, **task) as simulation:
        simulation.step_counter.fill_(WEEK)
        simulation.task.episodes.length.fill_(WEEK)
        for _ in range(STEPS):
            before = simulation.state.joint_qd.numpy()[0]
            simulation.step()
            found["seen"].append(simulation.task.observations["policy"].values.numpy()[0].copy())
            found["jumps"].append(simulation.state.joint_qd.numpy()[0] - before)
            found["ranges"].append(simulation.task.commands["walk"].numbers["x"].numpy().copy())
    return {name: np.array(values) for name, values in found.items()}


def test_a_clock_has_its_phase(rows):
    turns = 7.3 * DT * (WEEK + np.arange(1, STEPS + 1))
    phase = 2.0 * np.pi * (turns % 1.0) + 0.3

    np.testing.assert_allclose(rows["seen"][:, :2], np.transpose([np.cos(phase), np.sin(phase)]), atol=1e-5)


def test_the_rest_of_an_episode_is_counted(rows):
    np.testing.assert_allclose(rows["seen"][:, 2], 1.0 - (WEEK + np.arange(1, STEPS + 1)) / (2.0 * WEEK), rtol=1e-7)


def test_a_command_is_drawn_after_its_period(rows):
    changes = (np.diff(rows["seen"][:, 3], prepend=rows["seen"][0, 3]) != 0.0).nonzero()[0] + 1

    assert changes.tolist() == [4, 8, 12]


def test_a_reading_is_late_by_its_delay(rows):
    np.testing.assert_array_equal(rows["seen"][2:, 6:9], rows["seen"][:-2, 3:6])


def test_an_event_comes_after_its_period(rows):
    assert ((np.abs(rows["jumps"]) > 0.9).nonzero()[0] + 1).tolist() == [3, 6, 9, 12]


def test_a_curriculum_has_the_numbers_of_its_stage(rows):
    steps = WEEK + np.arange(1, STEPS + 1)
    wanted = [np.interp(steps, [0, WEEK + 3, WEEK + 103], ends) for ends in ([-1.0, 2.0, 3.0], [1.0, 3.0, 4.0])]

    np.testing.assert_allclose(rows["ranges"], np.transpose(wanted), rtol=1e-6)
