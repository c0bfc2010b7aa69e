"""A pool of workers, whose methods are called together."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any

from pippin.errors import PippinError, SimulationError

from .process import CallResult, RemoteError, Worker, wait_any

_CLOSE_TIMEOUT = 10.0
"""Time in which workers may end by themselves when the pool is closed [s]."""

_THREADS = "OMP_NUM_THREADS"
"""Environment variable with the number of threads that libraries start in a process."""

_MAIN = '; see what it printed, and call Pippin below `if __name__ == "__main__":` in a script'
"""What a user can do if a worker ends before its object is made."""


class PoolState(Enum):
    """State of the calls of a pool."""

    READY = "ready"
    """A call may be started."""

    CALLING = "calling"
    """Results of a call are missing; an interrupted call never leaves this state."""

    LOST = "lost"
    """A worker was lost, and there are no more calls."""


class WorkerPool:
    """Workers that are called together. A worker that dies is found at once.

    Args:
        names: The names of the workers in errors.
        make: Returns the object of a worker; importable by its name from its module.
        arguments: The arguments of `make` for each worker; plain data.
        cure: What a user can do if a worker is lost, for the error.
        requires_grad: As for `WorkerProcess`.
        preload: As for `WorkerProcess`.
        threads: Threads that libraries may start in each process; None leaves it to them.
        restate: Returns an error text of a worker as the text of the whole, given the worker's number and the text.
        heal: Called with the number of a worker that was lost in a call; returns the result of another worker. By
            default the loss is an error.
        on_event: Called with the number of a worker and an event of its object; see `Worker`.

    Raises:
        PippinError: An object cannot be made.
    """

    def __init__(
        self,
        names: Sequence[str],
        make: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        *,
        cure: str,
        requires_grad: bool | None = None,
        preload: Sequence[str] | None = None,
        threads: int | None = None,
        restate: Callable[[int, str], str] | None = None,
        heal: Callable[[int], CallResult] | None = None,
        on_event: Callable[[int, Any], None] | None = None,
    ) -> None:
        self._names, self._make, self._cure = tuple(names), make, cure
        environment = {} if threads is None else {_THREADS: str(threads)}
        self._start = {"requires_grad": requires_grad, "preload": preload, "environment": environment}
        self._restate = restate
        #: For the core: the state of the calls.
        self.state: PoolState = PoolState.CALLING
        self._heal: Callable[[int], CallResult] | None = None
        self._loss, self._on_event, self._pending = "", on_event, set[int]()
        self._workers: list[Worker] = []
        try:
            for index, own in enumerate(arguments):
                self._workers.append(self._started(index, own))
            self.finish()
        except BaseException:
            self.close()
            raise
        self._heal = heal

    def __len__(self) -> int:
        return len(self._names)

    @property
    def pids(self) -> list[int]:
        """Numbers of the processes, in the order of workers."""
        return [worker.pid for worker in self._workers]

    def call(self, method: str, *arguments: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a method of each object, and return what they returned, in the order of workers.

        Args:
            method: Name of the method.
            *arguments: The arguments for all workers.
            each: The arguments for each worker, if they differ.

        Raises:
            SimulationError: A worker was lost, or a call before was interrupted.
            Exception: What a method raised.
        """
        self.start_call(method, *arguments, each=each)
        return self.finish()

    def start_call(self, method: str, *arguments: Any, each: Sequence[tuple[Any, ...]] | None = None) -> None:
        """Start a call; see `call`.

        Args:
            method: The name of the method.
            *arguments: Its arguments, the same for all workers.
            each: The arguments for each worker, in place of those.

        Raises:
            SimulationError: A worker was lost, or an earlier call was interrupted.
        """
        if self.state is PoolState.LOST:
            raise SimulationError(self._loss)
        if self.state is PoolState.CALLING:
            raise SimulationError(f"a call was interrupted, so that shards may be at different steps; {self._cure}")
        self.state = PoolState.CALLING
        for index, worker in enumerate(self._workers):
            worker.start_call(method, *(arguments if each is None else each[index]))

    def finish(self) -> list[Any]:
        """Return what the methods of the last `start_call` returned; see `call`."""
        results = self._results()
        self._raise_errors(results)
        return [results[index].value for index in range(len(self))]

    def call_one(self, index: int, method: str, *arguments: Any) -> CallResult:
        """Call a method of one object, and return the result.

        Args:
            index: The worker.
            method: The name of the method.
            *arguments: Its arguments.
        """
        self._workers[index].start_call(method, *arguments)
        return self._result(index)

    def replace(self, index: int, *arguments: Any) -> CallResult:
        """Start another worker in place of a lost one, and return the result of its constructor.

        Args:
            index: The worker.
            *arguments: The arguments of `make`.
        """
        self._workers[index].close()
        self._workers[index] = self._started(index, arguments)
        return self._result(index)

    def run_each(
        self,
        next_call: Callable[[int], tuple[Any, ...] | None],
        take: Callable[[int, Any], None],
        look: Callable[[], None] = lambda: None,
        period: float | None = None,
    ) -> None:
        """Let each worker make calls of its own, without waiting for others, until none has a next one.

        If `look` raises, calls stay pending, and the next `run_each` continues with them.

        Args:
            next_call: Returns method and arguments for a worker, given its number, or None.
            take: Called with the number of a worker and what its method returned.
            look: Called after results, and at least once in each period.
            period: Longest wait for a message [s]; None waits without limit.

        Raises:
            SimulationError: A worker was lost.
            Exception: What a method raised.
        """
        if self.state is PoolState.LOST:
            raise SimulationError(self._loss)
        self.state = PoolState.CALLING
        while True:
            for index in set(range(len(self))) - self._pending:
                if call := next_call(index):
                    self._workers[index].start_call(*call)
                    self._pending.add(index)
            if not self._pending:
                break
            waiting = {self._workers[index]: index for index in sorted(self._pending)}
            for worker in wait_any(list(waiting), period):
                self._read(waiting[worker], take)
            look()
        self.state = PoolState.READY

    def _read(self, index: int, take: Callable[[int, Any], None]) -> None:
        """Read a message of a worker, and hand over the result of its call if it has ended."""
        result = self._workers[index].take()
        if result is None:
            return
        self._pending.discard(index)
        if result.is_lost:
            result = self._lost(index, result)
            self.state, self._loss = PoolState.LOST, str(result.error)
        self._raise_errors({index: result})
        take(index, result.value)

    def close(self, farewell: str | None = None, timeout: float = _CLOSE_TIMEOUT) -> None:
        """End the workers. Nothing happens if they have ended.

        Args:
            farewell: A method to call before; workers that are late are killed.
            timeout: Time for this method [s].

        Raises:
            Exception: What the method raised.
        """
        try:
            if farewell is not None:
                self._call_last(farewell, timeout)
        finally:
            for worker in self._workers:
                worker.close()
            self._workers.clear()

    def _call_last(self, farewell: str, timeout: float) -> None:
        alive = [index for index, worker in enumerate(self._workers) if worker.is_alive]
        end = time.monotonic() + timeout
        for index in alive:
            self._workers[index].start_call(farewell)
        results = {index: self._result(index, max(0.0, end - time.monotonic())) for index in alive}
        self._raise_errors({index: result for index, result in results.items() if not result.is_lost})

    def _started(self, index: int, arguments: tuple[Any, ...]) -> Worker:
        on_event = None if self._on_event is None else partial(self._on_event, index)
        return Worker(self._names[index], self._make, *arguments, **self._start, on_event=on_event)

    def _results(self) -> dict[int, CallResult]:
        """Return the results of all workers; fewer if one is lost, as the others may take any time."""
        found: dict[int, CallResult] = {}
        missing = {worker: index for index, worker in enumerate(self._workers)}
        while missing:
            for worker in wait_any(list(missing)):
                index = missing[worker]
                result = self._result(index)
                if result.is_lost and self._heal is not None:
                    result = self._heal(index)
                found[index] = result
                if result.is_lost:
                    self.state, self._loss = PoolState.LOST, str(result.error)
                    return found
                del missing[worker]
        self.state = PoolState.READY
        return found

    def _result(self, index: int, timeout: float | None = None) -> CallResult:
        result = self._workers[index].result(timeout)
        return self._lost(index, result) if result.is_lost else result

    def _lost(self, index: int, result: CallResult) -> CallResult:
        worker = self._workers[index]
        what = f", and its worlds are lost; {self._cure}" if worker.call_count else _MAIN
        loss = SimulationError(str(result.error).replace("; see what it printed", what))
        return CallResult(number=result.number, error=loss, is_lost=True)

    def _raise_errors(self, results: dict[int, CallResult]) -> None:
        """Raise the error of the first worker that has one; it names the worker unless all have the same."""
        failed = {index: result for index, result in sorted(results.items()) if result.error is not None}
        if not failed:
            return
        index, result = next((each for each in failed.items() if each[1].is_lost), next(iter(failed.items())))
        error, name = result.error, self._names[index]
        assert error is not None, "chosen above"
        if result.is_lost:
            raise error
        is_common = len(failed) == len(self) and len({str(each.error) for each in failed.values()}) == 1
        if isinstance(error, PippinError) and not is_common:
            restate = self._restate or (lambda _, fault: fault)
            error.restate(lambda fault: f"{name}: {restate(index, fault)}")
        elif not is_common:
            error.add_note(f"in {name}")
        raise error from RemoteError(f"in {name}\n{result.trace}")
