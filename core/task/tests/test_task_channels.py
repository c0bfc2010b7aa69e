"""The channels of a task, and its score: the same numbers as NumPy computes from actions and observations."""

import numpy as np
import pytest
from pippin.recording import Recording
from pippin.recording.channels import channels
from pippin.recording.npz.config import NpzConfig
from pippin.recording.npz.file import NpzRecorder

from .reached import reached

WORLDS = (0, 3, 4)
"""The shown worlds; they are not evenly spaced."""

REWARDS = {
    "alive": {"type": "alive", "weight": 2.0},
    "push": {"type": "l2", "of": "last-action", "weight": -0.5},
    "place": {"type": "l2", "of": "joint-positions", "weight": -1.0},
}


def names_of(simulation):
    return {channel.name: channel for channel in channels(simulation, WORLDS, ["task/.*"])}


@pytest.mark.parametrize("autoreset", ["same-step", "next-step"])
def test_channels_and_score_equal_numpy_in_a_recorded_step(autoreset, tasked, tmp_path, device):
    random = np.random.default_rng(3)
    simulation = {"capture": "require", "dt": 0.01, "decimation": 2, "device": device}
    start = {"start": {"type": "joints", "position": [-0.25, 0.25], "velocity": [-1.0, 1.0]}}
    log = NpzRecorder(NpzConfig(worlds=WORLDS, series=("task/.*",), path=str(tmp_path / "a.npz")))
    rows, ends, sums, ended = [], [], np.zeros((5, 3)), np.zeros(5, dtype=bool)
    lengths = np.zeros(5, dtype=int)

    with tasked(
        worlds=5,
        simulation=simulation,
        plugins=[log],
        rewards=REWARDS,
        events=start,
        episode_length=0.12,
        autoreset=autoreset,
    ) as made:
        task, found = made.task, names_of(made)
        for _ in range(40):
            action = random.uniform(-2.0, 2.0, (5, 1)).astype(np.float32)
            task.episodes.action.assign(action)
            made.step()
            values = {name: channel.numpy().copy() for name, channel in found.items()}
            q, observed = reached(task)[:, :2], task.observations["policy"].values.numpy()
            fell = np.abs(q[:, 1]) > 0.3
            terms = 0.02 * np.stack([2.0 * ~fell, -0.5 * action[:, 0] ** 2, -(q**2).sum(1)], 1)
            counts = ~(ended & (autoreset == "next-step"))  # the other worlds are put back in this step
            lengths += 1
            over = (fell | (lengths >= 6)) & counts
            terms[~counts] = 0.0
            sums += terms
            expected = {
                "task/rewards": terms,
                "task/reward": terms.sum(1),
                "task/terminations": (fell & counts)[:, None],
                "task/terminated": fell & counts,
                "task/truncated": over & ~fell,
                "task/action": action,
                "task/observations/policy": observed,
            }
            again = over if autoreset == "same-step" else ~counts
            shown = np.where(again & ~over, 0.0, sums.sum(1)), np.where(again & ~over, 0, lengths)
            expected |= {"task/return": shown[0], "task/length": shown[1]}
            ends += [(*sums[world], lengths[world], fell[world]) for world in np.flatnonzero(over)]
            sums[again], lengths[again], ended = 0.0, 0, over
            rows.append(values)
            for name, value in expected.items():
                np.testing.assert_allclose(values[name], value[list(WORLDS)], rtol=1e-5, atol=1e-6, err_msg=name)
        score = task.score()

    series = Recording(tmp_path / "a.npz")
    for name in found:
        np.testing.assert_array_equal(series[name], [row[name] for row in rows], err_msg=name)
    ends = np.array(ends)
    assert score["episodes"] == len(ends) > 20
    np.testing.assert_allclose(score["mean_return"], ends[:, :3].sum(1).mean(), rtol=1e-5)
    np.testing.assert_allclose(score["std_return"], ends[:, :3].sum(1).std(), rtol=1e-4)
    half = 1.96 * ends[:, :3].sum(1).std(ddof=1) / len(ends) ** 0.5
    np.testing.assert_allclose(score["mean_return_half_width"], half, rtol=1e-4)
    np.testing.assert_allclose(score["mean_length"], ends[:, 3].mean())
    np.testing.assert_allclose(list(score["rewards"].values()), ends[:, :3].mean(0), rtol=1e-4)
    assert score["terminations"] == {"fallen": ends[:, 4].sum()}
    assert score["truncated"] == (ends[:, 4] == 0).sum()
