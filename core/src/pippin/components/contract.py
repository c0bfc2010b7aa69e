"""Checks of a plugin class against the contract: its `Config`, its hooks and their arguments."""

from __future__ import annotations
import inspect
import re
from collections.abc import Collection, Iterator
from importlib import metadata
from typing import Literal
import attrs
import pluggy
from pippin.hookspecs import Hooks
from pippin.spelling import did_you_mean

__all__ = ['contract_faults']


def contract_faults(plugin: type) -> Iterator[str]:
    """Yield every fault of a plugin's class, one line each: its `Config`, its hooks and their arguments.

    A hook may take fewer arguments than its specification has, never others; one marked `optionalhook=True` may be
    unknown to this version of Pippin.
    """
    yield from _config_faults(plugin)
    yield from _hook_faults(plugin)


def _config_faults(plugin: type) -> Iterator[str]:
    where = f"{plugin.__qualname__}.Config"
    config = getattr(plugin, "Config", None)
    if config is None:
        yield f"{where} is missing; name the attrs class of its settings, an empty one where it has none"
    elif not (inspect.isclass(config) and attrs.has(config)):
        yield f"{where} is not an attrs class, got {config!r}; decorate a class with @attrs.frozen(kw_only=True)"


def _hook_faults(plugin: type) -> Iterator[str]:
    # Two managers, because pluggy refuses a class with a wrong argument as a whole, and only the first one.
    offered, specified = pluggy.PluginManager("pippin"), pluggy.PluginManager("pippin")
    offered.register(plugin)
    specified.add_hookspecs(Hooks)
    for caller in offered.get_hookcallers(plugin) or ():
        for implementation in caller.get_hookimpls():
            hook = getattr(specified.hook, caller.name, None)
            if hook is not None:
                yield from _argument_faults(caller.name, implementation.argnames, hook.spec.argnames)
            elif not implementation.optionalhook:
                hooks = [name for name in vars(Hooks) if not name.startswith("_")]
                yield f"hook {caller.name!r} is unknown; hooks: {', '.join(hooks)}{did_you_mean(caller.name, hooks)}"


def _argument_faults(hook: str, asked: tuple[str, ...], given: tuple[str, ...]) -> Iterator[str]:
    for argument in asked:
        if argument not in given:
            names = ", ".join(given) or "none"
            yield f"hook {hook!r} has no argument {argument!r}; arguments: {names}{did_you_mean(argument, given)}"
