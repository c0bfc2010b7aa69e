"""What an index shows of each distribution: a page, keywords and classifiers."""

import tomllib
from pathlib import Path

import pytest

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
