"""Rollouts of logs in one call of the solver have the bits of steps."""

import numpy as np
import pippin
import pytest
from pippin.config import toml_text
from pippin_fit.fit_run import FitRun

from . import arms

KEYS = ("armature", "damping")


@pytest.fixture
def fit_run(tmp_path, request):
    """A fit of two windows, whose drive is the parameter of the fixture: its table on top of the usual one."""
    own = {"type": "solver-pd"} | request.param
    tables = arms.tables(tmp_path, **own)
    tables["simulation"] |= {"decimation": 2, "substeps": 2}
    arms.log(tmp_path / "log.npz", tables, seconds=0.4, noise=1e-4)
    ranges = {f"actuators.arm.{key}": {"range": [1e-3, 2.0]} for key in KEYS}
    ranges["signals.delay"] = {"range": [-0.02, 0.02], "scale": "linear"}
    tables["fit"] = {"logs": ["log.npz"], "parameters": ranges, "window": 0.2}
    (tmp_path / "arm.toml").write_text(toml_text(tables), encoding="utf-8")
    config = pippin.load(tmp_path / "arm.toml")
    with FitRun(config, config.fit, [str(tmp_path / "log.npz")], None) as made:
        yield made


@pytest.mark.parametrize(("fit_run", "is_known"), [({}, True), ({"type": "pd"}, False)], indirect=["fit_run"])
def test_a_rollout_in_one_call_has_the_bits_of_steps(fit_run, is_known):
    playback, worlds = fit_run.rollouts.candidates.own, fit_run.simulation.world_count
    random = np.random.default_rng(0)
    values = np.concatenate([random.uniform(0.05, 0.3, (worlds, 4)), random.uniform(-0.01, 0.01, (worlds, 1))], axis=1)
    shifts, everywhere = np.zeros((worlds, 4)), np.ones(worlds, dtype=bool)
    playback.play(values, shifts, everywhere)
    before = fit_run.simulation.step_count

    found = playback.play(values, shifts, everywhere)

    assert (fit_run.simulation.step_count == before) == is_known
    steps = playback.play(values, shifts, everywhere, watch=lambda: None)
    assert fit_run.simulation.step_count > before
    for name, motion in found.items():
        assert np.ptp(motion[-1], axis=0).min() > 1e-4  # the worlds differ
        np.testing.assert_array_equal(motion, steps[name])


@pytest.mark.parametrize("fit_run", [{}], indirect=True)
def test_worlds_that_nobody_reads_stay_where_they_are(fit_run):
    playback, worlds = fit_run.rollouts.candidates.own, fit_run.simulation.world_count
    values, shifts = np.full((worlds, 5), 0.1), np.zeros((worlds, 4))
    values[:, 4] = 0.0
    whole, is_asked = playback.play(values, shifts, np.ones(worlds, dtype=bool)), np.arange(worlds) % 3 == 1

    found = playback.play(values, shifts, is_asked)

    for name, motion in found.items():
        np.testing.assert_array_equal(motion[:, is_asked], whole[name][:, is_asked])
        assert np.isnan(motion[1:, ~is_asked]).all()
