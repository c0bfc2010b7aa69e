"""The page *Solvers* tells with which versions its declarations were checked, and these are installed."""

import runpy
from importlib import metadata
from pathlib import Path

import pytest
from pippin.catalog import CONTRACT_VERSIONS

PAGES = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "write_reference.py"))
CHECKED = PAGES["solvers"].checked_solvers()


def test_every_solver_of_this_repository_was_checked_and_fails_nothing():
    declared = PAGES["conformance"].conformances()
    assert CHECKED.keys() == {each.subject.name for each in declared if each.subject.kind == "solver"}
    assert {name: row["failed"] for name, row in CHECKED.items() if row["failed"]} == {}


@pytest.mark.parametrize("name", CHECKED)
def test_a_solver_was_checked_with_the_versions_that_are_installed(name):
    """After an upgrade the page would tell what nobody has measured: `python docs/check_solvers.py` measures it."""
    installed = {each: metadata.version(each) for each in ("newton", "warp-lang", "mujoco", "mujoco-warp")}

    assert CHECKED[name]["versions"] == {"contract": str(max(CONTRACT_VERSIONS)), **installed}
