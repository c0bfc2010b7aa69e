"""The making of plugin objects: components with the solvers in their tables, also without a simulation, and parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, get_args

import attrs
import pluggy
from pippin.binding import Host
from pippin.catalog.entries import Catalog
from pippin.catalog.outside import is_trusted
from pippin.config import ComponentConfig
from pippin.config.converter import is_component
from pippin.config.faults import union_members
from pippin.config.fields import fields_of
from pippin.config.tree import Node, Origin
from pippin.errors import ConfigError, PluginError
from pippin.hookspecs import Hooks
from pippin.solving.tables import SubSolver
from pippin.support.declaration import Declaration

from .contract import load_plugin, release_hooks
from .error_attribution import ErrorAttribution
from .runtime_attributes import RuntimeAttributes

AttributionOf = Callable[[str, type, str], ErrorAttribution]
"""Returns the error attribution of a component by its name, class and source."""


def make_plugin(
    name: str, kind: str, choice: ComponentConfig, catalog: Catalog, attribution_of: AttributionOf
) -> tuple[Any, ErrorAttribution]:
    """Return a plugin object and its error attribution; the solvers in its table, by key, are its second argument.

    Raises:
        PluginError: A plugin cannot be loaded or made.
        ConfigError: A plugin refuses its configuration.
    """
    entry = catalog.find(kind, choice.type)
    plugin = load_plugin(entry)
    attribution = attribution_of(name, plugin, str(entry))
    if hasattr(config := choice.config, "engine") and config.environment and not is_trusted(str(config.environment)):
        raise PluginError(f"{name}.environment: the programs in '{config.environment}' would run; add --trust")
    chosen = dict(_solvers_in(config))
    parts = {key: _sub_solver(f"{name}.{key}", each, catalog, attribution_of) for key, each in chosen.items()}
    with attribution.during("__init__"):
        return plugin(config, parts) if parts else plugin(config), attribution


def _solvers_in(config: Any, path: str = "") -> Iterator[tuple[str, ComponentConfig]]:
    """Yield the solvers that a configuration names, in fields of the type `Annotated[ComponentConfig, "solver"]`.

    Each has its key path in the table: `rigid`, or `entries.sand.solver` in a table of tables.
    """
    for field in fields_of(type(config)):
        value, key = getattr(config, field.name), f"{path}{field.name}"
        if any(is_component(each) and get_args(each)[1] == "solver" for each in union_members(field.type)):
            yield from () if value is None else [(key, value)]
        elif isinstance(value, Mapping):
            for label, each in value.items():
                yield from _solvers_in(each, f"{key}.{label}.") if attrs.has(type(each)) else ()


def _sub_solver(name: str, choice: ComponentConfig, catalog: Catalog, attribution_of: AttributionOf) -> SubSolver:
    component, attribution = make_plugin(name, "solver", choice, catalog, attribution_of)
    declaration = Declaration.of(component, name)
    attributes = RuntimeAttributes(component, name, attribution.during)
    return SubSolver(name, component, declaration, attributes, _hooks_of(component, attribution), choice.type, catalog)


def _hooks_of(component: Any, attribution: ErrorAttribution) -> Mapping[str, Callable[..., Any]]:
    manager = pluggy.PluginManager("pippin")
    manager.add_hookspecs(Hooks)
    manager.register(component)
    found = {}
    for caller in manager.get_hookcallers(component) or ():
        (answer,) = caller.get_hookimpls()
        if answer.wrapper or answer.hookwrapper:
            raise PluginError(f"{attribution.owner}: wraps {caller.name!r}, which nobody answers; answer it instead")
        names = (*answer.argnames, *answer.kwargnames)
        found[caller.name] = _asking(attribution.guarded(caller.name, answer.function), names)
    release_hooks(manager)
    return found


def _asking(function: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    return lambda **arguments: function(**{name: arguments[name] for name in names})


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
