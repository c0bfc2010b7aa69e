"""Hooks of plugins: checks of a class against the contract, and hooks that plugins specify for each other."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

import pluggy
from pippin.catalog.entry import Entry
from pippin.errors import PluginError
from pippin.hookspecs import Hooks
from pippin.spelling import did_you_mean
from pippin.support.declaration import Declaration, misspelt

from .runtime_attributes import RuntimeAttributes

_CLASSES = 256
"""Classes whose faults are kept: many components are made of few classes."""

_PLAIN_HOOKS = frozenset(name for name in vars(Hooks) if not name.startswith("_")) - {"check_model"}
"""Hooks whose answer is no iterator."""


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


def load_plugin(entry: Entry) -> type:
    """Import and return a plugin's class, checked against the contract.

    A hook may take fewer arguments than its specification, but no other ones. A hook marked `optionalhook=True` may be
    unknown to this version of Pippin.

    Args:
        entry: The plugin.

    Raises:
        PluginError: As `Entry.load`; or the class has an unknown hook, an unknown argument or a misspelt attribute, one
            line per fault.
    """
    plugin = entry.load()
    if faults := [f"{entry}: {fault}" for fault in (*hook_faults(plugin), *attribute_faults(plugin))]:
        raise PluginError("\n".join(faults))
    return plugin


@lru_cache(maxsize=_CLASSES)
def attribute_faults(plugin: type) -> tuple[str, ...]:
    """Return a fault for each public name of a plugin's class that is similar to an attribute which the host reads, and
    for each method that has the name of a hook without its mark: they would never be read or called.
    """
    return (*misspelt(plugin, {*Declaration.names(), *RuntimeAttributes.names()}), *_unmarked(plugin))


@lru_cache(maxsize=_CLASSES)
def hook_faults(plugin: type) -> tuple[str, ...]:
    """Return every fault of the hooks of a plugin's class and of their arguments, one line each."""
    return tuple(_hook_faults(plugin))


def release_hooks(manager: pluggy.PluginManager) -> None:
    """Drop the hooks of a manager that nobody asks any more: each of them refers to it, and to the plugins."""
    vars(manager.hook).clear()


def implementation_fault(hook: str, implementation: pluggy.HookImpl, specified: Collection[str]) -> str | None:
    """Return why the host would never call an implementation of a hook, or never run its body; None if it does."""
    is_wrapper = implementation.wrapper or implementation.hookwrapper
    if hook in _PLAIN_HOOKS and inspect.isgeneratorfunction(implementation.function) and not is_wrapper:
        return (
            f"hook {hook!r} yields, so that its body never runs; return in place of yield, or surround the others:"
            " @pippin.hookimpl(wrapper=True)"
        )
    if hook in specified or implementation.optionalhook:
        return None
    hint = did_you_mean(hook, specified) or ";"
    return (
        f"hook {hook!r} is unknown{hint} hooks: {', '.join(specified)}; a hook of another plugin needs"
        " optionalhook=True"
    )


def _hook_faults(plugin: type) -> Iterator[str]:
    # Two managers: with one, pluggy would refuse the whole class at its first wrong argument.
    offered, specified = pluggy.PluginManager("pippin"), pluggy.PluginManager("pippin")
    offered.register(plugin)
    specified.add_hookspecs(Hooks)
    if inspect.isclass(own := getattr(plugin, "hookspecs", None)) and names_of_hooks(own):
        specified.add_hookspecs(own)
    names = [*names_of_hooks(Hooks), *(names_of_hooks(own) if inspect.isclass(own) else ())]
    for caller in offered.get_hookcallers(plugin) or ():
        for implementation in caller.get_hookimpls():
            if fault := implementation_fault(caller.name, implementation, names):
                yield fault
            hook = getattr(specified.hook, caller.name, None)
            if hook is not None and hook.spec is not None:
                yield from _argument_faults(caller.name, implementation.argnames, hook.spec.argnames)


def _unmarked(plugin: type) -> Iterator[str]:
    if not any(hasattr(getattr(plugin, name, None), "pippin_impl") for name in dir(plugin) if not name.startswith("_")):
        return  # no component, such as an executor
    for name in vars(Hooks):
        method = None if name.startswith("_") else getattr(plugin, name, None)
        if callable(method) and not hasattr(method, "pippin_impl"):
            yield f"{name} is the name of a hook, but the method has no mark; decorate it with @pippin.hookimpl"


def _argument_faults(hook: str, arguments: tuple[str, ...], known: tuple[str, ...]) -> Iterator[str]:
    for argument in arguments:
        if argument not in known:
            names = ", ".join(known) or "none"
            yield f"hook {hook!r} has no argument {argument!r}; arguments: {names}{did_you_mean(argument, known)}"
