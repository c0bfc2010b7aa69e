"""The folder of a saved run in shards: a checkpoint for each shard, and a file that names them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

from pippin.config import SimulationConfig, dump_toml, structure
from pippin.errors import ConfigError
from pippin.files import partial_path

_MANIFEST = "shards.json"
_FORMAT = 1


def write_folder(folder: Path, config: SimulationConfig, count: int, step: int, save: Callable[..., object]) -> None:
    """Write a folder; one that is there keeps its contents until the new ones are complete.

    Args:
        folder: The folder, new or written before.
        config: The configuration of all worlds.
        count: The number of shards.
        step: Control steps so far.
        save: Writes the files whose paths it gets, one for each shard.

    Raises:
        ConfigError: `folder` is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"save: '{folder}' is a file; name a folder")
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"shard-{index}-{step}.npz" for index in range(count)]
    save(files)
    manifest = {
        "format": _FORMAT,
        "step_count": step,
        "files": [file.name for file in files],
        "config": dump_toml(config),
    }
    partial = partial_path(folder / _MANIFEST)
    partial.write_text(f"{json.dumps(manifest, indent=1)}\n", encoding="utf-8")
    partial.replace(folder / _MANIFEST)
    for other in set(folder.glob("shard-*-*.npz")) - set(files):
        other.unlink()


def read_folder(folder: Path) -> tuple[SimulationConfig, Sequence[Path]]:
    """Return the configuration of all worlds, and the file of each shard.

    Args:
        folder: A folder that `write_folder` wrote.

    Raises:
        ConfigError: It is none, or it is damaged.
    """
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        found, names = manifest["format"], [Path(name).name for name in manifest["files"]]  # nothing beside the folder
        tables = tomllib.loads(manifest["config"])
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ConfigError(f"load: '{folder}' has no {_MANIFEST}; name a folder written by `save`") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"load: '{folder}/{_MANIFEST}' is damaged ({error}); name another folder") from error
    if found != _FORMAT:
        raise ConfigError(
            f"load: '{folder}' has format {found!r}, and this version reads {_FORMAT};"
            " load it with the version that wrote it"
        )
    return structure(tables), [folder / name for name in names]
