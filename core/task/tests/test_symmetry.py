"""Symmetries by names: a real quadruped in a world and in its mirror, which moves as the mirror says."""

from __future__ import annotations

from pathlib import Path

import newton
import numpy as np
import pippin
import pytest
from pippin_task.gym import VectorEnv

QUADRUPED = Path(__file__).parents[3] / "docs" / "examples" / "quadruped.toml"
SYMMETRY = {"names": {"L(.*)": "R$1"}, "flip": [".*"]}
POLAR, AXIAL = np.array([1.0, -1.0, 1.0]), np.array([-1.0, 1.0, -1.0])
BELOW = {"type": "ray-caster", "body": ".*_SHANK", "align": "world", "grid": {"size": [0.0, 0.0], "resolution": 0.1}}
TASK = {
    "actions": {"legs": {"type": "joint-targets", "actuator": "legs", "scale": 0.3}},
    "commands": {"walk": {"type": "velocity", "x": [-1.0, 1.0], "y": [-1.0, 1.0], "yaw": [-1.0, 1.0]}},
    "observations": {
        "policy": {
            "height": {"of": "root-height"},
            "orientation": {"of": "root-orientation"},
            "velocity": {"of": {"type": "root-linear-velocity", "frame": "body"}, "axes": "xy"},
            "turn": {"of": {"type": "root-angular-velocity", "frame": "body"}, "axes": "zx"},
            "gravity": {"of": "projected-gravity"},
            "positions": {"of": {"type": "joint-positions", "joints": [".*_(HFE|KFE)"]}, "history": 2},
            "velocities": {"of": "joint-velocities", "scale": 0.1},
            "action": {"of": "last-action"},
            "command": {"of": {"type": "command", "command": "walk"}},
        },
        "critic": {
            "feet": {"of": {"type": "body-positions", "bodies": [".*_SHANK"]}},
            "heights": {"of": {"type": "height-over-ground", "sensor": "below"}},
        },
    },
}


@pytest.fixture(scope="module")
def make():
    made = []

    def build(**task):
        tables = {**TASK, "symmetry": {"left-right": SYMMETRY}, **task}
        overrides = {"simulation.device": "cpu", "task": tables, "solver": {"extends": False, "type": "featherstone"}}
        overrides |= {"sensors": {"extends": False, "below": BELOW}}
        overrides["simulation.accept_unsupported"] = ["armature", "joint_damping", "joint_friction"]
        made.append(VectorEnv(QUADRUPED, num_envs=2, overrides=overrides))
        return made[-1]

    yield build
    for env in made:
        env.close()


def mirrored_start(env, mirror):
    """Write a random state into world 0, and its mirror image into world 1, by the names of bodies alone."""
    simulation = env.simulation
    state, model, draws = simulation.state, simulation.model, np.random.default_rng(3)
    q, qd = state.joint_q.numpy().reshape(2, -1).copy(), state.joint_qd.numpy().reshape(2, -1).copy()
    q[0, 3:7] = draws.normal(size=4)
    q[0, 3:7] /= np.copysign(np.linalg.norm(q[0, 3:7]), q[0, 6])
    q[0, 1:3], q[0, 7:] = (0.4, 3.0), draws.uniform(-0.5, 0.5, q.shape[1] - 7)
    qd[0] = draws.normal(size=qd.shape[1])
    q[1, :3], q[1, 3:7] = q[0, :3] * POLAR, q[0, 3:7] * [*AXIAL, 1.0]
    qd[1, :6] = qd[0, :6] * [*POLAR, *AXIAL]
    q[1, 7:], qd[1, 6:] = mirror.actions(q[0, 7:]), mirror.actions(qd[0, 6:])
    state.joint_q.assign(q)
    state.joint_qd.assign(qd)
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    names = [label.rpartition("/")[2] for label in model.body_label[: model.body_count // 2]]
    other = [names.index(name.translate(str.maketrans("LR", "RL", "")) if "_" in name else name) for name in names]
    return state.body_q.numpy().reshape(2, -1, 7), other


def test_a_world_and_its_mirror_image_stay_mirrored(make):
    env = make()
    mirror = env.mirror("left-right")
    env.reset(seed=1)
    command = env.task.commands["walk"].value
    command.assign(np.array([[0.3, 0.5, -0.7], [0.3, -0.5, 0.7]], dtype=np.float32))
    bodies, other = mirrored_start(env, mirror)
    np.testing.assert_allclose(bodies[1, :, :3], bodies[0][other, :3] * POLAR, atol=1e-4)

    draws = np.random.default_rng(7)
    for _ in range(3):
        action = draws.uniform(-1.0, 1.0, 12).astype(np.float32)
        observed, *_ = env.step(np.stack([action, mirror.actions(action)]))

    seen = {name: group[0] for name, group in observed.items()}
    for name, group in mirror.observations(seen).items():
        np.testing.assert_allclose(observed[name][1], group, atol=2e-3, err_msg=name)
        assert np.abs(observed[name][1] - observed[name][0]).max() > 0.1


def test_mirroring_twice_changes_nothing(make):
    env = make()
    mirror = env.mirror("left-right")
    observed, _ = env.reset(seed=2)
    twice = mirror.observations(mirror.observations(observed))

    assert all((twice[name] == group).all() for name, group in observed.items())
    assert (mirror.actions(mirror.actions(np.arange(12.0))) == np.arange(12.0)).all()
    assert not (mirror.actions(np.arange(12.0)) == np.arange(12.0)).all()


def test_tensors_are_mirrored_alike(make):
    torch = pytest.importorskip("torch")
    env = make()
    plain, env.backend = env.mirror("left-right"), "torch"
    values = np.random.default_rng(1).normal(size=(3, 12)).astype(np.float32)

    np.testing.assert_array_equal(env.mirror("left-right").actions(torch.as_tensor(values)), plain.actions(values))


@pytest.mark.parametrize(
    ("symmetry", "fault"),
    [
        ({"names": {"L(.*)": "M$1"}}, r"left-right\.names: task\.actions\.legs has '.*LF_HAA', and no 'MF_HAA' for it"),
        ({"names": {"L(.*": "R$1"}}, r"names.*regular expressions, got 'L\(\.\*'"),
        ({**SYMMETRY, "flip": ["hip"]}, r"left-right\.flip: no joint matches 'hip'; names: LF_HAA"),
    ],
)
def test_wrong_names_are_refused(make, symmetry, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        make(symmetry={"left-right": symmetry})


def test_a_term_without_a_mirror_and_an_unknown_symmetry_are_named(make):
    progress = {"progress": {"of": {"type": "progress", "target": [1.0, 0.0, 0.0]}}}
    with pytest.raises(pippin.ConfigError, match=r"symmetry\.left-right: task\.observations\.policy\.progress has no"):
        make(observations={"policy": progress})
    with pytest.raises(pippin.ConfigError, match="no symmetry is labelled 'up-down'; labels: left-right"):
        make().mirror("up-down")
