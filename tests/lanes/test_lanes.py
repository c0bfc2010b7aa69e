"""Each lane finds the fault that was planted for it, and a part of the suite passes in it."""

import os
import subprocess
from pathlib import Path

import pytest

from .__main__ import ROOT, command
from .patches import LANES, VARIABLE, lane_module

pytestmark = pytest.mark.skipif(VARIABLE in os.environ, reason="these tests start the lanes")

PLANTED = sorted((Path(__file__).parent / "planted").glob("*.py"))
"""Files `LANE_fault.py`: their tests pass without the lane, and fail in it."""


def run(lane: str | None, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run pytest in one process, in a lane or in none."""
    line, variables = command(lane, [*map(str, arguments), "-q", "-n", "0", "-p", "no:cacheprovider"])
    return subprocess.run(line, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)


def lane_of(planted: Path) -> str:
    return next(lane for lane in LANES if planted.stem.startswith(f"{lane}_"))


def test_every_lane_has_a_planted_fault():
    assert set(map(lane_of, PLANTED)) == set(LANES)


@pytest.mark.parametrize("lane", LANES)
def test_the_part_of_the_suite_that_a_lane_runs_is_there(lane):
    assert [each for each in lane_module(lane).PART if not (ROOT / each.partition("::")[0]).is_file()] == []


@pytest.mark.slow
def test_planted_faults_do_not_show_without_lanes():
    finished = run(None, *PLANTED)

    assert finished.returncode == 0, finished.stdout


@pytest.mark.slow
@pytest.mark.parametrize("planted", PLANTED, ids=lambda path: path.stem)
def test_a_lane_finds_its_planted_fault(planted):
    within = run(lane_of(planted), planted)

    assert within.returncode == 1, within.stdout
    assert " failed" in within.stdout.splitlines()[-1]
    assert " passed" not in within.stdout.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("lane", [lane for lane in LANES if lane_module(lane).PART])
def test_a_part_of_the_suite_passes_in_a_lane(lane):
    finished = run(lane, *lane_module(lane).PART)

    assert finished.returncode == 0, finished.stdout
