"""Actuators that an asset's own file defines, such as motors, servos, muscles and actuators of tendons in MJCF.

Newton stores them as rows of the custom frequency `mujoco:actuator`. The servos of joints among them are joint drives,
which every solver may honour. All others are direct: only MuJoCo's engines apply them, from `control.mujoco.ctrl`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import labels
from pippin.arrays import on_host
from pippin.attribute_rows import dof_numbers, numbers, texts, write
from pippin.axes import axis_labels
from pippin.errors import ConfigError
from pippin.labels import name_of
from pippin.spelling import listed

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
        return frozenset(self.arms(actuator))

    def arms(self, actuator: int) -> dict[int, float]:
        """Return the size of the effort of a unit force on each degree of freedom that an actuator drives.

        It is |gear|, for a fixed tendon |gear · coef| [1 or m], and NaN where it changes with the pose.
        """
        kind, (target, other) = self._resolved(actuator)
        gear = abs(float(numbers(self._of, "mujoco:actuator_gear")[actuator][0]))
        if target < 0:
            return {}
        if kind in (_JOINT, _JOINT_IN_PARENT):
            return {target: gear}
        joints: Iterable[int] = ()
        if kind == _TENDON:
            if numbers(self._of, "mujoco:tendon_type")[target] == 0:
                rows, coefs = self._part_of_tendon(target, "joint"), numbers(self._of, "mujoco:tendon_coef")
                joints = numbers(self._of, "mujoco:tendon_joint")[rows].tolist()
                return {
                    next(self._dofs_of([j])): gear * abs(float(c)) for j, c in zip(joints, coefs[rows], strict=True)
                }
            shapes = numbers(self._of, "mujoco:tendon_wrap_shape")[self._part_of_tendon(target, "wrap")]
            joints = self._joints_between([int(shape) for shape in shapes if shape >= 0])
        elif kind == _SLIDER_CRANK or (kind == _SITE and other >= 0):
            joints = self._joints_between([target, other])
        return dict.fromkeys(self._dofs_of(joints), np.nan)

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

    def _part_of_tendon(self, tendon: int, kind: str) -> slice:
        first, count = (int(numbers(self._of, f"mujoco:tendon_{kind}_{name}")[tendon]) for name in ("adr", "num"))
        return slice(first, first + count)

    def _joints_between(self, shapes: Iterable[int]) -> set[int]:
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


FREE, OFF, CONTROLLED = 0, 1, 2
"""Owners of an actuator: nobody; a group that drives its joints, so that it is off; a group that sets its `ctrl`."""

IS_DRIVEN = "pippin:is_driven"
"""Attribute of degrees of freedom: whether a group drives it."""

_FREQUENCY, _LABEL, _OWNER = "mujoco:actuator", "mujoco:actuator_label", "pippin:actuator_owner"

LOST = "pippin:actuator_lost"
"""Attribute of actuators: what a group that replaces them does not take over, in words."""

DELAY, DOF_DELAY = "pippin:actuator_delay", "pippin:dof_delay"
"""Attributes: delay of the input of an actuator, and of the targets of a group that replaces it, by DOF [s]."""

_SERVO, _VELOCITY, GENERAL, _MOTOR = 0, 1, 2, 3
"""Newton's source of the input of servos, and its types of velocity servos, of general actuators and of DC motors."""

AUTO = 2
"""Limited if a range is given, as MuJoCo says `auto`."""


