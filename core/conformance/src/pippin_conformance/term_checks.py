"""Checks of the terms of a task: the numbers that they write, and the worlds that they change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import warp as wp
from pippin import Simulation
from pippin.state import arrays_of, worlds_of

from .kinds import LABEL
from .observation import advance, start
from .runs import Runs

_FILLING = 1e30
"""Content of an array before a term writes it; no number that a term means."""


def check_labels(runs: Runs) -> None:
    """Each number has a label of its own: those of a world, or those of the action that the term takes."""
    with _bound(runs) as (_, term):
        labels = list(term.labels)
        if not labels or len(set(labels)) < len(labels) or not all(isinstance(label, str) for label in labels):
            raise runs.fault(f"labels is {labels!r}; give each number a text of its own")
        value = getattr(term, "value", None)
        expected = (runs.subject.world_count, len(labels))
        if value is not None and value.shape != expected:
            raise runs.fault(f"value has shape {value.shape}; its labels ask for {expected}")


def check_numbers(runs: Runs) -> None:
    """All numbers are written in each call, and are finite; a quantity gives the same ones if it is asked twice."""
    with _bound(runs) as (simulation, term):
        first, second = (_written(simulation, term, filling) for filling in (np.nan, _FILLING))
        if not np.isfinite(first).all() or (second == np.float32(_FILLING)).any():
            raise runs.fault(
                "some numbers are not finite, or left as they were; write those of all worlds in each call"
            )
        if hasattr(term, "measure") and first.tobytes() != second.tobytes():
            raise runs.fault("measured twice from one state, the numbers differ; remember nothing in `measure`")


def check_verdicts(runs: Runs) -> None:
    """Whether the episode ends is written for all worlds in each call."""
    with _bound(runs) as (_, term):
        unset = 0x55
        bits: Any = wp.full(runs.subject.world_count, unset, dtype=wp.uint8, device="cpu")
        out: Any = wp.array(ptr=bits.ptr, dtype=wp.bool, shape=bits.shape, device="cpu")
        term.evaluate(out)
        if (bits.numpy() == unset).any():
            raise runs.fault("some verdicts are left as they were; write those of all worlds")


def check_actions(runs: Runs) -> None:
    """`bounds` gives a lowest and a highest value for each number of the action."""
    with _bound(runs) as (_, term):
        low, high = map(np.asarray, term.bounds)
        count = len(term.labels)
        if low.shape != (count,) or high.shape != (count,) or not (low <= high).all():
            raise runs.fault(
                f"bounds are {low.tolist()} and {high.tolist()}; give {count} values each, the lowest first"
            )


def check_mask(runs: Runs) -> None:
    """Only the worlds of the mask are changed: their state, their part of the model, and what was drawn for them."""
    with _bound(runs) as (simulation, term):
        count = runs.subject.world_count
        mask: Any = wp.array([False] * (count - 1) + [True, False], dtype=bool, device="cpu")
        before = dict(_rows(simulation, term, count - 1))
        if hasattr(term, "resample"):
            term.resample(mask)
        else:
            term.apply(simulation.state, mask)
        after = dict(_rows(simulation, term, count - 1))
        odd = [name for name, rows in before.items() if rows.tobytes() != after[name].tobytes()]
        if odd:
            raise runs.fault(
                f"changes {', '.join(odd[:3])} of worlds that the mask leaves out; ask world_mask in the kernel"
            )


@contextmanager
def _bound(runs: Runs) -> Iterator[tuple[Simulation, Any]]:
    with runs.subject.build(capture="off") as simulation:
        start(simulation)
        advance(simulation)
        task: Any = simulation.task
        terms = getattr(task, runs.subject.record.plural, None)
        if terms is None:  # an observation has it
            ((_, term, *_),) = task.observations[LABEL].parts
        else:
            term = terms[LABEL]
        yield simulation, term


def _written(simulation: Simulation, term: Any, filling: float) -> np.ndarray:
    is_quantity = hasattr(term, "measure")
    shape: Any = (simulation.world_count, len(term.labels)) if is_quantity else simulation.world_count
    out: Any = wp.full(shape, filling, dtype=float, device="cpu")
    if is_quantity:
        term.measure(simulation.state, out)
    else:
        term.evaluate(out)
    return out.numpy()


def _rows(simulation: Simulation, term: Any, world_count: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the rows of the first worlds in the arrays of the state and of the model, and in a command's numbers."""
    model: Any = simulation.model
    for prefix, owner in (("state.", simulation.state), ("model.", model)):
        for name, array in arrays_of(owner).items():
            worlds = worlds_of(model, name)
            if worlds is not None and len(worlds) == len(array):
                yield prefix + name, array.numpy()[np.isin(worlds, range(world_count))].copy()
    if hasattr(term, "value"):
        yield "value", term.value.numpy()[:world_count].copy()
