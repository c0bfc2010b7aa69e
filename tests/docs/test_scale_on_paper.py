"""The page of scale on paper: its tables are those of the script, whose counts are those of a step today."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(DOCS / "compute_gpu_scale.py"))


def test_the_tables_are_those_of_the_script(script):
    text = script["PAGE"].read_text(encoding="utf-8")

    assert script["page"](text) == text, "run `uv run python docs/compute_gpu_scale.py`"


@pytest.mark.slow
@pytest.mark.slow
def test_the_counts_are_those_of_a_step_today(script):
    ant = script["ROBOTS"][0]

    found = script["measured"](ant, worlds=4, steps=2)

    assert (found.launches, found.beside, found.looped) == (ant.launches, ant.beside, ant.looped), "run it --measure"
    assert found.bytes_high == pytest.approx(ant.bytes_high, rel=0.1)


def test_a_step_without_worlds_takes_the_time_of_its_launches(script):
    ant, gpu = script["ROBOTS"][0], script["GPUS"][0]

    none, many = (script["times"](ant, gpu, worlds) for worlds in (0, 10**6))

    assert none.low == pytest.approx((840 + 80) * 0.5e-6)
    assert none.high == pytest.approx((840 + 80) * 2e-6)
    # A perfect cache and a perfect overlap: nothing but the bytes takes time.
    assert many.low == pytest.approx(ant.bytes_low * 10**6 / gpu.bandwidth)
