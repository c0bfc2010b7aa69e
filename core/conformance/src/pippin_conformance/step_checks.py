"""Checks of a plugin's steps: effect, capture, determinism, resets, checkpoints and independence of worlds."""

from __future__ import annotations

import attrs
from pippin import ConfigError

from .observation import StateSnapshot, advance, differing, start
from .runs import Runs


def check_lifecycle(runs: Runs) -> None:
    """A simulation with the plugin can be built, stepped, reset and stepped again; it stays finite, and may be closed
    twice. A second simulation can follow in the same process.
    """
    _ = runs.eager
    _ = runs.again


def check_capture(runs: Runs) -> None:
    """Captured steps give bitwise the results of eager steps, and every operation is captured unless the plugin
    declares that it runs eagerly.
    """
    for name, reason in runs.whole.unexpected.items():
        raise runs.fault(
            f"{name} is not captured: {reason}; keep all that changes on the device, or declare is_capturable = False"
            " and an eager_reason"
        )
    _refuse_difference(
        runs, runs.eager, runs.whole.half, "captured steps differ from eager ones", "declare is_capturable = False"
    )


def check_determinism(runs: Runs) -> None:
    """Two runs of one configuration are bitwise the same on the CPU. `deterministic_on` must contain "cpu"."""
    if "cpu" not in runs.subject.declaration.deterministic_on:
        raise runs.fault(
            "deterministic_on has no 'cpu', so that nothing can be compared bit for bit; seed what is random with"
            " simulation.seed"
        )
    cure = "seed what is random with simulation.seed, or leave 'cpu' out of deterministic_on"
    _refuse_difference(runs, runs.eager, runs.again[0], "two runs differ", cure)


def check_substeps(runs: Runs) -> None:
    """A step with two or three substeps (for an actuator or a clamping, a control step with two or three physics steps)
    gives the same bits as two or three steps of that length.
    """
    cure = "read the state that the call is given, write the other one, and use the call's own dt"
    in_two, in_three = runs.apart
    _refuse_difference(runs, in_two, runs.even, "two in a step differ from two steps", cure)
    _refuse_difference(runs, in_three, runs.whole.half, "three in a step differ from three steps", cure)


def check_allocation(runs: Runs) -> None:
    """After the first steps, a step allocates no Warp memory."""
    before, after = runs.whole.allocations
    if before != after:
        raise runs.fault(
            "ten steps allocated Warp memory; allocate in bind or build_solver, and reuse it\n"
            f"before: {before}\nafter: {after}"
        )


def check_reset(runs: Runs) -> None:
    """After a reset of all worlds with the first seed, the simulation repeats its first steps bit for bit."""
    cure = "declare what it carries in state_arrays, answer reset_worlds, or let the solver's reset forget it"
    first, after_reset = runs.again
    _refuse_difference(runs, first, after_reset, "steps after a reset differ from the first ones", cure)


def check_intervals(runs: Runs) -> None:
    """An event that comes in each control step changes nothing that a reset with the first seed leaves changed."""
    subject, step = runs.subject, 3 * runs.subject.dt
    own = attrs.evolve(subject, config={**subject.config, "when": "interval", "period": [step, step]})
    try:
        own.structured()
    except ConfigError:
        return  # it takes no intervals
    first, after_reset = Runs(own).again
    cure = "put back what was found, in `restore`"
    _refuse_difference(runs, first, after_reset, "steps after a reset differ from the first ones", cure)


def check_worlds(runs: Runs) -> None:
    """A world that is reset with the first seed starts again from the beginning, and the other worlds continue bitwise
    as without the reset.
    """
    count = runs.subject.world_count
    if count < 2:
        raise runs.fault("tried in one world, which no other can disturb; give it several")
    others, last = list(range(count - 1)), [count - 1]
    cure = "give each world rows of its own, and forget the rows of the worlds in the mask alone"
    whole, disturbed = runs.whole, runs.disturbed
    told = "a reset of another world changed this one"
    _refuse_difference(runs, whole.end.of(others), disturbed.of(others), told, cure)
    told = "a world that was reset does not start over"
    _refuse_difference(runs, whole.half.of(last), disturbed.of(last), told, cure)


def check_checkpoint(runs: Runs) -> None:
    """A run that is resumed from a file is bitwise the same as an uninterrupted run: all state is in arrays and
    numbers of the component, its solver or the simulation's state.
    """
    cure = "keep what is carried in attributes of the component, or declare unsaved_reason"
    _refuse_difference(runs, runs.whole.end, runs.resumed, "a resumed run differs", cure)


def check_side_by_side(runs: Runs) -> None:
    """Two simulations that take turns in one process give the same results as each one alone."""
    cure = "keep nothing in a class or a module"
    for seen in runs.side_by_side:
        _refuse_difference(runs, runs.whole.half, seen, "another simulation beside it changed it", cure)


def check_effect(runs: Runs) -> None:
    """The plugin acts: efforts, readings or the state are others than without it."""
    with runs.subject.build(capture="off", is_present=False) as simulation:
        start(simulation)
        without = advance(simulation)
    if not [name for name in differing(runs.eager, without) if name in without.arrays]:
        raise runs.fault(
            "efforts, readings and the state are the same as without it; test it with settings that change some"
        )


def _refuse_difference(runs: Runs, expected: StateSnapshot, found: StateSnapshot, told: str, cure: str) -> None:
    odd = differing(expected, found)
    if odd:
        raise runs.fault(f"{told} in {', '.join(odd[:3])}; {cure}")
