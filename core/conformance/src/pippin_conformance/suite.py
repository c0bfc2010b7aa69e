"""Checks by name, and the suite of those of one plugin: each is a small function whose docstring is the promise, and
kinds of plugins choose some of them.
"""

from __future__ import annotations

import fnmatch
import functools
import math
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
from pippin import PippinError, PluginError, did_you_mean

from . import common_checks, content_checks, drive_checks, observer_checks, solver_checks, term_checks
from .benches import BENCHES, benches_of
from .kinds import KindChecks
from .observables import OBSERVABLES
from .outcomes import Check, CheckResult, NotApplicableError, check, check_name, raise_failed, result_of
from .pairs import SUPPORTS
from .plugin_under_test import PluginUnderTest, Scene
from .relations import RELATIONS
from .runs import Runs
from .runtime_changes import RUNTIME_CHANGES
from .tree_relations import TREE_RELATIONS
from .trees import TREES


def _family(
    family: str, promises: Mapping[str, str], seconds: float = 0.1, dear: Mapping[str, float] | None = None
) -> Iterator[Check]:
    """Yield a check for each name that a function tries, with its promise; `dear` has those that take longer [s]."""
    run = getattr(solver_checks, f"check_{family}")
    for name, promise in promises.items():
        found = functools.partial(run, name=name)
        cost = seconds if dear is None else dear.get(name, seconds)
        yield Check(name=check_name(family, name), promise=promise, run=found, seconds=cost)


_FEATURES = {
    name: f"If the solver declares `{name}`: {'; '.join(BENCHES[each].expectation for each in benches_of(name))}."
    for name in dict.fromkeys(bench.partition(" ")[0] for bench in BENCHES)
}
_DEAR = {bench.partition(" ")[0]: 1.0 for bench, each in BENCHES.items() if each.collision} | {"rigid_contacts": 0.3}
"""Features with benches in simulations of their own, or of many bodies, and what they cost [s]."""

_TREES = {
    name: f"A drawn tree, {name}, with skew axes and turned frames, moves in five worlds as the equations of motion"
    " say, but for an error that shrinks with the step."
    for name in TREES
}
_RELATIONS = {
    name: f"Matter that the solver declares moves as before where it is {each.expectation}."
    for name, each in RELATIONS.items()
} | {
    name: f"A drawn tree {text} moves as before, but for an error that shrinks with the step."
    for name, text in TREE_RELATIONS.items()
}
_PAIRS = {
    name: f"A shape of each kind that lies on a {name.replace('_', ' ')} which leans, without friction, is carried"
    " along its normal, by as much as its weight asks, at the place where the two meet; or the pair is refused."
    for name in SUPPORTS
}
_OBSERVABLES = {name: f"If the solver declares `{name.split()[0]}`: {text}." for name, text in OBSERVABLES.items()}
_CHANGES = {
    name: f"`{name}` in one world: {each.expectation}, there alone; or it is refused."
    for name, each in RUNTIME_CHANGES.items()
}


def _of(module: ModuleType, names: str, seconds: float = 0.1) -> Iterator[Check]:
    return (check(getattr(module, f"check_{name}"), seconds) for name in names.split())


