"""Draws: the same numbers for a world in a run of any size, and in any shard of a run."""

import numpy as np
import pippin
import pytest
import warp as wp
from pippin.state.draws import WorldSeeds
from pippin_task.gym.arguments import read_seeds

ARM = {
    "simulation": {"device": "cpu", "capture": "off", "accept_unsupported": ["velocity_limits"]},
    "scene": {"assets": [{"path": "pkg:newton/examples/assets/cartpole.urdf"}]},
    "solver": {"type": "featherstone"},
    "actuators": {
        "all": {
            "type": "pd",
            "joints": [".*"],
            "kp": {"uniform": [10.0, 20.0]},
            "kd": 1.0,
            "delay": {"min_steps": 0, "max_steps": 30},
        }
    },
    "sensors": {
        "joints": {
            "type": "joint-state",
            "joints": [".*"],
            "stages": [
                {"type": "bias", "output": "position", "std": 1.0},
                {"type": "noise", "output": "velocity", "std": 1.0},
            ],
        }
    },
}


def drawn(worlds: int, first: int, seed: int = 0) -> list[np.ndarray]:
    """Return what actuators and sensors draw at the build, at a reset of some worlds and at one of all."""
    table = ARM | {
        "simulation": {**ARM["simulation"], "seed": seed},
        "scene": {**ARM["scene"], "worlds": worlds, "first_world": first},
    }
    simulation = pippin.Simulation(pippin.structure(table))
    rows = [simulation.actuators["all"].get("kp").numpy().copy()]
    simulation.reset([world for world in range(worlds) if (first + world) % 2])
    simulation.step()
    simulation.reset()
    outputs = simulation.sensors["joints"].outputs
    group = simulation.actuators["all"]
    arrays = [group.get("kp"), group.get("delay.steps"), outputs["position"].data, outputs["velocity"].data]
    return [*rows, *(array.numpy().copy() for array in arrays)]


@pytest.fixture(scope="module")
def of_four() -> list[np.ndarray]:
    return drawn(4, 0)


def test_shards_of_a_run_draw_what_the_run_draws(of_four):
    shards = [drawn(2, 0), drawn(2, 2)]

    for whole, first, second in zip(of_four, *shards, strict=True):
        np.testing.assert_array_equal(whole, np.concatenate([first, second]))


def test_worlds_and_resets_draw_different_numbers(of_four):
    at_build, later = of_four[0], of_four[1]

    assert len(np.unique(np.stack([at_build, later]))) == at_build.size * 2


def test_another_seed_draws_other_numbers(of_four):
    other = drawn(4, 0, seed=1)

    assert all((left != right).any() for left, right in zip(of_four, other, strict=True))


def test_a_large_seed_is_the_same_in_a_file_and_at_a_reset():
    """Not modulo 2³², so that it is none of the small seeds."""
    large = 2**32 + 1
    of_file, reset = WorldSeeds(2, 0, large, wp.get_device("cpu")), WorldSeeds(2, 0, 0, wp.get_device("cpu"))

    reset.reseed(np.array([large, large]))
    from_env = WorldSeeds(2, 0, 0, wp.get_device("cpu"))
    from_env.reseed(read_seeds(large, 2)[0])

    assert of_file.values.numpy().tolist() == reset.values.numpy().tolist() == from_env.values.numpy().tolist()
    assert of_file.values.numpy()[0] not in (0, 1)


def test_a_new_seed_begins_all_draws_anew():
    seeds = WorldSeeds(2, 0, 0, wp.get_device("cpu"))
    draws, everywhere = seeds.draws("a"), wp.ones(3, dtype=bool, device="cpu")
    keys, counts = seeds.rows("b", np.array([0, 1]), 3)
    draws.advance(everywhere)
    counts.fill_(5)
    before = keys.numpy().copy()

    seeds.reseed(np.array([0, 7]))

    assert seeds.values.numpy().tolist() == [0, 7]
    assert not draws.counts.numpy().any()
    assert not counts.numpy().any()
    assert (keys.numpy() == before).tolist() == [True, False]
