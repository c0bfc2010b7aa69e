"""Entry of the catalog: the kind, the name and the place of one plugin, and the import of its two classes."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import logging
import os
import pkgutil
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

import attrs
from pippin.errors import ConfigError, PippinError, PluginError
from pippin.extras import installation, missing_libraries
from pippin.spelling import did_you_mean

from .implementation import ATTRIBUTE, EXTRA, config_fault, configurations_in, implementation_of
from .kind import Provision

if TYPE_CHECKING:
    import click

State = Literal["ok", "duplicate", "broken", "too-old", "too-new", "blocked", "unread"]

SLOW_IMPORT = 5.0
"""Time after which a slow import of a plugin is reported [s]."""

_BROKEN = 3
"""Exit code of a command if a plugin is broken."""

_LOGGER = logging.getLogger(__name__)


@attrs.frozen(kw_only=True)
class Entry:
    """One entry point of an installed distribution: a plugin that can be selected by name."""

    kind: str
    """The kind of the plugin."""

    name: str
    """The name that selects it, by the key `type`."""

    distribution: str
    """The distribution of the plugin, spelled as in its metadata."""

    version: str
    """The version of the distribution."""

    value: str
    """Place of the configuration class, or of the command: `module:Name`."""

    contract: int | None = 1
    """The contract version that the distribution declares; None if the declaration is malformed."""

    state: State = "ok"
    """Whether it can be chosen, or why not."""

    problem: str | None = None
    """The problem, as far as it can be known without an import; None if `state` is "ok"."""

    provides: Provision = "configuration"
    """What the entry point names, as its kind says."""

    base: str | None = None
    """Class from which the plugin's class has to derive, as its kind says: `module:Name`."""

    is_outside: ClassVar[bool] = False
    """Whether no distribution installs it."""

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} of {self.distribution} {self.version}"

    @property
    def is_unread(self) -> bool:
        """Whether its code must not run, and its table stays as it is written."""
        return False

    @property
    def qualified_name(self) -> str:
        """The name that selects this entry among several of the same name: `distribution:name`."""
        return f"{normalized(self.distribution)}:{self.name}"

    def load_config(self) -> type:
        """Import and return the class of the plugin's configuration, an attrs class that names the implementation.

        Raises:
            PluginError: The plugin is blocked, has another contract version, cannot be imported or found, or is not an
                attrs class with an `implementation`. The error names the plugin, its distribution and version.
        """
        found = self._imported()
        if not inspect.isclass(found):
            raise PluginError(
                f"{self}: expected a class at {self.value!r}, got {found!r}; name the class of the plugin's settings"
            )
        if fault := config_fault(found):
            raise PluginError(f"{self}: {fault}")
        return found

    def load(self) -> type:
        """Import and return the plugin's class, which its configuration names. Its hooks are checked when it becomes a
        component.

        Raises:
            PluginError: As `load_config`; or the class cannot be imported or found. The error names the attribute.
        """
        config = self.load_config()
        module, path = implementation_of(config)
        where = f"{config.__qualname__}.{ATTRIBUTE}"
        holder = self._module(module, importlib.import_module, f"{where}: ", getattr(config, EXTRA, None))
        plugin = self._attribute(holder, path, f"{where}: module {module!r}", "correct the attribute")
        if not inspect.isclass(plugin) or plugin is config:
            got = "the configuration itself" if plugin is config else repr(plugin)
            raise PluginError(
                f"{self}: {where}: expected a class at {path!r} of {module}, got {got}; name the plugin's class"
            )
        if self.base is not None and not issubclass(plugin, pkgutil.resolve_name(self.base)):
            base = self.base.replace(":", ".")
            raise PluginError(f"{self}: {plugin.__qualname__} is not a {base}; derive it from that")
        return plugin

    def refuse_missing_libraries(self, where: str) -> None:
        """Refuse a plugin whose extra has libraries that are not installed; nothing of them is imported.

        Args:
            where: The place that names the plugin, for the error.

        Raises:
            ConfigError: Names the libraries, and the command that installs them.
            PluginError: As `load_config`.
        """
        extra = getattr(self.load_config(), EXTRA, None)
        if extra is not None and (missing := missing_libraries(extra, self.distribution)):
            cure = installation(extra, self.distribution)
            raise ConfigError(f"{where}: needs {' and '.join(missing)}; install it by `{cure}`")

    def load_table(self) -> Any:
        """Import and return the type of a table of a file: an attrs class, or another type that cattrs can structure.

        Raises:
            PluginError: As `load_config`, for what cannot be imported or found.
        """
        return self._imported()

    def load_command(self) -> click.Command:
        """Import and return the click command of a subcommand.

        Raises:
            PluginError: As `load`, or it is not a click command.
        """
        import click

        command = self._imported()
        if not isinstance(command, click.Command):
            raise PluginError(
                f"{self}: expected a click command at {self.value!r}, got {command!r}; decorate a function with"
                " @click.command()"
            )
        return command

    @contextmanager
    def attributed(self, what: str) -> Iterator[None]:
        """For the core: let what a block raises name the plugin and `what` it was asked for, but for errors of Pippin's
        own, of files and of memory.
        """
        try:
            yield
        except (PippinError, OSError, MemoryError):
            raise
        except Exception as error:
            text, last = f"{type(error).__name__}: {error}".rstrip(": "), traceback.extract_tb(error.__traceback__)[-1]
            place = f"{os.path.basename(last.filename)}:{last.lineno}"
            raise PluginError(f"{self}: {what} raised {text} ({place}); correct the plugin") from error

    def is_called(self, name: str) -> bool:
        """Return whether a name means this entry: the plugin's, the distribution's, or `distribution:name`."""
        distribution, _, plain = name.rpartition(":")
        if distribution:
            return plain == self.name and is_of(self, distribution)
        return name == self.name or is_of(self, name)

    def _imported(self) -> Any:
        if self.state in ("too-old", "too-new", "blocked", "unread") or self.contract is None:
            raise PluginError(f"{self}: {self.problem}")
        if fault := self._fault():
            raise PluginError(f"{self}: {fault}")
        module, _, path = self.value.rpartition(":")
        holder = self._module(module.strip(), self._import)
        return self._attribute(holder, path.strip(), self._holder, self._cure, configurations_in(holder))

    def _attribute(self, module: ModuleType, path: str, where: str, cure: str, known: Iterable[str] = ()) -> Any:
        try:
            return functools.reduce(getattr, path.split("."), module)
        except AttributeError as error:
            what = "command" if self.provides == "command" else "class"
            near = did_you_mean(path, known or dir(module))
            raise PluginError(f"{self}: {where} has no {what} {path!r}; {cure}{near}") from error

    @property
    def _holder(self) -> str:
        return f"module {self.value.partition(':')[0].strip()!r}"

    @property
    def _cure(self) -> str:
        return f"correct the entry point of {self.distribution}"

    def _fault(self) -> str | None:
        return malformed(self.value)

    def _module(
        self, name: str, load: Callable[[str], ModuleType], where: str = "", extra: str | None = None
    ) -> ModuleType:
        try:
            with redirect_stdout(sys.stderr), self._announced(name):  # standard output belongs to the command
                return load(name)
        except (Exception, SystemExit) as error:  # importing runs the plugin's code, which may raise anything
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            cure = self._repair
            if isinstance(error, ModuleNotFoundError) and not self.is_outside:
                cure = self._installed(error.name or "")
            if extra is not None and isinstance(error, ImportError):
                cure = f"install it by `{installation(extra, self.distribution)}`"
            raise PluginError(f"{self}: {where}could not be imported ({reason}); {cure}") from error

    @property
    def _repair(self) -> str:
        return f"repair or reinstall {self.distribution}"

    def _installed(self, missing: str) -> str:
        """Return the cure of an import that lacks a module: what it needs may not be in its metadata."""
        package = missing.partition(".")[0]
        if not package or package == self.value.partition(":")[0].partition(".")[0].strip():
            return self._repair
        return f"install {package!r}, or add it to the dependencies of {self.distribution}"

    def _import(self, name: str) -> ModuleType:
        return importlib.import_module(name)

    @contextmanager
    def _announced(self, module: str) -> Iterator[None]:
        """Say which plugin is being imported if this takes long, or ends the process: both are otherwise silent."""
        if module in sys.modules:
            yield
            return
        text = f"importing {self} takes more than {SLOW_IMPORT:g} s; if it hangs, see `pippin plugins --doctor`"
        timer = threading.Timer(SLOW_IMPORT, _LOGGER.warning, [text])
        timer.daemon = True
        timer.start()
        try:
            with _reported_exits(f"{self}: its import ends the process; {self._repair}"):
                yield
        finally:
            timer.cancel()


