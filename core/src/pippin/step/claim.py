"""A check of the solver's declared coordinates, before the first step."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from pippin.arrays import present
from pippin.errors import PluginError

from .plan import StepPlan


def try_claim(plan: StepPlan) -> None:
    """Check that a solver that declares reduced coordinates writes `joint_q`: take a step and undo it.

    Raises:
        PluginError: The solver does not write them: readers would always get the initial joint positions.
    """
    if plan.is_maximal or not plan.model.joint_coord_count:  # fixed joints have no coordinates
        return
    before = plan.data.snapshot()
    joint_q = present(plan.states[1].joint_q)
    joint_q.fill_(float("nan"))
    calls = [*plan.collision(plan.states[0], plan.contacts[0])] if plan.source.is_run_by_host else []
    calls.append(plan.solver_step(**plan.solver_arguments(0)))
    trace = plan.components.trace
    with nullcontext() if trace is None else trace.during("rehearsal"):
        for operation in calls:
            operation.run()
    is_unwritten = bool(np.isnan(joint_q.numpy()).all())
    before.restore()
    if is_unwritten:
        raise PluginError(
            "solver: does not write joint_q, although it claims reduced coordinates;"
            ' declare coordinates = "maximal" on the plugin class, and the host computes joint_q from bodies'
        )
