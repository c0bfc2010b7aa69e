"""The page past one machine: its tables are those of the script, and the script's sums are right."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(DOCS / "compute_scaling.py"))


def test_the_tables_are_those_of_the_script(script):
    text = script["PAGE"].read_text(encoding="utf-8")

    assert script["page"](text) == text, "run `uv run python docs/compute_scaling.py`"


def test_ten_machines_simulate_ten_times_as_fast_but_for_the_slowest(script):
    one, ten = (script["call"](nodes, script["FAST"]) for nodes in (1, 10))

    assert 9.0 < one.simulation / ten.simulation < 10.0
    assert ten.calls == pytest.approx(10.0 * one.calls)


def test_blocks_take_the_time_of_the_slower_of_link_and_store(script):
    network, size = script["SLOW"], script["STEPS"] * script["WORLDS"] * script["ROW"]

    found = script["call"](100, network).blocks

    assert size / network.bandwidth < found < size / network.bandwidth * 1.5


def test_more_machines_stop_helping(script):
    times = [script["call"](nodes, script["FAST"]).in_turn for nodes in script["NODES"]]

    assert times[0] > times[1] > times[2] < times[3]
