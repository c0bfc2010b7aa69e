"""What an index shows of each distribution: a page, keywords and classifiers."""

import tomllib
from pathlib import Path

import pytest
from pippin.catalog import Catalog

ROOT = Path(__file__).parents[2]
PROJECTS = sorted(
    path for folder in ("core", "solvers", "actuators", "sensors") for path in ROOT.glob(f"{folder}/*/src")
)
NAMING = (ROOT / "docs" / "how-to" / "publish-a-plugin.md").read_text().partition("## Choose a name")[2]


@pytest.mark.parametrize("source", PROJECTS, ids=lambda path: path.parent.name)
def test_every_distribution_has_a_page_keywords_and_classifiers(source):
    project = tomllib.loads((source.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    readme = project["readme"]
    assert readme["content-type"] == "text/markdown"
    assert readme["text"].startswith(f"# {project['name']}\n\n{project['description']}\n")
    assert f"uv pip install {project['name']}\n" in readme["text"]
    assert {"pippin", "newton", "robotics"} <= set(project["keywords"])
    assert "Topic :: Scientific/Engineering :: Physics" in project["classifiers"]


def test_the_page_on_publishing_names_the_group_of_every_kind():
    plurals = [kind.plural for kind in Catalog.installed().kinds.values() if kind.plural]
    missing = [each for each in plurals if f"pippin.{each}`" not in NAMING and f"`.{each}`" not in NAMING]

    assert plurals
    assert not missing
