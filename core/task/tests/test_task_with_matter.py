"""Tasks with cloth and sand: random starts of objects, and quantities of particles in an example."""

import numpy as np
import pippin
import pytest

FLAG = {"type": "cloth-grid", "label": "flag", "cells": [3, 2], "cell": [0.1, 0.2], "density": 0.5}
FLAG |= {"position": [0.0, 0.0, 5.0], "particle_radius": 0.02, "tri_ke": 10.0, "tri_ka": 10.0}
SAND = {"type": "granular", "label": "sand", "size": [0.1, 0.1, 0.1], "spacing": 0.05, "density": 2000.0}
SAND |= {"position": [1.0, 0.0, 5.0], "velocity": [0.0, 2.0, 0.0]}
RANGES = {"x": [-0.5, 0.5], "roll": [-1.0, 1.0], "yaw": [-3.0, 3.0], "velocity": {"z": [1.0, 2.0], "yaw": [3.0, 3.0]}}


def build(events, worlds=3, **simulation):
    tables = {
        "simulation": {"device": "cpu", "dt": 0.005, **simulation},
        "scene": {"objects": [FLAG, SAND], "worlds": worlds},
        "solver": {"type": "vbd"},
        "task": {"episode_length": 1.0, "events": events},
    }
    return pippin.Simulation(pippin.structure(tables))


def of_objects(array, worlds=3):
    """Return the rows of flag and sand of each world, shapes [worlds, 12, 3] and [worlds, 27, 3]."""
    values = array.numpy().reshape(worlds, -1, 3)
    return values[:, :12].astype(float), values[:, 12:].astype(float)


def test_objects_start_in_their_ranges_and_keep_their_shape():
    with build({"start": {"type": "objects", **RANGES}}, worlds=200) as simulation:
        built = of_objects(simulation.model.particle_q, 200)
        simulation.reset()
        places = of_objects(simulation.state.particle_q, 200)
        motions = of_objects(simulation.state.particle_qd, 200)

    moves = []
    for start, now, motion, before in zip(built, places, motions, (0.0, 2.0), strict=True):
        centre, arms = now.mean(axis=1, keepdims=True), now - now.mean(axis=1, keepdims=True)
        rest = start - start.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(np.linalg.norm(arms, axis=2), np.linalg.norm(rest, axis=2), atol=1e-5)
        moves.append(centre[:, 0] - start.mean(axis=1))
        added = motion - np.cross([0.0, 0.0, 3.0], arms)
        assert np.ptp(added, axis=1).max() < 1e-4  # apart from the turn, all particles have one velocity
        speeds = np.linalg.norm(added[:, 0, :2], axis=1)
        assert (speeds < before + 1e-4).all()  # the velocity of the file turns with the object
    for moved in moves:
        assert -0.5 <= moved[:, 0].min() < -0.4
        assert 0.4 < moved[:, 0].max() <= 0.5
        assert np.abs(moved[:, 1:]).max() < 1e-5
    assert abs(np.corrcoef(moves[0][:, 0], moves[1][:, 0])[0, 1]) < 0.25  # each object has its own draw
    heights = motions[0][:, :, 2].mean(axis=1)
    assert 1.0 <= heights.min() < 1.1
    assert 1.9 < heights.max() <= 2.0


def test_only_the_chosen_object_of_the_reset_worlds_is_drawn_anew():
    with build({"start": {"type": "objects", "objects": ["flag"], "y": [-0.2, 0.2]}}) as simulation:
        flags, sands = of_objects(simulation.state.particle_q)
        built = of_objects(simulation.model.particle_q)
        simulation.step(3)
        simulation.reset([1])
        flags_now, sands_now = of_objects(simulation.state.particle_q)

    assert (np.abs(flags - built[0]).max(axis=(1, 2)) > 1e-4).all()
    np.testing.assert_array_equal(sands, built[1])
    np.testing.assert_array_equal(sands_now[1], built[1][1])
    assert np.abs(flags_now[1] - flags[1]).max() > 1e-4
    assert np.abs(flags_now[[0, 2], :, 2] - flags[[0, 2], :, 2]).max() > 1e-4, "these fall on"


def test_a_start_is_the_same_in_a_run_of_any_size():
    starts = []
    for worlds in (1, 3):
        with build({"start": {"type": "objects", **RANGES}}, worlds=worlds) as simulation:
            starts.append([each[0] for each in of_objects(simulation.state.particle_q, worlds)])

    for one, other in zip(*starts, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_object_that_is_not_there_is_refused():
    with pytest.raises(pippin.ConfigError, match=r"events\.start\.objects: no object with particles matches 'flog'"):
        build({"start": {"type": "objects", "objects": ["flog"]}})


@pytest.mark.slow
def test_the_example_rewards_a_cloth_in_the_box_at_the_goal():
    overrides = {"simulation.device": "cpu", "scene.worlds": 2, "task.events.start.position": [0.0, 0.0]}
    with pippin.Simulation.from_file("docs/examples/cloth.toml", overrides) as simulation:
        task = simulation.task
        action = np.zeros((2, 1), dtype=np.float32)
        action[1] = 0.8  # 0.4 m
        for _ in range(90):
            task.episodes.action.assign(action)
            simulation.step()
        observed = task.observations["policy"].values.numpy()
        particles = simulation.state.particle_q.numpy().reshape(2, -1, 3)
        rewards = task.episodes.reward_terms.numpy()
        labels = list(task.rewards)
        ended = task.episodes.terminated.numpy().any()

    middle = particles.mean(axis=1)
    np.testing.assert_allclose(observed[:, 1:4], middle, atol=1e-4)
    assert abs(middle[0, 0]) < 0.05
    assert abs(middle[1, 0] - 0.4) < 0.15  # it swings
    goal, inside = (rewards[labels.index(name)] for name in ("goal", "inside"))
    np.testing.assert_allclose(goal, np.exp(-(((middle[:, 0] - 0.4) / 0.2) ** 2)), rtol=1e-3)
    is_inside = ((particles >= [0.2, -1.0, 0.0]) & (particles <= [0.6, 1.0, 2.0])).all(axis=2)
    np.testing.assert_allclose(inside, is_inside.mean(axis=1), atol=1e-6)
    assert inside[0] == 0.0
    assert inside[1] > 0.5
    assert not ended


def test_a_drawn_turn_turns_the_velocity_of_particles_and_not_that_of_a_body():
    """Both are started by 1 m/s along x, and turned by a quarter about z."""
    quarter = {"yaw": [np.pi / 2, np.pi / 2]}
    ball = {"type": "body", "label": "ball", "shapes": [{"type": "sphere", "radius": 0.1}], "mass": 1.0}
    start = {"velocity": [1.0, 0.0, 0.0]}
    grains = {"type": "particles", "label": "grains", "particle_mass": 0.1, "points": [[0, 0, 1], [0.5, 0, 1]]}
    tables = {
        "simulation": {"dt": 0.001, "device": "cpu"},
        "scene": {"objects": [{**ball, **start}, {**grains, **start}], "gravity": [0.0, 0.0, 0.0]},
        "solver": {"type": "xpbd"},
        "task": {
            "events": {
                "ball": {"type": "root", "body": "ball", **quarter},
                "grains": {"type": "objects", "objects": ["grains"], **quarter},
            }
        },
    }
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        simulation.reset()

        np.testing.assert_allclose(simulation.state.body_qd.numpy()[0, :3], [1.0, 0.0, 0.0], atol=1e-6)
        np.testing.assert_allclose(simulation.state.particle_qd.numpy(), [[0.0, 1.0, 0.0]] * 2, atol=1e-6)
