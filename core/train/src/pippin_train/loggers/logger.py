"""The contract of a logger, and all loggers of a training."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import attrs
from pippin import ComponentConfig, PluginError
from pippin.catalog import Catalog

Ending = Literal["finished", "stopped", "failed"]

_FILES = ("*.mp4", "*.html", "policy.onnx", "config.toml")
"""Files of a run folder that loggers get at the end, as patterns."""


@attrs.frozen(kw_only=True)
class LoggedRun:
    """Facts of a training for a logger."""

    folder: Path
    """The run folder."""

    settings: Mapping[str, Any]
    """The tables of the configuration as they were written, with all changes."""

    key: str | None = None
    """What `Logger.key` was before a `--resume`; None in a new training."""


class Logger(abc.ABC):
    """Base class of loggers. It is called with its configuration and the run; an error before the training ends it.

    A later error is told once, and the training continues without the logger.
    """

    key: str | None = None
    """By what the library finds the run again when it is resumed, if it needs it."""

    def __init__(self, config: Any, run: LoggedRun) -> None:
        self.config, self.run = config, run

    @abc.abstractmethod
    def add_numbers(self, numbers: Mapping[str, float], iteration: int) -> None:
        """Take the row of an iteration.

        Args:
            numbers: The columns of `training.csv` that have a value, by name.
            iteration: The iteration, counted from 1.
        """

    @abc.abstractmethod
    def add_file(self, path: Path, iteration: int) -> None:
        """Take a video (`.mp4`), a page (`.html`), or another file.

        Args:
            path: The file.
            iteration: The last iteration.
        """

    @abc.abstractmethod
    def close(self, ending: Ending) -> None:
        """End the run.

        Args:
            ending: How the training ended: "stopped" by Ctrl-C, "failed" by an error.
        """


class Loggers:
    """The loggers of a training, by label.

    Args:
        choices: The tables `[loggers.LABEL]`.
        run: The training.
        keys: The key of each logger that logged before.
        note: Tells a line to the user.

    Raises:
        PluginError: A logger cannot be made.
    """

    def __init__(
        self,
        choices: Mapping[str, ComponentConfig],
        run: LoggedRun,
        keys: Mapping[str, str],
        note: Callable[[str], None],
    ) -> None:
        self._note = note
        self._loggers: dict[str, tuple[Any, Logger]] = {}
        for label, choice in choices.items():
            entry = Catalog.installed().find("logger", choice.type)
            plugin: Any = entry.load()
            with entry.attributed("__init__"):
                self._loggers[label] = entry, plugin(choice.config, attrs.evolve(run, key=keys.get(label)))
        #: The key of each logger that has one.
        self.keys: dict[str, str] = {label: each.key for label, (_, each) in self._loggers.items() if each.key}

    def add(self, row: Mapping[str, Any], iteration: int) -> None:
        """Give all loggers the row of an iteration."""
        numbers = {key: float(value) for key, value in row.items() if value is not None}
        self._each("add_numbers", numbers, iteration)

    def close(self, folder: Path, iteration: int, ending: Ending) -> None:
        """Give all loggers the files of the run folder, and close them."""
        for path in sorted(path for pattern in _FILES for path in folder.glob(pattern)):
            self._each("add_file", path, iteration)
        self._each("close", ending)
        self._loggers.clear()

    def _each(self, method: str, *arguments: Any) -> None:
        for label, (entry, logger) in list(self._loggers.items()):
            try:
                with entry.attributed(method):
                    getattr(logger, method)(*arguments)
            except PluginError as error:
                del self._loggers[label]
                self._note(f"loggers.{label}: has ended, as {error}; the training continues")