@contextmanager
def _reported_exits(text: str) -> Iterator[None]:
    """Let `os._exit`, which runs no handler and may report success, write a line and report a broken plugin."""
    leave, process = os._exit, os.getpid()

    def report_and_leave(status: int) -> NoReturn:
        if os.getpid() != process:  # a child that the import has forked
            leave(status)
        os.write(2, f"error: {text} (os._exit({status}))\n".encode())
        leave(_BROKEN)

    os._exit = report_and_leave
    try:
        yield
    finally:
        os._exit = leave


def malformed(value: str) -> str | None:
    """Return the fault of an entry point's value that is not `module:Class`; None if it is."""
    module, _, attribute = value.partition(":")
    names = [*module.strip().split("."), *attribute.strip().split(".")]
    if all(map(str.isidentifier, names)):
        return None
    return f"the entry point is malformed, got {value!r}; write 'module:Class'"


def is_of(entry: Entry, distribution: str) -> bool:
    """Tell whether an entry is of a distribution; an empty name stands for any."""
    return not distribution or normalized(entry.distribution) == normalized(distribution)


@functools.cache  # a list of blocked names is compared with every entry
def normalized(distribution: str) -> str:
    """Spell a distribution's name the way package indexes compare names."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def spec_of(package: str) -> ModuleSpec | None:
    """Return the spec of a package at the top: to find a module inside one, Python would import the package."""
    try:
        return importlib.util.find_spec(package)
    except (ImportError, ValueError):  # ValueError: it is in `sys.modules` but has no spec
        return None
