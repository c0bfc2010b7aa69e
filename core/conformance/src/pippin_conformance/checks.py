"""Checks by name: each is a small function whose docstring is the promise. Kinds of plugins choose some of them."""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterator
from types import ModuleType

from pippin import PluginError, did_you_mean

from . import configuration, content_checks, drive_checks, observer_checks, solver_checks, step_checks, term_checks
from .benches import BENCHES, benches_of
from .kinds import KindChecks
from .outcomes import Check, check
from .runtime_changes import RUNTIME_CHANGES


def _feature(name: str) -> Check:
    promise = f"If the solver declares `{name}`: {'; '.join(BENCHES[each].expectation for each in benches_of(name))}."
    run = functools.partial(solver_checks.check_feature, name=name)
    return Check(name=f"feature_{name}", promise=promise, run=run)


def _runtime_change(name: str) -> Check:
    promise = f"`{name}` in one world: {RUNTIME_CHANGES[name].expectation}, there alone; or it is refused."
    run = functools.partial(solver_checks.check_runtime_change, name=name)
    return Check(name=f"change_{name}", promise=promise, run=run)


def _of(module: ModuleType, names: str) -> Iterator[Check]:
    """Yield the checks of some functions of a module, without their `check_`."""
    return (check(getattr(module, f"check_{name}")) for name in names.split())


CHECKS = (
    *_of(configuration, "entry_point light_import documented_keys round_trip unknown_keys schema"),
    *_of(step_checks, "lifecycle capture determinism substeps allocation reset worlds checkpoint side_by_side"),
    *_of(solver_checks, "free_fall pendulum coordinates contacts features"),
    *map(_feature, dict.fromkeys(name.partition(" ")[0] for name in BENCHES)),
    *_of(solver_checks, "feature_gravity feature_heterogeneous_worlds feature_particle_worlds feature_gradients"),
    *_of(solver_checks, "observables model_changes"),
    *map(_runtime_change, RUNTIME_CHANGES),
    *_of(drive_checks, "efforts driven_joints addition open_loop"),
    *_of(observer_checks, "outputs readings"),
    *_of(step_checks, "effect"),
    *_of(drive_checks, "goals targets"),
    *_of(term_checks, "labels numbers verdicts actions mask"),
    *_of(step_checks, "intervals"),
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
