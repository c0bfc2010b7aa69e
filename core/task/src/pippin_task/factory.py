"""Factory of terms: the plugin's class, its base, and errors that name the term."""

from __future__ import annotations

import inspect
from typing import Any

from pippin import ComponentConfig, ConfigError, PluginError
from pippin.components import make_part

from .context import TermContext
from .terms import Term

_METHODS = ("add_forces", "apply", "evaluate", "measure", "resample", "reset", "restore", "update")
"""Methods that the task calls."""


def make_term(kind: str, choice: ComponentConfig, context: TermContext, where: str, key: str) -> Any:
    """Return a term, whose exceptions name its key, its distribution and the line of its code.

    Args:
        kind: The kind of term, such as `quantity`.
        choice: The type of the term, and its configuration.
        context: The task and the simulation as the term sees them.
        where: Key of its table, which begins each fault of the configuration.
        key: Its key in the file, for errors of its code.

    Raises:
        ConfigError: The term refuses its configuration.
        PluginError: The plugin cannot be loaded, has another base class, or raises.
    """
    host = context.simulation
    try:
        term = make_part(host, kind, choice, context, owner="task", key=key, methods=_METHODS)
    except ConfigError as error:
        raise ConfigError(*(f"{where}.{fault}" for fault in error.faults)) from error
    plugin = type(term)
    is_labelled = any("labels" in inspect.get_annotations(each) for each in inspect.getmro(plugin))
    if is_labelled and not hasattr(term, "labels"):
        entry = host.catalog.find(kind, choice.type)
        raise PluginError(f"{key}: {entry}: {plugin.__qualname__} has no `labels`; set them in its constructor")
    return term


def release_term(term: Term) -> None:
    """Drop what lets a term refer to itself and to others; it is not called any more."""
    for part, names in ((term, _METHODS), (term.context, ("_measure", "_commands", "_actions"))):
        for name in names:
            vars(part).pop(name, None)
