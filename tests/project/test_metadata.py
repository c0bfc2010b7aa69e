"""What an index shows of each distribution: a page, keywords and classifiers."""

import re
import tomllib
from pathlib import Path

import pytest
from pippin.catalog import Catalog

ROOT = Path(__file__).parents[2]
PROJECTS = sorted(
    path for folder in ("core", "solvers", "actuators", "sensors") for path in ROOT.glob(f"{folder}/*/src")
)


@pytest.mark.parametrize("source", PROJECTS, ids=lambda path: path.parent.name)
def test_every_distribution_has_a_page_keywords_and_classifiers(source):
    project = tomllib.loads((source.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    readme = project["readme"]
    assert readme["content-type"] == "text/markdown"
    assert readme["text"].startswith(f"# {project['name']}\n\n{project['description']}\n")
    assert f"uv pip install {project['name']}\n" in readme["text"]
    assert {"pippin", "newton", "robotics"} <= set(project["keywords"])
    assert "Topic :: Scientific/Engineering :: Physics" in project["classifiers"]


def test_a_workflow_runs_the_commands_of_the_readme():
    workflow = (ROOT / ".github/workflows/readme.yml").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    run, test = re.findall(r"^python3 -m pip install -q uv && .*", readme, re.MULTILINE)

    assert f"run: {run}\n" in workflow
    assert f"{test}\n" in (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert "run: .ci/run\n" in workflow


def test_the_page_of_platforms_says_what_the_workflow_and_the_packaging_tests_do():
    page = (ROOT / "docs/reference/platforms.md").read_text(encoding="utf-8")
    workflow = (ROOT / ".github/workflows/readme.yml").read_text(encoding="utf-8")
    packaging = (ROOT / "tests/project/test_packaging.py").read_text(encoding="utf-8")
    [machines] = re.findall(r"os: \[(.*)\]", workflow)
    versions = re.search(r'"version", \[(.*)\]\)\n.*"platform", \["windows", "aarch64-apple-darwin"\]', packaging)

    assert set(machines.split(", ")) == set(re.findall(r"`(\w+-latest)`", page))
    for system in ("Windows, x86-64", "macOS, ARM"):
        assert f"| {system} | {versions[1].replace(chr(34), '')} | **never**: all wheels resolve |" in page


@pytest.mark.parametrize("name", ["wrong", "plugin"])
def test_the_forms_of_issues_name_commands_that_exist(name):
    form = (ROOT / f".github/ISSUE_TEMPLATE/{name}.yml").read_text(encoding="utf-8")

    commands = re.findall(r"`pippin ([a-z-]+)", form)
    assert commands
    assert set(commands) <= {*Catalog.installed().names("subcommand"), "plugins"}


def test_the_citation_has_the_licence_of_the_distributions():
    host = tomllib.loads((ROOT / "core/host/pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert f"license: {host['license']}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


ENGINES = [
    source
    for source in PROJECTS
    if any("engine = EngineSource(" in path.read_text("utf-8") for path in source.glob("*/__init__.py"))
]


@pytest.mark.parametrize("source", ENGINES, ids=lambda path: path.parent.name)
def test_the_page_of_an_engine_says_its_licence_and_what_was_measured(source):
    page = " ".join(
        tomllib.loads((source.parent / "pyproject.toml").read_text("utf-8"))["project"]["readme"]["text"].split()
    )
    code = next(text for path in source.glob("*/__init__.py") if "EngineSource(" in (text := path.read_text("utf-8")))
    licence = re.search(r'licence="([^,("]+)', code)[1].strip()

    assert re.search(r"Measured with [^:]*\d\.\d", page)
    assert "Not measured: " in page
    assert licence in page


def test_there_are_pages_of_five_engines():
    assert [path.parent.name for path in ENGINES] == ["drake", "motrix", "mujoco_native", "physx", "pinocchio"]
