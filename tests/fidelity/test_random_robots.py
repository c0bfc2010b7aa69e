"""Random URDF and USD files beside MuJoCo: no file parts from its reference without a word."""

import importlib

import pytest

pytest.importorskip("pippin_fuzz.usd")

from .random_robots import judge


@pytest.mark.parametrize("form", ["urdf", "usd"])
def test_a_few_random_robots_part_with_a_word_or_not_at_all(form, tmp_path):
    draw = importlib.import_module(f"pippin_fuzz.{form}").draw
    files = {seed: draw(seed) for seed in range(12)}

    found = {seed: judge(file, "mujoco-native", tmp_path / f"r{seed}{file.suffix}") for seed, file in files.items()}

    assert [seed for seed, each in found.items() if each is not None and each.word == "SILENT"] == []
    assert sum(each is not None and each.word == "equal" for each in found.values()) > 6