CHECKS = (
    *_of(common_checks, "entry_point"),
    *_of(common_checks, "light_import", 2.0),
    *_of(common_checks, "documented_keys round_trip unknown_keys schema", 0.01),
    *_of(common_checks, "lifecycle capture determinism substeps allocation reset worlds"),
    *_of(common_checks, "checkpoint side_by_side", 0.3),
    *_of(solver_checks, "isolation delay divergence free_fall pendulum coordinates contacts"),
    *_of(solver_checks, "features", 0.01),
    *_family("feature", _FEATURES, dear=_DEAR),
    *_of(solver_checks, "feature_gravity feature_heterogeneous_worlds feature_different_meshes"),
    *_of(solver_checks, "feature_body_variants feature_particle_worlds"),
    *_of(solver_checks, "feature_gradients", 5.0),
    *_family("pair", _PAIRS, 1.0),
    *_family("tree", _TREES, 0.3),
    *_of(solver_checks, "forms", 1.0),
    *_family("relation", _RELATIONS, 1.0),
    *_family("observable", _OBSERVABLES, 0.3),
    *_of(solver_checks, "observables model_changes"),
    *_family("change", _CHANGES),
    *_of(drive_checks, "efforts driven_joints addition open_loop"),
    *_of(observer_checks, "outputs readings"),
    *_of(common_checks, "effect"),
    *_of(drive_checks, "goals targets rates"),
    *_of(term_checks, "labels numbers verdicts actions mask"),
    *_of(common_checks, "intervals"),
    *_of(observer_checks, "observation folder frames rows reading"),
    *_of(content_checks, "content place options copies simulation ground stand"),
)
"""Every check of the kit, in the order in which they run: cheap ones, and those that others build on, come first."""


def checks_of(kind: KindChecks) -> tuple[Check, ...]:
    """Return the checks of a kind of plugins, in the order in which they run.

    Raises:
        PluginError: It names a check that the kit does not have.
    """
    known = [each.name for each in CHECKS]
    for name in kind.names:
        if not fnmatch.filter(known, name):
            raise PluginError(f"checks: {name!r} is not a check of the kit{did_you_mean(name, known)}")
    kept = {found for name in kind.names for found in fnmatch.filter(known, name)}
    return (*(each for each in CHECKS if each.name in kept), *kind.own)


def fast(checks: Collection[Check]) -> list[str]:
    """Return the names of checks for each save of a file: all that take a tenth of a second, and of those that take a
    few tenths the first two of each family: two drawn trees, and not 21; those that are alone wait.
    """
    dear = [each.name for each in checks if 0.1 < each.seconds < 1.0]
    families = [name.partition("_")[0] for name in dear]
    kept = {
        name
        for index, name in enumerate(dear)
        if families.count(families[index]) > 1 and families[:index].count(families[index]) < 2
    }
    return [each.name for each in checks if each.seconds <= 0.1 or each.name in kept]


