"""What a training plays: without noise, in episodes of its own, and the best policy is kept."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin_task.gym import TASKS
from pippin_train.checkpoints import merit_of

STEPS = 100
"""Control steps of an episode."""


@pytest.fixture
def folder(law_folder):
    return law_folder


def run(*words):
    result = CliRunner().invoke(main, [*map(str, words)])
    assert result.exit_code == 0, result.output
    return result


def train(*words, out="out", **settings):
    """Return what a training tells, and the rows of its curve."""
    own = [f"{key.replace('__', '.')}={value}" for key, value in settings.items()]
    to = [] if "--resume" in words else ["--out", out]
    result = run("train", "law.toml", *to, "--json", *words, *(word for each in own for word in ("--set", each)))
    with open(f"{out}/training.csv", newline="") as file:
        return result, json.loads(result.stdout), list(csv.DictReader(file))


def test_the_return_that_a_training_reports_is_the_one_that_play_measures(folder):
    """Some poles fall, as they begin fast: both returns have an interval. With noise, all fall at once."""
    starts = {"task__events__start__velocity": "[-2.2, 2.2]", "trainer__played_worlds": 32}

    result, state, _ = train(**starts)
    played = run(
        "play",
        "law.toml",
        "--policy",
        "out/policy.onnx",
        "--episodes",
        32,
        "--json",
        *("--set", "task.events.start.velocity=[-2.2, 2.2]"),
    )

    told, measured = state["played"], json.loads(played.stdout)["task"]
    widths = [each["mean_return_half_width"] for each in (told, measured)]
    assert 0 < told["terminated"] < 32
    assert min(widths) > 0.0
    assert abs(told["mean_return"] - measured["mean_return"]) <= sum(widths)
    assert state["mean_return"] < 0.5 * told["mean_return"], "with noise"
    ends = f"{told['terminated']} of 32 end early"
    assert f"plays without noise: mean return {told['mean_return']:.4g} ± " in result.stderr
    assert ends in result.stderr


def test_the_policy_of_the_folder_is_the_one_that_plays_best(folder):
    _, state, rows = train(trainer__good="[2]")

    returns = [float(row["played_return"]) for row in rows]
    assert returns[1] == STEPS > 2.0 * max(returns[0], *returns[2:])
    assert [int(row["played_early_ends"]) for row in rows] == [8, 0, 8, 8]
    assert state["played_iteration"] == 2
    assert state["played"]["mean_return"] == STEPS
    out = folder / "out"
    assert (out / "policy.onnx").read_bytes() == (out / "checkpoints/000002.onnx").read_bytes()
    assert json.loads((out / "checkpoint.LawConfig").read_text()) == 4, "a resumed training continues with the last"


def test_the_policy_is_played_from_other_starts_at_the_end(folder):
    """Those that chose the best policy flatter it."""
    own = {"task__events__start__velocity": "[-2.2, 2.2]", "trainer__good": "[1, 2]"}

    _, state, rows = train(**own)

    returns = [float(row["played_return"]) for row in rows]
    assert returns[0] == returns[1] != state["played"]["mean_return"], "the starts of checkpoints are the same"


def test_the_last_checkpoints_are_kept(folder):
    train(trainer__checkpoints=2)

    names = {path.name for path in (folder / "out" / "checkpoints").iterdir()}
    assert names == {"000003.onnx", "000003.LawConfig", "000004.onnx", "000004.LawConfig"}


def test_the_policy_plays_less_often_than_its_share_of_the_time_allows(folder):
    """The first checkpoint and the last one, in any case."""
    result, state, rows = train(trainer__play_share=1e-9)

    assert [bool(row["played_return"]) for row in rows] == [True, False, False, True]
    share = state["play_seconds"] / (state["play_seconds"] + state["seconds"])
    assert f"plays took {share:.1%} of the time" in result.stderr


def test_play_changes_nothing_that_is_learned(folder):
    """The returns with noise of each iteration, which depend on all random draws."""
    curves = [
        [row["mean_return"] for row in train(out=f"out-{count}", trainer__played_worlds=count)[2]] for count in (0, 8)
    ]

    assert curves[0] == curves[1]
    assert len(set(curves[0])) > 1


def test_without_play_the_policy_is_the_last_one(folder):
    result, state, rows = train(trainer__played_worlds=0, trainer__good="[2]")

    assert state["played"] is None
    assert all(row["played_return"] == "" for row in rows)
    out = folder / "out"
    assert (out / "policy.onnx").read_bytes() == (out / "checkpoints/000004.onnx").read_bytes()
    assert "plays" not in result.stderr


def test_a_task_without_an_end_is_not_played_and_that_is_said(folder):
    task = Path(TASKS["Pippin/InvertedPendulum-v0"]).read_text()
    (folder / "endless.toml").write_text(task.replace("episode_length = 40.0", ""))
    own = (folder / "law.toml").read_text().replace("episode_length = 4.0", "")
    (folder / "law.toml").write_text(own.replace(str(TASKS["Pippin/InvertedPendulum-v0"]), "endless.toml"))

    result, state, _ = train()

    assert state["played"] is None
    assert "no policy plays, as the task has no episode_length; set it" in result.stderr


def test_a_play_begins_where_curricula_begin(folder):
    """As `pippin play` does: with the weight of the file, which is 1. After 150 steps of the training, it is 250."""
    stages = 'task.curricula.more={type="stages", of="rewards.alive", stages=[{step=150, numbers={weight=250.0}}]}'

    _, _, rows = train("--set", stages)

    assert [float(row["played_return"]) for row in rows] == [STEPS] * 4
    assert [float(row["curriculum/more"]) for row in rows] == [1.0, 1.0, 1.0, 250.0]


def test_a_resumed_training_keeps_the_better_policy_of_before(folder):
    train("--iterations", 2)
    before = (folder / "out" / "policy.onnx").read_bytes()

    _, state, rows = train("--resume", "out", "--iterations", 4, trainer__good="[1, 2]")

    assert [row["iteration"] for row in rows] == list("1234")
    assert float(rows[1]["played_return"]) == STEPS > float(rows[3]["played_return"])
    assert (folder / "out" / "policy.onnx").read_bytes() == before
    assert (state["played_iteration"], state["played"]["mean_return"]) == (2, STEPS)


def test_the_curve_the_line_and_the_page_have_what_the_learner_and_the_task_tell(folder):
    """Two terminations, a metric, and the numbers that `learn` returns."""
    metric = 'task.metrics.tilt={type="mean", of="joint-positions"}'

    _, state, rows = train("--set", metric)

    row = {key: float(value) for key, value in rows[-1].items()}
    assert (row["std"], row["kl"], row["loss/value"]) == (1.7, 0.25, 0.25)
    assert row["ended/fallen"] == 1.0, "in the training, all poles fall"
    assert row["ended/time"] == row["ended/diverged"] == 0.0
    assert 1.0 < row["reward/alive"] < STEPS
    assert np.isfinite(row["metric/tilt"])
    assert state["numbers"]["std"] == 1.7
    page = (folder / "out" / "report.html").read_text()
    for text in ("played without noise", "of the last 100 episodes", "Mean sum of each reward", "kl", "loss/value"):
        assert text in page
    assert page.index("Episodes without noise that end early") < page.index("Mean sum of each reward")
    assert "played_early_ends" not in page


def test_too_few_worlds_for_a_task_are_refused_with_the_key(folder):
    """A file that names more worlds than there are."""
    result = CliRunner().invoke(main, ["train", "law.toml", "--set", "trainer.played_worlds=-1"])

    assert result.exit_code == 2
    assert "trainer.played_worlds: must be >= 0: -1" in result.output


def test_a_video_shows_the_policy(folder):
    """The whole episode of 0.8 s."""
    av = pytest.importorskip("av")

    train("--video", "--iterations", 1, task__episode_length=0.8)

    with av.open("out/policy.mp4") as container:
        rate = float(container.streams.video[0].average_rate)
        frames = [each.to_ndarray(format="rgb24").astype(float) for each in container.decode(video=0)]
    assert 0.7 < len(frames) / rate < 0.9
    assert frames[0].std() > 5.0


def test_a_return_that_is_no_number_is_the_worst():
    assert [merit_of({"mean_return": each}) for each in (None, np.nan, 3.0)] == [-np.inf, -np.inf, 3.0]
