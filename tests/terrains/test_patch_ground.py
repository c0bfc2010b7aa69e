"""Terms that know the terrain: heights by rays, and the end at its edge."""

import numpy as np
import pippin
import pytest

BALL = {
    "type": "body",
    "label": "ball",
    "position": [0.0, 0.0, 1.0],
    "shapes": [{"type": "sphere", "radius": 0.1}],
}


def tables(**task):
    """Return three worlds with a ball on stairs of three levels, whose rays reach from 0.2 m ahead to 0.2 m behind."""
    scan = {"type": "ray-caster", "body": "ball", "align": "yaw", "targets": ["terrain/.*"], "max_distance": 20.0}
    scan["grid"] = {"size": [0.4, 0.0], "resolution": 0.2, "start_height": 5.0}
    return {
        "simulation": {"device": "cpu", "dt": 0.005},
        "scene": {
            "worlds": 3,
            "terrain": {"levels": 3, "border": 1.0, "patches": {"up": {"type": "stairs"}}},
            "objects": [BALL],
        },
        "solver": {"type": "featherstone"},
        "sensors": {"scan": scan},
        "task": {"episode_length": 10.0, **task},
    }


def put(simulation, x, y, z):
    """Put the balls at points of the world."""
    state = simulation.state
    rows = state.joint_q.numpy().reshape(3, 7)
    rows[:, :3] = np.array([x, y, z]).T
    state.joint_q.assign(rows.ravel())
    simulation.invalidate("joints")


QUANTITIES = {
    "scan": {"of": {"type": "height-scan", "sensor": "scan", "offset": 0.5, "no_hit": 7.0}},
    "over": {"of": {"type": "height-over-ground", "sensor": "scan", "no_hit": 7.0}},
}


def test_a_scan_tells_how_far_below_the_site_each_ray_meets_the_ground():
    with pippin.Simulation(pippin.structure(tables(observations={"policy": QUANTITIES}))) as simulation:
        group = simulation.task.observations["policy"]
        top = simulation.services.places.places.numpy()[:, 2]
        # The platform of level 1 reaches to 1.7 m from its middle, and a step is 0.125 m high.
        put(simulation, [-8.0, 1.6, 30.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
        simulation.step()
        z = simulation.state.body_q.numpy()[:, 2]
        values = group.values.numpy()

    assert group.labels == ("scan/ball/0_0", "scan/ball/1_0", "scan/ball/2_0", "over/ball")
    level = np.full(3, z[0] - top[0] - 0.5)
    edge = z[1] - np.array([top[1], top[1], top[1] - 0.125]) - 0.5
    np.testing.assert_allclose(values[0], [*level, level.mean() + 0.5], atol=1e-5)
    np.testing.assert_allclose(values[1], [*edge, edge.mean() + 0.5], atol=1e-5)
    np.testing.assert_array_equal(values[2], [7.0] * 4)


@pytest.mark.parametrize(("width", "is_plane"), [(0.4, True), (0.0, False)])
def test_a_normal_is_that_of_the_ground_below_in_the_axes_of_the_body(width, is_plane):
    """On a slope of 0.3, turned by 90°; on its platform; and beside the terrain. A row of rays spans no plane."""
    seen = {"policy": {"normal": {"of": {"type": "ground-normal", "sensor": "scan"}}}}
    config = tables(observations=seen)
    config["scene"]["terrain"]["patches"] = {"hill": {"type": "slope", "gradient": [0.3, 0.3]}}
    config["sensors"]["scan"]["grid"]["size"] = [0.4, width]
    with pippin.Simulation(pippin.structure(config)) as simulation:
        put(simulation, [-8.0 + 2.5, 0.0, 30.0], [0.0, 0.0, 0.0], [2.0, 3.0, 3.0])
        half = np.sqrt(0.5)
        simulation.state.joint_q[3:7].assign([0.0, 0.0, half, half])
        simulation.step()
        values = simulation.task.observations["policy"].values.numpy()

    side = 0.3 / np.sqrt(1.09) if is_plane else 0.0
    expected = [[0.0, -side, np.sqrt(1.0 - side**2)], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    np.testing.assert_allclose(values, expected, atol=1e-4)


def test_the_edge_of_the_terrain_truncates_and_time_and_falls_do_not_hide_it():
    ends = {
        "left": {"type": "out-of-bounds", "margin": 0.5},
        "fallen": {"type": "outside", "of": {"type": "root-height"}, "low": -1.0},
    }
    with pippin.Simulation(pippin.structure(tables(terminations=ends))) as simulation:
        put(simulation, [0.0, 11.6, 11.6], [3.4, 0.0, 3.6], [3.0, 3.0, -2.0])
        simulation.step()
        episodes = simulation.task.episodes
        found = [each.numpy().tolist() for each in (episodes.terminated, episodes.truncated)]
        score = simulation.task.score()

    assert found == [[False, False, True], [False, True, False]]
    assert (score["terminated"], score["truncated"], score["timed_out"]) == (1, 1, 0)
    assert score["terminations"] == {"left": 2, "fallen": 1}


def test_any_termination_may_truncate():
    ends = {"fallen": {"type": "outside", "of": {"type": "root-height"}, "low": 10.0, "truncates": True}}
    with pippin.Simulation(pippin.structure(tables(terminations=ends))) as simulation:
        simulation.step()
        episodes = simulation.task.episodes

        assert episodes.truncated.numpy().all()
        assert not episodes.terminated.numpy().any()


@pytest.mark.parametrize(
    ("task", "change", "message"),
    [
        (
            {"terminations": {"left": {"type": "out-of-bounds"}}},
            {"terrain": None, "ground": True},
            r"terminations\.left\.type: needs patches of ground.*add \[scene\.terrain\]",
        ),
        ({"terminations": {"left": {"type": "out-of-bounds", "margin": 5.0}}}, {}, r"left\.margin: 5 m leave nothing"),
        (
            {"observations": {"policy": {"scan": {"of": {"type": "height-scan", "sensor": "scans"}}}}},
            {},
            r"sensor: there is no sensor 'scans'; did you mean 'scan'",
        ),
    ],
)
def test_a_wrong_term_is_refused_by_name(task, change, message):
    config = tables(**task)
    config["sensors"]["scan"]["targets"] = [".*"]
    config["scene"] = {key: value for key, value in {**config["scene"], **change}.items() if value is not None}

    with pytest.raises(pippin.ConfigError, match=message):
        pippin.Simulation(pippin.structure(config))


def test_a_sensor_without_rays_has_no_scan():
    config = tables(observations={"policy": {"scan": {"of": {"type": "height-scan", "sensor": "frame"}}}})
    config["sensors"]["frame"] = {"type": "frame-transform", "body": "ball"}

    with pytest.raises(pippin.ConfigError, match=r"sensor: 'frame' casts no rays; choose"):
        pippin.Simulation(pippin.structure(config))
