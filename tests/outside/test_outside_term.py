"""Terms of a task that somebody else wrote, installed like any package and selected by name."""

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
from pippin_conformance import scenes

DT = 0.01


@pytest.fixture(scope="module", autouse=True)
def plugin(install_outside):
    """Install the plugins for the tests of this file."""
    with install_outside("pippin-balance-terms"):
        yield


def falling_ball():
    """Return a ball at a height of 1 m."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_ball(builder, 1.0, mass=1.0, radius=0.1)
    return builder


pytestmark = pytest.mark.simulation(
    dt=DT,
    capture="require",
    worlds=3,
    prototype=falling_ball,
    solver="semi-implicit",
    task={
        "episode_length": 1.0,
        "observations": {"policy": {"lean": {"of": "lean", "scale": 2.0}}},
        "rewards": {"near": {"type": "plateau", "of": "root-height", "target": 1.0, "radius": 0.1, "weight": 1.0}},
    },
    options="task",
)


def fallen(step):
    """Return the height after some steps of symplectic Euler [m]."""
    return 1.0 - 9.81 * DT**2 * step * (step + 1) / 2


def test_the_law_is_flat_near_its_target_and_then_a_line(simulate):
    with simulate() as simulation:
        for step in range(1, 20):
            simulation.step()
            expected = np.clip(2.0 - (1.0 - fallen(step)) / 0.1, 0.0, 1.0)
            np.testing.assert_allclose(simulation.task.episodes.reward_terms.numpy(), [[expected] * 3], atol=1e-4)

        assert simulation.program.is_captured


def test_the_quantity_is_an_observation(simulate):
    with simulate() as simulation:
        turn = np.array([np.sin(0.1), 0.0, 0.0, np.cos(0.1)], dtype=np.float32)  # by 0.2 rad about x
        poses = simulation.state.joint_q.numpy().reshape(3, 7)
        poses[1, 3:] = turn
        simulation.state.joint_q.assign(poses.ravel())
        simulation.invalidate("joints", [1])
        simulation.step()

        values = simulation.task.observations["policy"].values.numpy()
        np.testing.assert_allclose(values, [[0.0, 0.0], [0.0, -2.0 * np.sin(0.2)], [0.0, 0.0]], atol=1e-5)


def test_the_termination_counts_its_patience_and_a_reset_forgets_it(simulate):
    """The ball is below 0.9 m from the step in which it has fallen by 0.1 m; three more are allowed."""
    first = next(step for step in range(1, 100) if fallen(step) < 0.9)
    lying = {"type": "lying", "height": 0.9, "patience": 3 * DT}
    with simulate(autoreset="disabled", terminations={"lying": lying}) as simulation:
        ended = []
        for step in range(1, first + 5):
            simulation.step()
            ended += [step] * int(simulation.task.episodes.terminated.numpy()[0])
        simulation.reset([0])
        simulation.step(first + 1)

        assert ended == [first + 3, first + 4]
        assert simulation.task.episodes.terminated.numpy().tolist() == [False, True, True]


def test_the_event_draws_for_each_world_and_the_same_for_the_same_seed(simulate):
    def rates(seed):
        with simulate(seed=seed, events={"turn": {"type": "spin", "rate": 3.0}}) as simulation:
            simulation.reset()
            return simulation.state.joint_qd.numpy().reshape(3, 6)[:, 5].copy()

    first, again, other = rates(1), rates(1), rates(2)

    np.testing.assert_array_equal(first, again)
    assert len({*first.tolist(), *other.tolist()}) == 6
    assert (np.abs([*first, *other]) <= 3.0).all()


@pytest.mark.parametrize(
    ("kind", "name", "config", "checks"),
    [
        ("quantity", "lean", {"body": "ball"}, ["entry_point", "schema", "labels", "numbers"]),
        ("reward", "plateau", {"radius": 5.0}, ["round_trip", "numbers"]),
        ("termination", "lying", {"body": "ball", "height": 1.0, "patience": 0.1}, ["verdicts", "worlds"]),
        ("event", "spin", {"body": "ball", "rate": 3.0}, ["mask", "effect", "worlds"]),
    ],
)
def test_they_keep_the_contract(kind, name, config, checks):
    kit = conformance.Conformance(kind, name, config=config)

    assert {check: kit.run(check).reason for check in checks} == dict.fromkeys(checks, "")


def test_bad_input_is_told_at_its_key(simulate):
    with pytest.raises(pippin.ConfigError, match=r"task\.rewards\.near\.radius: .*> 0"):
        simulate(rewards={"near": {"type": "plateau", "of": "lean", "radius": 0.0, "weight": 1.0}})
    with pytest.raises(pippin.ConfigError, match=r"terminations\.lying\.body: no body matches 'bal'.*'ball'"):
        simulate(terminations={"lying": {"type": "lying", "body": "bal", "height": 1.0}})
