"""Paths of the roots of robots: regular expressions that cover a root, whose joints are below it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from pippin import did_you_mean
from pippin.arrays import on_host

from .errors import ArgumentError

if TYPE_CHECKING:
    import newton

__all__ = ["Roots"]

_LISTED_COUNT = 12
"""Largest number of labels that an error lists."""


class Roots:
    """The roots of one robot in all worlds.

    Args:
        paths: Full-match regular expressions of paths.

    Raises:
        ArgumentError: There is no path, or one is not a regular expression.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._expressions = {path: _expression(path) for path in paths}
        if not self._expressions:
            raise ArgumentError("paths: expected the path of a robot's root, got none")

    def holds(self, label: str) -> bool:
        """Tell whether a label is one of the roots or below one."""
        return any(root.fullmatch(label) for root in self._expressions.values())

    def refuse_empty(self, joint_labels: Sequence[str]) -> None:
        """Refuse paths that have no joint below them.

        Raises:
            ArgumentError: There are such paths; one fault for each.
        """
        labels = dict.fromkeys(joint_labels)
        above = {label[:end] for label in labels for end, letter in enumerate(label) if letter == "/"} - {""}
        shown = ", ".join(map(repr, [*labels][:_LISTED_COUNT])) or "none"
        faults = [
            f"paths: no joint is below {path!r}{did_you_mean(path, sorted(above))}; joints: {shown}"
            for path, root in self._expressions.items()
            if not any(root.fullmatch(label) for label in labels)
        ]
        if faults:
            raise ArgumentError(*faults)

    def dofs(self, model: newton.Model, world_count: int) -> np.ndarray:
        """Return the DOFs of the joints below the roots, without free joints, shape [world_count, DOFs of a world].

        Raises:
            ArgumentError: The number of DOFs is not the same in all worlds.
        """
        import newton

        kinds, starts, worlds = on_host(model.joint_type), on_host(model.joint_qd_start), on_host(model.joint_world)
        dofs: list[list[int]] = [[] for _ in range(world_count)]
        for joint, label in enumerate(model.joint_label):
            if self.holds(label) and kinds[joint] != newton.JointType.FREE:
                dofs[worlds[joint]] += range(starts[joint], starts[joint + 1])
        if len({len(row) for row in dofs}) > 1:
            counts = sorted({len(row) for row in dofs})
            raise ArgumentError(f"paths: the robot has {counts} DOFs, depending on the world; it must be in all alike")
        return np.array(dofs, dtype=int)


def _expression(path: str) -> re.Pattern[str]:
    try:
        return re.compile(f"(?:{path})(?:/.*)?")
    except re.error as error:
        raise ArgumentError(f"paths: {path!r} is not a regular expression ({error})") from error
