"""Installed plugins, read from entry-point metadata: their names, kinds, distributions and problems.

Only `Entry.load` imports a plugin, and it imports just that one.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib import metadata
from typing import cast

import attrs
from pippin.errors import PluginError
from pippin.spelling import did_you_mean

from .contract_version import CONTRACT_GROUP, age_of, declared_version
from .entry import KINDS, PLURALS, Entry, Kind, State, is_of, malformed, normalized
from .first_party import first_party_distribution
from .outside import is_file_reference, is_module_reference, outside_entry

BLOCK_VARIABLE = "PIPPIN_CATALOG_BLOCK"
"""Environment variable: names of plugins and distributions that may not be chosen, separated by commas."""

ALLOW_VARIABLE = "PIPPIN_CATALOG_ALLOW"
"""Environment variable: the only names that may be chosen, separated by commas; none if it is empty."""

Select = Callable[..., Iterable[metadata.EntryPoint]]
"""Returns the entry points of a `group`."""

Described = Callable[[metadata.Distribution], tuple[str, str]]
"""Returns the name and the version of a distribution."""


@attrs.frozen(kw_only=True)
class Limit:
    """One list of names that blocks plugins, or one that blocks all others."""

    where: str
    """The list, for messages."""

    names: tuple[str, ...] = ()

    is_allowed: bool = False
    """Whether only these names may be chosen, or none of them."""

    is_of_installed: bool = False
    """Whether it lets through what is installed, and nothing else; `names` are not used."""

    def fault(self, entry: Entry) -> str | None:
        """Return why an entry may not be chosen; None if it may."""
        if self.is_of_installed:
            return f"not installed, which {self.where} asks for" if entry.is_outside else None
        is_named = any(map(entry.is_called, self.names))
        if is_named == self.is_allowed:
            return None
        return f"not in {self.where}" if self.is_allowed else f"blocked by {self.where}"


@attrs.frozen
class Catalog:
    """Every plugin that is installed, sorted by kind, name and distribution; broken and ambiguous ones included."""

    entries: tuple[Entry, ...]
    """The plugins."""

    notes: tuple[str, ...] = ()
    """Names on block and allow lists that match nothing installed, one line each."""

    unread: tuple[Entry, ...] = ()
    """Entry points in groups `pippin.*` that nothing reads; `kind` is the group."""

    limits: tuple[Limit, ...] = ()
    """For the core: the lists that were applied; they hold for classes of files and modules as well."""

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
        return self._limited(Limit(where=where, names=(name,)), self._noted([name], where))

    def only(self, names: Collection[str], where: str) -> Catalog:
        """Return the catalog with all entries blocked that are not called by one of `names`; otherwise as `without`."""
        return self._limited(Limit(where=where, names=tuple(names), is_allowed=True), self._noted(names, where))

    def only_installed(self, where: str) -> Catalog:
        """Return the catalog without classes of files and modules: what no distribution installs is refused."""
        return self._limited(Limit(where=where, is_of_installed=True), self.notes)

    def _limited(self, limit: Limit, notes: tuple[str, ...]) -> Catalog:
        entries = _related(_blocked(each, limit) for each in self.entries)
        return attrs.evolve(self, entries=entries, notes=notes, limits=(*self.limits, limit))

    def _noted(self, names: Iterable[str], where: str) -> tuple[str, ...]:
        unknown = [name for name in names if not any(entry.is_called(name) for entry in self.entries)]
        return (*self.notes, *(f"{where}: {self._unmatched(name)}" for name in unknown if not _is_outside(name)))

    def _unmatched(self, name: str) -> str:
        known = {part for entry in self.entries for part in (entry.name, entry.distribution, entry.qualified_name)}
        return f"no installed plugin or distribution is called {name!r}{did_you_mean(name, known)}"

    def called(self, name: str) -> tuple[Entry, ...]:
        """Return the entries called by a plugin's name, a distribution's name, or `distribution:name`.

        Raises:
            PluginError: Nothing of that name is installed.
        """
        found = tuple(entry for entry in (*self.entries, *self.unread) if entry.is_called(name))
        if not found:
            raise PluginError(self._unmatched(name))
        return found

    def names(self, kind: Kind) -> tuple[str, ...]:
        """Return the installed names of a kind that are not blocked, sorted, each once."""
        offered = (entry for entry in self.entries if entry.kind == kind and entry.state != "blocked")
        return tuple(dict.fromkeys(entry.name for entry in offered))

    def names_without_settings(self, kind: Kind) -> tuple[str, ...]:
        """Return the installed names of a kind whose tables need no key but `type`, so that a command can try each.

        Those that cannot be imported are among them: who tries one gets the reason.
        """
        return tuple(name for name in self.names(kind) if not self._needs_settings(kind, name))

    def _needs_settings(self, kind: Kind, name: str) -> bool:
        try:
            config = self.find(kind, name).load_config()
        except PluginError:
            return False
        return any(field.init and field.default is attrs.NOTHING for field in attrs.fields(config))

    def find(self, kind: Kind, name: str) -> Entry:
        """Return the plugin called `name`; `distribution:name` chooses between distributions that offer the same name.

        A class needs no installation: `path/to/file.py:Name` is one of a file, and `module:Name` is one of a module, if
        no distribution has this name.

        Args:
            kind: The kind of the plugin.
            name: Its name, or the place of a class.

        Raises:
            PluginError: No such plugin is installed, or several distributions offer it.
        """
        if is_file_reference(name):
            return self._outside(kind, name)
        offered = [entry for entry in self.entries if entry.kind == kind]
        distribution, _, plain = name.rpartition(":")
        matches = [entry for entry in offered if entry.name == plain and is_of(entry, distribution)]
        if not matches and not any(distribution and is_of(entry, distribution) for entry in offered):
            return self._outside(kind, name)
        if not matches:
            raise PluginError(self._unknown(kind, name))
        matches = [entry for entry in matches if entry.state != "blocked"] or matches[:1]
        if len(matches) > 1:
            cures = " or ".join(repr(entry.qualified_name) for entry in matches)
            raise PluginError(f"{kind} {name!r}: offered by {_distributions(matches)}; write {cures}")
        return matches[0]

    def _unknown(self, kind: Kind, name: str) -> str:
        for entry in self.unread:
            if entry.is_called(name):
                return f"{kind} {name!r}: {entry.distribution} has this name, but {entry.problem}"
        offered = [entry for entry in self.entries if entry.kind == kind]
        names = {entry.name for entry in offered} | {entry.qualified_name for entry in offered}
        listed = ", ".join(f"{entry.name} ({entry.distribution})" for entry in offered) or "none"
        own = first_party_distribution(kind, name)
        cure = f"install it by `uv pip install {own}`; " if own else ""
        hint = "" if own else did_you_mean(name, names)
        return f"{kind} {name!r}: not installed; {cure}installed {PLURALS[kind]}: {listed}{hint}"

    def _outside(self, kind: Kind, name: str) -> Entry:
        entry = outside_entry(kind, name)
        if entry is None:
            fault = self._unknown(kind, name)
            raise PluginError(fault + ("; put the folder of a module on PYTHONPATH" if ":" in name else ""))
        for limit in self.limits:
            entry = _blocked(entry, limit)
        return entry


def _blocked(entry: Entry, limit: Limit) -> Entry:
    fault = None if entry.state == "blocked" else limit.fault(entry)
    if fault is None:
        return entry
    return attrs.evolve(entry, state="blocked", problem=f"{fault}; change that, or choose another one")


def _is_outside(name: str) -> bool:
    """Tell whether a name on a list means a file or a module: nothing installed has to match it."""
    return name.endswith(".py") or is_file_reference(name) or is_module_reference(name)


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
    return Catalog(_related(sorted(found, key=_order)), unread=tuple(_unread(points, described)))


def _described(distribution: metadata.Distribution) -> tuple[str, str]:
    found = distribution.metadata
    return found["Name"], found["Version"]


def _read(kind: Kind, select: Select, versions: Mapping[str, Iterable[str]], described: Described) -> Iterator[Entry]:
    # Of several distributions of one name, importlib.metadata returns only the first.
    for point in select(group=f"pippin.{PLURALS[kind]}"):
        assert point.dist is not None, "entry points read from distributions know their distribution"
        name, version = described(point.dist)
        contract, state, problem = _judged(point.value, tuple(versions.get(normalized(name), ())))
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


def _unread(points: metadata.EntryPoints, described: Described) -> Iterator[Entry]:
    """Yield each entry point in a group that is nearly one of Pippin's: nothing reads it."""
    groups = [*(f"pippin.{plural}" for plural in PLURALS.values()), CONTRACT_GROUP]
    for group in sorted(points.groups - set(groups)):
        if re.match(r"pippin[._-]", group):
            for point in points.select(group=group):
                assert point.dist is not None, "as above"
                name, version = described(point.dist)
                cure = did_you_mean(group, groups) or f"; groups: {', '.join(groups)}"
                yield Entry(
                    kind=cast(Kind, group),
                    name=point.name,
                    distribution=name,
                    version=version,
                    value=point.value,
                    state="unread",
                    problem=f"it is in the group {group!r}, which nothing reads{cure}",
                )


