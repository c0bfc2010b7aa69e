"""Python environments of engines: folders that `pippin env` makes with uv, each with a record of what is in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pippin import ConfigError, did_you_mean
from pippin.catalog import Catalog, Entry

from .source import ATTRIBUTE, EngineSource

RECORD = "pippin-env.json"
"""File of an environment that says what it is; without it, a folder is not ours."""

EXTRA = "engine"
"""The extra of a solver's distribution that requires its engine."""

_FACTS = """
import importlib.metadata, json

def licence(told):
    return told.get("License-Expression") or "".join((told.get("License") or "").splitlines()[:1])

found = importlib.metadata.distributions()
print(json.dumps({each.metadata["Name"]: [each.version, licence(each.metadata)] for each in found}))
"""


def python_of(environment: str) -> Path:
    """Return the Python of an environment.

    Args:
        environment: The folder.

    Raises:
        ConfigError: There is none.
    """
    folder = Path(environment).expanduser()
    for place in ("bin/python", "Scripts/python.exe"):
        if (folder / place).exists():
            return (folder / place).absolute()
    what = "no Python in" if folder.is_dir() else "no folder"
    raise ConfigError(
        f"solver.environment: {what} {environment!r}; make it by `pippin env add SOLVER --to {environment}`"
    )


@attrs.frozen(kw_only=True)
class EngineEnvironment:
    """An environment that `pippin env add` made."""

    folder: Path
    """Where it is."""

    solver: str
    """The solver whose engine it has."""

    requirements: tuple[str, ...]
    """What was asked for."""

    packages: dict[str, tuple[str, str]]
    """Version and licence of each package, by its name, as the packages say."""

    megabytes: int
    """What it takes on the disk [MB]."""

    @classmethod
    def read(cls, folder: Path) -> EngineEnvironment:
        """Return the environment of a folder.

        Raises:
            ConfigError: `pippin env add` did not make it.
        """
        try:
            told = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            packages = {name: (str(version), str(licence)) for name, (version, licence) in told.pop("packages").items()}
            named = {name: told[name] for name in ("solver", "megabytes")}
            return cls(folder=folder, packages=packages, requirements=tuple(told["requirements"]), **named)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"{folder}: no environment that `pippin env add` made ({RECORD}: {error}); name one that"
                " `pippin env list` shows"
            ) from error

    def write(self) -> None:
        """Write the record of the environment."""
        told = attrs.asdict(self, filter=attrs.filters.exclude("folder"))
        (self.folder / RECORD).write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


@attrs.frozen(kw_only=True)
class EnvironmentPlan:
    """An environment that can be made."""

    solver: str
    """The solver whose engine it gets."""

    source: EngineSource
    """What the settings of the solver say of the engine."""

    requirements: tuple[str, ...]
    """What is installed, with NumPy."""

    folder: Path
    """Where."""

    @classmethod
    def of(cls, solver: str, instead: Sequence[str], folder: Path) -> EnvironmentPlan:
        """Return the plan for a solver.

        Args:
            solver: Its name.
            instead: Requirements in place of those of the same packages, and others.
            folder: Where; it does not exist.

        Raises:
            ConfigError: The solver has no engine, or the folder exists.
            PluginError: There is no such solver.
        """
        entry = Catalog.installed().find("solver", solver)
        source = getattr(entry.load_config(), ATTRIBUTE, None)
        if not isinstance(source, EngineSource):
            known = [each.name for each in Catalog.installed().entries if _has_engine(each)]
            near = did_you_mean(solver, known) or f"; those that have one: {', '.join(known) or 'none is installed'}"
            raise ConfigError(f"{solver}: this solver needs no engine of another environment{near}")
        if folder.exists():
            raise ConfigError(f"{folder}: exists; remove it by `pippin env remove {folder}`, or name another by --to")
        own = [Requirement(each) for each in metadata.requires(entry.distribution) or ()]
        needed = {
            canonicalize_name(each.name): f"{each.name}{each.specifier}"
            for each in own
            if each.marker and each.marker.evaluate({"extra": EXTRA}) and not each.marker.evaluate({"extra": ""})
        }
        needed |= {canonicalize_name(Requirement(each).name): each for each in instead}
        return cls(solver=solver, source=source, requirements=tuple(needed.values()), folder=folder)

    def make(self, python: str | None = None) -> EngineEnvironment:
        """Make the environment with uv; a folder that could not be filled is removed.

        Args:
            python: Version or path of its Python; by default the version that runs.

        Raises:
            ConfigError: uv is not installed, or it failed; its last lines say why.
        """
        version = python or ".".join(map(str, sys.version_info[:2]))
        version = str(Path(version).absolute()) if Path(version).exists() else version
        try:
            _uv("venv", "--quiet", "--python", version, str(self.folder.absolute()))
            own = python_of(str(self.folder))
            _uv("pip", "install", "--quiet", "--python", str(own), "numpy", *self.requirements)
            told = subprocess.run([own, "-I", "-c", _FACTS], check=True, capture_output=True, text=True).stdout
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        packages = {name: (version, licence or "not stated") for name, (version, licence) in json.loads(told).items()}
        size = sum(each.stat().st_size for each in self.folder.rglob("*") if each.is_file() and not each.is_symlink())
        found = EngineEnvironment(
            folder=self.folder,
            solver=self.solver,
            requirements=self.requirements,
            packages=dict(sorted(packages.items())),
            megabytes=-(-size // 1_000_000),
        )
        found.write()
        return found


def _has_engine(entry: Entry) -> bool:
    if entry.kind != "solver" or entry.state != "ok":
        return False
    return isinstance(getattr(entry.load_config(), ATTRIBUTE, None), EngineSource)


def _uv(*arguments: str) -> None:
    uv = shutil.which("uv")
    if uv is None:
        raise ConfigError("pippin env: needs uv, which is not installed; install it by `pip install uv`")
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    with TemporaryDirectory() as away:  # or uv would take the constraints of the project that we are in
        done = subprocess.run([uv, *arguments], capture_output=True, text=True, env=environment, cwd=away, check=False)
    if done.returncode:
        said = "\n".join(done.stderr.strip().splitlines()[-12:])
        raise ConfigError(
            f"pippin env: `uv {' '.join(arguments[:2])}` failed with exit code {done.returncode}:\n{said}"
        )