class AssetActuators:
    """The asset's own actuators: of one world in a builder, or of all worlds in a model.

    Args:
        of: A builder, or a finalized model.
    """

    def __init__(self, of: newton.ModelBuilder | newton.Model) -> None:
        self._of: Any = of
        #: Labels of the actuators.
        self.labels: list[str] = texts(of, _LABEL)
        source, kind = numbers(of, "mujoco:ctrl_source"), numbers(of, "mujoco:ctrl_type")
        #: Whether each is a servo of a joint, which is a joint drive for every solver, shape [len].
        self.is_servo: np.ndarray = source == _SERVO
        #: Whether each is a servo of velocity, shape [len].
        self.is_velocity: np.ndarray = self.is_servo & (kind == _VELOCITY)
        self._is_motor = kind == _MOTOR
        owners = numbers(of, _OWNER)
        #: The owner of each, shape [len].
        self.owners: np.ndarray = owners if len(owners) else np.full(len(self.labels), FREE)

    def __len__(self) -> int:
        return len(self.labels)

    @functools.cached_property
    def transmissions(self) -> Transmissions:
        """The joints that the actuators drive."""
        return Transmissions(self._of)

    @property
    def worlds(self) -> np.ndarray:
        """The world of each actuator, shape [len]."""
        return self._column("world")

    @property
    def ctrl_ranges(self) -> np.ndarray:
        """Smallest and largest input of each actuator, infinite without a limit, shape [len, 2]."""
        return self._ranges("ctrl")

    @property
    def force_ranges(self) -> np.ndarray:
        """Least and largest force of each actuator, infinite without a limit, shape [len, 2]."""
        return self._ranges("force")

    @property
    def act_ranges(self) -> np.ndarray:
        """Least and largest state of each actuator, infinite without a limit, shape [len, 2]."""
        return self._ranges("act")

    @property
    def has_rotor(self) -> np.ndarray:
        """Whether each actuator adds a rotor inertia to its joints, shape [len]."""
        return self._column("armature") != 0.0

    @property
    def acts_at_zero(self) -> np.ndarray:
        """Whether each actuator may exert something although its input is zero, shape [len]."""
        if not len(self):
            return np.zeros(0, dtype=bool)
        gain, bias = self._column("gaintype"), self._column("biastype")
        has_bias = (bias == 1) & np.any(self._column("biasprm") != 0.0, axis=1)
        has_law = (bias > 1) | (gain > 1) | self._is_motor | (self._column("damping") != 0.0)
        return has_bias | has_law | self._excludes_zero("ctrl") | self._excludes_zero("force")

    def direct(self) -> list[str]:
        """Return the labels of those that act only if the solver applies `control.mujoco.ctrl`."""
        if not len(self):
            return []
        acts = self.acts_at_zero | ((numbers(self._of, "mujoco:ctrl") != 0.0) & self._column("gainprm").any(axis=1))
        is_used = (self.owners == CONTROLLED) | ((self.owners == FREE) & acts) | self.has_rotor
        return [self.labels[index] for index in np.flatnonzero(~self.is_servo & is_used)]

    def choose(self, patterns: Sequence[str], where: str) -> list[int]:
        """Return the actuators whose labels match patterns.

        Raises:
            NoMatchError: No pattern matches anything.
            ConfigError: A pattern is not a regular expression, or matches nothing.
        """
        return labels.match(patterns, self.labels, "actuator", where)

    def control(self, chosen: Sequence[int], where: str) -> None:
        """Note that a group sets the inputs of some actuators of this builder.

        Args:
            chosen: Indices of the actuators in the builder.
            where: Place of the group's table, for errors.

        Raises:
            ConfigError: Another group drives their joints, or sets their inputs already.
        """
        for actuator in chosen:
            if self.owners[actuator] != FREE:
                what = "drives a joint of" if self.owners[actuator] == OFF else "sets the input of"
                raise ConfigError(
                    f"{where}: another group {what} {labels.name_of(self.labels[actuator])!r} already; leave it out"
                    " of one of them"
                )
            self.own(actuator, CONTROLLED)

    def own(self, actuator: int, owner: int) -> None:
        """Note the owner of an actuator of this builder."""
        write(self._of, _OWNER, actuator, owner)
        self.owners[actuator] = owner

    def _ranges(self, what: str) -> np.ndarray:
        limited, bounds = self._column(f"{what}limited"), self._column(f"{what}range").reshape(-1, 2)
        is_given = (self._column(f"has_{what}range") != 0) & (
            bounds[:, 0] < bounds[:, 1]
        )  # DC motors give 0 0 for none
        return np.where(((limited == 1) | ((limited == AUTO) & is_given))[:, None], bounds, [-np.inf, np.inf])

    def _excludes_zero(self, what: str) -> np.ndarray:
        low, high = self._ranges(what).T
        return (low > 0.0) | (high < 0.0)

    def _column(self, name: str) -> np.ndarray:
        return numbers(self._of, f"mujoco:actuator_{name}")


def prepare_actuators(builder: newton.ModelBuilder) -> None:
    """Name the unnamed actuators of a builder by their numbers, and prepare it for the owners of all."""
    names = texts(builder, _LABEL)
    if not names or _OWNER in builder.custom_attributes:
        return
    attributes: Any = builder.custom_attributes
    attributes[_LABEL].values = [name or f"actuator_{index}" for index, name in enumerate(names)]
    register(builder, _OWNER, _FREQUENCY)
    register(builder, LOST, _FREQUENCY, str)
    register(builder, IS_DRIVEN, newton.Model.AttributeFrequency.JOINT_DOF)
    attributes[_OWNER].values, attributes[LOST].values = [FREE] * len(names), [""] * len(names)