class Conformance:
    """The checks of one installed plugin, with its known failures.

    Args:
        kind: Kind of the plugin: `solver`, `sensor`, `stage`, `reward` and so on; `plugin` for an extension.
        name: Name of the plugin, as in the key `type` of its table.
        config: The other keys of its table. Patterns match the kit's scene unless there is a `prototype`.
        prototype: Adds a suitable scene to the builder of one world, which the solver's `configure_builder` has
            prepared. By default two hinged links and a ball on the ground. A solver without hinges gets the ball alone,
            which has no shape if the solver has no contacts; a solver without rigid bodies gets a block of grains.
        beside: Adds to every scene what the solver cannot do without, apart from what the checks measure: sand far
            away, for a solver that refuses scenes without particles.
        tables: More tables of the simulations, such as `{"sensors": {"feet": {...}}}` for a term that reads a sensor.
        solver: Solver for the tests of another plugin; by default XPBD, extended to report accelerations.
        world_count: Number of worlds.
        dt: Length of a substep [s].
        expected_failures: Reasons why some checks fail, by the names of the checks.
        file: A file that an importer reads; only its checks use it, and they need it.

    Raises:
        PluginError: `expected_failures` names a check that plugins of this kind do not have; or an importer has no
            `file`, or another plugin has one; or it is a subcommand, which has no checks.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        *,
        config: Mapping[str, Any] | None = None,
        prototype: Scene | None = None,
        beside: Scene | None = None,
        tables: Mapping[str, Any] | None = None,
        solver: str | None = None,
        world_count: int = 3,
        dt: float = 0.002,
        expected_failures: Mapping[str, str] | None = None,
        file: str | os.PathLike[str] | None = None,
    ) -> None:
        #: For the core: the plugin, and the settings of its tests.
        self.subject = PluginUnderTest(
            kind=kind,
            name=name,
            config=config or {},
            prototype=prototype,
            beside=beside,
            tables=tables or {},
            solver=solver,
            world_count=world_count,
            dt=dt,
            file=None if file is None else Path(file),
        )
        if self.subject.record.provides != "configuration":
            raise PluginError(f"{self.subject}: a {kind} has no checks; try it by pippin {name}")
        if (file is None) == self.subject.of_kind.reads_file:
            cure = "needs a file to read; pass one" if file is None else "reads no file; leave it out"
            raise PluginError(f"{self.subject}: {cure}, file=... or --file")
        self.expected_failures = dict(expected_failures or {})
        #: The checks of the plugin's kind, by name.
        self.checks: Mapping[str, Check] = {check.name: check for check in checks_of(self.subject.of_kind)}
        self._runs = Runs(self.subject)
        for unknown in self.expected_failures.keys() - self.checks.keys():
            raise PluginError(
                f"{self.subject}: expected_failures has {unknown!r}, which is not a check of a {kind}"
                f"{did_you_mean(unknown, self.checks)}"
            )

    def run(self, name: str) -> CheckResult:
        """Run one check.

        Args:
            name: Name of the check.

        Raises:
            PluginError: Plugins of this kind have no such check.
        """
        return self._result(name, self._runs)

    def _result(self, name: str, runs: Runs) -> CheckResult:
        if name not in self.checks:
            raise PluginError(
                f"{self.subject}: {name!r} is not a check of a {self.subject.kind}{did_you_mean(name, self.checks)}"
            )
        start = time.perf_counter()
        result = result_of(name, lambda: self._try(name, runs))
        result = attrs.evolve(result, seconds=time.perf_counter() - start)
        expected = self.expected_failures.get(name)
        if expected is None:
            return result
        if result.outcome == "failed":
            return attrs.evolve(result, outcome="expected failure", reason=expected, error=None)
        error = PluginError(f"{self.subject}: {name} does not fail, as expected_failures says; take it out there")
        return attrs.evolve(result, outcome="failed", reason=str(error), error=error)

    def _try(self, name: str, runs: Runs) -> None:
        try:
            self.checks[name].run(runs)
        except (NotApplicableError, PippinError):
            raise
        except Exception:
            with self.subject.entry.attributed(name):
                raise

    def results(self, names: Iterable[str] | None = None, seconds: float = math.inf) -> Iterator[CheckResult]:
        """Run checks one after the other. A plugin that fails `entry_point` cannot be loaded, and no other is run. A
        reason that an earlier check had is told as that of the earlier check.

        Args:
            names: Names of the checks, which simulate nothing for others; None means all.
            seconds: Time of this process, with what it has imported, after which no check begins [s]; benches then
                move with the step alone, and not with half of it.

        Raises:
            PluginError: As `run`.
        """
        chosen = None if names is None else frozenset(names := tuple(names))
        steps = self.subject.steps if seconds == math.inf else ("",)
        runs = self._runs if chosen is None else Runs(attrs.evolve(self.subject, chosen=chosen, steps=steps))
        try:
            told: dict[str, str] = {}
            for name in self.checks if names is None else names:
                if time.process_time() > seconds:
                    return
                result = self._result(name, runs)
                if result.outcome == "failed" and (first := told.setdefault(result.reason, name)) != name:
                    result = attrs.evolve(result, reason=f"as {first}")
                yield result
                if (result.check, result.outcome) == ("entry_point", "failed"):
                    return
                if names is None and result.outcome == "passed":
                    runs.begin_after(result.check)
        finally:
            runs.close()

    def check(self) -> list[CheckResult]:
        """Run every check, and return the results.

        Raises:
            PluginError: Checks failed; at least one line for each.
        """
        return raise_failed(list(self.results()))
