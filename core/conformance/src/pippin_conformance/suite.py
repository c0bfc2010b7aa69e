"""Suite of all checks for one plugin."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pippin import PluginError, did_you_mean

from .checks import Check, checks_of
from .outcomes import CheckResult, raise_failed, result_of
from .plugin_under_test import PluginUnderTest, Scene
from .runs import Runs


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
        if name not in self.checks:
            raise PluginError(
                f"{self.subject}: {name!r} is not a check of a {self.subject.kind}{did_you_mean(name, self.checks)}"
            )
        result = result_of(name, lambda: self.checks[name].run(self._runs))
        expected = self.expected_failures.get(name)
        if expected is None:
            return result
        if result.outcome == "failed":
            return CheckResult(check=name, outcome="expected failure", reason=expected)
        error = PluginError(f"{self.subject}: {name} does not fail, as expected_failures says; take it out there")
        return CheckResult(check=name, outcome="failed", reason=str(error), error=error)

    def results(self, names: Iterable[str] | None = None) -> Iterator[CheckResult]:
        """Run checks one after the other. A plugin that fails `entry_point` cannot be loaded, and no other is run.

        Args:
            names: Names of the checks; None means all.

        Raises:
            PluginError: As `run`.
        """
        try:
            for name in self.checks if names is None else names:
                yield (result := self.run(name))
                if (result.check, result.outcome) == ("entry_point", "failed"):
                    return
                if names is None and result.outcome == "passed":
                    self._runs.begin_after(result.check)
        finally:
            self._runs.close()

    def check(self) -> list[CheckResult]:
        """Run every check, and return the results.

        Raises:
            PluginError: Checks failed; at least one line for each.
        """
        return raise_failed(list(self.results()))
