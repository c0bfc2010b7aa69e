"""The trainer of rsl-rl-lib: it learns from steps and from their mirror images."""

from pathlib import Path

import numpy as np
import pippin
import pytest
from pippin_task.gym import VectorEnv
from pippin_train.configs import RslRlConfig

torch = pytest.importorskip("torch")
pytest.importorskip("rsl_rl")

from pippin_train.rsl_rl import TrainerRslRl, doubled  # noqa: E402
from tensordict import TensorDict  # noqa: E402

QUADRUPED = Path(__file__).parents[3] / "docs" / "examples" / "quadruped.toml"
OVERRIDES = {
    "simulation.device": "cpu",
    "simulation.accept_unsupported": ["armature", "joint_damping", "joint_friction"],
    "solver": {"extends": False, "type": "featherstone"},
    "sensors": {"extends": False},
    "task": {
        "episode_length": 1.0,
        "actions": {"legs": {"type": "joint-targets", "actuator": "legs", "scale": 0.3}},
        "observations": {
            "policy": {
                "turn": {"of": {"type": "root-angular-velocity", "frame": "body"}},
                "positions": {"of": {"type": "joint-positions", "joints": [".*_(HAA|HFE|KFE)"]}, "history": 2},
            },
            "critic": {"velocity": {"of": "root-linear-velocity"}},
        },
        "rewards": {"alive": {"type": "alive", "weight": 1.0}},
        "symmetry": {"left-right": {"names": {"L(.*)": "R$1"}, "flip": [".*"]}},
    },
}


@pytest.fixture(scope="module")
def env():
    env = VectorEnv(QUADRUPED, num_envs=4, backend="torch", overrides=OVERRIDES)
    env.reset(seed=1)
    yield env
    env.close()


def test_a_batch_is_followed_by_its_mirror_image(env):
    """Against the mirror of NumPy arrays, whose physics `core/task/tests/test_symmetry.py` checks."""
    draws = np.random.default_rng(1)
    rows = {"policy": draws.normal(size=(5, 27)), "critic": draws.normal(size=(5, 3))}
    actions = draws.normal(size=(5, 12)).astype(np.float32)
    obs = TensorDict({name: torch.as_tensor(each, dtype=torch.float32) for name, each in rows.items()}, batch_size=[5])
    env.backend = "numpy"
    mirror = env.mirror("left-right")
    env.backend = "torch"

    more, acted = doubled(env.mirror("left-right"))(env=None, obs=obs, actions=torch.as_tensor(actions))

    assert more.batch_size == (10,)
    for name, group in mirror.observations({name: each.numpy() for name, each in obs.items()}).items():
        np.testing.assert_array_equal(more[name], np.concatenate([obs[name], group]))
        assert not np.array_equal(obs[name], group)
    np.testing.assert_array_equal(acted, np.concatenate([actions, mirror.actions(actions)]))
    assert doubled(env.mirror("left-right"))(env=None, obs=None, actions=None) == (None, None)


def test_a_time_out_adds_the_value_of_what_follows(env):
    """rsl-rl-lib itself adds that of the observation before the last step."""
    trainer = TrainerRslRl(RslRlConfig(hidden=(8,), normalise=False), env, 1)
    wrapper, alg = trainer._runner.env, trainer._runner.alg
    env.reset(seed=1)
    wrapper.episode_length_buf = torch.tensor([wrapper.max_episode_length - 1, 0, 0, 0])
    seen = []
    step = env.step
    env.step = lambda actions: seen.append(step(actions)) or seen[-1]
    try:
        _, rewards, done, extras = wrapper.step(torch.zeros((4, 12)))
    finally:
        del env.step

    _, own, _, truncated, info = seen[0]
    with torch.no_grad():
        values = alg.critic(TensorDict(info["final_obs"], batch_size=[4])).squeeze(-1)
    assert truncated.tolist() == done.tolist() == [True, False, False, False]
    assert values[0].abs() > 1e-4
    torch.testing.assert_close(rewards - own, alg.gamma * values * truncated)
    assert "time_outs" not in extras


