"""The workers of a run in several processes, from their start to their results."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from pippin.closing import Closing
from pippin.errors import PippinError, PluginError, SimulationError
from pippin.sharding.shard import Shard, shard_pool
from pippin.studies import RunProgress
from pippin.studies.summary import speed_of, status_line
from pippin.workers.process import RemoteError

_LOOK_PERIOD = 0.25
"""Longest time between two looks at the processes [s]."""

_LAST_TIME = 60.0
"""Longest time in which processes may complete their recordings after another one was lost [s]."""

_PATIENCE = 1.0
"""Time for which a message of one process waits for the same message of the others [s]."""

_CURE = "run the file again"


class RunWorkers(Closing):
    """Workers that simulate the shards of a run, each a `RunShardWorker`, whose module imports Newton.

    Leaving a `with` block ends them, whatever they are doing.
    """

    is_waiting = False

    def __init__(
        self,
        shards: Sequence[Shard],
        make: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        progress: RunProgress,
    ) -> None:
        self.shards, self._progress = tuple(shards), progress
        self._messages = MessageMerger(progress, len(shards))
        self._steps, self._has_ended = [0] * len(shards), [False] * len(shards)
        #: What ran in each shard, when it has ended.
        self.results: list[dict[str, Any] | None] = [None] * len(shards)
        with self._phase("import"):
            self._pool = shard_pool(shards, make, arguments, _CURE, on_event=self._show_event)

    @property
    def sizes(self) -> dict[str, int] | None:
        """Larger sizes of the buffers of one that ended because they were full, by key, if they may cure it."""
        return next((each["sizes"] for each in self.results if each and each["sizes"]), None)

    @property
    def failure(self) -> SimulationError | PluginError | None:
        """What ended the run early: the errors of all that failed, each fault once."""
        ends = [each["end"] for each in self.results if each is not None and each["end"]]
        if len(ends) < 2:
            return ends[0] if ends else None
        faults = dict.fromkeys(fault for end in ends for fault in end.faults)
        kind = SimulationError if any(isinstance(end, SimulationError) for end in ends) else PluginError
        failure = kind(*faults)
        failure.__cause__ = ends[0].__cause__
        return failure

    def prepare(self) -> None:
        """Let all build, compile and take a first step. One alone compiles what the others then find compiled."""
        with self._phase("build"):
            self._pool.call("build")
        with self._phase("compile"):
            self._call_some("compile", [0])
            self._call_some("compile", range(1, len(self.shards)))
        with self._phase("step 1"):
            self._call_some("capture", range(len(self.shards)))

    def run(self, count: int, stop_if_asked: Callable[[], None]) -> KeyboardInterrupt | None:
        """Let all step, each as fast as it can, and return what stopped them early, if Ctrl-C was pressed.

        If one fails, the others continue to its step and no further. If they are stopped, all continue to the step of
        the most advanced one.
        """
        start = time.perf_counter()

        def look() -> None:
            stop_if_asked()
            self._messages.print(_PATIENCE)
            self._show_speed(count, time.perf_counter() - start)

        try:
            self._step_to(count, look)
        except KeyboardInterrupt as stop:
            self._step_to(0)
            if len(set(self._steps)) > 1:
                goal = max(self._steps)
                self._progress.note(f"all continue to step {goal} of the most advanced one; Ctrl-C ends them at once")
            self._step_to(max(self._steps))
            return stop
        finally:
            self._messages.print()
        return None

    def finish(self) -> None:
        """Let all complete their recordings, and wait for their results."""
        self._pool.run_each(lambda index: ("finish",) if self.results[index] is None else None, self._note_results)
        for results in self.results:
            for name, texts in (results or {"notes": {}})["notes"].items():
                self._messages.drop([f"note: {name}: {text}" for text in texts])  # the notes of the run have it

    def finish_others(self) -> None:
        """After one was lost, let the others complete their recordings, as far as they can in a minute."""
        with suppress(PippinError):
            self._pool.close("finish", _LAST_TIME)

    def close(self) -> None:
        """End all processes."""
        self._messages.print()
        self._pool.close()

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        with self._progress.phase(name):
            yield
            self._messages.print()

    def _call_some(self, method: str, indices: Sequence[int]) -> None:
        waiting = set(indices)

        def next_call(index: int) -> tuple[Any, ...] | None:
            if index not in waiting:
                return None
            waiting.remove(index)
            return (method,)

        self._pool.run_each(next_call, self._note_state)

    def _step_to(self, goal: int, look: Callable[[], None] = lambda: None) -> None:

        def next_call(index: int) -> tuple[Any, ...] | None:
            if self.sizes:
                return None  # all start again
            if self._has_ended[index]:
                return ("finish",) if self.results[index] is None else None
            failed = [step for step, has_ended in zip(self._steps, self._has_ended, strict=True) if has_ended]
            own = min([goal, *failed])
            return ("advance", own) if self._steps[index] < own else None

        def take(index: int, value: Any) -> None:
            (self._note_results if isinstance(value, dict) else self._note_state)(index, value)

        self._pool.run_each(next_call, take, look, _LOOK_PERIOD)

    def _note_state(self, index: int, state: tuple[int, bool]) -> None:
        self._steps[index], self._has_ended[index] = state

    def _note_results(self, index: int, results: dict[str, Any]) -> None:
        self.results[index], self._has_ended[index] = results, True
        if results["end"] is not None:
            results["end"].__cause__ = RemoteError(f"in the process of {self.shards[index]}\n{results['trace']}")

    def _show_event(self, index: int, event: tuple[str, str]) -> None:
        kind, text = event
        if kind == "update":
            self._progress.update(text)
        else:
            self._messages.add(text, worlds_text(self.shards[index]))

    def _show_speed(self, count: int, seconds: float) -> None:
        config, least = self.shards[0].config, min(self._steps)
        if least > 1:
            done = sum(len(shard.worlds) * (step - 1) for shard, step in zip(self.shards, self._steps, strict=True))
            left = seconds * (count - least) / (least - 1)
            time = least * config.simulation.dt * config.simulation.decimation
            self._progress.update(status_line(time, speed_of(config, done, least - 1, seconds), left))


def worlds_text(shard: Shard) -> str:
    """Return the worlds of a shard in words, as `worlds 2:4`."""
    worlds = shard.worlds
    return f"world {worlds.start}" if len(worlds) == 1 else f"worlds {worlds.start}:{worlds.stop}"


class MessageMerger:
    """Prints each message of the workers once: one of all as it is, another one with its worlds."""

    def __init__(self, progress: RunProgress, count: int) -> None:
        self._progress, self._count = progress, count
        self._pending: dict[str, dict[str, float]] = {}
        self._printed: set[str] = set()

    def add(self, text: str, worlds: str) -> None:
        """Keep a message of the worker of some worlds until it is printed."""
        if text not in self._printed:
            self._pending.setdefault(text, {}).setdefault(worlds, time.monotonic())

    def drop(self, texts: Iterable[str]) -> None:
        """Drop messages that the user gets in another way."""
        for text in texts:
            self._pending.pop(text, None)

    def print(self, patience: float = -math.inf) -> None:
        """Print the messages that all workers sent, and those that one sent longer ago than `patience` [s]."""
        for text, senders in list(self._pending.items()):
            is_common = len(senders) == self._count
            if is_common or time.monotonic() - min(senders.values()) > patience:
                self._progress.note(text if is_common else f"{text} ({', '.join(senders)})")
                self._printed.add(text)
                del self._pending[text]
