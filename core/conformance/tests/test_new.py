"""`pippin new`: what it writes installs, keeps the contract and runs as it is; and is what the tutorials grow to."""

from __future__ import annotations

import ast
import json
import math
import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
from importlib import metadata, resources
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from packaging.requirements import Requirement
from pippin.catalog import Catalog
from pippin.cli import main
from pippin.errors import ConfigError
from pippin_conformance.templates.writing import templates, ways_to_try, write_package

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
KINDS = tuple(templates())

NAMES = {"term": {"quantity": "Quantity", "reward": "Reward"}, "extension": {"plugin": "Extension"}}
NAMES["recorder"] = {"recorder": "Recorder", "reader": "Reader"}
"""Kinds of plugins in a package, with the first word of the class, if they are not those of the package."""


SOLVER = "./pippin-solver-grown-here"


def new(*words: str | Path):
    return CliRunner().invoke(main, ["new", *map(str, words)])


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """A folder with a package of each kind."""
    folder = tmp_path_factory.mktemp("written")
    for kind in KINDS:
        result = new(kind, "grown-here", "--into", folder)
        assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="module")
def site(written, uv, tmp_path_factory) -> Path:
    """The folder in which all of them are installed."""
    site = tmp_path_factory.mktemp("site")
    command = [uv, "pip", "install", "-q", "--no-deps", "--python", sys.executable, "--target", site]
    subprocess.run([*command, *written.glob("pippin-*")], check=True)
    return site


