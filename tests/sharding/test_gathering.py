"""Values by world: found by their path, in the order of worlds, and refused if worlds have no equal part."""

import numpy as np
import pippin
import pytest
from pippin.sharding.gathering import world_values
from pippin.sharding.shard import shards_of


@pytest.fixture(scope="module")
def run_of(scene):
    """Return a function that runs the scene on a solver in some shards, and returns what each step gave."""

    def run(solver, count):
        config = pippin.load(scene, {"solver": {"type": solver}})
        return [np.concatenate(parts) for parts in zip(*map(steps, shards_of(config, count)), strict=True)]

    return run


def steps(shard):
    """Return values of a shard after each of some steps; the actions and a reset are those of its worlds."""
    found, own = [], slice(shard.worlds.start, shard.worlds.stop)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 8, 1)).astype(np.float32)
    with pippin.Simulation(shard.config) as simulation:
        for step, action in enumerate(actions):
            simulation.task.episodes.action.assign(action[own])
            simulation.step()
            if step == 9 and (mask := np.arange(8)[own] % 3 == 0).any():
                simulation.reset(mask)
            found += [world_values(simulation, name) for name in NAMES]
    return found


NAMES = (
    "state.joint_q",
    "state.body_qd",
    "sensors.joints.position",
    "sensors.joints.velocity",
    "actuators.arm.applied_effort",
    "task.episodes.reward",
    "task.episodes.length",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "counts"), [("mujoco", [2]), ("xpbd", [2]), ("featherstone", [4]), ("mujoco-native", [2])]
)
def test_a_world_has_the_same_bits_in_a_shard_of_any_size(run_of, solver, counts):
    whole, parts = run_of(solver, 1), [run_of(solver, count) for count in counts]

    lengths = np.array(whole[NAMES.index("task.episodes.length") :: len(NAMES)])
    assert (np.diff(lengths, axis=0) < 0).any(axis=0).all(), "episodes end and begin in each world"
    for one, *others in zip(whole, *parts, strict=True):
        assert all(one.tobytes() == other.tobytes() for other in others)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("state.joint_z", r"there is no 'joint_z'; did you mean 'joint_q'\?"),
        ("sensors.joint.position", r"there is no 'joint'; did you mean 'joints'\?"),
        ("state", r"'state' is not an array, but a State"),
        ("state._joint_q", r"there is no '_joint_q'"),
        ("task.episodes.reward_terms", r"its shape is \[1, 8\], and the first axis is not that of worlds"),
    ],
)
def test_what_is_not_an_array_of_worlds_is_named(whole, name, fault):
    with pytest.raises(pippin.ConfigError, match=f"gather: .*{fault}"):
        world_values(whole, name)


@pytest.fixture(scope="module")
def whole(scene):
    with pippin.Simulation.from_file(scene) as simulation:
        yield simulation
