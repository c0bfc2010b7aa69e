"""Factory of terms: the plugin's class, its base, and errors that name the term."""

from __future__ import annotations

import inspect
from typing import Any

from pippin import ComponentConfig, ConfigError, PluginError
from pippin.components.error_attribution import ErrorAttribution

from .context import TermContext
from .terms import Term

_METHODS = ("add_forces", "apply", "evaluate", "measure", "resample", "reset", "restore", "update")
"""Methods that the task calls."""


def make_term(kind: str, choice: ComponentConfig, context: TermContext, where: str, key: str) -> Any:
    """Return a term, whose exceptions name its key, its distribution and the line of its code.

    Raises:
        ConfigError: The term refuses its configuration.
        PluginError: The plugin cannot be loaded, has another base class, or raises.
    """
    host = context.simulation
    entry = host.catalog.find(kind, choice.type)
    plugin: Any = entry.load()
    package = plugin.__module__.partition(".")[0]
    tree = host.config.tree
    attribution = ErrorAttribution(owner="task", place=f"{key}.", source=str(entry), package=package, tree=tree)
    try:
        term = plugin(choice.config, context)
    except ConfigError as error:
        raise ConfigError(*(f"{where}.{fault}" for fault in error.faults)) from error
    except Exception:
        with attribution.during("__init__"):
            raise
    is_labelled = any("labels" in inspect.get_annotations(each) for each in inspect.getmro(plugin))
    if is_labelled and not hasattr(term, "labels"):
        raise PluginError(f"{key}: {entry}: {plugin.__qualname__} has no `labels`; set them in its constructor")
    for name in _METHODS:
        if hasattr(term, name):
            setattr(term, name, attribution.guarded(name, getattr(term, name)))
    return term


def release_term(term: Term) -> None:
    """Drop what lets a term refer to itself and to others; it is not called any more."""
    for part, names in ((term, _METHODS), (term.context, ("_measure", "_commands", "_actions"))):
        for name in names:
            vars(part).pop(name, None)
