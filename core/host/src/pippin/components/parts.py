"""Parts: objects of plugins that a component makes itself, such as the terms of a task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pippin.binding import Host
from pippin.config import ComponentConfig
from pippin.errors import ConfigError, PluginError

from .error_attribution import ErrorAttribution


def make_part(
    host: Host, kind: str, choice: ComponentConfig, *arguments: Any, owner: str, key: str, methods: Iterable[str] = ()
) -> Any:
    """Return an object of a plugin that a component chooses in its own table.

    Exceptions of its constructor and of its methods become `PluginError`s, which name the distribution of the plugin,
    the line of its code, and its key in the file. A `ConfigError` stays one.

    Args:
        host: The simulation.
        kind: The kind of plugin, such as `quantity`.
        choice: The plugin and its configuration, the first argument of the constructor.
        *arguments: Further arguments of the constructor.
        owner: Name of the component that calls the part.
        key: Key of the part in the file, such as `task.rewards.effort`.
        methods: Names of the methods that the component calls; the part may lack some.

    Raises:
        ConfigError: The part refuses its configuration.
        PluginError: The plugin cannot be loaded, or its constructor raises.
    """
    try:
        entry = host.catalog.find(kind, choice.type)
        plugin: Any = entry.load()
    except PluginError as error:
        raise PluginError(f"{key}: {error}") from error
    package, tree = plugin.__module__.partition(".")[0], host.config.tree
    attribution = ErrorAttribution(owner=owner, place=f"{key}.", source=str(entry), package=package, tree=tree)
    try:
        part = plugin(choice.config, *arguments)
    except ConfigError:
        raise  # the caller knows where the table is
    except Exception:
        with attribution.during("__init__"):
            raise
    for name in methods:
        if hasattr(part, name):
            setattr(part, name, attribution.guarded(name, getattr(part, name)))
    return part
