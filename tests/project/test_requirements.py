"""What the repository says about its own distributions: their names, and the versions that a package may ask for."""

import re
import runpy
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from pippin.catalog.source import first_party_distribution

ROOT = Path(__file__).parents[2]
FIRST_PARTY = runpy.run_path(str(ROOT / "docs" / "first_party.py"))


def test_the_host_names_the_plugins_of_every_other_distribution():
    """The file is as written, and an error finds the distribution of each plugin in it."""
    written = FIRST_PARTY["PATH"].read_text(encoding="utf-8")
    assert written == FIRST_PARTY["text"](), "run `uv run --group dev python docs/write_reference.py`"

    plugins = {
        (plural, name): project["name"]
        for project in FIRST_PARTY["projects"]()
        for plural, names in FIRST_PARTY["groups"](project).items()
        for name in names
    }
    assert {
        ("solvers", "mujoco"): "pippin-solver-mujoco",
        ("subcommands", "fit"): "pippin-fit",
        ("tables", "task"): "pippin-task",
    }.items() <= plugins.items()
    assert {key: first_party_distribution(*key) for key in plugins} == plugins
    assert first_party_distribution("solvers", "pd") is None


def test_the_page_about_publishing_asks_for_versions_that_are_there():
    core = tomllib.loads((ROOT / "core" / "host" / "pyproject.toml").read_text())["project"]
    newton = next(each for each in map(Requirement, core["dependencies"]) if each.name == "newton")
    page = (ROOT / "docs" / "how-to" / "publish-a-plugin.md").read_text()
    [line] = re.findall(r"(?m)^dependencies = (\[.*\])$", page)
    asked = {each.name: each.specifier for each in map(Requirement, tomllib.loads(f"x = {line}")["x"])}

    assert asked["pippin"].contains(core["version"])
    assert asked["newton"] == newton.specifier
