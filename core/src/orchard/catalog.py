"""What is installed, from entry-point metadata alone: names, kinds, distributions and what is wrong with them.

Nothing here imports a plugin but `Entry.load`, and that imports the one plugin it was asked for.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import re
from collections.abc import Iterable, Iterator
from importlib import metadata
from types import ModuleType
from typing import Literal, get_args

import attrs

from .contract import contract_faults
from .errors import PluginError
from .spelling import did_you_mean

__all__ = ["KINDS", "Catalog", "Entry", "Kind", "State"]

Kind = Literal["solver", "actuator", "clamping", "sensor", "stage", "plugin"]
State = Literal["ok", "duplicate", "broken"]

KINDS: tuple[Kind, ...] = get_args(Kind)


@attrs.frozen(kw_only=True)
class Entry:
    """One entry point of an installed distribution: a plugin that can be selected by name."""

    kind: Kind
    name: str

    distribution: str
    """The distribution that offers it, as its metadata spells it."""

    version: str

    value: str
    """Where the class is: `module:Class`."""

    state: State = "ok"

    problem: str | None = None
    """What is wrong, as far as it can be known without an import; None where `state` is "ok"."""

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} of {self.distribution} {self.version}"

    @property
    def qualified_name(self) -> str:
        """The name that selects this entry among several of the same name: `distribution:name`."""
        return f"{_normalized(self.distribution)}:{self.name}"

    def load(self) -> type:
        """Import and return the plugin's class, checked against the contract.

        Raises:
            PluginError: It cannot be imported or found, has no attrs class `Config`, or has a hook or an argument
                that Orchard does not. Names the plugin, its distribution and version; one line per fault.
        """
        if fault := _malformed(self.value):
            raise PluginError(f"{self}: {fault}")
        module, _, attribute = self.value.partition(":")
        plugin = self._attribute(self._module(module.strip()), attribute.strip())
        if faults := [f"{self}: {fault}" for fault in contract_faults(plugin)]:
            raise PluginError("\n".join(faults))
        return plugin

    def _module(self, name: str) -> ModuleType:
        try:
            return importlib.import_module(name)
        except Exception as error:  # importing runs the plugin's code, which may raise anything
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise PluginError(
                f"{self}: could not be imported ({reason}); repair or reinstall {self.distribution}"
            ) from error

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


@attrs.frozen
class Catalog:
    """Every plugin that is installed, sorted by kind, name and distribution; broken and ambiguous ones included."""

    entries: tuple[Entry, ...]

    @classmethod
    def installed(cls) -> Catalog:
        """Return the plugins of the running interpreter, without importing any.

        A distribution found on `sys.path` twice counts once: the first is the one Python would import.
        """
        found = {entry for kind in KINDS for entry in _read(kind)}
        return cls(tuple(_with_rivals(entry, found) for entry in sorted(found, key=_order)))

    def names(self, kind: Kind) -> tuple[str, ...]:
        """Return the names installed for a kind, sorted, each once."""
        return tuple(dict.fromkeys(entry.name for entry in self.entries if entry.kind == kind))

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
        if len(matches) > 1:
            cures = " or ".join(repr(entry.qualified_name) for entry in matches)
            raise PluginError(f"{kind} {name!r}: offered by {_distributions(matches)}; write {cures}")
        return matches[0]


def _read(kind: Kind) -> Iterator[Entry]:
    # importlib.metadata lets only the first of several distributions of one name through.
    for point in metadata.entry_points(group=f"orchard.{kind}s"):
        assert point.dist is not None, "entry points read from distributions know their distribution"
        problem = _malformed(point.value) or _unfindable(point.value)
        yield Entry(
            kind=kind,
            name=point.name,
            distribution=point.dist.name,
            version=point.dist.version,
            value=point.value,
            state="broken" if problem else "ok",
            problem=problem,
        )


def _with_rivals(entry: Entry, found: Iterable[Entry]) -> Entry:
    """Return the entry, marked where others have its name; what is broken stays so, for that is the nearer reason."""
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
    # Only the top-level package: to find a module inside it, Python would import it.
    package = re.split("[.:]", value)[0].strip()
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):  # ValueError: it is in `sys.modules` but has no spec
        spec = None
    return None if spec else f"no module named {package!r}; reinstall the distribution"


def _unknown(kind: Kind, name: str, offered: Iterable[Entry]) -> str:
    names = {entry.name for entry in offered} | {entry.qualified_name for entry in offered}
    listed = ", ".join(f"{entry.name} ({entry.distribution})" for entry in offered) or "none"
    return f"{kind} {name!r}: not installed; installed {kind}s: {listed}{did_you_mean(name, names)}"


def _order(entry: Entry) -> tuple[int, str, str]:
    return KINDS.index(entry.kind), entry.name, _normalized(entry.distribution)


def _distributions(entries: Iterable[Entry]) -> str:
    return " and ".join(f"{entry.distribution} {entry.version}" for entry in sorted(entries, key=_order))


def _is_of(entry: Entry, distribution: str) -> bool:
    return not distribution or _normalized(entry.distribution) == _normalized(distribution)


def _normalized(distribution: str) -> str:
    """Spell a distribution's name the way package indexes compare names."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
