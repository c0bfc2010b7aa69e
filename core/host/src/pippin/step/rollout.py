"""Rollouts for a tape: the operations of a step, run eagerly, each with its own arrays."""

from __future__ import annotations

import copy
from collections.abc import Callable

import attrs
import newton
import warp as wp
from pippin.arrays import on_host, present
from pippin.errors import ConfigError, SimulationError
from pippin.solving.contact_source import Capacity, pipeline_capacities
from pippin.state.monitor import Monitor
from pippin.state.world_rows import arrays_of

from .kernels import set_count
from .plan import StepPlan
from .substeps import ExternalForces

_RECORDED = ("apply_actuators", "before_substep", "step_solver")
"""Hooks that run in a rollout. For the solver's component, the feature `gradients` replaces `is_differentiable`."""


def roll_out(
    plan: StepPlan,
    count: int,
    start: newton.State | None = None,
    first: int = 0,
    before_step: Callable[[int], None] | None = None,
) -> tuple[newton.State, ...]:
    """Return a copy of a state, and the states after each of the next `count` control steps.

    The backward pass reads the inputs of the forward pass, so no input is overwritten: each call of the solver has its
    own state, each detection its own contacts and each physics step its own efforts. The counter of control steps goes
    with the rollout, in the backward pass too, and then stands where it was.

    Args:
        plan: The plan of a step.
        count: Number of control steps.
        start: The state to start from; by default the current one.
        first: Control steps from the current state to `start`.
        before_step: Called before each control step with its number, counted from `first`.

    Raises:
        ConfigError: The model has no gradients, or steps would carry data other than the state.
        SimulationError: A buffer of contacts overflowed.
    """
    _refuse(plan)
    states, monitors = [_copy(plan, plan.states[0] if start is None else start)], []
    counter = plan.step_counter
    taken = int(on_host(counter)[0])
    last = taken
    for number in range(first, first + count):
        wp.launch(set_count, 1, [taken + number, last, counter], device=counter.device)
        last = taken + number
        if before_step is not None:
            before_step(number)
        states.append(_control_step(plan, states[-1], monitors))
    wp.launch(set_count, 1, [taken, last, counter], device=counter.device)
    for monitor in monitors:
        monitor.check()
    for buffers in plan.buffers.values():
        for buffer in buffers:
            buffer.settle()
    return tuple(states)


def _refuse(plan: StepPlan) -> None:
    if not plan.model.requires_grad:
        raise ConfigError("simulation.requires_grad: false, but a rollout is for gradients; set it to true")
    components = plan.components
    parts = [part for hook in _RECORDED for part in (*components.implementations(hook), *components.wrappers(hook))]
    others = dict.fromkeys(part.owner for part in parts if part.owner != components.solver_name)
    faults = [
        f"{owner.replace(':', '.')}: is not declared to be differentiable (is_differentiable); take away what it"
        " remembers from step to step, such as a delay, or leave it out"
        for owner in others
        if not components.attributes[owner].is_differentiable
    ]
    faults += [
        f"callbacks: {callback.name} of {phase!r} may overwrite what a tape needs; remove it for the rollout,"
        " or make it a plugin that declares is_differentiable"
        for phase in ("after_actuators", "before_substep")
        for callback in plan.callbacks.of(phase)
    ]
    if plan.modified.is_asked:
        faults.append(
            f"{plan.components.solver_name}: keeps coordinates of its own (written_worlds), and a tape does not follow"
            " them; choose a solver that reads the state in each step"
        )
    pipeline = plan.source.pipeline
    if pipeline is not None and pipeline.contact_matching != "disabled":
        faults.append(
            f"collision.contact_matching: {pipeline.contact_matching!r} remembers contacts from step to step, which a"
            " rollout would change; use 'disabled'"
        )
    if faults:
        raise ConfigError(*faults)


def _copy(plan: StepPlan, state: newton.State) -> newton.State:
    """Return a copy that a tape takes as given: the gradient stays in it, and goes no further.

    What a solver keeps in a state beside the arrays of the model, as Newton's featherstone does, stays there.
    """
    copied, given = plan.model.state(requires_grad=False), arrays_of(state)
    arrays = arrays_of(copied)
    if missing := arrays.keys() - given.keys():
        raise SimulationError(f"rollout: start: has no {min(missing)!r}; pass a state of this simulation")
    for name, array in arrays.items():
        array.assign(given[name])
    return _with_gradients(copied)


def _with_gradients(state: newton.State) -> newton.State:
    for array in arrays_of(state).values():
        array.requires_grad = True
    return state


def _control_step(plan: StepPlan, state: newton.State, monitors: list[Monitor]) -> newton.State:
    forces = ExternalForces(state)
    forces.keep()
    start = state
    for tick in range(plan.ticks):
        own_plan = _with_own_arrays(plan, state)
        for operation in own_plan.physics_step(0, forces, is_last=tick == plan.ticks - 1, start=start):
            operation.run()
        monitors.append(own_plan.monitor)
        state = own_plan.states[-1]
    return state


def _with_own_arrays(plan: StepPlan, state: newton.State) -> StepPlan:
    calls, source = plan.solver_calls, plan.source
    # With gradients that are enabled afterwards: otherwise a tape would record the initialisation.
    states = (state, *(_with_gradients(plan.model.state(requires_grad=False)) for _ in range(calls)))
    contacts = plan.contacts
    capacities: list[Capacity] = []
    if source.is_run_by_host:
        pipeline = present(source.pipeline)
        contacts = tuple(pipeline.contacts() for _ in range(0, calls, source.interval))
        capacities = [capacity for buffer in contacts for capacity in pipeline_capacities(pipeline, buffer)]
    monitor = Monitor(plan.model, plan.options.dt, detection=capacities)
    control = _own_efforts(plan.control)
    # pyrefly: ignore[bad-argument-type]
    return attrs.evolve(plan, states=states, contacts=contacts, monitor=monitor, control=control, reports=None)


def _own_efforts(control: newton.Control) -> newton.Control:
    """Return a control with its own copy of the user's efforts; all other arrays are shared."""
    own = copy.copy(control)
    if control.joint_f is not None:
        own.joint_f = wp.clone(control.joint_f)
        present(own.joint_f.grad).zero_()  # the clone also copies the gradient of earlier backward passes
    return own
