"""Metrics: what `within` and `mean` measure in episodes of a cart with a pole, and where their numbers are told."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
from pippin_task.gym.local_worlds import LocalWorlds

from .reached import reached

POLE = {"type": "joint-positions", "joints": ["pole"]}
LIMIT = 0.1
HOLD = 3
"""Control steps of 0.02 s for which the pole must be within the limit."""


def within(**keys):
    return {"type": "within", "of": POLE, "limit": LIMIT, **keys}


METRICS = {
    "success": within(hold=HOLD * 0.02, latch=False),
    "held": within(hold=HOLD * 0.02 - 0.005),
    "once": within(target=0.05),
    "error": {"type": "mean", "of": "joint-positions", "target": [0.0, 0.05]},
    "sizes": {"type": "mean", "of": "joint-positions", "target": [0.0, 0.05], "form": "mean-absolute"},
}


def expected(angles, rails):
    """Return the five metrics after each step of an episode, from the angles and the places of the cart so far."""
    is_small = np.abs(angles) <= LIMIT
    streaks = [int(np.cumprod(is_small[: k + 1][::-1]).sum()) for k in range(len(angles))]
    held = np.maximum.accumulate(np.array(streaks) >= HOLD)
    once = np.maximum.accumulate(np.abs(angles - 0.05) <= LIMIT)
    steps = np.arange(1, len(angles) + 1)
    errors = np.cumsum(np.hypot(rails, angles - 0.05)) / steps
    sizes = np.cumsum((np.abs(rails) + np.abs(angles - 0.05)) / 2.0) / steps
    return np.stack([np.array(streaks) >= HOLD, held, once, errors, sizes], axis=1)


def test_metrics_are_those_of_their_formulas_in_every_step(tasked):
    """The pole falls from a random start; time ends some episodes, and a fall the others."""
    starts = {"type": "joints", "joints": ["pole"], "position": [-0.25, 0.25], "velocity": [-1.5, 1.5]}
    with tasked(metrics=METRICS, events={"start": starts}, episode_length=0.24, worlds=8) as simulation:
        task = simulation.task
        episodes, seen = task.episodes, [[] for _ in range(8)]
        assert not simulation.program.eager_reasons
        ends, arrays = [], LocalWorlds(simulation, "test").arrays()
        for _ in range(40):
            simulation.step()
            final, finished = reached(task), episodes.finished.numpy()
            for world, rows in enumerate(seen):
                rows.append(final[world, :2].copy())
                rails, angles = np.array(rows).T
                wanted = expected(angles, rails)[-1]
                np.testing.assert_allclose(episodes.metric_terms.numpy()[:, world], wanted, atol=1e-6)
                assert arrays["success"].numpy()[world] == (finished[world] and wanted[0] > 0.0)
                if finished[world]:
                    ends.append(wanted)
                    shown = [arrays[f"metrics/{label}"].numpy()[world] for label in METRICS]
                    np.testing.assert_allclose(shown, wanted, atol=1e-6)
                    rows.clear()
        score = task.score()["metrics"]

    ends = np.array(ends)
    assert all(0.0 < mean < 1.0 for mean in ends.mean(axis=0))
    assert (ends[:, 0] < ends[:, 1]).any()  # lost again, but latched
    np.testing.assert_allclose([each["mean"] for each in score.values()], ends.mean(axis=0), rtol=1e-5)
    half = 1.96 * ends.std(axis=0, ddof=1) / len(ends) ** 0.5
    np.testing.assert_allclose([each["half_width"] for each in score.values()], half, rtol=1e-4)


def test_the_label_success_is_for_a_flag(tasked):
    with pytest.raises(
        pippin.ConfigError, match=r"metrics\.success: this label is for a metric that is 0 or 1.*'mean'"
    ):
        tasked(metrics={"success": METRICS["error"]})


@pytest.mark.parametrize(("hold", "is_refused"), [(1.0, False), (1.02, True)])
def test_a_time_to_hold_that_no_episode_lasts_is_refused(tasked, hold, is_refused):
    message = r"metrics\.long\.hold: 1\.02 s are longer than an episode of 1 s, so that none succeeds; use less"
    with pytest.raises(pippin.ConfigError, match=message) if is_refused else nullcontext():
        tasked(metrics={"long": within(hold=hold)}, episode_length=1.0).close()


def test_a_limit_below_zero_is_refused(tasked):
    with pytest.raises(pippin.ConfigError, match=r"metrics\.low.*limit"):
        tasked(metrics={"low": within(limit=-1.0)})


@pytest.mark.slow
@pytest.mark.parametrize(("name", "keys"), [("within", {"limit": 1.0, "hold": 0.05}), ("mean", {})])
def test_every_metric_keeps_the_contract(name, keys):
    suite = conformance.Conformance("metric", name, config={"of": "joint-positions", **keys})
    results = [suite.run(check) for check in suite.checks]

    assert not [each for each in results if each.outcome == "failed"]
