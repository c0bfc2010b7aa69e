"""Executors by name: the plugin of a name, with its settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from pippin.catalog.entries import Catalog
from pippin.config.loading import structure_choice
from pippin.config.overrides import apply, parse
from pippin.config.tree import Node

from .executor import Executor


def make_executor(name: str, settings: Iterable[str] = ()) -> Executor:
    """Return the executor of a name.

    Args:
        name: A plugin in the group `pippin.executors`.
        settings: Values of its configuration, each `key=value`.

    Raises:
        PluginError: No such executor is installed, or it is broken.
        ConfigError: A setting is wrong.
    """
    table = apply(Node.build({"type": name}), parse(settings)).plain()
    choice = structure_choice("executor", table)
    return cast(Executor, Catalog.installed().find("executor", choice.type).load()(choice.config))
