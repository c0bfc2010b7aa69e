"""Checks of what a user changes at a running solver: it acts in its world alone, or is refused with a cure."""

from __future__ import annotations

import numpy as np
from pippin import PluginError
from pippin.components import Declaration

from .outcomes import NotApplicableError
from .runs import Runs
from .runtime_changes import RUNTIME_CHANGES, RuntimeChange, cell_of


def check_runtime_change(runs: Runs, name: str) -> None:
    """Check one change: as the solver's declaration says, it acts in its world alone, or is refused.

    One that is refused because the solver reads it at the build only has no effect if the host lets it pass.
    """
    change, subject = RUNTIME_CHANGES[name], runs.subject
    cell = cell_of(change, subject.declaration)
    if cell.lacks in change.of_body:
        raise NotApplicableError(f"it declares no {cell.lacks}, and a scene with them is refused")
    if withheld := sorted(change.prepares & _withheld(subject.declaration)):
        raise NotApplicableError(f"its bench sets {withheld[0]} first, which it reads at the build only")
    answer = runs.answers[name]
    if not cell.is_honoured:
        reason = f"its declaration has no {'live ' * cell.is_withheld}{cell.lacks}"
        _refuse_silence(runs, change, answer.refusal, reason, cell.lacks)
        if cell.is_withheld:
            _refuse_modesty(runs, change, cell.lacks)
        return
    if answer.motions is None:
        raise PluginError(f"{subject}: declares what {name} needs, but refuses it: {answer.refusal}; honour it")
    _refuse_motion(runs, change, answer.motions)
    if cell.is_fixed:
        reason = f"{change.feature} are fixed at its build"
        _refuse_silence(runs, change, runs.refusals[name], reason, "scene.settable_joints")


def _withheld(declared: Declaration) -> frozenset[str]:
    """Return the features that a solver reads while it is built only."""
    return frozenset(name for name, level in (declared.supported_features or {}).items() if level == "build")


def _refuse_silence(runs: Runs, change: RuntimeChange, error: str, reason: str, what: str) -> None:
    """Refuse a change that was accepted, and an error without the solver, the change or what is missing."""
    missing = [part for part in (change.name, change.attribute, repr(runs.subject.name), what) if part not in error]
    if missing:
        fault = f"its error leaves out {', '.join(missing)}: {error}" if error else "it is accepted"
        raise PluginError(
            f"{runs.subject}: {change.label} has to be refused, since {reason}, but {fault}; declare what it honours"
        )


def _refuse_modesty(runs: Runs, change: RuntimeChange, what: str) -> None:
    """Refuse a solver that follows a change although it declares that it reads this at the build only."""
    motions = runs.trusted[change.label].motions
    if motions is not None and not any(_strays(change, motions)):
        raise PluginError(
            f"{runs.subject}: its declaration has no live {what}, but {change.expectation} where the host lets"
            f" {change.label} pass; declare {change.feature or 'rigid_bodies'} 'live', so that users may change it"
        )


def _strays(change: RuntimeChange, motions: np.ndarray) -> list[str]:
    """Return what moves in another way than it should, of the last world, which was changed, and of the others."""
    bounds = [change.idle] * (len(motions) - 1) + [change.acting]
    return [
        f"{motion:.3g} in world {world}, expected {least:.3g} to {most:.3g}"
        for world, (motion, (least, most)) in enumerate(zip(motions, bounds, strict=True))
        if not least <= motion <= most
    ]


def _refuse_motion(runs: Runs, change: RuntimeChange, motions: np.ndarray) -> None:
    for fault in _strays(change, motions)[:1]:
        raise PluginError(
            f"{runs.subject}: {change.label} in the last of {len(motions)} worlds, but not so that"
            f" {change.expectation}: {fault}; take it over in its world alone, declare what it needs 'build' in"
            " supported_features, or declare features_fixed_at_build"
        )