RECURRENT = {"rnn_type": "lstm", "rnn_hidden_dim": 8, "hidden": (8,), "normalise": False, "batches": 2}


def test_a_value_of_what_follows_leaves_the_memory_as_it_is(env):
    """It is that of the memory after the step, which the next step needs as well."""
    trainer = TrainerRslRl(RslRlConfig(**RECURRENT), env, 1)
    wrapper, alg = trainer._runner.env, trainer._runner.alg
    seen = wrapper.get_observations()
    alg.act(seen)
    before = [each.clone() for each in alg.critic.get_hidden_state()]

    value = wrapper.value(seen)

    for own, wanted in zip(alg.critic.get_hidden_state(), before, strict=True):
        torch.testing.assert_close(own, wanted, rtol=0.0, atol=0.0)
    alg.critic.reset(hidden_state=tuple(before))
    torch.testing.assert_close(value, alg.gamma * alg.critic(seen).detach().squeeze(-1))
    alg.critic.reset()
    assert (value - alg.gamma * alg.critic(seen).detach().squeeze(-1)).abs().max() > 1e-4


def test_a_policy_that_did_not_learn_has_not_changed(env):
    """The divergence is computed with the memory that the last step had."""
    trainer = TrainerRslRl(RslRlConfig(**RECURRENT, steps=6, learning_rate=1e-12, desired_kl=0.0), env, 1)

    assert [trainer.learn()["kl"] < 1e-8 for _ in range(2)] == [True, True]


def test_recurrent_networks_need_whole_worlds_and_no_mirror(env):
    with pytest.raises(pippin.ConfigError, match=r"trainer\.batches: 4 worlds do not split evenly into 3 batches"):
        TrainerRslRl(RslRlConfig(rnn_type="gru", batches=3), env, 1)
    with pytest.raises(pippin.ConfigError, match=r"trainer\.symmetry: rsl-rl-lib mirrors no recurrent networks"):
        TrainerRslRl(RslRlConfig(rnn_type="gru", symmetry="left-right"), env, 1)


def test_the_value_reads_what_the_policy_does_not(env):
    """The groups `policy` and `critic` of the file have 27 numbers and 3."""
    alg = TrainerRslRl(RslRlConfig(hidden=(8,)), env, 1)._runner.alg

    assert (alg.actor.obs_groups, alg.critic.obs_groups) == (["policy"], ["critic"])
    assert (alg.actor.mlp[0].in_features, alg.critic.mlp[0].in_features) == (27, 3)


def asymmetry(trainer, env):
    """Return how far the action in the mirror is from the mirrored action, beside the size of the actions."""
    mirror, draws = env.mirror("left-right"), torch.Generator().manual_seed(3)
    rows = {name: torch.randn((64, width), generator=draws) for name, width in (("policy", 27), ("critic", 3))}
    seen, mirrored = (TensorDict(each, batch_size=[64]) for each in (rows, mirror.observations(rows)))
    with torch.no_grad():
        policy = trainer._runner.alg.get_policy()
        acted, other = mirror.actions(policy(seen)), policy(mirrored)
    return float((acted - other).square().mean() / acted.square().mean())


@pytest.mark.slow
def test_a_policy_becomes_symmetric(env):
    settings = {"steps": 8, "epochs": 10, "hidden": (32,), "normalise": False, "desired_kl": 0.0}
    found = {}
    for loss in (0.0, 10.0):
        own = {"symmetry": "left-right", "mirror_loss": loss} if loss else {}
        trainer = TrainerRslRl(RslRlConfig(**settings, **own), env, 1)
        for _ in range(20):
            trainer.learn()
        found[loss] = asymmetry(trainer, env)

    assert found[10.0] < 0.2 * found[0.0], found


def test_an_unknown_symmetry_is_named(env):
    with pytest.raises(pippin.ConfigError, match=r"trainer\.symmetry: no .* labelled 'up'; labels: left-right"):
        TrainerRslRl(RslRlConfig(symmetry="up"), env, 1)
    with pytest.raises(ValueError, match="'mirror_loss' needs 'symmetry'"):
        RslRlConfig(mirror_loss=1.0)
