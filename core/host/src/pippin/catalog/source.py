"""Entry points of the running interpreter, read by kind of plugins when somebody asks for it."""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Collection, Iterable, Mapping
from importlib import metadata
from operator import attrgetter
from typing import Any

import attrs
from pippin.errors import PluginError
from pippin.spelling import did_you_mean

from .contract_version import CONTRACT_GROUP, age_of, declared_version
from .entry import Entry, State, malformed, normalized
from .kind import Kind

KINDS_GROUP = "pippin.kinds"
"""Group of entry points in which a distribution registers its kinds of plugins: each names a `Kind`."""


class Source:
    """The entry points of an interpreter."""

    def __init__(self, points: metadata.EntryPoints) -> None:
        self._points = points  # read once for all groups: it takes milliseconds
        self._described = functools.cache(_described)  # importlib.metadata parses a whole file for each name it tells
        self._finds = functools.cache(_finds)
        self._declared = functools.cache(_declared)
        self._read: dict[tuple[str, str | None], tuple[Entry, ...]] = {}
        self._broken_kinds: list[Entry] = []

    @functools.cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds of plugins by name, in their order; those of which a record is broken are left out."""
        found: dict[str, Kind] = {}
        plurals = set[str]()
        points = self._points.select(group=KINDS_GROUP)
        # A kind of Pippin's is never taken by a distribution that happens to be found before it.
        own = [point for point in points if point.value.startswith("pippin.")]
        for point in (*own, *(each for each in points if each not in own)):
            fault = None
            try:
                kind = point.load()
            except Exception as error:  # importing runs the code of a plugin, which may raise anything
                fault = f"its record could not be imported ({type(error).__name__}: {error})"
            else:
                fault = _kind_fault(kind, point.name, found, plurals)
                if fault is None:
                    found[point.name] = kind
                    plurals.add(kind.plural)
            if fault is not None:
                self._broken_kinds.append(self._unread(point, f"{fault}; repair or remove its distribution", "broken"))
        return {kind.name: kind for kind in sorted(found.values(), key=attrgetter("order", "name"))}

    def kind(self, name: str) -> Kind:
        """Return the kind of a name.

        Raises:
            PluginError: No installed distribution brings it, or its record is broken.
        """
        if name in self.kinds:
            return self.kinds[name]
        for entry in self._broken_kinds:
            if entry.name == name:
                raise PluginError(f"kind {name!r} of {entry.distribution} {entry.version}: {entry.problem}")
        hint = did_you_mean(name, self.kinds)
        raise PluginError(f"kind {name!r}: no installed distribution brings it{hint}; kinds: {', '.join(self.kinds)}")

    def read(self, kind: Kind, name: str | None = None) -> tuple[Entry, ...]:
        """Return the plugins of one kind, or those of one name, sorted by name and distribution."""
        key = kind.name, name
        if key not in self._read:
            chosen: Any = {} if name is None else {"name": name}
            found = {self._entry(kind, point) for point in self._points.select(group=kind.group, **chosen)}
            self._read[key] = tuple(sorted(found, key=order_of))
        return self._read[key]

    @functools.cached_property
    def tables(self) -> Mapping[str, Kind | Entry]:
        """The tables at the top of a file: the kind whose plugins fill it, or the entry point that names its class."""
        of_kinds = {kind.table: kind for kind in self.kinds.values() if kind.table is not None}
        others = [kind for kind in self.kinds.values() if kind.provides == "table"]
        return of_kinds | {entry.name: entry for kind in others for entry in related(self.read(kind))}

    @functools.cached_property
    def unread(self) -> tuple[Entry, ...]:
        """Entry points in groups that are nearly one of Pippin's, which nothing reads; and broken kinds."""
        groups = [*(kind.group for kind in self.kinds.values()), CONTRACT_GROUP, KINDS_GROUP]
        found = list(self._broken_kinds)
        for group in sorted(self._points.groups - set(groups)):
            if re.match(r"pippin[._-]", group):
                cure = did_you_mean(group, groups) or f"; groups: {', '.join(groups)}"
                problem = f"it is in the group {group!r}, which nothing reads{cure}"
                found += [self._unread(point, problem) for point in self._points.select(group=group)]
        return tuple(found)

    def _entry(self, kind: Kind, point: metadata.EntryPoint) -> Entry:
        # Of several distributions of one name, importlib.metadata returns only the first.
        name, version = self._of(point)
        contract, state, problem = self._judged(point.value, self._declared(point.dist))
        return Entry(
            kind=kind.name,
            name=point.name,
            distribution=name,
            version=version,
            value=point.value,
            contract=contract,
            state=state,
            problem=problem,
            provides=kind.provides,
            base=kind.base,
        )

    def _judged(self, value: str, declared: tuple[str, ...]) -> tuple[int | None, State, str | None]:
        """Return the contract version, the state and the problem of an entry point."""
        try:
            contract = declared_version(declared)
        except ValueError as error:
            return None, "broken", str(error)
        package = re.split("[.:]", value)[0].strip()
        if problem := malformed(value):
            return contract, "broken", problem
        if not self._finds(package):
            return contract, "broken", f"no module named {package!r}; reinstall the distribution"
        state, problem = age_of(contract) or ("ok", None)
        return contract, state, problem

    def _unread(self, point: metadata.EntryPoint, problem: str, state: State = "unread") -> Entry:
        name, version = self._of(point)
        return Entry(
            kind=point.group,
            name=point.name,
            distribution=name,
            version=version,
            value=point.value,
            state=state,
            problem=problem,
        )

    def _of(self, point: metadata.EntryPoint) -> tuple[str, str]:
        assert point.dist is not None, "entry points read from distributions know their distribution"
        return self._described(point.dist)


