"""The tasks that Pippin brings, by name: for Gymnasium, and for commands in place of a file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from pippin import ConfigError, did_you_mean

_FOLDER = Path(__file__).parent / "gym"

NAMED_TASKS: Mapping[str, Path] = {
    f"Pippin/{name}-v0": _FOLDER / "tasks" / file
    for name, file in tomllib.loads((_FOLDER / "tasks.toml").read_text(encoding="utf-8")).items()
}
"""The file of each task, by the name that Gymnasium knows."""

_NAME = re.compile(r"(?:pippin_task\.gym:)?(?:Pippin/)?(\w+?)(?:-v(\d+))?")

_CONFIG, _POLICY = "config.toml", "policy.onnx"


class TaskFile(click.ParamType):
    """The file of a task on the command line: a path, a name such as `Pippin/Ant-v0`, or `Ant` for short."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path; a name of neither a task nor a file is refused with the nearest one."""
        path, found = Path(value), _NAME.fullmatch(str(value))
        if path.exists() or found is None:
            return path
        by_folded = {name.casefold(): file for name, file in NAMED_TASKS.items()}
        name = f"Pippin/{found[1]}-v{found[2] or 0}"
        if name.casefold() not in by_folded:
            near = did_you_mean(name, NAMED_TASKS) or "; name a file"
            raise ConfigError(f"{value}: no file and no task has this name{near}; `pippin tasks` lists the tasks")
        return by_folded[name.casefold()]


TASK_FILE = TaskFile()
"""Type of the argument FILE of commands that need a task."""


def trained_files(file: Path, policy: Path | None) -> tuple[Path, Path | None]:
    """Return a file and a policy, where a run folder of `pippin train` may stand for either.

    Raises:
        ConfigError: A folder is none of a training.
    """
    if file.is_dir():
        policy = file if policy is None else policy
        file = _in(file, _CONFIG)
    return file, _in(policy, _POLICY) if policy is not None and policy.is_dir() else policy


def _in(folder: Path, name: str) -> Path:
    if not (folder / name).is_file():
        raise ConfigError(f"{folder}: is a folder without {name}; name a file, or the run folder of a training")
    return folder / name
