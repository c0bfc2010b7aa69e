"""Draws that are played again make the same file, or a smaller one of which the reference still says the same."""

import functools

import mujoco
import numpy as np
import pytest
from pippin_fuzz import urdf, usd
from pippin_fuzz.run_fuzz import Fuzzer, Plan
from pippin_fuzz.tapes import Tape, shrink_drawn

from .test_fuzz import SOLVERS


def first_with(form, word):
    return next(seed for seed in range(200) if word in form.draw(seed).text)


@pytest.mark.alone
@pytest.mark.parametrize("form", [urdf, usd])
def test_draws_that_are_played_again_make_the_same_file(form):
    tape = Tape(np.random.default_rng(3))
    file = form.draw(3, tape=tape)

    assert form.draw(3) == file
    assert form.draw(3, tape=Tape(played=tape.drawn)) == file


@pytest.mark.parametrize(
    ("form", "word", "joints"),
    [(urdf, "<mimic", 2), (urdf, 'type="planar"', 2), (usd, '"acceleration"', 1), (usd, "metersPerUnit = 0.01", 1)],
)
def test_a_file_shrinks_to_the_joints_that_its_verdict_needs(form, word, joints):
    seed = first_with(form, word)

    small = shrink_drawn(functools.partial(form.draw, seed, frozenset()), seed, lambda file: word in file.text)
    model = mujoco.MjModel.from_xml_string(small.reference)
    assert word in small.text
    assert model.njnt == joints
    assert not np.any(model.key_qvel)
    assert len(small.text.splitlines()) <= (8 if form is urdf else 25)


def test_tries_are_not_exceeded():
    seen = []

    shrink_drawn(functools.partial(urdf.draw, 5, frozenset()), 5, lambda file: seen.append(file) is None, tries=3)
    assert len(seen) == 3


@pytest.mark.slow
@pytest.mark.parametrize("form", ["urdf", "usd"])
def test_a_finding_is_shrunk_to_one_body(form, tmp_path):
    fuzzer = Fuzzer(Plan(solver=f"{SOLVERS}:HeavyConfig", form=form), tmp_path)
    found = next(each for each in map(fuzzer.outcome, range(20)) if each.finding)

    folder = tmp_path / found.finding
    file = folder / f"{found.finding}.{'urdf' if form == 'urdf' else 'usda'}"
    assert mujoco.MjModel.from_xml_path(str(folder / f"{found.finding}-reference.xml")).njnt == 1
    assert len(file.read_text().splitlines()) <= 22
