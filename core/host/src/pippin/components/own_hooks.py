"""Hooks that plugins specify for each other: `hookspecs` of a plugin's class, in the manager of a simulation."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import Any

import pluggy
from pippin.errors import PluginError
from pippin.hookspecs import Hooks
from pippin.spelling import did_you_mean


def names_of_hooks(specification: type) -> list[str]:
    """Return the methods of a class that are marked with `pippin.hookspec`."""
    return [name for name, value in vars(specification).items() if hasattr(value, "pippin_spec")]


def add_own_hooks(manager: pluggy.PluginManager, components: Mapping[str, Any]) -> frozenset[str]:
    """Add the hooks that components specify to a manager, and return their names."""
    owners: dict[str, str] = dict.fromkeys(names_of_hooks(Hooks), "Pippin")
    added: set[int] = set()
    for label, component in components.items():
        specification = getattr(type(component), "hookspecs", None)
        if specification is None or id(specification) in added:  # two components of one class share it
            continue
        names = names_of_hooks(specification) if inspect.isclass(specification) else []
        if not names:
            raise PluginError(
                f"{label}: hookspecs has no hook, got {specification!r}; name a class whose methods are marked with"
                " @pippin.hookspec"
            )
        for name in names:
            if name in owners:
                raise PluginError(f"{label}: hookspecs has {name!r}, a hook of {owners[name]}; give it another name")
            owners[name] = label
        manager.add_hookspecs(specification)
        added.add(id(specification))
    return frozenset(name for name, owner in owners.items() if owner != "Pippin")


def refuse_arguments(hook: str, own: Collection[str], expected: Collection[str], received: Collection[str]) -> None:
    """Refuse the call of a hook that no component specifies, or with other arguments than it has."""
    if hook in names_of_hooks(Hooks):
        raise PluginError(f"call_hook: {hook!r} is called by the host; call a hook that a plugin specifies")
    if hook not in own:
        known = f"; hooks of plugins: {', '.join(sorted(own))}" if own else "; no plugin of this simulation has any"
        raise PluginError(f"call_hook: no plugin specifies {hook!r}{did_you_mean(hook, own)}{known}")
    if set(expected) != set(received):
        raise PluginError(
            f"call_hook: {hook} takes ({', '.join(expected)}), got ({', '.join(received)}); pass these by name"
        )
