"""Profile of a control step: the time of every operation as it runs in the step, beside the time of the whole step."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin.devices import kind_of
from pippin.errors import SimulationError
from pippin.simulation import Simulation
from pippin.step.compilation import standing_in
from pippin.step.program import Operation, Program

_WARM_UP = 3
"""Number of steps before the first measured one."""

Spans = list[tuple[float, float]]
"""Start and duration of each operation of one step [s], from the step's own beginning."""


# A launch asks for the module of its kernel, unless Warp prepared it before.
_CALLS: dict[str, Any] = {"load": wp.Module, "launch": wp.Launch, "zero_": wp.array, "fill_": wp.array, "copy": wp}


@attrs.frozen(kw_only=True)
class OperationTime:
    """Time of all operations of one name in a control step."""

    name: str
    count: int
    """Number of these operations in a step."""

    seconds: float
    """Total time of these operations [s]."""

    is_captured: bool
    """Whether the operations are replayed from a graph."""

    period: int
    """Control steps between two runs of the operations."""

    launches: int
    """Number of kernels, memsets and copies that the operations start."""

    conditional_launches: int
    """The same in bodies of conditions and loops, each counted once."""


@attrs.frozen(kw_only=True, eq=False)
class Profile:
    """Times of a control step in which every operation runs. Times are medians over the measured steps."""

    device: str
    operations: tuple[OperationTime, ...]
    """The operations, in the order in which they begin."""

    whole_seconds: float
    """Time of the step as `Simulation.step` runs it, from its graphs [s]."""

    clock_seconds: float
    """Overhead of the measurement in the sum: the time of as many operations that do nothing, measured alike [s]."""

    timeline: tuple[tuple[str, float, float], ...]
    """Name, start and duration [s] of every operation of every measured step; the name of a whole step is empty."""

    @property
    def sum_seconds(self) -> float:
        """Total time of all operations [s]."""
        return sum(operation.seconds for operation in self.operations)

    def trace_events(self) -> dict[str, Any]:
        """Return the timeline in the Trace Event Format, which the trace viewers of browsers open."""
        rows = {1: "operations, one by one", 2: "whole steps"}
        named = [
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": row, "args": {"name": name}}
            for row, name in rows.items()
        ]
        spans = [
            {"ph": "X", "name": name or "step", "cat": "step", "pid": 1, "tid": 1 if name else 2}
            | {"ts": 1e6 * start, "dur": 1e6 * seconds}
            for name, start, seconds in self.timeline
        ]
        return {"traceEvents": [*named, *spans], "displayTimeUnit": "ns", "otherData": {"device": self.device}}


def profile(simulation: Simulation, step_count: int) -> Profile:
    """Measure each operation of a control step, and in turn with that the whole step, `step_count` times each.

    Each operation is recorded as in the step. The measured steps are real steps, one after the other, of a simulation
    that has taken its first step; afterwards the state before them is restored. On the CPU every operation is a graph
    of its own, timed by the host's clock; on a CUDA device all are in the graphs of the step, with events between.

    Raises:
        SimulationError: The simulation has not taken its first step, and nothing is captured before that.
    """
    program, device = simulation.program, simulation.device
    if not program.is_recorded:
        raise SimulationError("profile: nothing is captured before the first step; call `step` once")
    with program.undone():
        clock = _EventClock(device) if kind_of(device) == "cuda" else _HostClock()
        nothing = [Operation(name="nothing", run=lambda: None) for _ in program.operations]
        whole = [call for segment in program.segments for call in segment.calls()]
        apart = clock.timer(program, program.operations)
        timers = (apart, clock.timer(program, nothing), partial(clock.time_all, whole))
        launches = count_launches(program)
        begin = time.perf_counter()
        rounds = [[(time.perf_counter() - begin, timer()) for timer in timers] for _ in range(_WARM_UP + step_count)]
    return _summed_up(device.alias, program, launches, rounds[_WARM_UP:])


def _summed_up(
    device: str, program: Program, launches: Counter[tuple[str, bool]], rounds: Sequence[Sequence[tuple[float, Spans]]]
) -> Profile:
    """Return the medians of some rounds. A round holds the start time and the spans of each timer."""
    apart, nothing, whole = (
        np.median([[seconds for _, seconds in spans] for _, spans in kind], axis=0)
        for kind in zip(*rounds, strict=True)
    )
    names = [operation.name for operation in program.operations]
    timeline: list[tuple[str, float, float]] = []
    for of_operations, _, of_whole in rounds:
        for labels, (begin, spans) in ((names, of_operations), ([""], of_whole)):
            timeline += [(name, begin + start, length) for name, (start, length) in zip(labels, spans, strict=True)]
    return Profile(
        device=device,
        operations=tuple(_by_name(program, launches, apart)),
        whole_seconds=float(whole[0]),
        clock_seconds=float(nothing.sum()),
        timeline=tuple(timeline),
    )


