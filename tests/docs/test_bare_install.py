"""Every file that the documentation shows runs in the install of README's command, or says at once what it lacks."""

import os
import re
import shutil
import subprocess
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pippin
import pytest
from pippin import extras
from pippin.config import extras as needs
from pippin.config import refuse_missing_extras

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = DOCS / "examples"
FILES = sorted(str(path.relative_to(DOCS)) for path in EXAMPLES.rglob("*.toml"))
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))

NEEDS = {
    "examples/cartpole.toml": ["usd"],
    **{file: ["policy"] for file in FILES if file.startswith("examples/policies/")},
}
"""Extras of Pippin that an example needs."""

ROBOTS = ("go1_", "g1_", "yam_")
"""Beginnings of the names of examples whose robots are in the group `robots`: elsewhere, they say so."""


@pytest.mark.parametrize("file", FILES)
def test_the_extras_of_an_example_are_known_when_it_is_read(file, monkeypatch):
    """As if no extra was installed. The command installs the extra that the table above has."""
    monkeypatch.setattr(needs, "missing_libraries", lambda extra, _: [f"library-of-{extra}"])
    if file.rpartition("/")[2].startswith(ROBOTS) and find_spec("mjlab") is None:
        with pytest.raises(pippin.ConfigError, match="uv pip install mjlab"):
            refuse_missing_extras(pippin.load(DOCS / file))
        return
    config, lacking = pippin.load(DOCS / file), []

    try:
        refuse_missing_extras(config)
    except pippin.ConfigError as error:
        lacking = [re.search(r"needs library-of-(\w+); install it by `(.*)`$", fault) for fault in error.faults]

    assert [found[1] for found in lacking] == NEEDS.get(file, [])
    assert all(found[2] == extras.installation(found[1]) for found in lacking)


def test_the_place_of_what_is_missing_is_that_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(needs, "missing_libraries", lambda extra, _: ["h5py"])
    (tmp_path / "rec.toml").write_text('[solver]\ntype = "xpbd"\n[recorders.h5]\ntype = "hdf5"\n')

    with pytest.raises(pippin.ConfigError) as caught:
        pippin.Simulation.from_file(tmp_path / "rec.toml")

    assert "rec.toml:3: recorders.h5: needs h5py; install it by `" in str(caught.value)


def test_every_extra_with_a_library_has_a_group_of_its_name_in_a_clone():
    """A clone has all packages; an extra that only brings some of them needs no group."""
    projects = [tomllib.loads(path.read_text())["project"] for path in ROOT.glob("core/*/pyproject.toml")]
    members = {each["name"] for each in projects}
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]

    extras = {
        extra
        for each in projects
        for extra, needs in each.get("optional-dependencies", {}).items()
        if not members.issuperset(needs)
    }

    assert "rsl-rl" in extras
    assert not [extra for extra in extras if f"pippin[{extra}]" not in map(str, groups.get(extra, []))]


def test_an_extra_of_the_host_lacks_what_the_extra_of_a_package_lacks(monkeypatch):
    monkeypatch.setattr(extras, "installed_version", lambda name: None if name == "rsl-rl-lib" else "1.0")

    assert extras.missing_libraries("rsl-rl") == ["rsl-rl-lib"]


def test_the_command_is_that_of_a_clone_or_of_an_installed_package(monkeypatch):
    class Installed:
        def __init__(self, text):
            self.text = text

        def read_text(self, name):
            return self.text

    for text, command in (
        ('{"url": "file:///clone/core/host", "dir_info": {"editable": true}}', "uv sync --inexact --group usd"),
        (None, "uv pip install 'pippin[usd]'"),
    ):
        monkeypatch.setattr(extras.metadata, "distribution", lambda name, text=text: Installed(text))
        assert extras.installation("usd") == command


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda path: path.stem)
def test_a_configuration_of_a_tutorial_is_run_below_it(page):
    """A file that is only shown is a file that nobody has tried."""
    text = page.read_text(encoding="utf-8")
    names = re.findall(r"^```toml\n# ([\w./-]+)\n", text, re.MULTILINE)

    for name in names:
        below = text.partition(f"# {name}\n")[2]
        blocks = re.findall(r"^```(?:console|python)\n(.*?)^```$", below, re.MULTILINE | re.DOTALL)
        assert any(name in block for block in blocks), name


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_with_python_says_how_to_run_it(page):
    """Itself, or by a link to the section that says it for several pages."""
    text = page.read_text(encoding="utf-8")
    shared = "first-solver.md#how-to-follow-the-page"
    section = (page.parent / "first-solver.md").read_text(encoding="utf-8") if f"]({shared})" in text else ""

    if re.search(r"^```python\n(?!# [\w/]+\.py\n)", text, re.MULTILINE):
        assert re.search(r"uv run\s+python", text + section)


@pytest.fixture(scope="module")
def bare(tmp_path_factory, uv) -> Path:
    """The folder of the commands of README's install: the workspace without any group."""
    folder = tmp_path_factory.mktemp("bare") / "environment"
    environment = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(folder)}
    environment.pop("VIRTUAL_ENV", None)
    subprocess.run([uv, "sync", "-q"], cwd=ROOT, env=environment, check=True)
    return folder / "bin"


@pytest.fixture(scope="module")
def examples(tmp_path_factory) -> Path:
    """A fresh folder with the examples."""
    folder = tmp_path_factory.mktemp("fresh")
    shutil.copytree(EXAMPLES, folder / "examples")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_an_example_runs_in_the_bare_install_or_says_what_it_lacks(file, bare, examples):
    """In seconds, with exit code 2, before anything is imported, and with the command."""
    command = [
        bare / "pippin",
        "run",
        file,
        "--steps",
        "2",
        "--set",
        "scene.worlds=1",
        "--out",
        Path("runs", file).with_suffix(""),
    ]

    done = subprocess.run(command, cwd=examples, capture_output=True, text=True)

    said = done.stdout + done.stderr
    if done.returncode:
        assert done.returncode == 2, said
        assert re.search(r"`uv sync --inexact --group [\w-]+`|uv pip install \w+", said), said
        assert "import" not in done.stdout, said
    else:
        assert "1 worlds, 2 steps" in said