def _read_versions(select: Select, described: Described) -> dict[str, list[str]]:
    """Return the contract versions that each distribution declares."""
    versions: dict[str, list[str]] = {}
    for point in select(group=CONTRACT_GROUP):
        assert point.dist is not None, "as above"
        versions.setdefault(normalized(described(point.dist)[0]), []).append(point.name)
    return versions


def _judged(value: str, declared: tuple[str, ...]) -> tuple[int | None, State, str | None]:
    """Return the contract version, the state and the problem of an entry point."""
    try:
        contract = declared_version(declared)
    except ValueError as error:
        return None, "broken", str(error)
    if problem := malformed(value) or _unfindable(value):
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
    alike: dict[tuple[str, str], list[Entry]] = {}
    for entry in found:
        if entry.state != "blocked":
            alike.setdefault((entry.kind, entry.name), []).append(entry)
    return tuple(_with_rivals(entry, alike.get((entry.kind, entry.name), ())) for entry in found)


def _with_rivals(entry: Entry, alike: Iterable[Entry]) -> Entry:
    """Return the entry, marked as a duplicate if others have its kind and name; a broken entry keeps its problem."""
    rivals = [other for other in alike if other != entry]
    if not rivals or entry.problem:
        return entry
    problem = f"offered by {_distributions(rivals)} as well; write {entry.qualified_name!r} for this one"
    return attrs.evolve(entry, state="duplicate", problem=problem)


def _unfindable(value: str) -> str | None:
    # Search only for the top-level package: to find a module inside it, Python would import the package.
    package = re.split("[.:]", value)[0].strip()
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):  # ValueError: it is in `sys.modules` but has no spec
        spec = None
    return None if spec else f"no module named {package!r}; reinstall the distribution"


def _order(entry: Entry) -> tuple[int, str, str]:
    return KINDS.index(entry.kind), entry.name, normalized(entry.distribution)


def _distributions(entries: Iterable[Entry]) -> str:
    return " and ".join(f"{entry.distribution} {entry.version}" for entry in sorted(entries, key=_order))
