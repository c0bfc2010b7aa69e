"""Transmissions of the asset's own actuators: the degrees of freedom that each of them drives."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import newton
import numpy as np
from pippin.attribute_rows import dof_numbers, numbers, texts

_JOINT, _JOINT_IN_PARENT, _TENDON, _SITE, _BODY, _SLIDER_CRANK = range(6)
"""MuJoCo's types of transmissions, as Newton counts them."""


class Transmissions:
    """The transmissions of the rows of `mujoco:actuator` in a builder or a model.

    An actuator drives the joints between the points that it connects: those of a tendon, of a crank and its slider, of
    a site and its reference. A site without reference and a body are pushed from outside, which drives no joint.
    """

    def __init__(self, of: newton.ModelBuilder | newton.Model) -> None:
        self._of = of
        self._kinds = numbers(of, "mujoco:actuator_trntype")
        self._targets = numbers(of, "mujoco:actuator_trnid")
        self._starts, parents, children, trees = (
            _host(getattr(of, f"joint_{name}")) for name in ("qd_start", "parent", "child", "articulation")
        )
        self._coordinates = _host(of.joint_q_start)
        self._joint_above = {child: joint for joint, child in enumerate(children) if trees[joint] >= 0}
        self._parents = parents
        self._paths = texts(of, "mujoco:actuator_target_label")

    def axis(self, actuator: int) -> int | None:
        """Return the degree of freedom of an actuator that acts on a joint; None if it acts on something else."""
        kind, (target, _) = self._resolved(actuator)
        return target if kind in (_JOINT, _JOINT_IN_PARENT) and target >= 0 else None

    def coordinate(self, actuator: int) -> int | None:
        """Return the joint coordinate of an actuator that acts on a joint; None if it acts on something else."""
        dof = self.axis(actuator)
        if dof is None:
            return None
        joint = int(np.searchsorted(self._starts, dof, side="right")) - 1
        return int(self._coordinates[joint]) + dof - int(self._starts[joint])

    def reference(self, actuator: int) -> float:
        """Return what MuJoCo counts at Newton's 0 of the joint that an actuator acts on [m or rad], else 0."""
        dof = self.axis(actuator)
        return 0.0 if dof is None else float(self._references[dof])

    def dofs(self, actuator: int) -> frozenset[int]:
        """Return the degrees of freedom that an actuator drives."""
        kind, (target, other) = self._resolved(actuator)
        if target < 0:
            return frozenset()
        if kind in (_JOINT, _JOINT_IN_PARENT):
            return frozenset({target})
        if kind == _TENDON:
            return frozenset(self._dofs_of(self._joints_of_tendon(target)))
        if kind == _SLIDER_CRANK or (kind == _SITE and other >= 0):
            return frozenset(self._dofs_of(self._joints_between([target, other])))
        return frozenset()

    @functools.cached_property
    def _references(self) -> np.ndarray:
        return dof_numbers(self._of, "mujoco:dof_ref")

    def _resolved(self, actuator: int) -> tuple[int, tuple[int, int]]:
        """Return type and targets; those of a USD stage have the path of their target until the solver is built."""
        kind, (target, other) = int(self._kinds[actuator]), map(int, self._targets[actuator])
        path = self._paths[actuator] if self._paths else ""
        if path and target < 0:
            tendons = texts(self._of, "mujoco:tendon_label")
            if path in self._of.joint_label:
                return _JOINT, (int(self._starts[self._of.joint_label.index(path)]), other)
            if path in tendons:
                return _TENDON, (tendons.index(path), other)
        return kind, (target, other)

    def _joints_of_tendon(self, tendon: int) -> Iterable[int]:
        column = lambda name: numbers(self._of, f"mujoco:tendon_{name}")  # noqa: E731
        if column("type")[tendon] == 0:
            first, count = (int(column(f"joint_{name}")[tendon]) for name in ("adr", "num"))
            return [int(joint) for joint in column("joint")[first : first + count]]
        first, count = (int(column(f"wrap_{name}")[tendon]) for name in ("adr", "num"))
        shapes = column("wrap_shape")[first : first + count]
        return self._joints_between([int(shape) for shape in shapes if shape >= 0])

    def _joints_between(self, shapes: Iterable[int]) -> set[int]:
        """Return the joints that move some of these shapes and not all."""
        bodies = _host(self._of.shape_body)
        chains = [set(self._joints_above(int(bodies[shape]))) for shape in shapes]
        return set().union(*chains).difference(set.intersection(*chains) if chains else ())

    def _joints_above(self, body: int) -> Iterator[int]:
        while body in self._joint_above:
            joint = self._joint_above[body]
            yield joint
            body = int(self._parents[joint])

    def _dofs_of(self, joints: Iterable[int]) -> Iterator[int]:
        for joint in joints:
            end = self._starts[joint + 1] if joint + 1 < len(self._starts) else self._of.joint_dof_count
            yield from range(int(self._starts[joint]), int(end))


def _host(values: Any) -> np.ndarray:
    return np.asarray(values if isinstance(values, list) else values.numpy(), dtype=int)
