"""A team of workers: an object for each shard, in a process of its own, whose methods are called together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from pippin.errors import PippinError, SimulationError
from pippin.processes import FreshProcess, RemoteError, free_cores, ready
from pippin.simulation import import_hot_modules

from .numbering import in_run
from .shard import Shard
from .worker import Answer, serve

__all__ = ["Team", "raise_errors"]

_PATIENCE = 10.0
"""Time in which workers may end by themselves when the team is closed [s]."""

_THREADS = "OMP_NUM_THREADS"
"""Environment variable with the number of threads that libraries start in a process."""


_MAIN = '; see what it printed, and call Pippin below `if __name__ == "__main__":` in a script'
"""What a user can do if a worker ends before its object is made."""


class Team:
    """Workers of shards. Calls go to all of them at once; a worker that dies is found at once.

    Args:
        shards: The shards.
        make: Returns the object of a shard in its worker; importable by its name from its module.
        arguments: The arguments of `make` for each shard; plain data.
        cure: What a user can do if a worker is lost, for the error.
        heal: Called with the index of a shard whose worker was lost in a call; returns the answer of another worker to
            that call. By default the loss is an error.

    Raises:
        PippinError: An object cannot be made.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        make: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        cure: str,
        heal: Callable[[int], Answer] | None = None,
    ) -> None:
        #: The shards.
        self.shards = tuple(shards)
        self._make, self._cure, self._heal = make, cure, None
        self._loss: str | None = None
        self._processes: list[FreshProcess] = []
        self._numbers = [0] * len(shards)
        self._busy = set(range(len(shards)))
        try:
            for index, given in enumerate(arguments):
                self._processes.append(self._started(index, given))
            raise_errors(self.shards, self._answers())
        except BaseException:
            self.close()
            raise
        self._heal = heal

    def call(self, method: str, *arguments: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a method of each object, and return what they returned, in the order of shards.

        Args:
            method: Name of the method.
            *arguments: The arguments for all shards.
            each: The arguments for each shard, if they differ.

        Raises:
            SimulationError: A worker was lost, or a call before was interrupted.
            Exception: What a method raised.
        """
        self.send(method, *arguments, each=each)
        return self.finish()

    def send(self, method: str, *arguments: Any, each: Sequence[tuple[Any, ...]] | None = None) -> None:
        """Begin a call; see `call`."""
        if self._busy:
            halfway = f"a call was interrupted, so that shards may be at different steps; {self._cure}"
            raise SimulationError(self._loss or halfway)
        self._busy = set(range(len(self.shards)))
        for index in range(len(self.shards)):
            self._send(index, method, arguments if each is None else each[index])

    def finish(self) -> list[Any]:
        """Return what the methods of the last `send` returned; see `call`."""
        answers = self._answers()
        raise_errors(self.shards, answers)
        return [answers[index].value for index in range(len(self.shards))]

    def ask(self, index: int, method: str, *arguments: Any) -> Answer:
        """Call a method of one object, and return the answer."""
        self._send(index, method, arguments)
        return self._answer(index)

    def replace(self, index: int, *arguments: Any) -> Answer:
        """Put another worker in the place of a lost one, and return whether its object is made.

        Args:
            index: The shard.
            *arguments: The arguments of `make`.
        """
        self._processes[index].close()
        self._numbers[index] = 0
        self._processes[index] = self._started(index, arguments)
        return self._answer(index)

    @property
    def lost(self) -> list[int]:
        """The shards whose workers have ended."""
        return [index for index, process in enumerate(self._processes) if not process.is_alive]

    def close(self, farewell: str | None = None) -> None:
        """End the workers. Nothing happens if they have ended.

        Args:
            farewell: A method to call before; workers that are not done in time are killed.

        Raises:
            Exception: What the method raised.
        """
        try:
            if farewell is not None:
                self._part(farewell)
        finally:
            for process in self._processes:
                process.close()
            self._processes.clear()

    def _part(self, farewell: str) -> None:
        alive = [index for index, process in enumerate(self._processes) if process.is_alive]
        end = time.monotonic() + _PATIENCE
        for index in alive:
            self._send(index, farewell, ())
        answers = {index: self._answer(index, max(0.0, end - time.monotonic())) for index in alive}
        raise_errors(self.shards, {index: answer for index, answer in answers.items() if not answer.is_lost})

    def _started(self, index: int, arguments: tuple[Any, ...]) -> FreshProcess:
        shard = self.shards[index]
        before = partial(import_hot_modules, requires_grad=shard.config.simulation.requires_grad)
        with _threads(max(1, free_cores() // shard.count)):
            return FreshProcess(str(shard), serve, self._make, *arguments, before=before)

    def _send(self, index: int, method: str, arguments: tuple[Any, ...]) -> None:
        self._numbers[index] += 1
        self._processes[index].send((self._numbers[index], method, arguments))

    def _answers(self) -> dict[int, Answer]:
        """Return the answers of all workers; fewer if one is lost, as the others may take any time."""
        found: dict[int, Answer] = {}
        while self._busy:
            waiting = {self._processes[index]: index for index in sorted(self._busy)}
            for process in ready(list(waiting)):
                index = waiting[process]
                answer = self._answer(index)
                if answer.is_lost and self._heal is not None:
                    answer = self._heal(index)
                found[index] = answer
                if answer.is_lost:
                    self._loss = str(answer.error)
                    return found
                self._busy.discard(index)
        return found

    def _answer(self, index: int, timeout: float | None = None) -> Answer:
        """Return the answer to the last call of a worker; what it answers to calls before is dropped."""
        while True:
            try:
                answer = self._processes[index].receive(timeout)
            except SimulationError as error:  # the process ended; the worker's loop itself raises nothing
                number = self._numbers[index]
                told = f", and its worlds are lost; {self._cure}" if number else _MAIN
                loss = SimulationError(str(error).replace("; see what it printed", told))
                return Answer(number=number, error=loss, is_lost=True)
            if answer.number == self._numbers[index]:
                return answer


def raise_errors(shards: Sequence[Shard], answers: Mapping[int, Answer]) -> None:
    """Raise the error of the first shard that has one; it names the shard unless all have the same.

    Args:
        shards: The shards.
        answers: The answers by the number of the shard.
    """
    failed = {index: answer for index, answer in sorted(answers.items()) if answer.error is not None}
    if not failed:
        return
    index, answer = next((each for each in failed.items() if each[1].is_lost), next(iter(failed.items())))
    error, shard = answer.error, shards[index]
    assert error is not None, "chosen above"
    if answer.is_lost:
        raise error
    is_common = len(failed) == len(shards) and len({str(each.error) for each in failed.values()}) == 1
    if isinstance(error, PippinError) and not is_common:
        error.restate(lambda fault: f"{shard}: {in_run(fault, shard.worlds.start)}")
    elif not is_common:
        error.add_note(f"in {shard}")
    raise error from RemoteError(f"in {shard}\n{answer.trace}")


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Let libraries of processes that are started in the block use some threads each, unless the user decided."""
    if _THREADS in os.environ:
        yield
        return
    os.environ[_THREADS] = str(count)
    try:
        yield
    finally:
        del os.environ[_THREADS]
