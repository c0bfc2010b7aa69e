"""Installed plugins, read from entry-point metadata: their names, kinds, distributions and problems.

Only `Entry.load` imports a plugin, and it imports just that one.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from importlib import metadata
from types import ModuleType
from typing import Literal, cast, get_args

import attrs
from pippin.errors import PluginError
from pippin.spelling import did_you_mean

from .contract_version import CONTRACT_GROUP, age_of, declared_version

__all__ = ["ALLOW_VARIABLE", "BLOCK_VARIABLE", "KINDS", "PLURALS", "Catalog", "Entry", "Kind", "State"]

Kind = Literal[
    "solver",
    "actuator",
    "clamping",
    "sensor",
    "stage",
    "viewer",
    "recorder",
    "executor",
    "quantity",
    "action",
    "reward",
    "termination",
    "event",
    "command",
    "plugin",
]
State = Literal["ok", "duplicate", "broken", "too-old", "too-new", "blocked"]

KINDS: tuple[Kind, ...] = get_args(Kind)

PLURALS = {kind: f"{kind}s" for kind in KINDS} | {"quantity": "quantities"}
"""The kinds in the plural, as groups of entry points and tables of a file have them."""

SLOW_IMPORT = 5.0
"""Time after which the import of a plugin is told [s]."""

_LOGGER = logging.getLogger(__name__)

BLOCK_VARIABLE = "PIPPIN_CATALOG_BLOCK"
"""Environment variable: names of plugins and distributions that may not be chosen, separated by commas."""

ALLOW_VARIABLE = "PIPPIN_CATALOG_ALLOW"
"""Environment variable: the only names that may be chosen, separated by commas; none if it is empty."""


@attrs.frozen(kw_only=True)
class Entry:
    """One entry point of an installed distribution: a plugin that can be selected by name."""

    kind: Kind
    name: str

    distribution: str
    """The distribution of the plugin, spelled as in its metadata."""

    version: str

    value: str
    """Place of the class: `module:Class`."""

    contract: int | None = 1
    """The contract version that the distribution declares; None if the declaration is malformed."""

    state: State = "ok"

    problem: str | None = None
    """The problem, as far as it can be known without an import; None if `state` is "ok"."""

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} of {self.distribution} {self.version}"

    @property
    def qualified_name(self) -> str:
        """The name that selects this entry among several of the same name: `distribution:name`."""
        return f"{_normalized(self.distribution)}:{self.name}"

    def load(self) -> type:
        """Import and return the plugin's class. Its hooks are checked when it becomes a component.

        Raises:
            PluginError: The plugin is blocked, has another contract version, cannot be imported or found, or has no
                attrs class `Config`. The error names the plugin, its distribution and version.
        """
        if self.state in ("too-old", "too-new", "blocked") or self.contract is None:
            raise PluginError(f"{self}: {self.problem}")
        if fault := _malformed(self.value):
            raise PluginError(f"{self}: {fault}")
        module, _, attribute = self.value.partition(":")
        plugin = self._attribute(self._module(module.strip()), attribute.strip())
        if fault := _config_fault(plugin):
            raise PluginError(f"{self}: {fault}")
        return plugin

    def is_called(self, name: str) -> bool:
        """Return whether a name means this entry: the plugin's, the distribution's, or `distribution:name`."""
        distribution, _, plain = name.rpartition(":")
        if distribution:
            return plain == self.name and _is_of(self, distribution)
        return name == self.name or _is_of(self, name)

    def _module(self, name: str) -> ModuleType:
        try:
            with redirect_stdout(sys.stderr), self._announced(name):  # standard output belongs to the command
                return importlib.import_module(name)
        except (Exception, SystemExit) as error:  # importing runs the plugin's code, which may raise anything
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise PluginError(
                f"{self}: could not be imported ({reason}); repair or reinstall {self.distribution}"
            ) from error

    @contextmanager
    def _announced(self, module: str) -> Iterator[None]:
        """Say which plugin is being imported if this takes long: an import that hangs is otherwise silent."""
        if module in sys.modules:
            yield
            return
        text = f"importing {self} takes more than {SLOW_IMPORT:g} s; if it hangs, see `pippin plugins --doctor`"
        timer = threading.Timer(SLOW_IMPORT, _LOGGER.warning, [text])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _attribute(self, module: ModuleType, path: str) -> type:
        try:
            plugin = functools.reduce(getattr, path.split("."), module)
        except AttributeError as error:
            raise PluginError(
                f"{self}: module {module.__name__!r} has no class {path!r}; "
                f"correct the entry point of {self.distribution}{did_you_mean(path, dir(module))}"
            ) from error
        if not inspect.isclass(plugin):
            raise PluginError(f"{self}: expected a class at {self.value!r}, got {plugin!r}; name the plugin's class")
        return plugin


Select = Callable[..., Iterable[metadata.EntryPoint]]
"""Returns the entry points of a `group`."""

Described = Callable[[metadata.Distribution], tuple[str, str]]
"""Returns the name and the version of a distribution."""


@attrs.frozen
class Catalog:
    """Every plugin that is installed, sorted by kind, name and distribution; broken and ambiguous ones included."""

    entries: tuple[Entry, ...]

    notes: tuple[str, ...] = ()
    """Entry points in groups that are not read, and names on block and allow lists that match nothing installed, one
    line each."""

    @classmethod
    def installed(cls) -> Catalog:
        """Return the plugins of the running interpreter, without importing any; the environment may block some.

        A distribution that is on `sys.path` twice counts once: the first is the one that Python would import.
        """
        catalog = _catalog_of(_places(), tuple(map(id, sys.meta_path)))
        for name in _listed(os.environ.get(BLOCK_VARIABLE, "")):
            catalog = catalog.without(name, BLOCK_VARIABLE)
        allowed = os.environ.get(ALLOW_VARIABLE)
        return catalog if allowed is None else catalog.only(_listed(allowed), ALLOW_VARIABLE)

    def without(self, name: str, where: str) -> Catalog:
        """Return the catalog with the entries called `name` blocked: still listed, but not selectable.

        A blocked entry does not make a name ambiguous.

        Args:
            name: A plugin, a distribution, or `distribution:name`; a name that matches nothing adds a note.
            where: The list that holds the name, for messages.
        """
        return self._blocking(f"blocked by {where}", lambda entry: entry.is_called(name), self._noted([name], where))

    def only(self, names: Collection[str], where: str) -> Catalog:
        """Return the catalog with all entries blocked that are not called by one of `names`; otherwise as `without`."""
        noted = self._noted(names, where)
        return self._blocking(f"not in {where}", lambda entry: not any(map(entry.is_called, names)), noted)

    def _blocking(self, why: str, is_meant: Callable[[Entry], bool], notes: tuple[str, ...]) -> Catalog:
        problem = f"{why}; change that, or choose another one"
        meant = {entry for entry in self.entries if entry.state != "blocked" and is_meant(entry)}
        marked = (
            attrs.evolve(each, state="blocked", problem=problem) if each in meant else each for each in self.entries
        )
        return Catalog(_related(marked), notes)

    def _noted(self, names: Iterable[str], where: str) -> tuple[str, ...]:
        unknown = [name for name in names if not any(entry.is_called(name) for entry in self.entries)]
        return (*self.notes, *(f"{where}: {self._unmatched(name)}" for name in unknown))

    def _unmatched(self, name: str) -> str:
        known = {part for entry in self.entries for part in (entry.name, entry.distribution, entry.qualified_name)}
        return f"no installed plugin or distribution is called {name!r}{did_you_mean(name, known)}"

    def called(self, name: str) -> tuple[Entry, ...]:
        """Return the entries called by a plugin's name, a distribution's name, or `distribution:name`.

        Raises:
            PluginError: Nothing of that name is installed.
        """
        found = tuple(entry for entry in self.entries if entry.is_called(name))
        if not found:
            unread = [note for note in self.notes if _normalized(note.partition(" ")[0]) == _normalized(name)]
            raise PluginError("\n".join(unread) or self._unmatched(name))
        return found

    def names(self, kind: Kind) -> tuple[str, ...]:
        """Return the installed names of a kind that are not blocked, sorted, each once."""
        offered = (entry for entry in self.entries if entry.kind == kind and entry.state != "blocked")
        return tuple(dict.fromkeys(entry.name for entry in offered))

    def find(self, kind: Kind, name: str) -> Entry:
        """Return the plugin called `name`; `distribution:name` chooses between distributions that offer the same name.

        Raises:
            PluginError: No such plugin is installed, or several distributions offer it.
        """
        offered = [entry for entry in self.entries if entry.kind == kind]
        distribution, _, plain = name.rpartition(":")
        matches = [entry for entry in offered if entry.name == plain and _is_of(entry, distribution)]
        if not matches:
            raise PluginError(_unknown(kind, name, offered))
        matches = [entry for entry in matches if entry.state != "blocked"] or matches[:1]
        if len(matches) > 1:
            cures = " or ".join(repr(entry.qualified_name) for entry in matches)
            raise PluginError(f"{kind} {name!r}: offered by {_distributions(matches)}; write {cures}")
        return matches[0]


def _places() -> tuple[tuple[str, int | None], ...]:
    """Return the folders in which Python looks for distributions, and when each changed last [ns]: installers do that.

    This is the key by which importlib.metadata itself remembers what is in a folder.
    """
    return tuple((path, _modified(path or os.curdir)) for path in sys.path)


def _modified(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


@functools.lru_cache(maxsize=1)  # a simulation needs it twice, and reading takes as long as building a small solver
def _catalog_of(places: tuple[tuple[str, int | None], ...], finders: tuple[int, ...]) -> Catalog:
    """Return the plugins that Python finds; the places and the finders are only the key of what is remembered."""
    points = cast(metadata.EntryPoints, metadata.entry_points())  # read once for all groups: it takes milliseconds
    select = points.select
    described = functools.cache(_described)  # importlib.metadata parses a whole file for each name it tells
    versions = _read_versions(select, described)
    found = {entry for kind in KINDS for entry in _read(kind, select, versions, described)}
    return Catalog(_related(sorted(found, key=_order)), tuple(_unread(points, described)))


def _described(distribution: metadata.Distribution) -> tuple[str, str]:
    found = distribution.metadata
    return found["Name"], found["Version"]


def _read(kind: Kind, select: Select, versions: Mapping[str, Iterable[str]], described: Described) -> Iterator[Entry]:
    # Of several distributions of one name, importlib.metadata returns only the first.
    for point in select(group=f"pippin.{PLURALS[kind]}"):
        assert point.dist is not None, "entry points read from distributions know their distribution"
        name, version = described(point.dist)
        contract, state, problem = _judged(point.value, tuple(versions.get(_normalized(name), ())))
        yield Entry(
            kind=kind,
            name=point.name,
            distribution=name,
            version=version,
            value=point.value,
            contract=contract,
            state=state,
            problem=problem,
        )


def _unread(points: metadata.EntryPoints, described: Described) -> Iterator[str]:
    """Yield a line for each entry point in a group that is nearly one of Pippin's: nothing reads it."""
    groups = [*(f"pippin.{plural}" for plural in PLURALS.values()), CONTRACT_GROUP]
    for group in sorted(points.groups - set(groups)):
        if re.match(r"pippin[._-]", group):
            for point in points.select(group=group):
                assert point.dist is not None, "as above"
                name, version = described(point.dist)
                cure = did_you_mean(group, groups) or f"; groups: {', '.join(groups)}"
                yield f"{name} {version}: {point.name!r} is in the group {group!r}, which nothing reads{cure}"


