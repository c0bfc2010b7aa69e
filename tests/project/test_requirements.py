"""What the repository says about its own distributions: their names, and the versions that a package may ask for."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from pippin.catalog.first_party import first_party_distribution

ROOT = Path(__file__).parents[2]

MEMBERS = [
    tomllib.loads(path.read_text())["project"]
    for folder in ("solvers", "actuators", "sensors")
    for path in ROOT.glob(f"{folder}/*/pyproject.toml")
]
"""The tables `[project]` of the distributions besides the core."""


def test_an_error_knows_the_distribution_of_each_plugin_outside_the_core():
    plugins = {
        (kind, name): project["name"]
        for project in MEMBERS
        for kind in ("solver", "actuator", "sensor")
        for name in project["entry-points"].get(f"pippin.{kind}s", {})
    }

    assert {key: first_party_distribution(*key) for key in plugins} == plugins
    assert first_party_distribution("solver", "pd") is None


def test_the_page_about_publishing_asks_for_versions_that_are_there():
    core = tomllib.loads((ROOT / "core" / "pyproject.toml").read_text())["project"]
    newton = next(each for each in map(Requirement, core["dependencies"]) if each.name == "newton")
    page = (ROOT / "docs" / "how-to" / "publish-a-plugin.md").read_text()
    [line] = re.findall(r"(?m)^dependencies = (\[.*\])$", page)
    asked = {each.name: each.specifier for each in map(Requirement, tomllib.loads(f"x = {line}")["x"])}

    assert asked["pippin"].contains(core["version"])
    assert asked["newton"] == newton.specifier
