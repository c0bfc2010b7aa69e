"""Checks of what a user asks a running solver for: it acts in the asked world alone, or is refused with a cure."""

from __future__ import annotations

import numpy as np
from pippin.errors import PluginError

from .outcomes import NotApplicableError
from .runs import Runs
from .runtime_changes import RUNTIME_CHANGES, RuntimeChange, cell_of


def check_ask(runs: Runs, name: str) -> None:
    """Check one ask: as the solver's declaration says, it acts in the asked world alone, or is refused."""
    ask, subject = RUNTIME_CHANGES[name], runs.subject
    cell = cell_of(ask, subject.declaration)
    if cell.lacks in ask.of_body:
        raise NotApplicableError(f"it declares no {cell.lacks}, and a scene with them is refused")
    answer = runs.answers[name]
    if not cell.is_honoured:
        _refuse_silence(runs, ask, answer.refusal, f"its declaration has no {cell.lacks}", cell.lacks)
        return
    if answer.motions is None:
        raise PluginError(f"{subject}: declares what {name} needs, but refuses it: {answer.refusal}; honour it")
    _refuse_motion(runs, ask, answer.motions)
    if cell.is_fixed:
        reason = f"{ask.feature} are fixed at its build"
        _refuse_silence(runs, ask, runs.refusals[name], reason, "scene.settable_joints")


def _refuse_silence(runs: Runs, ask: RuntimeChange, found: str, reason: str, what: str) -> None:
    """Refuse an ask that was accepted, and an error without the solver, the ask or what is missing."""
    missing = [part for part in (ask.name, ask.attribute, repr(runs.subject.name), what) if part not in found]
    if missing:
        told = f"its error leaves out {', '.join(missing)}: {found}" if found else "it is accepted"
        raise PluginError(
            f"{runs.subject}: {ask.label} has to be refused, since {reason}, but {told}; declare what it honours"
        )


def _refuse_motion(runs: Runs, ask: RuntimeChange, motions: np.ndarray) -> None:
    for world, motion in enumerate(motions):
        is_asked = world == len(motions) - 1
        least, most = ask.acting if is_asked else ask.idle
        if not least <= motion <= most:
            raise PluginError(
                f"{runs.subject}: {ask.label} in the last of {len(motions)} worlds, but not so that {ask.expectation}:"
                f" {motion:.3g} in world {world}, expected {least:.3g} to {most:.3g}; take it over in its world alone,"
                " leave out what it needs in supported_features or supported_model_changes, or declare"
                " features_fixed_at_build"
            )
