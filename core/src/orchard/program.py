"""The step program: a straight line of named operations, recorded into graphs wherever a replay gives the same bits."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

import attrs

from .arrays import present
from .devices import WARP_LOCK
from .errors import SimulationError
from .outcome import Outcome

if TYPE_CHECKING:
    import warp as wp

    from .snapshot import Snapshot

__all__ = ["CaptureWarning", "Operation", "Program", "Segment"]

_COMPARED_STEPS = 3
"""Control steps compared before a graph is trusted: a single one would not notice a counter that stands still."""


class CaptureWarning(UserWarning):
    """An operation runs eagerly, because replaying it does not give what running it gives."""


@attrs.frozen(kw_only=True, eq=False)
class Operation:
    """One call of the step, with every argument bound."""

    name: str
    """Hook and component: `apply_actuators(actuators:legs)`. Operations of one name are recorded together or not."""

    run: Callable[[], None]
    """The call."""

    eager_reason: str | None = None
    """Why it must not be recorded, where its component declares so."""


@attrs.frozen(kw_only=True, eq=False)
class Segment:
    """Neighbouring operations that are replayed from one graph, or called one by one where there is none."""

    operations: tuple[Operation, ...]
    graph: wp.Graph | None = None

    def calls(self) -> Iterator[Callable[[], None]]:
        """Yield what advances the simulation by this segment."""
        import warp as wp

        if self.graph is None:
            yield from (operation.run for operation in self.operations)
        else:
            yield partial(wp.capture_launch, self.graph)


class Program:
    """All operations of one control step, and the graphs that replay them.

    The first step runs eagerly and is a real step. Then neighbouring operations are recorded into graphs, and the
    graphs are compared with a few eager steps, bit for bit, from a saved state, before they are trusted. Recording
    and comparing leave no trace in the simulation. An operation that a replay does not reproduce runs eagerly in
    its place.

    Args:
        operations: The operations, in order.
        device: Where they run.
        policy: `off` never records, `auto` records what it can and warns of what it cannot, `require` raises.
        save: Takes a snapshot of everything that the operations can change.
        observe: Takes the outcome that eager and replayed steps must share.

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
        observe: Callable[[], Outcome],
    ) -> None:
        self.operations = tuple(operations)
        self.eager_reasons = {op.name: op.eager_reason for op in operations if op.eager_reason is not None}
        """Why operations run eagerly, by name."""
        if policy == "require" and self.eager_reasons:
            raise SimulationError(*_refusal(self.eager_reasons))
        if policy == "off":
            self.eager_reasons = {op.name: "capture is off" for op in operations}
        self.segments: tuple[Segment, ...] = (Segment(operations=self.operations),)
        self.is_recorded = False
        """Whether everything that can be recorded has been; so after the first step."""
        self._device = device
        self._policy = policy
        self._save = save
        self._observe = observe
        self._advance = self._begin
        self.is_captured = False
        """Whether every operation is replayed from a graph."""
        self._kept: list[Any] = []

    def step(self, count: int = 1) -> None:
        """Advance by `count` control steps, with nothing between them."""
        with WARP_LOCK:
            if not self.is_recorded and count > 0:
                self._begin()
                count -= 1
            advance = self._advance
            for _ in range(count):
                advance()

    def _begin(self) -> None:
        """Take the first step eagerly, then record."""
        for operation in self.operations:
            operation.run()
        self.record()

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Put back, at the end of a `with` block, everything that operations called inside it changed."""
        with WARP_LOCK:
            before = self._save()
            try:
                yield
            finally:
                before.restore()

    def record(self) -> None:
        """Record and compare, leaving the simulation as it was. Every kernel must have run once before.

        Raises:
            SimulationError: The policy is `require` and a replay differs from the eager steps.
        """
        declared = set(self.eager_reasons)
        if self._policy != "off":
            with WARP_LOCK:
                self._record_what_can_be_trusted()
        calls = [call for segment in self.segments for call in segment.calls()]
        self._advance = calls[0] if len(calls) == 1 else partial(_call_each, calls)
        self.is_recorded = True
        self.is_captured = all(segment.graph is not None for segment in self.segments)
        found = {name: reason for name, reason in self.eager_reasons.items() if name not in declared}
        if found and self._policy == "require":
            raise SimulationError(*_refusal(found))
        for name, reason in found.items():
            warnings.warn(f"{name} runs eagerly: {reason}", CaptureWarning, stacklevel=5)

    def _record_what_can_be_trusted(self) -> None:
        before = self._save()
        while True:
            culprits = self._record_segments() or self._compare(before)
            before.restore()
            self._kept.append(before.displaced)
            if not culprits:
                return
            self.eager_reasons.update(culprits)

    def _record_segments(self) -> dict[str, str]:
        """Record every run of operations that have no reason to be eager; return what failed, with its reason."""
        segments = []
        for is_eager, group in groupby(self.operations, key=lambda op: op.name in self.eager_reasons):
            operations = tuple(group)
            try:
                graph = None if is_eager else _capture(operations, self._device)
            except _CannotRecordError as error:
                return {error.name: error.reason}
            segments.append(Segment(operations=operations, graph=graph))
        self.segments = tuple(segments)
        return {}

    def _compare(self, before: Snapshot) -> dict[str, str]:
        """Return the operations to blame where replayed steps differ from eager ones, with the reasons."""
        if all(segment.graph is None for segment in self.segments):
            return {}
        eager_calls = [operation.run for operation in self.operations]
        calls = [call for segment in self.segments for call in segment.calls()]
        eager = self._outcome_of(eager_calls * _COMPARED_STEPS, before)
        replayed = self._outcome_of(calls * _COMPARED_STEPS, before)
        if replayed == eager:
            return {}
        again = self._outcome_of(eager_calls * _COMPARED_STEPS, before)
        difference = eager.difference(replayed, noise=again)
        if difference is None:
            return {}
        recorded = (op.name for segment in self.segments if segment.graph is not None for op in segment.operations)
        return self._find_culprits(before) or dict.fromkeys(recorded, f"together, replayed steps {difference}")

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
            name: _capture(group, self._device) for name, group in groups.items() if name not in self.eager_reasons
        }
        before.restore()
        for operation in self.operations:
            operation.run()
        culprits = {}
        for operation in self.operations:
            graph = graphs.pop(operation.name, None)
            if graph is not None:
                segment = Segment(operations=groups[operation.name], graph=graph)
                difference = self._difference(segment, self._save())
                if difference is not None:
                    culprits[operation.name] = f"a replay {difference}"
            operation.run()
        return culprits

    def _difference(self, segment: Segment, here: Snapshot) -> str | None:
        """Say how replays of a segment differ from calls, or None."""
        called = self._outcome_of([operation.run for operation in segment.operations] * 2, here)
        return called.difference(self._outcome_of([*segment.calls()] * 2, here))

    def _outcome_of(self, calls: Sequence[Callable[[], None]], before: Snapshot) -> Outcome:
        before.restore()
        for call in calls:
            call()
        outcome = self._observe()
        before.restore()
        return outcome

    def __str__(self) -> str:
        """Report the segments: what is replayed from a graph, what runs eagerly, and why."""
        state = "first step still to come" if not self.is_recorded else "captured" if self.is_captured else "mixed"
        if self.is_recorded and all(segment.graph is None for segment in self.segments):
            state = "eager"
        lines = [f"{state} on {self._device}: {len(self.operations)} operations in {len(self.segments)} segments"]
        for segment in self.segments:
            lines.append("  graph:" if segment.graph is not None else "  eager:")
            counts: dict[str, int] = {}
            for operation in segment.operations:
                counts[operation.name] = counts.get(operation.name, 0) + 1
            for name, count in counts.items():
                times = f" × {count}" if count > 1 else ""
                reason = self.eager_reasons.get(name)
                lines.append(f"    {name}{times}" + (f": {reason}" if reason else ""))
        return "\n".join(lines)


def _call_each(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        call()


class _CannotRecordError(Exception):
    """An operation raised while it was recorded."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason


def _capture(operations: Sequence[Operation], device: wp.Device) -> wp.Graph:
    import warp as wp

    running = operations[0]
    try:
        with _collector_paused(), wp.ScopedCapture(device=device) as capture:
            for running in operations:
                running.run()
    except Exception as error:
        raise _CannotRecordError(running.name, f"it cannot be recorded ({error})") from error
    return present(capture.graph)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep Python's garbage collector from freeing device memory in the middle of a capture."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _refusal(reasons: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        f"simulation.capture: 'require', but {name} cannot be captured: {reason}; use capture = 'auto'"
        for name, reason in reasons.items()
    )
