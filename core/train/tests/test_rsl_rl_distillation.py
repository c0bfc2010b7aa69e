"""Students of rsl-rl-lib, which learn from a teacher that sees more."""

import csv
from pathlib import Path

import numpy as np
import pippin
import pytest
from onnx.reference import ReferenceEvaluator

pytest.importorskip("rsl_rl")


def lengths(out):
    with open(Path(out, "training.csv"), newline="") as file:
        return [float(row["mean_length"]) for row in csv.DictReader(file) if row["mean_length"]]


@pytest.mark.slow
def test_a_student_learns_from_a_teacher_that_sees_more(blind):
    """The teacher has the velocities, and the student a memory."""
    teacher = blind("taught.toml", "teacher", iterations=25, observations="full")
    assert teacher["mean_length"] > 150.0
    keys = {"type": "rsl-rl-distillation", "teacher": "teacher", "rnn_type": "gru", "rnn_hidden_dim": 32}

    student = blind("taught.toml", "student", iterations=30, **keys)

    assert student["mean_length"] > 120.0
    assert lengths("student")[0] < 30.0


@pytest.fixture
def taught(blind):
    """A teacher after one iteration, and a trainer of students of it."""
    from pippin_train.configs import RslRlDistillationConfig
    from pippin_train.episodes import TrainingEnv
    from pippin_train.rsl_rl_distillation import TrainerRslRlDistillation

    blind("taught.toml", "teacher", iterations=1, observations="full", hidden=[8])
    env = TrainingEnv(Path("taught.toml"), num_envs=4, backend="torch")
    env.reset(seed=1)
    yield lambda **keys: TrainerRslRlDistillation(RslRlDistillationConfig(**{"teacher": "teacher", **keys}), env, 1)
    env.close()


@pytest.mark.slow
def test_a_teacher_says_what_its_policy_does_and_stays(taught, tmp_path):
    """By its exported network, on the observations of its own group; also from a state in `checkpoints`."""
    for where in ("teacher", "teacher/checkpoints/000001.rsl-rl"):
        trainer = taught(teacher=where, hidden=(4,), steps=4)
        storage = trainer._runner.alg.storage
        trainer.learn()
        seen = storage.observations["full"].flatten(0, 1).numpy()

        (wanted,) = ReferenceEvaluator("teacher/policy.onnx").run(None, {"observations": seen})

        np.testing.assert_allclose(storage.privileged_actions.flatten(0, 1).numpy(), wanted, atol=1e-5)
    trainer.save(tmp_path / "saved")
    again = taught(hidden=(4,), steps=4)
    again.load(tmp_path / "saved")
    for each, file in ((trainer, "one"), (again, "two")):
        each.write_policy(tmp_path / file)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.slow
def test_a_wrong_teacher_is_refused(taught):
    with pytest.raises(
        pippin.ConfigError, match=r"trainer\.teacher: 'nobody' is no run folder of a training by 'rsl-rl'"
    ):
        taught(teacher="nobody")
    with pytest.raises(pippin.ConfigError, match=r"is not the network that reads the group 'policy': .*size mismatch"):
        taught(teacher_observations="policy")
    with pytest.raises(pippin.ConfigError, match="the teacher reads the group 'all', and there are policy, full"):
        taught(teacher_observations="all")
    with pytest.raises(
        ValueError, match="'gradient_length' must divide 'steps' times 'num_learning_epochs', 24 times 2"
    ):
        taught(gradient_length=5)
    Path("teacher/config.toml").write_text('[trainer]\ntype = "sb3"\n')
    with pytest.raises(pippin.ConfigError, match="'teacher' was not trained by 'rsl-rl'; train the teacher by that"):
        taught()
