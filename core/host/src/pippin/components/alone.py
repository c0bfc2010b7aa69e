"""A component without a simulation, as tests of a plugin need it."""

from __future__ import annotations

from typing import Any

from pippin.catalog.entries import Catalog
from pippin.config import ComponentConfig
from pippin.config.tree import Node, Origin

from .error_attribution import ErrorAttribution
from .sub_solvers import make_plugin


def make_component(kind: str, choice: ComponentConfig) -> Any:
    """Return a component as the host makes it, without a simulation; solvers in its table are made before it.

    Args:
        kind: Kind of the plugin, such as `solver`.
        choice: The plugin and its configuration, as `pippin.config.structure_choice` returns them.

    Raises:
        ConfigError: A plugin refuses its configuration.
        PluginError: A plugin cannot be loaded, or raises an exception.
    """
    return make_plugin(f"{kind} {choice.type!r}", kind, choice, Catalog.installed(), _attribution)[0]


def _attribution(name: str, plugin: type, source: str) -> ErrorAttribution:
    tree = Node({}, Origin())
    return ErrorAttribution(owner=name, place=f"{name}.", source=source, package=plugin.__module__, tree=tree)
