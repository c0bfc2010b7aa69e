"""Entry points of the running interpreter, read by kind of plugins when somebody asks, and judged by their contract."""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from importlib import metadata, resources
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import attrs
from pippin.errors import PluginError
from pippin.spelling import did_you_mean

from .entry import Entry, State, malformed, normalized, spec_of
from .kind import Kind

CONTRACT_VERSIONS = range(1, 2)
"""Contract versions that this Pippin accepts; `docs/reference/contract-version.md` lists what changes a version."""

CONTRACT_GROUP = "pippin.contract"
"""Group of entry points in which a distribution declares the contract version of its plugins: one name, an integer."""

Age = Literal["too-old", "too-new"]


KINDS_GROUP = "pippin.kinds"
"""Group of entry points in which a distribution registers its kinds of plugins: each names a `Kind`."""


def declared_version(names: Collection[str]) -> int:
    """Return the version that a distribution declares, from its names in `CONTRACT_GROUP`; 1 if it has none."""
    if not names:
        return 1
    (name, *others) = sorted(names)
    if others or not re.fullmatch(r"\d+", name, re.ASCII):
        listed = ", ".join(map(repr, sorted(names)))
        raise ValueError(f"group {CONTRACT_GROUP} declares {listed}; name one entry point there, by an integer")
    return int(name)


def age_of(version: int, accepted: range = CONTRACT_VERSIONS) -> tuple[Age, str] | None:
    """Return whether a version is too old or too new for a host, and the reason; None if the host accepts it."""
    if version in accepted:
        return None
    taken = " to ".join(str(each) for each in dict.fromkeys((accepted[0], accepted[-1])))
    age, cure = ("too-old", "update the plugin") if version < accepted[0] else ("too-new", "update pippin")
    return age, f"it keeps to contract {version}, and Pippin {metadata.version('pippin')} to {taken}; {cure}"


class Source:
    """The entry points of an interpreter."""

    def __init__(self, points: metadata.EntryPoints) -> None:
        self._points = points  # read once for all groups: it takes milliseconds
        self._described = functools.cache(_described)  # importlib.metadata parses a whole file for each name it tells
        self._spec_of = functools.cache(spec_of)
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
        contract, state, problem = self._judged(point.value, self._declared(point.dist))
        entry = self._unread(point, problem, state)
        return attrs.evolve(entry, kind=kind.name, contract=contract, provides=kind.provides, base=kind.base)

    def _judged(self, value: str, declared: tuple[str, ...]) -> tuple[int | None, State, str | None]:
        try:
            contract = declared_version(declared)
        except ValueError as error:
            return None, "broken", str(error)
        package = re.split("[.:]", value)[0].strip()
        if problem := malformed(value):
            return contract, "broken", problem
        if self._spec_of(package) is None:
            return contract, "broken", f"no module named {package!r}; reinstall the distribution"
        state, problem = age_of(contract) or ("ok", None)
        return contract, state, problem

    def _unread(self, point: metadata.EntryPoint, problem: str | None, state: State = "unread") -> Entry:
        assert point.dist is not None, "entry points read from distributions know their distribution"
        name, version = self._described(point.dist)
        return Entry(
            kind=point.group,
            name=point.name,
            distribution=name,
            version=version,
            value=point.value,
            state=state,
            problem=problem,
        )


def _declared(distribution: metadata.Distribution) -> tuple[str, ...]:
    return tuple(map(attrgetter("name"), distribution.entry_points.select(group=CONTRACT_GROUP)))


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


def first_party_distribution(plural: str, name: str) -> str | None:
    """Return the distribution of Pippin's own that has a plugin of a kind, in the plural, and a name; None if there is
    none, or it is the host.
    """
    text = resources.files("pippin.catalog").joinpath("first_party.toml").read_text(encoding="utf-8")
    for distribution, kinds in tomllib.loads(text).items():
        if name in kinds.get(plural, "").split():
            return distribution
    return None


def docstring_of(entry: Entry) -> str | None:
    """Return the docstring of the class or function that an entry point names; None if its source is not found."""
    module, _, name = entry.value.partition(":")
    path = _file_of(module.strip())
    if path is None:
        return None
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef) and statement.name == name.strip():
            return ast.get_docstring(statement)
    return None


def _file_of(module: str) -> Path | None:
    package, *parts = module.split(".")
    spec = spec_of(package)
    if spec is None:
        return None
    if not parts:
        return Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None
    places = [Path(folder, *parts) for folder in spec.submodule_search_locations or ()]
    files = (file for place in places for file in (place.with_suffix(".py"), place / "__init__.py"))
    return next(filter(Path.is_file, files), None)
