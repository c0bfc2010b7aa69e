"""The step program: a straight line of named operations, recorded into graphs wherever a replay gives the same bits."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import combinations, groupby
from typing import Any, Literal

import attrs
import warp as wp
from pippin.arrays import present
from pippin.components.tracing import HookTrace, TracePhase
from pippin.devices import WARP_LOCK, no_garbage_collection
from pippin.errors import CaptureWarning, PluginError, SimulationError
from pippin.state.snapshot import Snapshot
from pippin.state.step_data import StateRecord, difference_beyond_noise

from .compilation import Report, UncompiledError, compile_together, refusing_to_compile
from .host_reads import noting_host_reads

_COMPARED_STEPS = 3
"""Control steps compared before a graph is trusted: a single one would not notice a counter that stands still."""

_COMPARED_RUNS = 4
"""Eager runs and replays compared before a difference is no noise: two of a kind may agree by chance."""

_ENDING_STEP = 2
"""The compared step in which an episode ends, if episodes can end: one before it and one after it do not."""


@attrs.frozen(kw_only=True, eq=False)
class Operation:
    """One call of the step, with every argument bound."""

    name: str
    """Hook and component: `apply_actuators(actuators:legs)`. Operations of one name are recorded together or not."""

    run: Callable[[], None]
    """The call."""

    eager_reason: str | None = None
    """The reason why it must not be recorded, if its component declares one."""

    is_repeatable: bool = False
    """Whether it may be called for a comparison of graphs although it runs eagerly, as a solver is."""

    period: int = 1
    """Control steps from one call to the next: it is due in each step whose number, counted from 1, it divides."""


@attrs.frozen(kw_only=True, eq=False)
class Segment:
    """Neighbouring operations that are replayed from one graph, or called one by one if they have none."""

    operations: tuple[Operation, ...]
    graph: wp.Graph | None = None

    def calls(self) -> Iterator[Callable[[], None]]:
        """Yield what advances the simulation by this segment."""
        if self.graph is None:
            yield from (operation.run for operation in self.operations)
        else:
            yield partial(wp.capture_launch, self.graph)

    def __str__(self) -> str:
        """Name the first and the last operation."""
        names = f"{self.operations[0].name} … {self.operations[-1].name}" if self.operations else "nothing"
        return f"{len(self.operations)} operations: {names}"


class Program:
    """All operations of a control step, and the graphs that replay them.

    The first step runs eagerly and is a real step. Then neighbouring operations are recorded into graphs, and the
    graphs are compared with a few eager steps, bit for bit, from a saved state, before they are trusted. Recording
    and comparing leave no trace in the simulation. An operation that a replay does not reproduce runs eagerly in
    its place. One that declares that it runs eagerly is called once for each step, and never for a comparison: there,
    what it wrote in the first step stands for it.

    Where some operations are due in some steps only, there are graphs for each set of operations that are due
    together, and a step costs what is due in it.

    Args:
        device: Where they run.
        policy: `off` never records, `auto` records what it can and warns of what it cannot, `require` raises.
        save: Takes a snapshot of everything that the operations can change.
        observe: Takes the record that eager and replayed steps must share.
        trace: What is told of phases and replays, if anything is.
        rehearse: Makes the first world end in a compared step, counted from 1, and takes this back with 0; None if no
            episodes end.

    Raises:
        SimulationError: The policy is `require` and a component declares that it cannot be recorded.
    """

    def __init__(
        self,
        operations: Sequence[Operation],
        *,
        device: wp.Device,
        policy: Literal["auto", "require", "off"],
        save: Callable[[], Snapshot],
        observe: Callable[[], StateRecord],
        trace: HookTrace | None = None,
        rehearse: Callable[[int], None] | None = None,
    ) -> None:
        self.operations = tuple(operations)
        #: The reasons why operations run eagerly, by name.
        self.eager_reasons = {op.name: op.eager_reason for op in operations if op.eager_reason is not None}
        if policy == "require" and self.eager_reasons:
            raise SimulationError(*_refusal(self.eager_reasons))
        if policy == "off":
            self.eager_reasons = {op.name: "capture is off" for op in operations}
        #: The segments of a step in which every operation runs.
        self.segments: tuple[Segment, ...] = (Segment(operations=self.operations),)
        self._periods = tuple(sorted({operation.period for operation in operations}))
        # The call that takes a step, by the periods that are due in it.
        self._advance: dict[tuple[int, ...], Callable[[], None]] = {}
        #: Whether everything that can be recorded has been recorded; true after the first step.
        self.is_recorded = False
        #: Whether no step asks the host for anything: all is replayed, except for the step of the built solver.
        self.leaves_host_alone = False
        self._is_compiled = False
        self.device = device
        self._policy = policy
        self._save = save
        self._observe = observe
        self._trace = trace
        self._rehearse = rehearse
        #: Whether every operation is replayed from a graph.
        self.is_captured = False
        #: Control steps that the last call of `step` completed: fewer than asked for if one of them raised.
        self.taken = 0
        self._kept: list[Any] = []
        # What operations that must not be called for a comparison wrote in the first step, by name.
        self._written: dict[str, list[tuple[wp.array, wp.array]]] = {}

    def step(self, count: int = 1, done: int = 0) -> None:
        """Advance by `count` control steps, with nothing between them."""
        self.taken = 0
        with WARP_LOCK:
            numbers = range(done + 1, done + count + 1)
            if not self.is_recorded and count > 0:
                self._enter("first step")
                self.compiled(partial(self._begin, numbers[0]))
                self.record()
                self.taken = 1
                numbers = numbers[1:]
            if len(self._advance) == 1:
                (advance,) = self._advance.values()
                for _ in numbers:
                    advance()
                    self.taken += 1
                return
            for number in numbers:
                self._advance[self._due(number)]()
                self.taken += 1

    def compile(self, progress: Report | None = None) -> int:
        """Compile and load the modules that a step launches kernels of, side by side; the simulation stays as it is.

        What the rehearsal does not reach compiles when it is first launched: operations that declare that they are not
        capturable, and what stands behind a branch on a computed value.

        Args:
            progress: What is told how far it is; by default a logger of Python's.

        Returns:
            The number of modules.
        """
        self._is_compiled = True
        with self.undone():
            return compile_together(self.recordable_calls(), progress)

    def recordable_calls(self) -> list[Callable[[], None]]:
        """Return the calls of a step that wait for no results of kernels; native code might take them for addresses."""
        return [operation.run for operation in self.operations if operation.eager_reason is None]

    def compiled(self, run: Callable[[], None]) -> None:
        """Call what launches kernels of a step, after all of them have been compiled if one is not in the kernel cache.

        What it did until it met that one is undone. It is called once if an operation must not be called twice.
        """
        if not self._is_compiled and (self._trace is not None or not all(map(_is_repeatable, self.operations))):
            self.compile()
        if not self._is_compiled:
            before = self._save()
            try:
                with refusing_to_compile():
                    run()
            except UncompiledError:
                before.restore()
                self._kept.append(before.displaced)
                self.compile()
            else:
                return
        run()

    def _begin(self, number: int) -> None:
        due = self._of_periods(self._due(number))
        for operation in due:
            self._run_first(operation)
        if len(due) < len(self.operations) and self._policy != "off":
            with self.undone():  # nothing is recorded whose kernels have not run once
                for operation in self.operations:
                    self._rehearsed(operation)()

    def _run_first(self, operation: Operation) -> None:
        """Call an operation for the first time, and keep what it writes if it must not be called for comparisons."""
        if self._policy == "off" or _is_repeatable(operation) or operation.name in self._written:
            operation.run()
            return
        before = self._save()
        operation.run()
        self._written[operation.name] = before.changes()

    def _rehearsed(self, operation: Operation) -> Callable[[], None]:
        """Return what stands for an operation in a comparison: its call, or what it wrote in the first step."""
        return operation.run if _is_repeatable(operation) else partial(_write, self._written.get(operation.name, ()))

    def _due(self, number: int) -> tuple[int, ...]:
        return tuple(period for period in self._periods if number % period == 0)

    def _of_periods(self, periods: Collection[int]) -> tuple[Operation, ...]:
        return tuple(operation for operation in self.operations if operation.period in periods)

    def _due_together(self) -> list[tuple[int, ...]]:
        sizes = range(1, len(self._periods) + 1)
        multiples = {math.lcm(*chosen) for size in sizes for chosen in combinations(self._periods, size)}
        return sorted({self._due(number) for number in {1} | multiples}, key=len)

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Put back, at the end of a `with` block, everything that operations called inside it changed."""
        with WARP_LOCK, nullcontext() if self._trace is None else self._trace.during("rehearsal"):
            before = self._save()
            try:
                yield
            finally:
                before.restore()

    def _enter(self, phase: TracePhase) -> None:
        if self._trace is not None:
            self._trace.phase = phase

    def record_apart(self, groups: Sequence[Sequence[Operation]]) -> list[Segment]:
        """Return the segments of a step in which groups of operations share no graph; the simulation stays as it is.

        The groups are all operations in their order. Those that run eagerly, by their names, do so here.

        Raises:
            SimulationError: An operation can be recorded only together with others.
        """
        with WARP_LOCK:
            before = self._save()
            try:
                return [segment for group in groups for segment in self._segments(group, before)]
            except _CannotRecordError as error:
                raise SimulationError(f"{error.name}: on its own, {error.reason}") from error
            finally:
                before.restore()
                self._kept.append(before.displaced)

    def record(self) -> None:
        """Record and compare, leaving the simulation as it was. Every kernel must have run once before.

        Raises:
            SimulationError: The policy is `require` and a replay differs from the eager steps.
        """
        declared = set(self.eager_reasons)
        if self._policy == "off":
            variants = {periods: (Segment(operations=self._of_periods(periods)),) for periods in self._due_together()}
        else:
            with WARP_LOCK:
                variants = self._record_what_can_be_trusted()
        self._enter("later steps")
        self.segments = [*variants.values()][-1]
        self._advance = {periods: _one_call(segments, self._trace) for periods, segments in variants.items()}
        self.is_recorded = True
        self.leaves_host_alone = self.eager_reasons.keys() <= {"step_solver(solver)"}
        self.is_captured = all(segment.graph is not None for segment in self.segments)
        found = {name: reason for name, reason in self.eager_reasons.items() if name not in declared}
        if found and self._policy == "require":
            raise SimulationError(*_refusal(found))
        for name, reason in found.items():
            warnings.warn(f"{name} runs eagerly: {reason}", CaptureWarning, stacklevel=5)

    def _record_what_can_be_trusted(self) -> dict[tuple[int, ...], tuple[Segment, ...]]:
        before = self._save()
        while True:
            variants, culprits = self._record_variants(before)
            culprits = culprits or self._compare(variants, before)
            before.restore()
            self._kept.append(before.displaced)
            if not culprits:
                return variants
            self.eager_reasons.update(culprits)

    def _record_variants(self, before: Snapshot) -> tuple[dict[tuple[int, ...], tuple[Segment, ...]], dict[str, str]]:
        """Record every run of operations that have no reason to be eager; return what failed too, with its reason."""
        variants = {}
        try:
            self._enter("recording")
            for periods in self._due_together():
                variants[periods] = tuple(self._segments(self._of_periods(periods), before))
        except _CannotRecordError as error:
            return {}, {error.name: error.reason}
        return variants, {}

    def _segments(self, due: Sequence[Operation], before: Snapshot) -> Iterator[Segment]:
        for is_eager, group in groupby(due, key=lambda op: op.name in self.eager_reasons):
            operations = tuple(group)
            graph = None if is_eager else _capture(operations, self.device, before)
            yield Segment(operations=operations, graph=graph)

    def _compare(self, variants: Mapping[Any, Sequence[Segment]], before: Snapshot) -> dict[str, str]:
        """Return the operations that can be the reason if replayed steps differ from eager ones, with the reasons."""
        for segments in variants.values():
            difference = self._replays_differ(segments, before)
            if difference is not None:
                recorded = [op.name for part in segments if part.graph is not None for op in part.operations]
                together = dict.fromkeys(recorded, f"together, a replay {difference}")
                return self._find_culprits(before) or together
        return {}

    def _replays_differ(self, segments: Sequence[Segment], before: Snapshot) -> str | None:
        if all(segment.graph is None for segment in segments):
            return None
        self._enter("comparison")
        calls = [self._rehearsed(operation) for segment in segments for operation in segment.operations]
        replays: list[Callable[[], None]] = []
        for segment in segments:
            replays += map(self._rehearsed, segment.operations) if segment.graph is None else segment.calls()
        return self._difference(calls * _COMPARED_STEPS, replays * _COMPARED_STEPS, before)

    def _find_culprits(self, before: Snapshot) -> dict[str, str]:
        """Replay the operations of each name on their own, one step later than recorded, and compare them with calls.

        Those of one name belong together: an actuator's memory, swapped by one of them, is settled by the last.
        The step in between makes the state another one than at recording: what was read on the host, or counted in
        Python, while recording shows itself.
        """
        names = dict.fromkeys(operation.name for operation in self.operations)
        groups = {name: tuple(op for op in self.operations if op.name == name) for name in names}
        before.restore()
        graphs = {
            name: _capture(group, self.device, before)
            for name, group in groups.items()
            if name not in self.eager_reasons
        }
        before.restore()
        for operation in self.operations:
            self._rehearsed(operation)()
        culprits = {}
        for operation in self.operations:
            graph = graphs.pop(operation.name, None)
            if graph is not None:
                here, calls = self._save(), [each.run for each in groups[operation.name]]
                difference = self._difference(calls * 2, [partial(wp.capture_launch, graph)] * 2, here)
                here.restore()
                if difference is not None:
                    culprits[operation.name] = f"a replay {difference}"
            self._rehearsed(operation)()
        return culprits

    def _difference(
        self, calls: Sequence[Callable[[], None]], replays: Sequence[Callable[[], None]], before: Snapshot
    ) -> str | None:
        """Say how replays differ from calls by more than calls, or replays, differ among themselves; or None."""
        called, replayed, difference = [], [], None
        for _ in range(_COMPARED_RUNS):
            called.append(self._record_of(calls, before))
            replayed.append(self._record_of(replays, before))
            difference = difference_beyond_noise(called, replayed)
            if difference is None:
                break
        return difference

    def _record_of(self, calls: Sequence[Callable[[], None]], before: Snapshot) -> StateRecord:
        """Return the data after some calls from where a snapshot was taken; what the calls changed stays changed."""
        before.restore()
        if self._rehearse is not None:
            self._rehearse(_ENDING_STEP)
        for call in calls:
            call()
        if self._rehearse is not None:
            self._rehearse(0)
        return self._observe()

    def __str__(self) -> str:
        """Report the segments: what is replayed from a graph, what runs eagerly, and why."""
        state = "first step still to come" if not self.is_recorded else "captured" if self.is_captured else "mixed"
        if self.is_recorded and all(segment.graph is None for segment in self.segments):
            state = "eager"
        lines = [f"{state} on {self.device}: {len(self.operations)} operations in {len(self.segments)} segments"]
        for segment in self.segments:
            lines.append("  graph:" if segment.graph is not None else "  eager:")
            counts = Counter(operation.name for operation in segment.operations)
            periods = {operation.name: operation.period for operation in segment.operations}
            for name, count in counts.items():
                times = f" × {count}" if count > 1 else ""
                times += f", every {periods[name]} steps" if periods[name] > 1 else ""
                reason = self.eager_reasons.get(name)
                lines.append(f"    {name}{times}" + (f": {reason}" if reason else ""))
        return "\n".join(lines)


