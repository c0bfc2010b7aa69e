"""Crew: the processes of `pippin run --processes`, each with a shard, from their start to their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from pippin.errors import PippinError, PluginError, SimulationError
from pippin.runs.progress import RunProgress
from pippin.runs.summary import speed_of, status_line
from pippin.sharding.shard import Shard
from pippin.workers import RemoteError, WorkerProcess, wait_any

from ._shard import Task, simulate_shard
from ._told import Told

__all__ = ["Crew", "Member"]

_LOOK_PERIOD = 0.25
"""Longest time between two looks at the processes [s]."""

_LAST_TIME = 60.0
"""Longest time in which processes may complete their recordings after another one was lost [s]."""

_PATIENCE = 1.0
"""Time for which a line of one process waits for the same line of the others [s]."""

_NO_LIMIT = 2**62


class Member:
    """A process with its shard.

    Args:
        shard: The shard.
        task: The task of all.
    """

    def __init__(self, shard: Shard, task: Task) -> None:
        self.shard = shard
        self.process = WorkerProcess(str(shard), simulate_shard, shard, task)
        #: Control steps so far.
        self.step = 0
        #: The phases that have ended.
        self.phases: set[str] = set()
        #: What ran, at the end.
        self.results: dict[str, Any] | None = None
        self._goal: int | None = None
        self._reached: int | None = None

    @property
    def worlds(self) -> str:
        """The worlds in words, as `worlds 2:4`."""
        worlds = self.shard.worlds
        return f"world {worlds.start}" if len(worlds) == 1 else f"worlds {worlds.start}:{worlds.stop}"

    @property
    def is_waiting(self) -> bool:
        """Whether it has taken all steps that it was sent for, or has ended."""
        return self.results is not None or self._reached == self._goal

    def send_on(self, goal: int) -> None:
        """Let it step until this control step; it stops at once if it is beyond."""
        if goal != self._goal:
            self._goal = goal
            self.process.send(goal)

    def hold_back(self, limit: int) -> None:
        """Let it not step beyond a control step."""
        if self._goal is not None and self._goal > limit:
            self.send_on(limit)

    def take(self, message: Any, crew: Crew) -> None:
        """Note a message of the process."""
        match message:
            case ("done", phase):
                self.phases.add(phase)
                self.step = 1 if phase == "capture" else 0
            case ("at", step, goal):
                self.step, self._reached = step, goal
            case ("doing", phase, text) if phase == crew.phase:
                crew.progress.update(text)
            case ("note", text):
                crew.told.hear(text, self.worlds)
            case ("ended", results):
                self.results, self.step = results, results["steps"]
                if results["end"] is not None:
                    results["end"].__cause__ = RemoteError(f"in the process of {self.shard}\n{results['trace']}")


class Crew:
    """Processes that simulate the shards of a run. Leaving a `with` block ends them, whatever they are doing.

    Args:
        shards: The shards.
        task: The task of all.
        progress: The progress of the command.
    """

    is_waiting = False

    def __init__(self, shards: Sequence[Shard], task: Task, progress: RunProgress) -> None:
        self.progress = progress
        self._config = task.config
        #: The phase that all are in, until the run.
        self.phase = ""
        #: Lines that processes print.
        self.told = Told(progress, len(shards))
        self.members: list[Member] = []
        try:
            for shard in shards:
                self.members.append(Member(shard, task))
        except BaseException:
            self.close()
            raise

    @property
    def sizes(self) -> dict[str, int] | None:
        """Larger sizes of the buffers of one that ended because they were full, by key, if they may cure it."""
        return next((each.results["sizes"] for each in self.members if each.results and each.results["sizes"]), None)

    @property
    def failure(self) -> SimulationError | PluginError | None:
        """What ended the run early: the errors of all processes that failed, each fault once."""
        ends = [each.results["end"] for each in self.members if each.results is not None and each.results["end"]]
        if len(ends) < 2:
            return ends[0] if ends else None
        faults = dict.fromkeys(fault for end in ends for fault in end.faults)
        failure = (
            SimulationError(*faults) if any(isinstance(end, SimulationError) for end in ends) else PluginError(*faults)
        )
        failure.__cause__ = ends[0].__cause__
        return failure

    def prepare(self) -> None:
        """Let all build, compile and take a first step. One alone compiles what the others then find compiled."""
        first = self.members[0]
        for phase in ("import", "build"):
            with self._phase(phase):
                self._until(lambda member, phase=phase: phase in member.phases)
        with self._phase("compile"):
            first.process.send("compile")
            self._until(lambda member: member is not first or "compile" in member.phases)
            for member in self.members[1:]:
                member.process.send("compile")
            self._until(lambda member: "compile" in member.phases)
        with self._phase("capture"):
            self._until(lambda member: "capture" in member.phases)

    def run(self, count: int, stop_if_asked: Callable[[], None]) -> KeyboardInterrupt | None:
        """Let all step, each as fast as it can, and return what stopped them early, if Ctrl-C was pressed.

        If one fails, the others continue to its step, no further. If they are stopped, all continue to the step of the
        foremost one.

        Args:
            count: Control steps.
            stop_if_asked: Raises KeyboardInterrupt if Ctrl-C was pressed.
        """
        start = time.perf_counter()

        def look() -> None:
            stop_if_asked()
            self.told.print(_PATIENCE)
            self._show(count, time.perf_counter() - start)

        try:
            self._send_on(count, look)
        except KeyboardInterrupt as stop:
            self._send_on(0)
            steps = [member.step for member in self.members]
            if len(set(steps)) > 1:
                self.progress.note(f"all go on to step {max(steps)} of the foremost one; Ctrl-C ends them at once")
            self._send_on(max(steps))
            return stop
        finally:
            self.told.print()
        return None

    def finish(self) -> None:
        """Let all complete their recordings, and wait for their results."""
        for member in self.members:
            member.process.send(None)
        self._until(lambda member: False)
        for results in (member.results for member in self.members):
            for name, texts in (results or {"notes": {}})["notes"].items():
                self.told.forget([f"note: {name}: {text}" for text in texts])  # the notes of the run have it

    def finish_others(self) -> None:
        """After one was lost, let the others complete their recordings, as far as they can in a minute."""
        end = time.monotonic() + _LAST_TIME
        for member in self.members:
            member.process.send(None)
        left = {member.process: member for member in self.members if member.results is None}
        while left and time.monotonic() < end:
            for process in wait_any(list(left), _LOOK_PERIOD):
                try:
                    left[process].take(process.receive(), self)
                except PippinError:
                    del left[process]
                    continue
                if left[process].results is not None:
                    del left[process]

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        self.phase = name
        with self.progress.phase(name):
            yield
            self.told.print()

    def _send_on(self, goal: int, look: Callable[[], None] = lambda: None) -> None:
        for member in self.members:
            member.send_on(min(goal, self._limit))
        self._until(lambda member: member.is_waiting, look)

    def _until(self, is_there: Callable[[Member], bool], look: Callable[[], None] = lambda: None) -> None:
        """Take messages until each process is there or has ended, or until one needs larger buffers.

        Raises:
            PippinError: A process raised it, or was lost.
        """
        while not self.sizes and any(each.results is None and not is_there(each) for each in self.members):
            processes = {member.process: member for member in self.members if member.results is None}
            for process in wait_any(list(processes), _LOOK_PERIOD):
                processes[process].take(process.receive(), self)
            for member in self.members:
                member.hold_back(self._limit)
            look()

    @property
    def _limit(self) -> int:
        """The step at which the first one failed; a number beyond all steps if none did."""
        return min((each.step for each in self.members if each.results and each.results["end"]), default=_NO_LIMIT)

    def _show(self, count: int, seconds: float) -> None:
        """Show the progress; the first step is that of the capture."""
        step = self._config.simulation
        least = min(member.step for member in self.members)
        if least > 1:
            done = sum(len(member.shard.worlds) * (member.step - 1) for member in self.members)
            left = seconds * (count - least) / (least - 1)
            time = least * step.dt * step.decimation
            self.progress.update(status_line(time, speed_of(self._config, done, least - 1, seconds), left))

    def close(self) -> None:
        """End all processes."""
        self.told.print()
        for member in self.members:
            member.process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
