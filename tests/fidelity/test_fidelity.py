"""Robot files of the installed packages mean here what they mean in MuJoCo.

The usual run takes the small files of the group `dev`. `PIPPIN_FIDELITY=all` takes every file, those of the group
`robots` too: `PIPPIN_FIDELITY=all uv run --group dev --group robots pytest tests/fidelity`.
"""

import functools
import os
import tomllib
from pathlib import Path

import pytest
from pippin.assets.fidelity import worded
from pippin.assets.fidelity.mujoco_only import OWN

from .finding import files, load, sketched, small_files, survey

FOLDER = Path(__file__).parent
KNOWN = tomllib.loads((FOLDER / "known.toml").read_text(encoding="utf-8"))

DEV = ("gymnasium", "newton")
LARGE = 10_000
"""Size of a file from which on it is not in the usual run [bytes]."""

FILES = files() if os.environ.get("PIPPIN_FIDELITY") == "all" else small_files(DEV, LARGE)


def cases(kind):
    """Return the names of all files; those in a table of `known.toml` must fail."""
    known = {**KNOWN[kind], **(KNOWN["refused"] if kind not in ("moves", "contacts") else {})}
    marks = {name: [pytest.mark.xfail(reason=reason, strict=True)] for name, reason in known.items()}
    return [pytest.param(name, marks=marks.get(name, [])) for name in FILES]


def is_friction(difference):
    return difference.kind == "pair" and difference.field == "friction"


@functools.cache
def found(name):
    finding = survey(name, FILES[name])
    if finding.outcome == "not counted":
        pytest.skip(finding.reason)
    return finding


@pytest.mark.first_cases(3)
@pytest.mark.parametrize("name", cases("differs"))
def test_a_file_makes_the_robot_that_mujoco_makes_of_it(name):
    finding = found(name)

    assert finding.reason == ""
    assert worded(finding.faults) == []


@pytest.mark.first_cases(6)
@pytest.mark.parametrize("name", cases("sketch"))
def test_other_solvers_get_the_same_tree_and_shapes(name):
    if name.endswith(".urdf"):
        pytest.skip("all solvers get what the first test compares")
    try:
        load(FILES[name])
    except ValueError as error:
        pytest.skip(str(error))

    # What only MuJoCo's solvers have is noted, and no fault of the import.
    found = [each for each in sketched(FILES[name]) if each.ours != OWN and not is_friction(each)]
    assert worded(found) == []


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("name", cases("moves"))
def test_the_robot_moves_as_it_does_in_mujoco(name):
    """Half a second of passive motion: single precision leaves 1e-7 m in files that are the same.

    Limits that joints start at make more of it: what MuJoCo's own model moves when it is rounded otherwise is allowed.
    """
    finding = found(name)
    if finding.distance is None:
        pytest.skip("no motion to compare: refused, or other joints, or MuJoCo itself diverges")

    assert finding.is_moved_alike, f"{finding.distance:.0e} m apart, and rounding makes {finding.rounding:.0e} m"


@pytest.mark.first_cases(4)
@pytest.mark.parametrize("name", cases("contacts"))
def test_the_same_shapes_touch_as_deep_and_push_as_hard_as_in_mujoco(name):
    """Eight random poses with contacts; what MuJoCo's own model changes with numbers rounded otherwise is allowed."""
    contacts = found(name).contacts
    if contacts is None:
        pytest.skip("no contacts to compare: refused, or other joints, or nothing touches")

    assert contacts.faults == []
