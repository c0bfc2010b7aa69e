"""Numbers that change with the steps: those of a command and of a reward."""

import numpy as np
import pippin
import pytest

RANGES = {"type": "velocity", "x": [-1.0, 1.0], "y": [0.0, 0.0], "body": "cart"}


def stages(*rows, of="commands.walk", **keys):
    return {"ramp": {"type": "stages", "of": of, "stages": [{"step": s, "numbers": n} for s, n in rows], **keys}}


def history(simulation, label, steps):
    """Return the numbers of a curriculum in each step, shape [steps + 1, numbers]."""
    rows = [simulation.task.curricula[label].value.numpy()[0].copy()]
    for _ in range(steps):
        simulation.step()
        rows.append(simulation.task.curricula[label].value.numpy()[0].copy())
    return np.array(rows)


def test_a_stage_holds_from_its_step_on_and_keeps_what_it_does_not_state(tasked):
    curricula = stages((2, {"x": [-1.5, 2.0]}), (4, {"y": [-0.5, 0.5]}))
    with tasked(commands={"walk": RANGES}, curricula=curricula, terminations={}) as simulation:
        found = history(simulation, "ramp", 5)
        ranges = simulation.task.commands["walk"].numbers

        assert simulation.task.curricula["ramp"].labels == ["x/0", "x/1", "y/0", "y/1"]
        first, second, third = [-1.0, 1.0, 0.0, 0.0], [-1.5, 2.0, 0.0, 0.0], [-1.5, 2.0, -0.5, 0.5]
        assert found.tolist() == [first, first, second, second, third, third]
        assert [ranges[key].numpy().tolist() for key in ("x", "y")] == [[-1.5, 2.0], [-0.5, 0.5]]


def test_a_command_is_drawn_from_the_range_of_the_present_stage(tasked):
    narrow = {**RANGES, "x": [0.0, 0.0]}
    curricula = stages((3, {"x": [5.0, 6.0]}))
    with tasked(commands={"walk": narrow}, curricula=curricula, terminations={}) as simulation:
        simulation.step(2)
        simulation.reset()
        before = simulation.task.commands["walk"].value.numpy()[:, 0].copy()
        simulation.step(2)
        simulation.reset()
        after = simulation.task.commands["walk"].value.numpy()[:, 0]

        assert (before == 0.0).all()
        assert ((after >= 5.0) & (after <= 6.0)).all()
        assert not simulation.program.eager_reasons


def test_numbers_change_evenly_if_they_are_interpolated(tasked):
    curricula = stages((4, {"x": [-2.0, 3.0]}), interpolate=True)
    with tasked(commands={"walk": RANGES}, curricula=curricula, terminations={}) as simulation:
        found = history(simulation, "ramp", 5)

    part = np.minimum(np.arange(6) / 4.0, 1.0)[:, None]
    np.testing.assert_allclose(found, [-1.0, 1.0] + part * [-1.0, 2.0], atol=1e-6)


@pytest.mark.parametrize(("rate", "dt"), [("second", 0.02), ("step", 1.0)])
def test_a_weight_from_zero_on_counts_as_the_table_of_the_reward_says(tasked, rate, dt):
    rewards = {"alive": {"type": "alive", "weight": 0.0}}
    curricula = stages((3, {"weight": 5.0}), of="rewards.alive")
    with tasked(rewards=rewards, curricula=curricula, terminations={}, reward_rate=rate) as simulation:
        found = []
        for _ in range(4):
            simulation.step()
            found.append(float(simulation.task.episodes.reward.numpy()[0]))

    assert found[:2] == [0.0, 0.0]
    assert found[3] == pytest.approx(5.0 * dt)


def test_a_checkpoint_goes_on_with_the_numbers(tmp_path):
    ball = {"type": "body", "label": "ball", "shapes": [{"type": "sphere", "radius": 0.1}]}
    task = {"commands": {"walk": {**RANGES, "body": "ball"}}}
    task["curricula"] = stages((3, {"x": [5.0, 6.0]}), (8, {"x": [7.0, 8.0]}), interpolate=True)
    tables = {"simulation": {"device": "cpu"}, "scene": {"objects": [ball]}, "solver": {"type": "featherstone"}}
    with pippin.Simulation(pippin.structure({**tables, "task": task})) as simulation:
        simulation.step(5)
        simulation.save(tmp_path / "saved.npz")
        expected = history(simulation, "ramp", 4)
        record = simulation.state_record()

    with pippin.Simulation.load(tmp_path / "saved.npz") as resumed:
        assert history(resumed, "ramp", 4).tolist() == expected.tolist()
        assert resumed.state_record().difference(record) is None


@pytest.mark.parametrize(
    ("curricula", "message"),
    [
        (stages((0, {"x": [0.0, 1.0]}), of="commands.wlak"), r"of: there is no term 'commands\.wlak'; did you mean"),
        (stages((0, {"speed": 1.0})), r"stages: 'commands\.walk' has no number 'speed' that may change; keys: x, y"),
        (stages((0, {"x": 1.0})), r"stages\[0\]\.numbers\.x: expected 2 numbers, got 1"),
        (stages((0, {"x": [2.0, 1.0]})), r"stages\[0\]\.numbers\.x: must be a range \[low, high\], got \[2\.0, 1\.0\]"),
        (stages((5, {"x": [0.0, 1.0]}), (5, {"y": [0.0, 1.0]})), r"stages: must have rising steps, got 5 before 5"),
    ],
)
def test_a_wrong_stage_is_refused(tasked, curricula, message):
    with pytest.raises(pippin.ConfigError, match=message):
        tasked(commands={"walk": RANGES}, curricula=curricula)
