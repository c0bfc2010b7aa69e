"""Writing of a new plugin's package: a copy of a package that runs, under another name."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Mapping
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from urllib.parse import urlparse

from packaging.requirements import Requirement
from packaging.version import Version
from pippin import ConfigError
from pippin.catalog import Catalog

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_WORDS = "template.toml"
"""The file of a template that names its base and has the texts of its words."""

_DOTTED = re.compile(r"^(github|gitignore)\b")
"""Names that begin with a point in the written package; in a template, they would act on the template itself.

For the same reason a file may end with `.template`, which is left out.
"""

_NEEDED = re.compile(r'(?<!name = )"(newton|pippin[a-z-]*)"')
"""A needed distribution without bounds, in the `pyproject.toml` of a template."""


def templates() -> dict[str, Traversable]:
    """Return the templates that the installed kinds name, by the names of their folders, sorted.

    A `term` is a quantity and a reward, which share one.
    """
    places = sorted({kind.template for kind in Catalog.installed().kinds.values() if kind.template is not None})
    found = [resources.files(package) / folder for package, _, folder in (each.partition(":") for each in places)]
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def write_package(template: Traversable, name: str, parent: Path) -> Path:
    """Write a package with a plugin that runs, and return its folder, `pippin-KIND-NAME`.

    The name of the template's folder is the kind. The package depends on the versions of Pippin and Newton that it was
    written with. No file names a path of this machine.

    Args:
        template: The folder of a template, see `pippin_conformance.templates`.
        name: Name of the plugin: lower-case words and digits, joined by `-`.
        parent: The folder in which the package's folder is made.

    Raises:
        ConfigError: The name cannot be used, is taken by an installed plugin, or the folder exists; or the template has
            a word without a text.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"name: {name!r} is not made of lower-case words joined by '-', such as 'soft-servo'")
    files, project = _filled(template), "pyproject.toml"
    groups = tomllib.loads(files[project])["project"]["entry-points"]
    catalog = Catalog.installed()
    for entry in catalog.entries:
        if entry.name == name and catalog.kind(entry.kind).group in groups:
            raise ConfigError(f"name: {name!r} is taken by {entry}; choose another one")
    folder = parent / f"pippin-{template.name}-{name}"
    if folder.exists():
        raise ConfigError(f"{folder}: exists; remove it, or choose another name")
    files[project] = _bounded(files[project]) + _sources(files[project])
    # By these words others find it on the index; they are no distributions, and have no bounds.
    words = f'keywords = ["pippin-plugin", "pippin-{template.name}"]'
    files[project] = re.sub(r"(?m)^(description = .*)$", rf"\1\n{words}", files[project])
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


def _filled(template: Traversable) -> dict[str, str]:
    """Return path and text of every file of a template and of the folders below it, with texts in place of words."""
    layers, files, words = [template], {}, {"kind": template.name}
    while base := tomllib.loads((layers[-1] / _WORDS).read_text(encoding="utf-8")).get("base"):
        package, _, folder = base.partition(":")
        layers.append(resources.files(package) / folder)
    for layer in reversed(layers):
        files |= _files(layer)
        words |= tomllib.loads(files.pop(_WORDS))
    return {path: _worded(text, words, path) for path, text in files.items()}


def _worded(text: str, words: Mapping[str, str], path: str) -> str:
    """Put texts in place of words such as `@kind@`, also in the texts; a line with an empty one vanishes."""

    def text_of(found: re.Match[str]) -> str:
        if found[1] not in words:
            raise ConfigError(f"template {words['kind']}: {path} has the word @{found[1]}@; add its text to {_WORDS}")
        filled = _worded(words[found[1]], words, path)
        return filled if not filled or filled.endswith("\n") else filled + found[2]

    return re.sub(r"@([a-z]+)@(\n?)", text_of, text)


def _files(folder: Traversable, place: str = "") -> dict[str, str]:
    files: dict[str, str] = {}
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            files |= _files(entry, f"{place}{entry.name}/")
        elif entry.is_file():
            files[_DOTTED.sub(r".\1", place + entry.name.removesuffix(".template"))] = entry.read_text(encoding="utf-8")
    return files


def _renamed(text: str, name: str) -> str:
    """Put a name in place of `demo`, in each of its spellings."""
    words = name.split("-")
    text = text.replace("Demo", "".join(word.capitalize() for word in words))
    text = re.sub(r"(?<=_)demo\b", "_".join(words), text)
    return re.sub(r"\bdemo\b", name, text)


def _bounded(project: str) -> str:
    """Give Pippin, other packages of plugins and Newton the bounds of the versions that are installed, in a
    `pyproject.toml`.

    A package that is not installed has the version of Pippin, with which Pippin's own are released.
    """
    bounds: dict[str, str] = {}
    for text in metadata.requires("pippin") or ():
        requirement = Requirement(text)
        if requirement.marker is None:
            bounds[requirement.name] = ",".join(sorted(map(str, requirement.specifier), reverse=True))
    return _NEEDED.sub(lambda found: f'"{found[1]}{bounds.get(found[1]) or _alike(found[1])}"', project)


def _alike(distribution: str) -> str:
    """Return the versions that work as the installed one does: of one minor version, or from 1.0 on of a major one."""
    try:
        version = Version(metadata.version(distribution))
    except metadata.PackageNotFoundError:
        version = Version(metadata.version("pippin"))
    above = f"0.{version.minor + 1}" if version.major == 0 else f"{version.major + 1}.0"
    return f">={version.major}.{version.minor},<{above}"


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
