"""Installed plugins, read from entry-point metadata: their names, kinds, distributions and problems.

Only `Entry.load` imports a plugin, and it imports just that one.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from importlib import metadata
from typing import cast

import attrs
from pippin.errors import PluginError
from pippin.spelling import did_you_mean

from .entry import Entry, is_of
from .kind import Kind
from .outside import is_file_reference, is_module_reference, outside_entry
from .source import Source, distributions, first_party_distribution, related

BLOCK_VARIABLE = "PIPPIN_CATALOG_BLOCK"
"""Environment variable: names of plugins and distributions that may not be chosen, separated by commas."""

ALLOW_VARIABLE = "PIPPIN_CATALOG_ALLOW"
"""Environment variable: the only names that may be chosen, separated by commas; none if it is empty."""


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

    source: Source = attrs.field(repr=False)
    """For the core: the entry points, read when somebody asks for their kind."""

    notes: tuple[str, ...] = ()
    """Names on block and allow lists that match nothing installed, one line each."""

    limits: tuple[Limit, ...] = ()
    """For the core: the lists that were applied; they hold for classes of files and modules as well."""

    @classmethod
    def installed(cls) -> Catalog:
        """Return the plugins of the running interpreter, without importing any; the environment may block some.

        A distribution that is on `sys.path` twice counts once: the first is the one that Python would import.
        """
        catalog = cls(_source_of(_places(), tuple(map(id, sys.meta_path))))
        if blocked := _listed(os.environ.get(BLOCK_VARIABLE, "")):
            catalog = catalog.without(blocked, BLOCK_VARIABLE)
        allowed = os.environ.get(ALLOW_VARIABLE)
        return catalog if allowed is None else catalog.only(_listed(allowed), ALLOW_VARIABLE)

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds of plugins by name, in their order."""
        return self.source.kinds

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The plugins of all kinds."""
        return tuple(entry for kind in self.kinds for entry in self.of_kind(kind))

    @property
    def unread(self) -> tuple[Entry, ...]:
        """Entry points in groups `pippin.*` that nothing reads, whose `kind` is the group; and broken kinds."""
        return self.source.unread

    def kind(self, name: str) -> Kind:
        """Return the kind of a name.

        Raises:
            PluginError: No installed distribution brings it, or its record cannot be imported.
        """
        return self.source.kind(name)

    def of_kind(self, kind: str) -> tuple[Entry, ...]:
        """Return the plugins of one kind, sorted by name and distribution."""
        return self._limited(self.kind(kind), self.source.read(self.kind(kind)))

    @property
    def tables(self) -> Mapping[str, Kind | Entry]:
        """The tables at the top of a file: the kind whose plugins fill it, or the entry point that names its class."""
        return self.source.tables

    def without(self, names: Collection[str], where: str) -> Catalog:
        """Return the catalog with the entries called by one of `names` blocked: still listed, but not selectable.

        A blocked entry does not make a name ambiguous.

        Args:
            names: Each a plugin, a distribution, or `distribution:name`; one that matches nothing adds a note.
            where: The list that holds the names, for messages.
        """
        return self._with(Limit(where=where, names=tuple(names)), self._noted(names, where))

    def only(self, names: Collection[str], where: str) -> Catalog:
        """Return the catalog with all entries blocked that are not called by one of `names`; otherwise as `without`."""
        return self._with(Limit(where=where, names=tuple(names), is_allowed=True), self._noted(names, where))

    def only_installed(self, where: str) -> Catalog:
        """Return the catalog without classes of files and modules: what no distribution installs is refused."""
        return self._with(Limit(where=where, is_of_installed=True), self.notes)

    def _with(self, limit: Limit, notes: tuple[str, ...]) -> Catalog:
        return attrs.evolve(self, notes=notes, limits=(*self.limits, limit))

    def _limited(self, kind: Kind, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        if kind.provides != "table":  # a file has a table, and chooses none
            for limit in self.limits:
                entries = [_blocked(each, limit) for each in entries]
        return related(entries)

    def _noted(self, names: Iterable[str], where: str) -> tuple[str, ...]:
        every = [entry for kind in self.kinds.values() for entry in self.source.read(kind)]  # limits rename none
        unknown = [name for name in names if not any(entry.is_called(name) for entry in every)]
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

    def names(self, kind: str) -> tuple[str, ...]:
        """Return the installed names of a kind that are not blocked, sorted, each once."""
        return tuple(dict.fromkeys(entry.name for entry in self.of_kind(kind) if entry.state != "blocked"))

    def names_without_settings(self, kind: str) -> tuple[str, ...]:
        """Return the installed names of a kind whose tables need no key but `type`, so that a command can try each.

        Those that cannot be imported are among them: who tries one gets the reason.
        """
        return tuple(name for name in self.names(kind) if not self._needs_settings(kind, name))

    def _needs_settings(self, kind: str, name: str) -> bool:
        try:
            config = self.find(kind, name).load_config()
        except PluginError:
            return False
        return any(field.init and field.default is attrs.NOTHING for field in attrs.fields(config))

    def find(self, kind: str, name: str) -> Entry:
        """Return the plugin called `name`; `distribution:name` chooses between distributions that offer the same name.

        A class needs no installation: `path/to/file.py:Name` is one of a file, and `module:Name` is one of a module, if
        no distribution has this name.

        Args:
            kind: The kind of the plugin.
            name: Its name, or the place of a class.

        Raises:
            PluginError: No such plugin is installed, or several distributions offer it.
        """
        record = self.kind(kind)
        if is_file_reference(name):
            return self._outside(record, name)
        distribution, _, plain = name.rpartition(":")
        called = self._limited(record, self.source.read(record, plain))
        matches = [entry for entry in called if is_of(entry, distribution)]
        if not matches and not any(distribution and is_of(entry, distribution) for entry in self.of_kind(kind)):
            return self._outside(record, name)
        if not matches:
            raise PluginError(self._unknown(record, name))
        matches = [entry for entry in matches if entry.state != "blocked"] or matches[:1]
        if len(matches) > 1:
            cures = " or ".join(repr(entry.qualified_name) for entry in matches)
            raise PluginError(f"{kind} {name!r}: offered by {distributions(matches)}; write {cures}")
        return matches[0]

    def _unknown(self, kind: Kind, name: str) -> str:
        for entry in self.unread:
            if entry.is_called(name):
                return f"{kind.name} {name!r}: {entry.distribution} has this name, but {entry.problem}"
        offered = self.of_kind(kind.name)
        names = {entry.name for entry in offered} | {entry.qualified_name for entry in offered}
        listed = ", ".join(f"{entry.name} ({entry.distribution})" for entry in offered) or "none"
        own = first_party_distribution(kind.plural, name)
        cure = f"install it by `uv pip install {own}`; " if own else ""
        hint = "" if own else did_you_mean(name, names)
        return f"{kind.name} {name!r}: not installed; {cure}installed {kind.plural}: {listed}{hint}"

    def _outside(self, kind: Kind, name: str) -> Entry:
        """Return the entry of a class that no distribution installs, blocked if a list does not let it through."""
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
    places = list[tuple[str, int | None]]()
    for path in sys.path:
        try:
            places.append((path, os.stat(path or os.curdir).st_mtime_ns))
        except OSError:
            places.append((path, None))
    return tuple(places)


@functools.lru_cache(maxsize=1)  # a simulation needs it twice, and reading takes as long as building a small solver
def _source_of(places: tuple[tuple[str, int | None], ...], finders: tuple[int, ...]) -> Source:
    """Return what Python finds; the places and the finders are only the key of what is remembered."""
    return Source(cast(metadata.EntryPoints, metadata.entry_points()))


def _listed(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]
