"""Writing of a new plugin's package: a copy of a package that runs, under another name."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlparse

from packaging.requirements import Requirement
from pippin.catalog.entries import Catalog
from pippin.errors import ConfigError

NewKind = Literal[
    "solver",
    "actuator",
    "clamping",
    "sensor",
    "controller",
    "motion",
    "stage",
    "viewer",
    "recorder",
    "importer",
    "object",
    "terrain",
    "term",
    "action",
    "termination",
    "event",
    "command",
    "scene",
    "curriculum",
    "metric",
    "subcommand",
    "extension",
]
"""Kinds of packages: the folders of the templates. A `term` is a quantity and a reward."""

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_DOTTED = re.compile(r"^(github|gitignore)\b")
"""Names that begin with a point in the written package; in a template, they would act on the template itself."""

_NEEDED = re.compile(r'(?<!name = )"(newton|pippin[a-z-]*)"')
"""A needed distribution without bounds, in the `pyproject.toml` of a template."""


def write_package(kind: NewKind, name: str, parent: Path) -> Path:
    """Write a package with a plugin that runs, and return its folder, `pippin-KIND-NAME`.

    The package depends on the versions of Pippin and Newton that it was written with. No file names a path of this
    machine.

    Args:
        kind: Kind of the plugin; a `term` is a quantity and a reward of a task.
        name: Name of the plugin: lower-case words and digits, joined by `-`.
        parent: The folder in which the package's folder is made.

    Raises:
        ConfigError: The name cannot be used, is taken by an installed plugin, or the folder exists.
    """
    if kind not in get_args(NewKind):
        raise ConfigError(f"kind: expected one of {', '.join(get_args(NewKind))}, got {kind!r}")
    if not _NAME.fullmatch(name):
        raise ConfigError(f"name: {name!r} is not made of lower-case words joined by '-', such as 'soft-servo'")
    templates = resources.files("pippin") / "templates"
    files = dict([*_files(templates / "common"), *_files(templates / kind)])
    groups = tomllib.loads(files["pyproject.toml"])["project"]["entry-points"]
    catalog = Catalog.installed()
    for entry in catalog.entries:
        if entry.name == name and catalog.kind(entry.kind).group in groups:
            raise ConfigError(f"name: {name!r} is taken by {entry}; choose another one")
    folder = parent / f"pippin-{kind}-{name}"
    if folder.exists():
        raise ConfigError(f"{folder}: exists; remove it, or choose another name")
    files["pyproject.toml"] = _bounded(files["pyproject.toml"]) + _sources(files["pyproject.toml"])
    # By these words others find it on the index; they are no distributions, and have no bounds.
    words = f'keywords = ["pippin-plugin", "pippin-{kind}"]'
    files["pyproject.toml"] = re.sub(r"(?m)^(description = .*)$", rf"\1\n{words}", files["pyproject.toml"])
    for path, text in files.items():
        target = folder / _renamed(path, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_renamed(text, name), encoding="utf-8")
    return folder


def ways_to_try(folder: Path) -> list[str]:
    """Return the commands that install, test and run a written package, in the environment that has Pippin.

    They name the programs of this environment, because it may not be active in the shell. The last one is the first
    command of Pippin in the README.
    """
    python = Path(sys.executable)
    example = re.findall(r"(?m)^pippin (.*?) +#", (folder / "README.md").read_text(encoding="utf-8"))[0]
    return [
        f"cd {folder}",
        f"uv pip install --python {python} --group dev -e .",
        f"{python} -m pytest",
        f"{python.with_name('pippin')} {example}",
    ]


def _files(folder: Traversable, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and text of every file of a template."""
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _files(entry, f"{place}{entry.name}/")
        elif entry.is_file():
            yield _DOTTED.sub(r".\1", place + entry.name), entry.read_text(encoding="utf-8")


def _renamed(text: str, name: str) -> str:
    """Put a name in place of `demo`, in each of its spellings."""
    words = name.split("-")
    text = text.replace("Demo", "".join(word.capitalize() for word in words))
    text = re.sub(r"(?<=_)demo\b", "_".join(words), text)
    return re.sub(r"\bdemo\b", name, text)


def _bounded(project: str) -> str:
    """Give Pippin, its plugins and Newton the bounds of the versions that are installed, in a `pyproject.toml`.

    The plugins of Pippin are released with it, and have its version.
    """
    own = metadata.version("pippin").split(".")
    low = [int(number) for number in own[:2]]
    high = [low[0], low[1] + 1] if low[0] == 0 else [low[0] + 1, 0]
    own_bounds = f">={low[0]}.{low[1]},<{high[0]}.{high[1]}"
    bounds: dict[str, str] = {}
    for text in metadata.requires("pippin") or ():
        requirement = Requirement(text)
        if requirement.marker is None:
            bounds[requirement.name] = ",".join(sorted(map(str, requirement.specifier), reverse=True))
    return _NEEDED.sub(lambda found: f'"{found[1]}{bounds.get(found[1], own_bounds)}"', project)


def _sources(project: str) -> str:
    """Return uv's sources for the needed distributions of Pippin that come from a repository or a web address.

    A folder of this machine is not a source that others have.
    """
    needed = [name for name in _NEEDED.findall(project) if name.startswith("pippin")]
    sources = {name: _installed_from(name) for name in dict.fromkeys(needed)}
    lines = [f"{name} = {source}" for name, source in sources.items() if source is not None]
    return "\n".join(["", "[tool.uv.sources]", *lines, ""]) if lines else ""


def _installed_from(distribution: str) -> str | None:
    """Return the source of an installed distribution as a TOML table, by PEP 610; None for an index or a folder."""
    try:
        record = metadata.distribution(distribution).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    origin = json.loads(record or "{}")
    place = f', subdirectory = "{origin["subdirectory"]}"' if "subdirectory" in origin else ""
    if "vcs_info" in origin:
        return f'{{ git = "{origin["url"]}", rev = "{origin["vcs_info"]["commit_id"]}"{place} }}'
    if urlparse(origin.get("url", "")).scheme in ("http", "https"):
        return f'{{ url = "{origin["url"]}"{place} }}'
    return None
