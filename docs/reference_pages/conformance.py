"""Page *Conformance*: the checks of plugins, and their exceptions."""

from __future__ import annotations

import runpy
from collections.abc import Iterable, Sequence
from pathlib import Path

from pippin.catalog.entries import Catalog
from pippin_conformance import Check, Conformance
from pippin_conformance.benches import BENCHES, benches_of
from pippin_conformance.kinds import kind_checks
from pippin_conformance.suite import CHECKS, checks_of

from .rows import inline_toml, summary
from .tasks import TASK_KINDS

ROOT = Path(__file__).parents[2]

OBSERVERS = ROOT / "core" / "conformance" / "tests" / "test_observer_checks.py"
"""The `CONFORMANCES` of viewers and recorders."""

CONFORMANCE = """\
# Conformance

<!-- Written by docs/write_reference.py from the checks and the plugins' own tests. Change those, then run it. -->

This page lists the promises of every plugin. [`pippin check-plugin`](cli.md#pippin-check-plugin) checks them, and
[test a plugin](../how-to/test-a-plugin.md) shows how to run the checks in your own tests.
All solvers, actuators, sensors, viewers and recorders of this repository pass all checks of their kind, with [these
exceptions](#exceptions). Only `coupled` is not held to them: its entries name elements that the scenes of the kit lack.
The checks `change_*` of solvers have [a page of their own](honoured.md).

Simulations run on the CPU, in three worlds, with hinged links and a ball on the ground. A clamping is tested in an
actuator of the kit, a stage in a sensor, and a term in a task without automatic resets. Free bodies, pendulums and
mechanisms are checked in scenes of their own. "The same" means bitwise the same, unless a tolerance is given.
"""

CHECK_TABLE = """
## Checks

The third column is about the time of a check alone, after the imports, with compiled kernels and a light solver [s].
Together they take less, since they share simulations. Each `feature_*` and `change_*` has 0.1, and
`feature_gradients` has 5. `pippin check-plugin NAME --fast` runs those with at most 0.1, and two of each kind of name
with 0.3.

| check | of | [s] | promise |
|---|---|---|---|
"""

FEATURE_CHECKS = """
## Features

Each feature in a solver's `supported_features` is checked on small mechanisms, which move for 0.1 s. Beside each of
them, in the same simulation, its control moves: the mechanism once more where the feature has nothing to do, such as
a link without the limit. A solver that moves the control as it should move the mechanism is refused, too. Each check
fails for a solver that declares the feature and ignores it: [the tests of the
kit](../../core/conformance/tests/test_benches.py) take the feature out of the model of a true solver.
[How the features of matter are measured](../explanation/benches-of-matter.md) has the formulas and the figures of each
solver.

| check | measured motion | allowed range |
|---|---|---|
"""

EXCEPTIONS = """
## Exceptions

| plugin | check | why it fails |
|---|---|---|
"""

SETTINGS = """
## Settings

Plugins are checked with their defaults, in substeps of 2 ms. This table lists the settings of plugins that need more.

| plugin | settings |
|---|---|
"""


def page() -> str:
    """Return the promises that the checks test, and the known failures of this repository's plugins."""
    of_features = [check for check in CHECKS if check.name.startswith("feature_")]
    of_kinds = _checks_of_kinds()
    checks = {check.name: check for check in (*CHECKS, *(each for found in of_kinds.values() for each in found))}
    plain = [check for check in checks.values() if not check.name.startswith(("feature_", "change_"))]
    kinds = {check.name: [kind for kind, found in of_kinds.items() if check in found] for check in plain}
    rows = [
        f"| `{each.name}` | {_kinds(kinds[each.name], of_kinds)} | {each.seconds:g} | {each.promise} |\n"
        for each in plain
    ]
    features = [_feature_rows(check.name, check.promise) for check in of_features]
    declared = conformances()
    exceptions = [
        f"| `{each.subject.name}` | `{check}` | {reason} |\n"
        for each in declared
        for check, reason in each.expected_failures.items()
    ]
    settings = [f"| `{each.subject.name}` | {text} |\n" for each in declared if (text := _settings(each))]
    table = f"{CHECK_TABLE}{''.join(rows)}"
    return "".join([CONFORMANCE, table, FEATURE_CHECKS, *features, EXCEPTIONS, *exceptions, SETTINGS, *settings])


def _checks_of_kinds() -> dict[str, list[Check]]:
    """Return the checks of each kind of plugins with a configuration."""
    installed = Catalog.installed().kinds
    configured = {name: kind for name, kind in installed.items() if kind.provides == "configuration"}
    return {name: list(checks_of(kind_checks(kind))) for name, kind in configured.items()}


def _kinds(kinds: Sequence[str], every: Iterable[str]) -> str:
    """Return the kinds of a check in words: many of them by what they have in common."""
    if missing := [kind for kind in every if kind not in kinds]:
        if len(missing) <= 2:
            return f"all but {' and '.join(missing)}"
        terms = ["terms"] if set(TASK_KINDS) <= set(kinds) else []
        return ", ".join([*(kind for kind in kinds if not terms or kind not in TASK_KINDS), *terms])
    return "all"


def _feature_rows(check: str, promise: str) -> str:
    """Return a row for each bench of a check; the promise if it has none of its own."""
    benches = [BENCHES[name] for name in benches_of(check.removeprefix("feature_"))]
    rows = [(each.expectation, f"{each.bounds[0]:.3g} to {each.bounds[1]:.3g}") for each in benches] or [(promise, "")]
    return "".join(f"| `{check}` | {text} | {span} |\n" for text, span in rows)


def conformances() -> list[Conformance]:
    """Return the `Conformance` in the tests of every plugin, in the order of the catalog."""
    files = [
        path for folder in ("solvers", "actuators", "sensors") for path in ROOT.glob(f"{folder}/*/tests/test_*.py")
    ]
    runs = [runpy.run_path(str(path)) for path in files]
    found = [run["CONFORMANCE"] for run in runs if "CONFORMANCE" in run]
    found += [each for run in runs for each in run.get("CONFORMANCES", ())]
    found += runpy.run_path(str(OBSERVERS))["CONFORMANCES"]
    order = [(entry.kind, entry.name) for entry in Catalog.installed().entries]
    return sorted(found, key=lambda each: order.index((each.subject.kind, each.subject.name)))


_PATHS = ("environment", "model_path")
"""Keys whose values are places of the machine that writes the page."""


def _settings(conformance: Conformance) -> str:
    """Return the settings of a plugin's checks that differ from the defaults."""
    subject = conformance.subject
    told = {key: value for key, value in subject.config.items() if key not in _PATHS}
    parts = [f"`{key} = {inline_toml(value)}`" for key, value in told.items()]
    if "environment" in subject.config:
        parts.append("an environment of its own")
    if subject.dt != 0.002:
        parts.append(f"substeps of {1000 * subject.dt:g} ms")
    if subject.prototype is not None:
        parts.append(f"its own scene: {summary(subject.prototype)}")
    return ", ".join(parts)
