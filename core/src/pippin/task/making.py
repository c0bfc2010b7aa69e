"""Making of terms: a plugin's class and its base, and the blame for what it raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pippin.components.blame import Blame
from pippin.errors import ConfigError, PluginError

from .terms import Action, Command, Event, Quantity, Reward, Termination

if TYPE_CHECKING:
    from pippin.binding import Host
    from pippin.catalog.entries import Kind
    from pippin.config import ComponentConfig

    from .place import TaskPlace

__all__ = ["make_term"]

_BASES: dict[str, type] = {
    "quantity": Quantity,
    "action": Action,
    "reward": Reward,
    "termination": Termination,
    "event": Event,
    "command": Command,
}

_METHODS = ("apply", "evaluate", "measure", "resample", "reset", "update")
"""Methods that the task calls."""


def make_term(host: Host, kind: Kind, choice: ComponentConfig, place: TaskPlace, where: str, key: str) -> Any:
    """Return a term, whose exceptions name its key, its distribution and the line of its code.

    Args:
        host: The simulation.
        kind: The kind of the term.
        choice: The type of the term, and its configuration.
        place: Its place in the task.
        where: Beginning of the faults of its configuration; whoever makes the term puts its own place in front.
        key: Key of its table, such as `task.rewards.upright`.

    Raises:
        ConfigError: The term refuses its configuration.
        PluginError: The plugin cannot be loaded, has another base class, or raises.
    """
    entry = host.catalog.find(kind, choice.type)
    plugin: Any = entry.load()
    base = _BASES[kind]
    if not issubclass(plugin, base):
        raise PluginError(
            f"{key}: {entry}: {plugin.__qualname__} is no pippin.task.{base.__name__}; derive it from that"
        )
    package = plugin.__module__.partition(".")[0]
    blame = Blame(owner="task", place=f"{key}.", source=str(entry), package=package, tree=host.config.tree)
    try:
        term = plugin(choice.config, place)
    except ConfigError as error:
        raise ConfigError(*(f"{where}.{fault}" for fault in error.faults)) from error
    except Exception:
        with blame.during("__init__"):
            raise
    for name in _METHODS:
        if hasattr(term, name):
            setattr(term, name, blame.guarded(name, getattr(term, name)))
    return term
