"""Extras that a configuration needs, looked for before anything is imported or built."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from pippin.catalog.entries import Catalog
from pippin.catalog.entry import Entry
from pippin.catalog.implementation import ENVIRONMENT, extra_of
from pippin.errors import ConfigError, PluginError
from pippin.extras import installation, missing_libraries

from .component import ComponentConfig
from .files import find_file, has_prefix
from .model import SimulationConfig
from .tree import KeyPath, path_text

_OF_ASSETS = {".usd": "usd", ".usda": "usd", ".usdc": "usd", ".usdz": "usd", ".xacro": "xacro"}
"""The extra that reads assets with some suffix."""


def refuse_missing_extras(config: SimulationConfig) -> None:
    """Refuse a configuration whose viewers, recorders, assets or policy need a library that is not installed.

    Raises:
        ConfigError: One line for each, with the command that installs it.
    """
    faults = list[str]()
    for path, distribution, extra, settings in _of_config(config):
        missing = missing_libraries(extra, distribution)
        if missing:
            where = ": ".join(filter(None, (str(config.tree.nearest_origin(path)), path_text(path))))
            cure = f"install it by `{installation(extra, distribution)}`"
            if hasattr(settings, ENVIRONMENT):
                other = f"name an environment that has it: `pippin env add` makes one, and {ENVIRONMENT} names it"
                is_apart = getattr(getattr(settings, "engine", None), "is_apart", False)
                cure = f"it cannot be beside Pippin, so {other}" if is_apart else f"{cure}, or {other}"
            faults.append(f"{where}: needs {' and '.join(missing)}; {cure}")
    if faults:
        raise ConfigError(*dict.fromkeys(faults))


def _of_config(config: SimulationConfig) -> Iterator[tuple[KeyPath, str, str, Any]]:
    for name, table in config.tables.items():
        yield from _of_table(name, table)
    for index, asset in enumerate(config.scene.assets):
        extra = _OF_ASSETS.get(PurePath(asset.path).suffix.lower())
        extra = "usd" if asset.format == "usd" else extra
        if extra and asset.importer is None:
            yield ("scene", "assets", index), "pippin", extra, asset
        if has_prefix(asset.path):
            find_file(asset.path, f"scene.assets[{index}].path")


def _of_table(name: str, table: Any) -> Iterator[tuple[KeyPath, str, str, Any]]:
    registered = Catalog.installed().tables[name]
    if isinstance(registered, Entry):
        if extra := extra_of(table):
            yield (name,), registered.distribution, extra, table
        return
    if not registered.is_component:
        return  # a command of its own uses it, and looks
    chosen = {(name, label): each for label, each in table.items()} if registered.is_labelled else {(name,): table}
    for path, choice in chosen.items():
        if extra := extra_of(choice.config):
            yield path, _distribution(registered.name, choice), extra, choice.config


def _distribution(kind: str, choice: ComponentConfig) -> str:
    try:
        return Catalog.installed().find(kind, choice.type).distribution
    except PluginError:
        return "pippin"
