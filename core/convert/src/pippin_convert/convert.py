"""Files of Pippin from tasks of other libraries."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pippin import ConfigError, did_you_mean
from pippin.config import inline_text, toml_text

from .mjlab_task import written_task
from .written import WrittenTask

_LONGEST = 600.0
"""Time after which an environment that does not answer is given up [s]."""

_READER = Path(__file__).with_name("mjlab_reader.py")


def convert_mjlab(name: str, folder: Path, environment: Path) -> WrittenTask:
    """Write a task of mjlab into a folder: `task.toml`, and the files of its robots.

    Args:
        name: Its name, as mjlab registers it.
        folder: Where; it is made if it does not exist.
        environment: The Python environment that has mjlab.

    Raises:
        ConfigError: There is no such task or environment, mjlab failed, or the folder has a `task.toml`.
    """
    file = folder / "task.toml"
    if file.exists():
        raise ConfigError(f"--out: {file} exists; name another folder, or remove it")
    with tempfile.TemporaryDirectory() as away:
        told = _read(name, Path(away), environment)
        task = written_task(name, told["settings"], told["robots"])
        folder.mkdir(parents=True, exist_ok=True)
        for label in told["robots"]:
            _move(Path(away) / label, folder / label)
    file.write_text(_text(task), encoding="utf-8")
    return task


def _text(task: WrittenTask) -> str:
    """Return the file of a task: its title, its tables, and what is not written."""
    tables = dict(task.tables)
    own = tables.pop("task")
    plain = {key: value for key, value in own.items() if not isinstance(value, Mapping)}
    lines = [f"# {task.title}", "", toml_text({**tables, "task": plain})]
    groups = {f"observations.{name}": terms for name, terms in own.get("observations", {}).items()}
    kinds = {name: terms for name, terms in own.items() if name not in (*plain, "observations")}
    for name, terms in {**groups, **kinds}.items():
        rows = (inline_text({label: term})[2:-2] for label, term in terms.items())  # without the braces
        lines += [f"[task.{name}]", *rows, ""]
    if task.left:
        lines += ["# Not written, as Pippin has no twin of it:", *(f"# - {each}" for each in task.left)]
    lines += [f"# {note}" for note in task.notes]
    return "\n".join(lines).rstrip() + "\n"


def _read(name: str, folder: Path, environment: Path) -> Mapping[str, Any]:
    """Let mjlab tell a task, and write its robots into a folder."""
    places = [environment / "bin" / "python", environment / "Scripts" / "python.exe"]
    python = next((place for place in places if place.exists()), None)
    if python is None:
        raise ConfigError(
            f"--environment: no Python in {str(environment)!r}; `uv venv {environment}` and `uv pip install --python"
            f" {environment} mjlab` make it"
        )
    own = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    try:
        done = subprocess.run(
            [python.absolute(), _READER, name, folder],
            capture_output=True, text=True, check=False, timeout=_LONGEST, env=own, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise ConfigError(f"--environment: {environment} did not answer within {_LONGEST:g} s; try it again") from error
    if done.returncode:
        said = "\n".join(done.stderr.strip().splitlines()[-8:])
        raise ConfigError(f"--environment: mjlab in {environment} ended with the code {done.returncode}:\n{said}")
    told: Mapping[str, Any] = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    if "settings" not in told:
        hint = did_you_mean(name, told["tasks"]) or ";"
        raise ConfigError(f"mjlab:{name}: mjlab has no such task{hint} tasks: {', '.join(told['tasks'])}")
    return told


def _move(source: Path, target: Path) -> None:
    for path in source.rglob("*"):
        if path.is_file():
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())
