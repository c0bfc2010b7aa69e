"""Estimated starts of windows: the elimination is exact, and noise of the measured starts harms no longer."""

import shutil
from types import SimpleNamespace

import numpy as np
import pippin_fit
import pytest
from pippin.config import toml_text
from pippin_fit.candidates import JUDGED
from pippin_fit.minimisation import eliminate, unseen_starts

from . import arms

RANGES = {"armature": [1e-3, 1.0], "damping": [0.0, 5.0], "friction": [0.0, 2.0]}


def test_elimination_solves_the_problem_of_all_unknowns():
    random = np.random.default_rng(0)
    windows = np.repeat([0, 1, 2], [20, 15, 30])
    residuals, by_unknown, by_start = (random.normal(size=(65, *shape)) for shape in ((), (4,), (2,)))
    used = random.normal(size=(3, 2))

    left, slopes, best, change = eliminate(residuals, by_unknown, by_start, windows, used)
    step = -np.linalg.lstsq(slopes, left, rcond=None)[0]
    starts = best + change @ step

    whole = np.zeros((65 + 6, 4 + 6))
    whole[:65, :4] = by_unknown
    for window in range(3):
        whole[:65, 4 + 2 * window : 6 + 2 * window] = by_start * (windows == window)[:, None]
    whole[65:, 4:] = np.eye(6)
    expected = -np.linalg.lstsq(whole, np.concatenate([residuals, used.ravel()]), rcond=None)[0]
    np.testing.assert_allclose(step, expected[:4], atol=1e-10)
    np.testing.assert_allclose(starts, used + expected[4:].reshape(3, 2), atol=1e-10)
    rest = whole @ expected + np.concatenate([residuals, used.ravel()])
    assert np.linalg.norm(left + slopes @ step) == pytest.approx(np.linalg.norm(rest))


def test_windows_that_the_fit_does_not_see_start_where_they_fit_best_too(tmp_path):
    truth = {name: {".*shoulder": one, ".*elbow": two} for name, (one, two) in arms.TRUTH.items()}
    robot = arms.tables(tmp_path, **truth)
    known = arms.log(tmp_path / "log.npz", robot, seconds=4.0, noise=1e-3, seed=4)
    known["velocity"] += 1.5 * np.random.default_rng(5).normal(size=known["velocity"].shape)
    np.savez(tmp_path / "log.npz", **known)
    parameters = {"actuators.arm.damping": {"range": [0.0, 5.0]}}
    fit = {"logs": ["log.npz"], "parameters": parameters, "signals": {"position": {}}, "validation": 0.5}
    file = tmp_path / "arm.toml"
    guess = arms.tables(tmp_path, **{**truth, "damping": 0.1})
    file.write_text(toml_text({**guess, "fit": fit}), encoding="utf-8")

    results = {
        start: pippin_fit.fit(file, overrides={"fit.start": start}, out=tmp_path / start)
        for start in ("measured", "estimated")
    }

    assert results["measured"].validation[1] > 5.0
    assert results["estimated"].validation[1] == pytest.approx(1.0, abs=0.1)
    pages = {start: (tmp_path / start / "report.html").read_text(encoding="utf-8") for start in results}
    assert "tells whether that is it" in pages["measured"]
    assert "tells whether that is it" not in pages["estimated"]


@pytest.mark.slow
def test_estimated_starts_explain_what_measured_ones_cannot(tmp_path):
    truth = {name: {".*shoulder": one, ".*elbow": two} for name, (one, two) in arms.TRUTH.items()}
    arms.log(tmp_path / "log.npz", arms.tables(tmp_path, **truth), seconds=5.0, noise=1e-3, seed=4)
    parameters = {f"actuators.arm.{name}": {"range": ends} for name, ends in RANGES.items()}
    signals = {"position": {"std": 1e-3}, "velocity": {"std": 1e-2}}
    fit = {"logs": ["log.npz"], "parameters": parameters, "signals": signals, "window": 0.5}
    file = tmp_path / "arm.toml"
    file.write_text(toml_text({**arms.tables(tmp_path), "fit": fit}), encoding="utf-8")

    measured = pippin_fit.fit(file, out=tmp_path / "measured")
    estimated = pippin_fit.fit(file, overrides={"fit.start": "estimated"}, out=tmp_path / "estimated")
    (tmp_path / "again" / "iterations").mkdir(parents=True)
    for number in range(3):
        shutil.copy(tmp_path / "estimated" / "iterations" / f"{number:04d}.npz", tmp_path / "again" / "iterations")
    again = pippin_fit.fit(file, overrides={"fit.start": "estimated"}, out=tmp_path / "again")

    assert measured.costs[-1] > 1.03
    assert estimated.costs[-1] == pytest.approx(1.0, abs=0.02)
    errors = [
        abs(each.value - arms.TRUTH[each.key.rpartition(".")[2]][each.name == "elbow"]) / each.half_width
        for each in estimated.verdicts
    ]
    assert max(errors) < 1.5
    assert [each.value for each in again.verdicts] == [each.value for each in estimated.verdicts]
    first = next(trace for trace in estimated.traces if trace.signal == "velocity")
    assert not np.allclose(first.values[0, 1], first.values[0, 2], atol=1e-4)  # the file starts as measured


SAMPLES, WINDOWS = 40, 3
TRUTH = np.array([[6.0, -4.0], [0.5, 0.2], [-8.0, 3.0]])
"""Starts that explain the windows, in units of their noise, shape [windows, states]."""


class Bent:
    """Windows whose residuals bend with their start: those of x + b x³ / 30 with fading weights of two states."""

    width = 1

    def __init__(self, bend):
        times = np.linspace(0.0, 1.0, SAMPLES)
        self.weights = np.stack([np.exp(-3.0 * times), times * np.exp(-2.0 * times)]) * 3.0
        self.bend, self.count = bend, 0
        self.parts = (None, SimpleNamespace(windows=(0,) * WINDOWS, window_of=np.repeat(np.arange(WINDOWS), SAMPLES)))
        self.measured = self.motion(TRUTH)

    def motion(self, starts):
        return (starts + self.bend * starts**3 / 30.0) @ self.weights

    def state_scales(self):
        return np.array([2.0, 0.5]), np.array([3.0, 3.0])

    def roll_out(self, values, shifts, unseen):
        self.unseen, self.count = unseen / self.state_scales()[0], self.count + 1

    def residuals(self, part):
        return np.stack([(self.motion(own) - self.measured).ravel() for own in self.unseen])


@pytest.mark.parametrize("bend", [0.0, 1.0])
def test_the_starts_are_those_that_explain_the_windows(bend):
    """Residuals of 0.3 σ at most are left, of 10 to 60; the starts themselves are pulled to what was measured."""
    windows = Bent(bend)

    found = unseen_starts(windows, np.zeros((JUDGED, 1)), None)

    windows.roll_out(None, None, found)
    assert np.sqrt((windows.residuals(None) ** 2).mean()) < 0.3
    np.testing.assert_allclose(found[0] / [2.0, 0.5], TRUTH, atol=1.0)
    np.testing.assert_array_equal(found[0], found[1])


def test_linear_windows_take_one_round():
    """A rollout as measured, one for each state, and one with the starts that are found."""
    windows = Bent(0.0)

    unseen_starts(windows, np.zeros((JUDGED, 1)), None)

    assert windows.count == 1 + 2 + 1
