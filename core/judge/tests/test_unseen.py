"""Comparisons of candidates by what they leave of unseen logs: what chance makes is no difference."""

import numpy as np
import pytest
from pippin_fit import FitResult, Trace
from pippin_judge.unseen import BlockErrors, largest_loads

BLOCKS, SAMPLES = 24, 50


def errors(residuals):
    """Return residuals, shape [blocks, samples], as those of a candidate."""
    places = tuple(("log", float(number)) for number in range(len(residuals)))
    squares, counts = (residuals**2).sum(axis=1), np.full(len(residuals), residuals.shape[1])
    return BlockErrors(squares=squares, counts=counts, places=places, distance=0.0)


def noise(seed):
    return np.random.default_rng(seed).normal(size=(BLOCKS, SAMPLES))


@pytest.mark.alone
def test_an_error_in_all_blocks_is_told_from_one_in_a_single_block():
    """Both add the same to the mean square, 0.5 σ²; only the first one would come again."""
    rows, everywhere, once = noise(0), np.full((BLOCKS, SAMPLES), np.sqrt(0.5)), np.zeros((BLOCKS, SAMPLES))
    once[3] = np.sqrt(0.5 * BLOCKS)

    assert not errors(rows + everywhere).is_alike(errors(rows), seed=0)
    assert errors(rows + once).is_alike(errors(rows), seed=0)


def test_a_difference_of_less_than_five_percent_is_none():
    """It is there in each block, so that the interval of the ratio alone would tell them apart."""
    best, worse = errors(noise(0)), errors(1.04 * noise(0))

    assert worse.ratio(best, seed=0)[0] > 1.03
    assert worse.is_alike(best, seed=0)
    assert not errors(1.06 * noise(0)).is_alike(best, seed=0)


def test_candidates_with_noise_of_one_size_are_told_apart_in_few_cases():
    """Errors of their own, not shared ones: a test of 95 % on one side is wrong in about 1 of 40 cases."""
    pairs = [
        sorted([errors(noise(2 * seed)), errors(noise(2 * seed + 1))], key=lambda each: each.error)
        for seed in range(200)
    ]

    wrong = sum(worse.ratio(best, seed=0)[0] > 1.0 for best, worse in pairs)

    assert wrong <= 0.1 * len(pairs)


def test_the_interval_of_an_error_holds_its_size():
    """About a size of 1, in 95 % of the cases; of 200, 180 are five standard deviations of chance away."""
    ends = [errors(noise(seed)).interval(seed=0) for seed in range(200)]

    assert sum(low <= 1.0 <= high for low, high in ends) >= 176


def test_a_candidate_that_diverges_is_worse():
    rows = noise(0)
    rows[5, 7] = np.nan

    assert errors(rows).error == np.inf
    assert not errors(rows).is_alike(errors(noise(0)), seed=0)


def result_of(motion, commanded, times):
    """Return a fit of one joint whose found motion is given, in two windows of which the second one is unseen."""
    parts = np.array_split(np.arange(len(times)), 2)
    traces = [
        Trace(
            log="log",
            joint="hip",
            signal="position",
            unit="rad",
            is_validation=bool(number),
            times=times[part],
            commanded=commanded[part],
            values=np.stack([motion[part], motion[part] + 0.3, motion[part] + 0.02], axis=1),
        )
        for number, part in enumerate(parts)
    ]
    names = ("verdicts", "costs", "ends", "correlated", "correlations", "directions")
    rest = {"folder": None, "validation": None, "start": "measured", "delay": None, "rollouts": 1, "seconds": 1.0}
    return FitResult(**dict.fromkeys(names, ()), **rest, ended="", noise={"position": (0.01,)}, traces=tuple(traces))


def test_blocks_divide_what_was_not_seen_and_count_in_units_of_the_noise():
    times = np.arange(200) * 0.01

    found = result_of(np.sin(times), np.zeros(200), times)

    assert len(BlockErrors.of(found).counts) == 24
    assert BlockErrors.of(found).counts.sum() == 100
    assert BlockErrors.of(found).places[0][1] >= 1.0
    assert BlockErrors.of(found).error == pytest.approx(2.0)
    assert BlockErrors.of(found, column=1).error == pytest.approx(30.0)
    assert BlockErrors.of(found).distance == pytest.approx(0.02)
    assert BlockErrors.of(found, is_seen=True).places[-1][1] < 1.0


def test_loads_are_those_of_a_spring_and_a_damper():
    """q = sin 2t and q* = 3 sin 2t: the spring pulls by up to 2 k, and the speed is up to 2."""
    times = np.arange(2000) * 0.005

    pull, effort, speed = largest_loads(
        result_of(np.sin(2.0 * times) - 0.02, 3.0 * np.sin(2.0 * times), times),
        np.array([10.0, 1.0]),
        np.array([4.0, 1.0]),
        ("hip", "knee"),
    )

    assert pull == pytest.approx([20.0, 20.0], rel=1e-3)
    assert speed == pytest.approx([2.0, 2.0], rel=1e-3)
    assert effort == pytest.approx([np.hypot(20.0, 8.0)] * 2, rel=1e-3)
