"""Intervals from blocks, weak directions and spectra: what they hold and what they name."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from pippin_fit.evidence import Evidence, blocks_of, bootstrap, directions
from pippin_fit.problem import noise_of
from pippin_fit.report import residual_spectra
from pippin_fit.result import Trace

SAMPLES, WINDOWS = 1200, 30


def coloured(random, share):
    """Noise of which each sample keeps a share of the one before."""
    noise = random.normal(size=SAMPLES)
    for at in range(1, SAMPLES):
        noise[at] += share * noise[at - 1]
    return noise


def evidence(random, share):
    """A line and two slow waves, in windows, with coloured noise; and the true values."""
    times = np.linspace(0.0, 12.0, SAMPLES)
    design = np.stack([np.ones(SAMPLES), np.sin(times), np.cos(0.7 * times)], axis=1)
    truth = np.array([1.0, 2.0, 3.0])
    data = design @ truth + 0.3 * coloured(random, share)
    values = np.linalg.lstsq(design, data, rcond=None)[0]
    windows = np.arange(SAMPLES) * WINDOWS // SAMPLES
    found = Evidence(
        names=("a", "b", "c"),
        values=values,
        is_ratio=np.ones(3, dtype=bool),
        slopes=np.ones(3),
        priors=np.zeros(3),
        jacobian=design,
        residuals=design @ values - data,
        errors=np.zeros(3),
        blocks=blocks_of(windows, 1),
        channels=np.zeros(SAMPLES, dtype=int),
        share=(SAMPLES - 3) / SAMPLES,
    )
    return found, truth


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.8])
def test_intervals_of_blocks_hold_the_truth_also_with_coloured_noise(share):
    random = np.random.default_rng(1)
    held = white = 0
    for _ in range(100):
        found, truth = evidence(random, share)
        errors = np.abs(found.values - truth)
        held += int((errors <= found.block_widths()).sum())
        white += int((errors <= 1.96 * np.sqrt(np.diag(found.covariance))).sum())

    assert 0.90 <= held / 300 <= 0.98
    assert (white / 300 < 0.75) == (share > 0.5)


@pytest.mark.parametrize("rate", [50.0, 200.0, 1000.0])
@pytest.mark.parametrize("noise", [1e-4, 1e-3])
def test_the_noise_of_a_moving_joint_is_found(rate, noise):
    """Within a tenth; second differences of this motion at 50 Hz are twenty times as large as the smaller noise."""
    times = np.arange(0.0, 20.0, 1.0 / rate)
    tones = np.array([0.2, 0.5, 0.9, 1.7, 2.6])
    motion = 0.25 / np.sqrt(tones / 0.2) * np.sin(2.0 * np.pi * tones * times[:, None])
    measured = motion.sum(axis=1)[:, None] + noise * np.random.default_rng(0).normal(size=(len(times), 3))

    np.testing.assert_allclose(noise_of([measured[:700], measured[700:]]), noise, rtol=0.12)


def test_few_windows_are_divided_and_too_few_rows_tell_nothing():
    blocks = blocks_of(np.repeat([0, 1], 60), 2)

    assert len(np.unique(blocks)) == 24
    assert (np.diff(blocks) >= 0).all()
    assert set(blocks[:120]).isdisjoint(blocks[120:])
    assert bootstrap(np.ones((6, 1)), np.ones(6), np.arange(6), np.zeros(1)) is None


def test_the_weakest_direction_is_named_with_what_it_changes():
    # The sum of two values is known to 1 %, their difference to 50 %.
    axes = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2.0)
    covariance = axes @ np.diag([1e-4, 0.25]) @ axes.T
    whole = np.full((3, 3), np.inf)
    whole[:2, :2] = covariance

    known = np.ones(3)
    weak, strong = directions(
        ["kp", "kd", "mass"], whole, np.array([10.0, 2.0, 1.0]), np.array([10.0, 2.0, np.nan]), known
    )

    assert weak in ("kp +69 %, kd -69 %", "kd +69 %, kp -69 %")
    assert strong in ("kp +1.4 %, kd +1.4 %", "kd +1.4 %, kp +1.4 %")


def test_a_small_change_with_a_large_effect_is_part_of_a_direction():
    covariance = np.array([[1.0, -0.01], [-0.01, 1.0001e-4]])
    slopes = values = np.ones(2)

    alone, both = (
        directions(["damping", "kd"], covariance, slopes, values, np.array([1.0, size]), count=1)
        for size in (1.0, 100.0)
    )

    assert alone == ("damping +2e+02 %",)
    assert both == ("damping +2e+02 %, kd -2 %",)


def test_a_missing_resonance_shows_in_the_spectrum():
    random, times = np.random.default_rng(0), np.arange(400) * 0.005
    traces = []
    for joint in ("hip", "knee"):
        measured = np.sin(times)
        noise = random.normal(size=(400, 2)) * [0.02, 0.01]
        found = measured + noise[:, 1] + 0.05 * np.sin(2 * np.pi * 12.0 * times)
        values = np.stack([measured, measured + noise[:, 0], found], axis=1)
        traces.append(
            Trace(
                log="log",
                joint=joint,
                signal="position",
                unit="rad",
                is_validation=False,
                times=times,
                commanded=measured,
                values=values,
            )
        )

    (spectrum,) = residual_spectra(traces, ["hip", "knee"], {"position": (0.01, 0.01)})

    low, high = spectrum.band
    assert low - 0.1 <= 12.0 <= high + 0.1
    assert high - low < 2.0
    assert not spectrum.is_white
    assert spectrum.power[5:, 0].mean() == pytest.approx(4.0, rel=0.15)  # white, twice the assumed size
    assert np.median(spectrum.power[50:, 1]) == pytest.approx(0.8, abs=0.3)


@pytest.mark.slow
def test_intervals_of_fits_hold_the_truth(tmp_path):
    """Eight logs of six values; with measured starts, 33 of the 48 white intervals hold."""
    held = runpy.run_path(str(Path(__file__).parents[3] / "tests" / "benchmarks" / "fit_intervals.py"))["held"]

    white, blocks = held(tmp_path, 8, 0.0, start="estimated")

    assert white >= 41 / 48
    assert blocks >= 41 / 48
