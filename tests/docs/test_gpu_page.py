"""The page on tests on a GPU: it has every lane, and what a lane lets pass."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "test-on-a-gpu.md").read_text(encoding="utf-8")


def test_the_page_has_a_row_for_every_lane():
    lanes = runpy.run_path(str(ROOT / "tests" / "lanes" / "patches.py"))["LANES"]

    rows = [line.split("|")[1].strip(" `") for line in PAGE.splitlines() if line.startswith("| `")]

    assert sorted(rows) == sorted(lanes)


def test_the_page_names_the_lines_that_the_lane_of_capture_lets_pass():
    known = runpy.run_path(str(ROOT / "tests" / "lanes" / "capture.py"))["KNOWN"]

    assert known
    assert [line for line in known if f"`{line.strip()}`" not in PAGE] == []
