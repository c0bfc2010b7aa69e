"""What the host asks of a plugin: before its import a version, after it hooks and `Config` of its class after."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator
from importlib import metadata
from typing import Literal

import attrs
import pluggy

from .hookspecs import Hooks
from .spelling import did_you_mean

__all__ = ["CONTRACT_GROUP", "CONTRACT_VERSIONS", "Age", "age_of", "contract_faults", "declared_version"]

CONTRACT_VERSIONS = range(1, 2)
"""The versions of the contract that this Pippin keeps; `docs/reference/contract-version.md` says what changes them."""

CONTRACT_GROUP = "pippin.contract"
"""The group of entry points whose only name, an integer, is the version that a distribution's plugins keep to."""

Age = Literal["too-old", "too-new"]


def declared_version(names: Collection[str]) -> int:
    """Return the version that a distribution declares, from its names in `CONTRACT_GROUP`; 1 where it has none.

    Raises:
        ValueError: It declares several, or one that is no integer.
    """
    if not names:
        return 1
    (name, *others) = sorted(names)
    if others or not re.fullmatch(r"\d+", name, re.ASCII):
        listed = ", ".join(map(repr, sorted(names)))
        raise ValueError(f"group {CONTRACT_GROUP} declares {listed}; name one entry point there, by an integer")
    return int(name)


def age_of(version: int, accepted: range = CONTRACT_VERSIONS) -> tuple[Age, str] | None:
    """Return whether a version is too old or too new for a host, and why; None where the host keeps it."""
    if version in accepted:
        return None
    taken = " to ".join(str(each) for each in dict.fromkeys((accepted[0], accepted[-1])))
    age, cure = ("too-old", "update the plugin") if version < accepted[0] else ("too-new", "update pippin")
    return age, f"it keeps to contract {version}, and Pippin {metadata.version('pippin')} to {taken}; {cure}"


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
