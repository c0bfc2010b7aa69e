"""`pippin new`: what it writes installs, keeps the contract and runs as it is; and is what the tutorials grow to."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.templates.writing import ways_to_try, write_package

ROOT = Path(__file__).parents[2]
KINDS = ("solver", "actuator", "sensor", "viewer", "recorder")


def new(*words: str | Path):
    return CliRunner().invoke(main, ["new", *map(str, words)])


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Path:
    """The folder of an environment in which uv leaves only what a project needs."""
    return tmp_path_factory.mktemp("new") / "environment"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_passes_its_tests_and_runs_in_a_clean_environment(kind, uv, tmp_path, monkeypatch, environment):
    """The commands that `pippin new` prints, as a stranger would type them."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setenv("UV_PROJECT_ENVIRONMENT", str(environment))
    result = new(kind, "grown-here", "--into", tmp_path)
    assert result.exit_code == 0, result.output
    folder = tmp_path / f"pippin-{kind}-grown-here"
    commands = [line.strip() for line in result.stdout.splitlines()[1:]]
    assert commands == [f"cd {folder}", "uv run pytest", "uv run pippin run scene.toml --steps 500"]

    for command in commands[1:]:
        words = [uv, *command.split()[1:]]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    (run,) = (folder / "runs").iterdir()
    summary = json.loads((run / "summary.json").read_text())
    assert (summary["steps"], summary["worlds"]) == (500, 4)
    assert "grown-here" in [plugin["type"] for plugin in summary["plugins"].values()]


def test_where_the_source_of_pippin_is_unknown_the_package_goes_into_the_environment_that_has_it(tmp_path):
    """As after an installation from wheels: no index may have Pippin, so that `uv run` would not find it."""
    folder = write_package("actuator", "here", tmp_path)
    project = folder / "pyproject.toml"
    project.write_text(project.read_text().partition("[tool.uv.sources]")[0])

    commands = ways_to_try(folder)

    assert commands == [
        f"cd {folder}",
        f"uv pip install --python {sys.executable} --group dev -e .",
        f"{sys.executable} -m pytest",
        "pippin run scene.toml --steps 500",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_of_the_template_is_left(kind, tmp_path):
    new(kind, "two-words", "--into", tmp_path)

    for path in tmp_path.rglob("*"):
        assert "demo" not in path.name.lower()
        if path.is_file():
            assert "demo" not in path.read_text().lower(), path
    project = tomllib.loads((tmp_path / f"pippin-{kind}-two-words" / "pyproject.toml").read_text())["project"]
    assert project["entry-points"][f"pippin.{kind}s"] == {
        "two-words": f"pippin_{kind}_two_words:{kind.capitalize()}TwoWords"
    }


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Brake", "name: 'Brake' is not made of lower-case words joined by '-'"),
        ("../brake", "name: '../brake' is not made of lower-case words"),
        ("pd", "name: 'pd' is taken by actuator 'pd' of pippin-actuator-pd"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(name, message, tmp_path):
    result = new("actuator", name, "--into", tmp_path)

    assert result.exit_code == 2
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_folder_that_exists_is_left_alone(tmp_path):
    (tmp_path / "pippin-solver-mine").mkdir()

    result = new("solver", "mine", "--into", tmp_path)

    assert result.exit_code == 2
    assert "pippin-solver-mine: exists; remove it, or choose another name" in result.stderr
    assert not list((tmp_path / "pippin-solver-mine").iterdir())


@pytest.mark.parametrize("kind", ["solver", "actuator", "sensor"])
def test_the_tutorial_grows_to_what_is_written(kind):
    """Every kernel, class of Newton's and configuration of the package stands in the tutorial, line by line."""
    page = (ROOT / "docs" / "tutorials" / f"first-{kind}.md").read_text()
    package = Path(str(resources.files("pippin") / "templates" / kind / "src" / f"pippin_{kind}_demo"))

    definitions = [each for path in sorted(package.glob("*.py")) for each in definitions_of(path.read_text())]

    assert len(definitions) >= 3
    for name, text in definitions:
        if name != f"{kind.capitalize()}Demo":  # the plugin's class is shortened there
            assert text in page, name


def definitions_of(source: str) -> list[tuple[str, str]]:
    """Return name and text of every class and function of a file, decorators included."""
    lines = source.splitlines()
    return [
        (node.name, "\n".join(lines[min(each.lineno for each in (node, *node.decorator_list)) - 1 : node.end_lineno]))
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    ]
