"""Writing of a new plugin's package: a copy of a package that runs, under another name."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlparse
from urllib.request import url2pathname

from pippin.catalog.entries import Catalog
from pippin.errors import ConfigError

__all__ = ["NewKind", "ways_to_try", "write_package"]

NewKind = Literal["solver", "actuator", "sensor", "viewer", "recorder"]

_SOURCES = "[tool.uv.sources]"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def write_package(kind: NewKind, name: str, parent: Path) -> Path:
    """Write a package with a plugin that runs, and return its folder, `pippin-KIND-NAME`.

    The package depends on the Pippin that wrote it, from the same source if that is no registry.

    Args:
        kind: Kind of the plugin.
        name: Name of the plugin: lower-case words and digits, joined by `-`.
        parent: The folder in which the package's folder is made.

    Raises:
        ConfigError: The name cannot be used, is taken by an installed plugin, or the folder exists.
    """
    if kind not in get_args(NewKind):
        raise ConfigError(f"kind: expected one of {', '.join(get_args(NewKind))}, got {kind!r}")
    if not _NAME.fullmatch(name):
        raise ConfigError(f"name: {name!r} is not made of lower-case words joined by '-', such as 'soft-servo'")
    for entry in Catalog.installed().entries:
        if (entry.kind, entry.name) == (kind, name):
            raise ConfigError(f"name: {name!r} is taken by {entry}; choose another one")
    folder = parent / f"pippin-{kind}-{name}"
    if folder.exists():
        raise ConfigError(f"{folder}: exists; remove it, or choose another name")
    for path, text in _files(resources.files("pippin") / "templates" / kind):
        target = folder / _renamed(path, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_renamed(text, name), encoding="utf-8")
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as project:
        project.write(_sources(folder))
    return folder


def ways_to_try(folder: Path) -> list[str]:
    """Return the commands that test and run a written package.

    uv can make an environment for the package if the package names the source of Pippin. Otherwise Pippin may be on no
    index, and the package goes into the environment that has it.
    """
    if _SOURCES in (folder / "pyproject.toml").read_text(encoding="utf-8"):
        return [f"cd {folder}", "uv run pytest", "uv run pippin run scene.toml --steps 500"]
    return [
        f"cd {folder}",
        f"uv pip install --python {sys.executable} --group dev -e .",
        f"{sys.executable} -m pytest",
        "pippin run scene.toml --steps 500",
    ]


def _files(folder: Traversable, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and text of every file of a template."""
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _files(entry, f"{place}{entry.name}/")
        elif entry.is_file():
            yield place + entry.name, entry.read_text(encoding="utf-8")


def _renamed(text: str, name: str) -> str:
    """Put a name in place of `demo`, in each of its spellings."""
    words = name.split("-")
    text = text.replace("Demo", "".join(word.capitalize() for word in words))
    text = re.sub(r"(?<=_)demo\b", "_".join(words), text)
    return re.sub(r"\bdemo\b", name, text)


def _sources(folder: Path) -> str:
    """Return uv's sources for Pippin's distributions that a template needs; empty if all are from a registry."""
    needed = re.findall(r'"(pippin[a-z-]*)"', (folder / "pyproject.toml").read_text(encoding="utf-8"))
    sources = {name: _installed_from(name) for name in dict.fromkeys(needed)}
    lines = [f"{name} = {source}" for name, source in sources.items() if source is not None]
    note = "# Pippin as it is installed on this machine: leave this table out before you publish."
    return "\n".join(["", note, _SOURCES, *lines, ""]) if lines else ""


def _installed_from(distribution: str) -> str | None:
    """Return the source of an installed distribution as a TOML table, by PEP 610; None if it is a registry."""
    try:
        record = metadata.distribution(distribution).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    if record is None:
        return None
    origin = json.loads(record)
    url = urlparse(origin["url"])
    if "vcs_info" in origin:
        return f'{{ git = "{origin["url"]}", rev = "{origin["vcs_info"]["commit_id"]}" }}'
    if url.scheme != "file":
        return f'{{ url = "{origin["url"]}" }}'
    is_editable = origin.get("dir_info", {}).get("editable", False)
    return f'{{ path = "{url2pathname(url.path)}"{", editable = true" if is_editable else ""} }}'
