"""Checks by name: each is a small function whose docstring is the promise. Kinds of plugins choose some of them."""

from __future__ import annotations

import fnmatch
import functools

from pippin import PluginError, did_you_mean

from . import (
    actuator_checks,
    claims,
    configuration,
    content_checks,
    controller_checks,
    observer_checks,
    physics,
    runtime_change_checks,
    sensor_checks,
    step_checks,
    term_checks,
    terrain_checks,
)
from .benches import BENCHES, benches_of
from .kinds import KindChecks
from .named_check import Check, check
from .runtime_changes import RUNTIME_CHANGES


def _feature(name: str) -> Check:
    promise = f"If the solver declares `{name}`: {'; '.join(BENCHES[each].expectation for each in benches_of(name))}."
    run = functools.partial(claims.check_feature, name=name)
    return Check(name=f"feature_{name}", promise=promise, run=run)


def _runtime_change(name: str) -> Check:
    promise = f"`{name}` in one world: {RUNTIME_CHANGES[name].expectation}, there alone; or it is refused."
    run = functools.partial(runtime_change_checks.check_runtime_change, name=name)
    return Check(name=f"change_{name}", promise=promise, run=run)


CHECKS = (
    check(configuration.check_entry_point),
    check(configuration.check_light_import),
    check(configuration.check_documented_keys),
    check(configuration.check_round_trip),
    check(configuration.check_unknown_keys),
    check(configuration.check_schema),
    check(step_checks.check_lifecycle),
    check(step_checks.check_capture),
    check(step_checks.check_determinism),
    check(step_checks.check_substeps),
    check(step_checks.check_allocation),
    check(step_checks.check_reset),
    check(step_checks.check_worlds),
    check(step_checks.check_checkpoint),
    check(step_checks.check_side_by_side),
    check(physics.check_free_fall),
    check(physics.check_pendulum),
    check(claims.check_coordinates),
    check(claims.check_contacts),
    check(claims.check_features),
    *map(_feature, dict.fromkeys(name.partition(" ")[0] for name in BENCHES)),
    check(claims.check_feature_gravity),
    check(claims.check_feature_heterogeneous_worlds),
    check(claims.check_feature_particle_worlds),
    check(claims.check_feature_gradients),
    check(claims.check_observables),
    check(claims.check_model_changes),
    *map(_runtime_change, RUNTIME_CHANGES),
    check(actuator_checks.check_efforts),
    check(actuator_checks.check_driven_joints),
    check(actuator_checks.check_addition),
    check(actuator_checks.check_open_loop),
    check(sensor_checks.check_outputs),
    check(sensor_checks.check_readings),
    check(step_checks.check_effect),
    check(controller_checks.check_goals),
    check(controller_checks.check_targets),
    check(term_checks.check_labels),
    check(term_checks.check_numbers),
    check(term_checks.check_verdicts),
    check(term_checks.check_actions),
    check(term_checks.check_mask),
    check(step_checks.check_intervals),
    check(observer_checks.check_observation),
    check(observer_checks.check_folder),
    check(observer_checks.check_frames),
    check(observer_checks.check_rows),
    check(observer_checks.check_reading),
    check(content_checks.check_content),
    check(content_checks.check_place),
    check(content_checks.check_options),
    check(content_checks.check_copies),
    check(content_checks.check_simulation),
    check(terrain_checks.check_ground),
    check(terrain_checks.check_stand),
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
