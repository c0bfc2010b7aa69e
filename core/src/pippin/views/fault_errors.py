"""Errors for the faults of setters on the device."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .errors import RowError, ViewError
from .faults import Fault
from .kernels.faults import HELD, INVALID, OUTSIDE, REFUSED

__all__ = ["raise_for"]


def raise_for(
    faults: Iterable[Fault],
    count: int,
    expected: Callable[[str], str],
    told: Callable[[int], str],
    what: str = "row",
    solver: str = "",
) -> None:
    """Raise one error for all faults, if there are any.

    Args:
        faults: The faults.
        count: The number of rows.
        expected: Return the values that a setter allows.
        told: Return the words for a row.
        what: The word for a row.
        solver: Name of the solver.

    Raises:
        RowError: Indices were of no row.
        ViewError: There were faults of other kinds.
    """
    sentences = {
        OUTSIDE: lambda fault: (
            f"{fault.count} indices on the device were of no {what}, {fault.example} for one, and nothing was written"
            f" for them; there are {count}, counted from 0"
        ),
        INVALID: lambda fault: (
            f"{fault.count} values on the device were not allowed, in {told(fault.example)} for one, and were not"
            f" written; expected {expected(fault.setter)}"
        ),
        HELD: lambda fault: (
            f"{fault.count} bodies on the device are held by joints, in {told(fault.example)} for one, and stayed as"
            " they were; set the positions and velocities of DOFs instead"
        ),
        REFUSED: lambda fault: (
            f"{fault.count} numbers on the device were not set: solver {solver!r} can have such drives, limits or"
            " properties only at joints that had them when it was built; set scene.settable_joints = true"
        ),
    }
    found = list(faults)
    if found:
        error = RowError if found[0].kind == OUTSIDE else ViewError
        raise error("\n".join(f"{fault.setter}: {sentences[fault.kind](fault)}" for fault in found))