def _by_name(program: Program, launches: Counter[tuple[str, bool]], seconds: np.ndarray) -> Iterator[OperationTime]:
    names = [operation.name for operation in program.operations]
    for name in dict.fromkeys(names):
        chosen = [index for index, other in enumerate(names) if other == name]
        yield OperationTime(
            name=name,
            count=len(chosen),
            seconds=float(seconds[chosen].sum()),
            is_captured=name not in program.eager_reasons,
            period=program.operations[chosen[0]].period,
            launches=launches[name, False],
            conditional_launches=launches[name, True],
        )


class _HostClock:
    """The clock of the host: on the CPU a call returns when its work is done."""

    def timer(self, program: Program, operations: Sequence[Operation]) -> Callable[[], Spans]:
        """Return a function that runs these operations as a step, and returns the span of each."""
        segments = program.record_apart([(operation,) for operation in operations])
        return partial(self._each, [call for segment in segments for call in segment.calls()])

    def time_all(self, calls: Sequence[Callable[[], None]]) -> Spans:
        """Make the calls, and return one span for all of them."""
        start = time.perf_counter()
        for call in calls:
            call()
        return [(0.0, time.perf_counter() - start)]

    def _each(self, calls: Sequence[Callable[[], None]]) -> Spans:
        ticks = [time.perf_counter()]
        for call in calls:
            call()
            ticks.append(time.perf_counter())
        return [(start - ticks[0], end - start) for start, end in pairwise(ticks)]


class _EventClock:
    """Events of a CUDA device, recorded into the graphs between the operations."""

    def __init__(self, device: wp.Device) -> None:
        self._device = device

    def timer(self, program: Program, operations: Sequence[Operation]) -> Callable[[], Spans]:
        marks = self._marks(len(operations) + 1)
        marked = []
        for mark, operation in zip(marks, operations, strict=False):
            # Under the operation's name, a mark is captured if the operation is, and eager if it is eager.
            marked += [attrs.evolve(operation, run=partial(self._record, mark)), operation]
        marked.append(attrs.evolve(operations[-1], run=partial(self._record, marks[-1])))
        calls = [call for segment in program.record_apart([marked]) for call in segment.calls()]
        return partial(self._spans, calls, marks)

    def time_all(self, calls: Sequence[Callable[[], None]]) -> Spans:
        marks = self._marks(2)
        for call in calls:  # while the device runs this step, the host already submits the measured one
            call()
        timed = [partial(self._record, marks[0]), *calls, partial(self._record, marks[1])]
        return self._spans(timed, marks)

    def _marks(self, count: int) -> list[wp.Event]:
        return [wp.Event(self._device, enable_timing=True) for _ in range(count)]

    def _record(self, mark: wp.Event) -> None:
        self._device.stream.record_event(mark, external=True)  # a graph records it anew in each replay

    def _spans(self, calls: Sequence[Callable[[], None]], marks: Sequence[wp.Event]) -> Spans:
        for call in calls:
            call()
        wp.synchronize_device(self._device)
        ticks = [1e-3 * wp.get_event_elapsed_time(marks[0], mark, synchronize=False) for mark in marks]
        return [(start, end - start) for start, end in pairwise(ticks)]


def count_launches(program: Program) -> Counter[tuple[str, bool]]:
    """Return what the operations of each name start in a step in which all run, outside and inside of conditions.

    A body of a condition or of a loop counts once. What Warp's functions start themselves, such as sorts, is left out.
    The operations are recorded for it, or called if they run eagerly: count where the program is `undone`.
    """
    found, name, depth = Counter[tuple[str, bool]](), "", 0

    def count(call: str, original: Any, *args: Any, **options: Any) -> Any:
        about = args[1] if call == "copy" else args[0]
        is_work = not isinstance(about, wp.array) or (about.size and (call != "zero_" or about.is_contiguous))
        if name and is_work:  # without a name, the state is saved or restored between the operations
            found[name, depth > 0] += 1
        return original(*args, **options)

    def branch(original: Any, *args: Any, **options: Any) -> None:
        found[name, depth > 0] += 1  # the kernel that sets the condition
        bodies = {key: partial(inside, value) for key, value in options.items() if callable(value)}
        original(*(partial(inside, each) if callable(each) else each for each in args), **{**options, **bodies})

    def inside(body: Any, **arguments: Any) -> None:
        nonlocal depth
        depth += 1
        body(**arguments)
        depth -= 1

    def named(own: str, run: Any) -> None:
        nonlocal name
        name = own
        run()
        name = ""

    operations = [attrs.evolve(each, run=partial(named, each.name, each.run)) for each in program.operations]
    with ExitStack() as stack:
        for call, owner in _CALLS.items():
            stack.enter_context(standing_in(owner, call, partial(count, call, getattr(owner, call))))
        for call in ("capture_if", "capture_while"):
            stack.enter_context(standing_in(wp, call, partial(branch, getattr(wp, call))))
        for operation in operations:
            if operation.name in program.eager_reasons:
                operation.run()
        program.record_apart([(operation,) for operation in operations])
    return found