def keep_delays(builder: newton.ModelBuilder, delays: Mapping[str, float]) -> None:
    """Keep the delays [s] of the actuators of an asset, by name; a group that replaces one has its delay."""
    if any(delays.values()):
        register(builder, DELAY, _FREQUENCY, wp.float32)
        known = {name.replace("-", "_"): delay for name, delay in delays.items()}  # the importer replaces hyphens
        for row, label in enumerate(texts(builder, _LABEL)):
            write(builder, DELAY, row, known.get(label.replace("-", "_"), 0.0))


def replaced_actuators(model: newton.Model) -> frozenset[str]:
    """Return the labels of the actuators that groups replace."""
    own = AssetActuators(model)
    return frozenset(compress(own.labels, own.owners == OFF))


def register(builder: newton.ModelBuilder, key: str, frequency: Any, dtype: Any = wp.int32) -> None:
    """Give a builder an attribute of numbers or texts, zero or empty by default, unless it has it."""
    if key not in builder.custom_attributes:
        namespace, _, name = key.partition(":")
        builder.add_custom_attribute(
            newton.ModelBuilder.CustomAttribute(
                name=name, namespace=namespace, dtype=dtype, frequency=frequency, default=dtype()
            )
        )


def zero_targets(builder: newton.ModelBuilder) -> None:
    """Set the targets of the asset's own position servos to 0, counted as in the file.

    Newton counts positions from the pose of the file, which is `ref` of the joint in MuJoCo. A group that drives the
    joint gives it another target.
    """
    own = AssetActuators(builder)
    for actuator in np.flatnonzero(own.is_servo & ~own.is_velocity).tolist():
        coordinate = own.transmissions.coordinate(actuator)
        if coordinate is not None:
            builder.joint_target_q[coordinate] = -own.transmissions.reference(actuator)


_CURE = 'drive them by a group of type = "control"'


def actuator_notes(model: newton.Model) -> list[str]:
    """Return notes on the actuators that nobody drives, and on those that are off although they drive other joints too.

    Equal actuators of several worlds count once.
    """
    own = AssetActuators(model)
    if not len(own):
        return []
    first = _of_one_world(own)
    notes, lost = list(_partly_driven(model, own, first[own.owners[first] == OFF])), texts(model, LOST)
    for what in dict.fromkeys(lost[index] for index in first if lost[index]):
        names = listed([name_of(own.labels[index]) for index in first if lost[index] == what])
        notes.append(f"a group replaces {names} and does not have {what}; give the group what it should have of it")
    alone = [index for index in first[own.owners[first] == FREE] if _is_at_zero(model, own, index)]
    is_holding = own.is_servo | own.acts_at_zero
    holding, idle = ([own.labels[i] for i in alone if is_holding[i] == wanted] for wanted in (True, False))
    for found, effect in ((holding, "may hold joints at 0"), (idle, "exerts nothing")):
        if found:
            count = "1 actuator of the asset stays" if len(found) == 1 else f"{len(found)} actuators of the asset stay"
            names = listed([name_of(label) for label in found])
            notes.append(f"{count} at ctrl = 0, which {effect}: {names}; {_CURE}")
    return notes


def _of_one_world(own: AssetActuators) -> np.ndarray:
    places = np.arange(len(own)) - np.searchsorted(own.worlds, own.worlds)
    kinds = [f"{place} {owner} {label}" for place, owner, label in zip(places, own.owners, own.labels, strict=True)]
    return np.sort(np.unique(np.array(kinds), return_index=True)[1])


def _is_at_zero(model: newton.Model, own: AssetActuators, actuator: int) -> bool:
    if not own.is_servo[actuator]:
        return bool(numbers(model, "mujoco:ctrl")[actuator] == 0.0)
    dof, coordinate = own.transmissions.axis(actuator), own.transmissions.coordinate(actuator)
    if dof is None or on_host(model.joint_target_mode)[dof] == int(newton.JointTargetMode.NONE):
        return False
    if own.is_velocity[actuator]:
        return bool(on_host(model.joint_target_qd)[dof] == 0.0)
    return bool(on_host(model.joint_target_q)[coordinate] + own.transmissions.reference(actuator) == 0.0)


def _partly_driven(model: newton.Model, own: AssetActuators, off: np.ndarray) -> Iterator[str]:
    is_driven, names = numbers(model, IS_DRIVEN), None
    for actuator in off.tolist():
        rest = [dof for dof in sorted(own.transmissions.dofs(actuator)) if not is_driven[dof]]
        if rest:
            names = names or axis_labels(model)
            missed = listed([name_of(names[dof]) for dof in rest])
            yield (
                f"actuator {name_of(own.labels[actuator])!r} is off, since a group drives some of its joints; nothing"
                f" drives the others: {missed}"
            )