def _is_repeatable(operation: Operation) -> bool:
    return operation.eager_reason is None or operation.is_repeatable


def _write(written: Sequence[tuple[wp.array, wp.array]]) -> None:
    for array, contents in written:
        wp.copy(array, contents)


def _one_call(segments: Sequence[Segment], trace: HookTrace | None) -> Callable[[], None]:
    calls = [
        call if trace is None or segment.graph is None else trace.timed("replay", str(segment), call)
        for segment in segments
        for call in segment.calls()
    ]
    return calls[0] if len(calls) == 1 else partial(_call_each, calls)


def _call_each(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        call()


class _CannotRecordError(Exception):
    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason


def _capture(operations: Sequence[Operation], device: wp.Device, before: Snapshot) -> wp.Graph:
    running = operations[0]
    try:
        # Python's garbage collector would free device memory in the middle of a capture.
        with (
            no_garbage_collection(),
            before.buffers_apart(),
            noting_host_reads() as reads,
            wp.ScopedCapture(device=device) as capture,
        ):
            for running in operations:
                running.run()
                if reads:
                    raise _CannotRecordError(running.name, reads[0])
    except _CannotRecordError:
        raise
    except Exception as error:
        raise _CannotRecordError(running.name, f"it cannot be recorded ({_reason(error)})") from error
    return present(capture.graph)


def _reason(error: Exception) -> str:
    """Say what was raised, in a hook if it was there: the operation names the component already."""
    cause = error.__cause__ if isinstance(error, PluginError) and error.__cause__ else error
    return f"it reads an array: {cause}" if "wp_memcpy_d2h" in str(cause) else str(cause)


def _refusal(reasons: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        f"simulation.capture: 'require', but {name} cannot be captured: {reason}; use capture = 'auto'"
        for name, reason in reasons.items()
    )
