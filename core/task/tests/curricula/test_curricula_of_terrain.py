"""Levels of the terrain by the distance that a body has gone."""

import numpy as np
import pippin
import pippin_conformance as conformance
import pytest

LENGTH = 0.1


def config(levels=4, worlds=6, **keys):
    """Return balls on flat patches, with episodes of 20 control steps."""
    ball = {"type": "body", "label": "ball", "position": [0.0, 0.0, 0.5]}
    ball["shapes"] = [{"type": "sphere", "radius": 0.1}]
    return {
        "simulation": {"device": "cpu", "dt": 0.005, "seed": keys.pop("seed", 0)},
        "scene": {
            "worlds": worlds,
            "terrain": {"levels": levels, "border": 1.0, "patches": {"up": {"type": "stairs"}}},
            "objects": [ball],
        },
        "solver": {"type": "featherstone"},
        "task": {
            "episode_length": LENGTH,
            "commands": {"walk": {"type": "velocity", "x": [2.0, 2.0]}},
            "curricula": {"levels": {"type": "terrain-levels", **keys}},
        },
    }


def simulate(**keys):
    return pippin.Simulation(pippin.structure(config(**keys)))


def send(simulation, speed):
    """Give each ball a speed along x [m/s]."""
    state = simulation.state
    rows = state.joint_qd.numpy().reshape(-1, 6)
    rows[:, 0] = speed
    state.joint_qd.assign(rows.ravel())
    simulation.invalidate("joints")


def levels_of(simulation):
    return simulation.services.places.levels.numpy().copy()


def test_worlds_go_up_after_a_long_way_and_down_after_a_short_one():
    """The way up is 4 m; half of it, 2 m, keeps the level."""
    with simulate(first=(1, 1)) as simulation:
        send(simulation, [41.0, 60.0, 39.0, 21.0, 19.0, 0.0])
        simulation.step(20)
        found = levels_of(simulation)
        places = simulation.services.places.places.numpy()
        state = simulation.state.body_q.numpy()[:, :3]
        value = simulation.task.curricula["levels"].value.numpy()[:, 0]

    assert found.tolist() == [2, 2, 1, 1, 0, 0]
    assert value.tolist() == found.tolist()
    np.testing.assert_allclose(places[:, 0], 8.0 * found - 12.0, atol=1e-6)
    np.testing.assert_allclose(state, places + np.array([0.0, 0.0, 0.5]), atol=1e-6)


def test_the_commanded_way_decides_about_a_level_down():
    """2 m/s for 0.1 s are 0.2 m, and half of this 0.1 m."""
    with simulate(first=(1, 1), command="walk") as simulation:
        send(simulation, [1.1, 0.9, 41.0, 5.0, 0.0, 3.0])
        simulation.step(20)

        assert levels_of(simulation).tolist() == [1, 0, 2, 1, 0, 1]


def test_above_the_last_level_a_random_one_follows_and_below_the_first_the_first():
    with simulate(first=(3, 3), worlds=40) as simulation:
        send(simulation, 60.0)
        simulation.step(20)
        above = levels_of(simulation)
    with simulate(first=(0, 0)) as simulation:
        simulation.step(20)
        below = levels_of(simulation)

    assert set(above.tolist()) == {0, 1, 2, 3}
    assert below.tolist() == [0] * 6


def test_worlds_start_on_random_levels_of_the_easier_half_and_a_reset_changes_none():
    with simulate(worlds=40, levels=6) as simulation:
        first = levels_of(simulation)
        start = simulation.state.body_q.numpy()[:, 0].copy()
        simulation.step(3)
        simulation.reset()

        assert set(first.tolist()) == {0, 1, 2}
        np.testing.assert_allclose(start, 8.0 * first - 20.0, atol=1e-6)
        assert levels_of(simulation).tolist() == first.tolist()
        np.testing.assert_allclose(simulation.state.body_q.numpy()[:, 0], start, atol=1e-6)


def test_a_root_event_starts_from_the_present_place():
    tables = config(first=(1, 1))
    tables["task"]["events"] = {"start": {"type": "root", "x": [-0.5, 0.5]}}
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        send(simulation, 60.0)
        simulation.step(20)
        away = simulation.state.body_q.numpy()[:, 0] - simulation.services.places.places.numpy()[:, 0]

        assert levels_of(simulation).tolist() == [2] * 6
    assert (abs(away) <= 0.5).all()
    assert np.ptp(away) > 0.1


@pytest.mark.slow
def test_a_checkpoint_goes_on_with_levels_and_draws(tmp_path):
    with simulate(first=(3, 3), worlds=8) as simulation:
        send(simulation, 60.0)
        simulation.step(20)
        simulation.save(tmp_path / "saved.npz")
        saved = levels_of(simulation)
        send(simulation, 60.0)
        simulation.step(20)
        expected = levels_of(simulation), simulation.state.body_q.numpy().copy()

    with pippin.Simulation.load(tmp_path / "saved.npz") as resumed:
        assert levels_of(resumed).tolist() == saved.tolist()
        send(resumed, 60.0)
        resumed.step(20)
        assert levels_of(resumed).tolist() == expected[0].tolist()
        np.testing.assert_array_equal(resumed.state.body_q.numpy(), expected[1])


def test_levels_are_recorded(tmp_path):
    tables = config(first=(1, 1)) | {"recorders": {"log": {"type": "npz", "worlds": [0, 5]}}}
    with pippin.Simulation(pippin.structure(tables), folder=tmp_path) as simulation:
        send(simulation, [60.0] + [0.0] * 5)
        simulation.step(40)
    (file,) = tmp_path.rglob("*.npz")

    values = np.load(file)["task/curricula/levels"]
    assert values.reshape(len(values), 2)[[0, -1]].tolist() == [[1.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"first": (0, 4)}, r"curricula\.levels\.first: the terrain has the levels 0 to 3, got \[0, 4\]"),
        ({"first": (2, 1)}, r"first: .* low <= high|first: "),
        ({"command": "wolk"}, r"command: there is no command 'wolk'; did you mean 'walk'"),
        ({"up": 0.0}, r"up: must be > 0"),
    ],
)
def test_wrong_levels_are_refused(keys, message):
    with pytest.raises(pippin.ConfigError, match=message):
        simulate(**keys)


def test_levels_need_a_terrain():
    tables = config()
    del tables["scene"]["terrain"]

    with pytest.raises(pippin.ConfigError, match=r"levels\.type: needs patches of ground.*add \[scene\.terrain\]"):
        pippin.Simulation(pippin.structure(tables))


COMMANDS = {"v": {"type": "velocity", "x": [-1.0, 1.0], "body": "ball"}}
GROUND = {"ground": False, "terrain": {"levels": 3, "border": 2.0, "patches": {"flat": {"type": "flat"}}}}
STAGES = {"of": "commands.v", "stages": [{"step": 2, "numbers": {"x": [-2.0, 2.0]}}], "interpolate": True}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "keys", "scene"), [("stages", STAGES, {}), ("terrain-levels", {"body": "ball"}, {"scene": GROUND})]
)
def test_every_curriculum_keeps_the_contract(name, keys, scene):
    suite = conformance.Conformance("curriculum", name, config=keys, tables={"task": {"commands": COMMANDS}, **scene})
    results = [suite.run(check) for check in suite.checks]

    assert not [each for each in results if each.outcome == "failed"]