def test_what_is_written_installs_passes_its_tests_and_runs_as_the_command_says(uv, share_bytecode, tmp_path):
    """The printed commands, word for word, in an environment with Pippin, the kit and one solver."""
    environment = tmp_path / "environment"
    tested = tmp_path / "constraints.txt"  # the versions of this run, and no newer one by chance
    freeze = [uv, "pip", "freeze", "-q", "--exclude-editable", "--python", sys.executable]
    tested.write_bytes(subprocess.run(freeze, check=True, capture_output=True).stdout)
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, environment], check=True)
    folders = (ROOT / "core" / "host", ROOT / "core" / "conformance", ROOT / "solvers" / "featherstone")
    members = [word for folder in folders for word in ("-e", folder)]
    install = [uv, "pip", "install", "-q", "--python", environment, "--constraints", tested]
    subprocess.run([*install, *members, "pytest"], check=True)
    share_bytecode(environment)

    words = [environment / "bin" / "pippin", "new", "actuator", "grown-here", "--into", tmp_path]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    commands = " && ".join(line.strip().replace("uv pip", f"{shlex.quote(uv)} pip") for line in told[1:])
    outside = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    done = subprocess.run(["bash", "-c", commands], cwd=tmp_path, env=outside, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = (tmp_path / "pippin-actuator-grown-here" / "runs").iterdir()
    summary = json.loads((run / "summary.json").read_text())
    assert (summary["steps"], summary["worlds"]) == (500, 4)
    assert [plugin["type"] for plugin in summary["plugins"].values()] == ["featherstone", "grown-here"]


def test_a_new_solver_has_its_line_in_the_diagram_within_ten_minutes(uv, tmp_path):
    """What the tutorial says, command by command, in processes of their own; a walk by hand took 385 s with an
    environment without bytecode, two cores that others used too, and the tests of the package.
    """
    program, site = Path(sys.executable).with_name("pippin"), tmp_path / "site"
    inside = {**os.environ, "PYTHONPATH": str(site)}
    commands = [
        [program, "new", "solver", "grown-here"],
        [uv, "pip", "install", "-q", "--no-deps", "--python", sys.executable, "--target", site, SOLVER],
        [program, "check-plugin", "grown-here"],
        [program, "run", f"{SOLVER}/scene.toml", "--steps", "20"],
        [program, "benchmark", "grown-here", "--quick", "--out", "diagram"],
    ]
    started = time.monotonic()
    for command in commands:
        done = subprocess.run(command, cwd=tmp_path, env=inside, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    elapsed = time.monotonic() - started

    rows = json.loads((tmp_path / "diagram" / "benchmark.json").read_text())["rows"]
    top = [row for row in rows if row["problem"] == "free-top"]
    assert {row["outcome"] for row in top} == {"finished"}
    long, short = sorted(top, key=lambda row: row["dt"], reverse=True)[:2]
    order = math.log(long["error"] / short["error"]) / math.log(long["dt"] / short["dt"])
    assert 0.8 < order < 1.2  # symplectic Euler
    assert "grown-here" in (tmp_path / "diagram" / "benchmark.html").read_text()
    assert elapsed < 600.0


def test_the_tests_of_every_kind_pass(written, site, run_tests_elsewhere):
    """One process for all but the actuator's, which pass above: their own settings are the warnings as errors."""
    folders = sorted(written / f"pippin-{kind}-grown-here" / "tests" for kind in KINDS if kind != "actuator")

    options = ("-q", "-n", "0", "-c", os.devnull, "--import-mode=importlib", "-W", "error")
    run_tests_elsewhere(sys.executable, *options, *folders, cwd=written, PYTHONPATH=str(site))


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_command_of_every_kind_runs(kind, written, site, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(site)
    monkeypatch.chdir(tmp_path)
    folder = written / f"pippin-{kind}-grown-here"
    scene, command = folder / "scene.toml", shlex.split(ways_to_try(folder)[-1])[1:]

    words = {"scene.toml": str(scene), "500": "20"}
    result = CliRunner().invoke(main, [*(words.get(word, word) for word in command if word != "--json"), "--json"])

    assert result.exit_code == 0, result.output
    if kind == "problem":  # its benchmark builds the world itself
        assert [row["outcome"] for row in json.loads(result.stdout)["rows"]] == ["finished", "finished"]
        return
    assert "grown-here" in scene.read_text()
    assert command[0] == "grown-here" or json.loads(result.stdout)["steps"] == 20


LOADED = """
from pippin.catalog.entries import Catalog
from pippin.components.contract import load_plugin
for entry in Catalog.installed().entries:
    if entry.name == "grown-here":
        entry.load_command() if entry.kind == "subcommand" else load_plugin(entry)
        print(entry.kind)
"""
"""What `pippin plugins --doctor` does in a process for each plugin."""


def test_the_doctor_finds_nothing_in_any_package(site):
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run([sys.executable, "-c", LOADED], env=environment, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert len(set(done.stdout.split())) > len(KINDS)  # a package of terms has several


def test_no_file_names_a_place_of_this_machine(written):
    """What others clone installs as here: nothing in it is found on one machine only, or fetched from a named index."""
    for path in (path for path in written.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        text = path.read_text()
        assert str(ROOT) not in text, path
        assert not re.search(r"(?<![\w.])/(root|home|work|Users|tmp)/", text), path
        assert "tool.uv.sources]\npippin = { path" not in text, path


def test_every_package_has_a_licence_a_ci_file_and_bounds(written):
    newton = next(text for text in metadata.requires("pippin") or () if Requirement(text).name == "newton")
    for folder in written.glob("pippin-*"):
        written_project = tomllib.loads((folder / "pyproject.toml").read_text())
        project = written_project["project"]
        needed = {Requirement(text).name: Requirement(text).specifier for text in project["dependencies"]}
        kind = folder.name.removeprefix("pippin-").removesuffix("-grown-here")
        assert project["name"] == folder.name
        assert project["keywords"] == ["pippin-plugin", f"pippin-{kind}"]
        assert metadata.version("pippin") in needed["pippin"]
        assert "0.99" not in needed["pippin"]
        assert needed["newton"] == Requirement(newton).specifier
        for text in written_project["dependency-groups"]["dev"]:
            name, specifier = Requirement(text).name, Requirement(text).specifier
            assert name == "pytest" or specifier == needed["pippin"]
        assert "pippin-conformance" in {Requirement(text).name for text in written_project["dependency-groups"]["dev"]}
        assert (folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
        assert "runs/" in (folder / ".gitignore").read_text().splitlines()
        workflow = yaml.safe_load((folder / ".github" / "workflows" / "test.yml").read_text())
        job = workflow["jobs"]["test"]
        assert job["strategy"]["matrix"]["resolution"] == ["lowest-direct", "highest"]
        assert job["steps"][-1]["run"] == "uv run --resolution ${{ matrix.resolution }} pytest"
        assert "schedule" in workflow[True]  # YAML takes `on` for a boolean


def test_all_kinds_of_plugins_but_five_can_be_begun():
    """A package of terms shows two of them; extensions are the kind `plugin`."""
    begun = {kind for package in KINDS for kind in NAMES.get(package, {package: ""})}

    assert set(Catalog.installed().kinds) - begun == {"executor", "trainer", "log", "table", "robot"}


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_of_the_template_is_left(kind, tmp_path):
    new(kind, "two-words", "--into", tmp_path)

    for path in tmp_path.rglob("*"):
        assert "demo" not in path.name.lower()
        if path.is_file():
            assert "demo" not in path.read_text().lower(), path
    project = tomllib.loads((tmp_path / f"pippin-{kind}-two-words" / "pyproject.toml").read_text())["project"]
    for plugin, word in NAMES.get(kind, {kind: kind.capitalize()}).items():
        ((name, place),) = project["entry-points"][Catalog.installed().kind(plugin).group].items()
        module, _, made = place.partition(":")
        assert (name, module) == ("two-words", f"pippin_{kind}_two_words")
        text = (tmp_path / f"pippin-{kind}-two-words" / "src" / module / "__init__.py").read_text()
        if kind == "subcommand":
            assert made == "subcommand_two_words"
        else:
            assert f'.{"terms" if kind == "term" else kind}:{word}TwoWords"' in text.partition(f"class {made}")[2]


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


def test_a_template_from_outside_is_laid_over_a_base_of_pippin(tmp_path):
    template = tmp_path / "gripper"
    (template / "src").mkdir(parents=True)
    (template / "src" / "demo.py").write_text("FORCE = @force@  # N, of a @kind@\n")
    texts = {"group": "grippers", "config": "DemoConfig", "about": "A hand.", "tests": "it grips", "shows": "it holds"}
    lines = [f'{word} = "{text}"' for word, text in {"base": "pippin_conformance.templates:bases/box", **texts}.items()]
    (template / "template.toml").write_text("\n".join([*lines, "force = '5.0'"]))

    folder = write_package(template, "soft", tmp_path)

    assert (folder / "src" / "soft.py").read_text() == "FORCE = 5.0  # N, of a gripper\n"
    assert (folder / "box.xml").exists()
    assert not list(folder.glob("template*"))
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    assert project["project"]["entry-points"]["pippin.grippers"] == {"soft": "pippin_gripper_soft:SoftConfig"}
    assert "# pippin run scene.toml --steps 500: it holds" in (folder / "scene.toml").read_text()


def test_a_word_without_a_text_is_refused(tmp_path):
    (tmp_path / "gripper").mkdir()
    (tmp_path / "gripper" / "template.toml").write_text('base = "pippin_conformance.templates:bases/package"')

    with pytest.raises(ConfigError, match=r"template gripper: .* has the word @\w+@; add its text to template\.toml"):
        write_package(tmp_path / "gripper", "soft", tmp_path)


@pytest.mark.parametrize("kind", ["solver", "actuator", "sensor"])
def test_the_tutorial_grows_to_what_is_written(kind):
    """Every kernel, class of Newton's and configuration of the package stands in the tutorial, line by line."""
    page = (ROOT / "docs" / "tutorials" / f"first-{kind}.md").read_text()
    package = Path(str(resources.files("pippin_conformance") / "templates" / kind / "src" / f"pippin_{kind}_demo"))

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