def _read_versions(select: Select, described: Described) -> dict[str, list[str]]:
    """Return the contract versions that each distribution declares."""
    versions: dict[str, list[str]] = {}
    for point in select(group=CONTRACT_GROUP):
        assert point.dist is not None, "as above"
        versions.setdefault(_normalized(described(point.dist)[0]), []).append(point.name)
    return versions


def _judged(value: str, declared: tuple[str, ...]) -> tuple[int | None, State, str | None]:
    """Return the contract version, the state and the problem of an entry point."""
    try:
        contract = declared_version(declared)
    except ValueError as error:
        return None, "broken", str(error)
    if problem := _malformed(value) or _unfindable(value):
        return contract, "broken", problem
    state, problem = age_of(contract) or ("ok", None)
    return contract, state, problem


def _listed(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def _related(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the entries, marked anew as duplicates if other entries that are not blocked have the same name."""
    found = tuple(
        attrs.evolve(entry, state="ok", problem=None) if entry.state == "duplicate" else entry for entry in entries
    )
    return tuple(_with_rivals(entry, [other for other in found if other.state != "blocked"]) for entry in found)


def _with_rivals(entry: Entry, found: Iterable[Entry]) -> Entry:
    """Return the entry, marked as a duplicate if others have its kind and name; a broken entry keeps its problem."""
    rivals = [other for other in found if (other.kind, other.name) == (entry.kind, entry.name) and other != entry]
    if not rivals or entry.problem:
        return entry
    problem = f"offered by {_distributions(rivals)} as well; write {entry.qualified_name!r} for this one"
    return attrs.evolve(entry, state="duplicate", problem=problem)


def _malformed(value: str) -> str | None:
    module, _, attribute = value.partition(":")
    names = [*module.strip().split("."), *attribute.strip().split(".")]
    if all(name.isidentifier() for name in names):
        return None
    return f"the entry point is malformed, got {value!r}; write 'module:Class'"


def _unfindable(value: str) -> str | None:
    # Search only for the top-level package: to find a module inside it, Python would import the package.
    package = re.split("[.:]", value)[0].strip()
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):  # ValueError: it is in `sys.modules` but has no spec
        spec = None
    return None if spec else f"no module named {package!r}; reinstall the distribution"


def _unknown(kind: Kind, name: str, offered: Iterable[Entry]) -> str:
    names = {entry.name for entry in offered} | {entry.qualified_name for entry in offered}
    listed = ", ".join(f"{entry.name} ({entry.distribution})" for entry in offered) or "none"
    return f"{kind} {name!r}: not installed; installed {PLURALS[kind]}: {listed}{did_you_mean(name, names)}"


def _config_fault(plugin: type) -> str | None:
    where = f"{plugin.__qualname__}.Config"
    config = getattr(plugin, "Config", None)
    if config is None:
        return f"{where} is missing; name the attrs class of its settings, an empty one if it has none"
    if not (inspect.isclass(config) and attrs.has(config)):
        return f"{where} is not an attrs class, got {config!r}; decorate a class with @attrs.frozen(kw_only=True)"
    return None


def _order(entry: Entry) -> tuple[int, str, str]:
    return KINDS.index(entry.kind), entry.name, _normalized(entry.distribution)


def _distributions(entries: Iterable[Entry]) -> str:
    return " and ".join(f"{entry.distribution} {entry.version}" for entry in sorted(entries, key=_order))


def _is_of(entry: Entry, distribution: str) -> bool:
    return not distribution or _normalized(entry.distribution) == _normalized(distribution)


def _normalized(distribution: str) -> str:
    """Spell a distribution's name the way package indexes compare names."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