def _declared(distribution: metadata.Distribution) -> tuple[str, ...]:
    return tuple(point.name for point in distribution.entry_points if point.group == CONTRACT_GROUP)


def _described(distribution: metadata.Distribution) -> tuple[str, str]:
    found = distribution.metadata
    return found["Name"], found["Version"]


def _kind_fault(kind: object, name: str, others: Mapping[str, Kind], plurals: Collection[str]) -> str | None:
    """Return why an entry point is no kind of its name beside some others; None if it is one."""
    if not isinstance(kind, Kind):
        return f"expected a pippin.catalog.Kind, got {kind!r}"
    if kind.name != name:
        return f"its record is the kind {kind.name!r}"
    if name not in others and kind.plural not in plurals:
        return None
    taken = next(each for each in others.values() if name == each.name or kind.plural == each.plural)
    return f"another distribution brings the kind {taken.name!r} of {taken.group}"


def _finds(package: str) -> bool:
    # Search only for the top-level package: to find a module inside it, Python would import the package.
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # ValueError: it is in `sys.modules` but has no spec
        return False


def order_of(entry: Entry) -> tuple[str, str]:
    """Return what the entries of one kind are sorted by."""
    return entry.name, normalized(entry.distribution)


def related(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the entries of one kind, marked anew as duplicates if others that are not blocked have the same name."""
    found = tuple(
        attrs.evolve(entry, state="ok", problem=None) if entry.state == "duplicate" else entry for entry in entries
    )
    alike: dict[str, list[Entry]] = {}
    for entry in found:
        if entry.state != "blocked":
            alike.setdefault(entry.name, []).append(entry)
    return tuple(_with_rivals(entry, alike.get(entry.name, ())) for entry in found)


def _with_rivals(entry: Entry, alike: Iterable[Entry]) -> Entry:
    """Return the entry, marked as a duplicate if others have its kind and name; a broken entry keeps its problem."""
    rivals = [other for other in alike if other != entry]
    if not rivals or entry.problem:
        return entry
    problem = f"offered by {distributions(rivals)} as well; write {entry.qualified_name!r} for this one"
    return attrs.evolve(entry, state="duplicate", problem=problem)


def distributions(entries: Iterable[Entry]) -> str:
    """Return the distributions of some entries in words."""
    return " and ".join(f"{entry.distribution} {entry.version}" for entry in sorted(entries, key=order_of))
