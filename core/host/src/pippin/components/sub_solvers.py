"""Solvers inside the table of another solver: found in its configuration, and made before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

import attrs
import pluggy
from pippin.catalog.entries import Catalog
from pippin.config import ComponentConfig
from pippin.config.converter import is_component
from pippin.config.faults import union_members
from pippin.config.fields import fields_of
from pippin.errors import PluginError
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
    chosen = dict(_solvers_in(choice.config))
    parts = {key: _sub_solver(f"{name}.{key}", each, catalog, attribution_of) for key, each in chosen.items()}
    with attribution.during("__init__"):
        return plugin(choice.config, parts) if parts else plugin(choice.config), attribution


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
    """Return the answers of a component, each with those of its arguments that it asks for."""
    manager = pluggy.PluginManager("pippin")
    manager.add_hookspecs(Hooks)
    manager.register(component)
    found = {}
    for caller in manager.get_hookcallers(component) or ():
        (answer,) = caller.get_hookimpls()
        if answer.wrapper or answer.hookwrapper:
            owner = attribution.owner
            raise PluginError(f"{owner}: wraps {caller.name!r}, which nobody answers here; answer it instead")
        names = (*answer.argnames, *answer.kwargnames)
        found[caller.name] = _asking(attribution.guarded(caller.name, answer.function), names)
    release_hooks(manager)
    return found


def _asking(function: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    return lambda **arguments: function(**{name: arguments[name] for name in names})
