"""Pages whose figures a script computes: their tables are those of the script, and its sums are right."""

import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def gpus() -> dict[str, Any]:
    """The script of *Scale on paper*."""
    return runpy.run_path(str(DOCS / "compute_gpu_scale.py"))


@pytest.fixture(scope="module")
def machines() -> dict[str, Any]:
    """The script of *Past one machine*."""
    return runpy.run_path(str(DOCS / "compute_scaling.py"))


@pytest.mark.parametrize("name", ["gpus", "machines"])
def test_the_tables_are_those_of_the_script(name, request):
    script = request.getfixturevalue(name)
    text = script["PAGE"].read_text(encoding="utf-8")

    assert script["page"](text) == text, "run the script, which the page names"


@pytest.mark.slow
def test_the_counts_are_those_of_a_step_today(gpus):
    ant = gpus["ROBOTS"][0]

    found = gpus["measured"](ant, worlds=4, steps=2)

    assert (found.launches, found.beside, found.looped) == (ant.launches, ant.beside, ant.looped), "run it --measure"
    assert found.bytes_high == pytest.approx(ant.bytes_high, rel=0.1)


def test_a_step_without_worlds_takes_the_time_of_its_launches(gpus):
    ant, gpu = gpus["ROBOTS"][0], gpus["GPUS"][0]

    none, many = (gpus["times"](ant, gpu, worlds) for worlds in (0, 10**6))

    assert none.low == pytest.approx((840 + 80) * 0.5e-6)
    assert none.high == pytest.approx((840 + 80) * 2e-6)
    # A perfect cache and a perfect overlap: nothing but the bytes takes time.
    assert many.low == pytest.approx(ant.bytes_low * 10**6 / gpu.bandwidth)


def test_ten_machines_simulate_ten_times_as_fast_but_for_the_slowest(machines):
    one, ten = (machines["call"](nodes, machines["FAST"]) for nodes in (1, 10))

    assert 9.0 < one.simulation / ten.simulation < 10.0
    assert ten.calls == pytest.approx(10.0 * one.calls)


def test_blocks_take_the_time_of_the_slower_of_link_and_store(machines):
    network, size = machines["SLOW"], machines["STEPS"] * machines["WORLDS"] * machines["ROW"]

    found = machines["call"](100, network).blocks

    assert size / network.bandwidth < found < size / network.bandwidth * 1.5


def test_more_machines_stop_helping(machines):
    times = [machines["call"](nodes, machines["FAST"]).in_turn for nodes in machines["NODES"]]

    assert times[0] > times[1] > times[2] < times[3]
