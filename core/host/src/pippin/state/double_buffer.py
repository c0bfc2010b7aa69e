"""Double buffers: pairs of states that a step reads and writes in turn, settled so that a graph can replay the step."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar


class Assignable(Protocol):
    """An object such as Newton's states, into which the arrays of another one can be copied."""

    def assign(self, other: Any) -> None:
        """Copy the arrays of `other` into the existing ones."""
        ...


S = TypeVar("S", bound=Assignable)


class DoubleBuffer(Generic[S]):
    """A current and a next state of equal layout, from `Binding.double_buffer`.

    A component reads `current`, writes `next`, then calls `swap`. After the last physics step of a control step the
    host calls `settle`: after an odd number of swaps it copies the result back, so that every replay of a graph
    finds its input at the same address.

    Args:
        first: The state that is current first.
        second: The state that the first step writes; of the same kind.
    """

    def __init__(self, first: S, second: S) -> None:
        self._first = first
        self._second = second
        self._is_swapped = False

    @property
    def current(self) -> S:
        """The current state; after `settle`, always the first one."""
        return self._second if self._is_swapped else self._first

    @property
    def next(self) -> S:
        """The state to write."""
        return self._first if self._is_swapped else self._second

    def swap(self) -> None:
        """Make the written state current."""
        self._is_swapped = not self._is_swapped

    def settle(self) -> None:
        """Make the first state current again; if the states are swapped, copy the second one into it."""
        if self._is_swapped:
            self._first.assign(self._second)
            self._is_swapped = False
