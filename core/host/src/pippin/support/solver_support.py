"""Support of the built solver for what a user sets while it runs, and joints prepared for it."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
from pippin.arrays import on_host
from pippin.errors import ConfigError
from pippin.spelling import listed

from .features import FEATURES, NO_LIMIT, OF_ATTRIBUTES, OF_KINDS

_JOINTS = (newton.JointType.REVOLUTE, newton.JointType.PRISMATIC, newton.JointType.D6)

FAR = 1e7
"""Limit of a position that no joint reaches [m or rad]: limited for a solver, and unlimited for everything else."""

LARGE = 9e5
"""Limit of an effort that no drive reaches [N or N·m], below the one that Newton takes for none."""

SMALL = 1e-9
"""Armature, friction or damping without an effect on a motion [kg, N, N·s/m, or times m or m²]."""


def make_settable(builder: newton.ModelBuilder, fixed: Collection[str], kept: Collection[str]) -> None:
    """Give each hinge, slider and joint of several axes the features that the solver cannot add to it.

    Drives have no gains, and limits are out of reach, so that the motion is the same until something is set. A feature
    that the solver cannot take away, of those `kept`, gets a small value where it would get zero.
    """
    for dof in _dofs(builder):
        if "joint_drives" in fixed:
            builder.joint_target_mode[dof] = int(newton.JointTargetMode.POSITION_VELOCITY)
            if "joint_drives" in kept and not builder.joint_target_kd[dof]:
                builder.joint_target_kd[dof] = SMALL
        if "joint_limits" in fixed:
            builder.joint_limit_lower[dof] = max(builder.joint_limit_lower[dof], -FAR)
            builder.joint_limit_upper[dof] = min(builder.joint_limit_upper[dof], FAR)
        if "effort_limits" in fixed:
            builder.joint_effort_limit[dof] = min(builder.joint_effort_limit[dof], LARGE)
        for name in {"armature", "joint_damping", "joint_friction"}.intersection(fixed):
            values = getattr(builder, f"joint_{name.removeprefix('joint_')}")
            values[dof] = values[dof] or SMALL


def _dofs(builder: newton.ModelBuilder) -> list[int]:
    return [
        dof
        for kind, start, axes in zip(builder.joint_type, builder.joint_qd_start, builder.joint_dof_dim, strict=True)
        if kind in _JOINTS
        for dof in range(start, start + sum(axes))
    ]


_NOTHING = (np.inf, -np.inf)
_ANYTHING = (-np.inf, np.inf)
_POSITIVE = (float(np.finfo(np.float32).tiny), np.inf)

_ATTRIBUTES = tomllib.loads(Path(__file__).with_name("attributes.toml").read_text(encoding="utf-8"))

STRUCTURE = frozenset(_ATTRIBUTES["structure"])
"""Attributes of the structure of the scene: it is built again to change them."""

SETTABLE: Mapping[str, tuple[str, Any]] = _ATTRIBUTES["settable"]
"""Attributes of the model that can be set while it runs: the flag that notifies the solver, and the allowed values."""

Taken = Callable[[str, np.ndarray], np.ndarray]
"""Tells which of some DOFs have a driver that takes an array of the model over."""

_NOWHERE = np.zeros(0, dtype=int)
_ROUNDING = 1e-6
_OF_DIMENSIONS = ("shape_material_mu_torsional", "shape_material_mu_rolling")
_OF_CONTROL = frozenset({"joint_target_q", "joint_target_qd"})
_PULL = "a drive that follows positions"
_MODES = newton.JointTargetMode


@attrs.frozen(eq=False)
class Range:
    """The values that the built solver takes over in each element of an array; the present value is always one."""

    what: str
    """What the joints lack whose range is empty, as a phrase."""

    low: np.ndarray
    high: np.ndarray

    starts: str = "joint_qd_start"
    """Name of the model's array with the first element of each joint."""

    has_bounds: bool = False
    """Whether servos of a file bound the values, and not the solver."""

    never: Mapping[int, str] = attrs.field(factory=dict)
    """The feature that the solver lacks, by element: joints of their kind never have it."""

    @property
    def is_limited(self) -> np.ndarray:
        """Whether the solver takes over some values only, for each element."""
        return (self.low > -np.inf) | (self.high < np.inf)


class SolverSupport:
    """Tells which features the solver has, and at which joints it can have them.

    Args:
        solver: The solver's name.
        levels: The features that the solver declares, "live" or read at the "build" only; None for all, live.
        accepted: The features that the user accepts to lose: what needs them may be set, with a warning.
        fixed: Features that the built solver cannot add to a joint.
        kept: Features that the built solver cannot take away from a joint.
        explain: Returns the fault of a missing feature, without its beginning.
        model: The model of which the solver was built.
        dimensions: Returns the least dimension of a contact with a kind of friction, by the name of its coefficient;
            nothing for a solver that reads coefficients alone. It is called for such a coefficient only.
    """

    def __init__(
        self,
        solver: str,
        levels: Mapping[str, str] | None,
        accepted: Collection[str],
        fixed: Collection[str],
        kept: Collection[str],
        explain: Callable[[str], str],
        model: newton.Model,
        dimensions: Callable[[], Mapping[str, int]],
    ) -> None:
        #: The solver's name.
        self.solver = solver
        self._dimensions = dimensions
        self._features: Collection[str] | None = levels
        self._of_build = {name for name, level in (levels or {}).items() if level == "build"}
        self._accepted, self._explain = set(accepted), explain
        self._left_out = frozenset() if levels is None else frozenset(accepted) - levels.keys()
        self._model = model
        self._ranges = _ranges(model, fixed, kept) if (fixed or kept) and model.joint_dof_count else {}
        if levels is not None:
            self._ranges |= _without(model, self._ranges, OF_ATTRIBUTES.keys() & OF_KINDS.keys(), {*levels, *accepted})
        live = OF_ATTRIBUTES.keys() if levels is None else {*levels} - self._of_build
        told = {name for name, feature in OF_ATTRIBUTES.items() if FEATURES[feature].flags and feature not in live}
        told |= {name for name, kinds in OF_KINDS.items() if levels is not None and not live >= {*kinds.values()}}
        kept = sorted({*told, *_OF_DIMENSIONS, *STRUCTURE, *self._ranges} - _OF_CONTROL)
        arrays = {name: getattr(model, name, None) for name in kept}
        self._built = {name: array.numpy().copy() for name, array in arrays.items() if array is not None}

    def fault(self, feature: str) -> str | None:
        """Return why the solver cannot honour what needs a feature, with the cures; None if it can.

        None also for a feature that the user accepts to lose; a warning says once that what is set has no effect.
        """
        if not feature or self._features is None or feature in self._features:
            return None
        if feature in self._accepted:
            self._accepted.remove(feature)
            self._features = {*self._features, feature}
            warnings.warn(
                f"solver {self.solver!r} has no {feature}, as simulation.accept_unsupported permits: what is set of it"
                " is kept, and has no effect",
                UserWarning,
                stacklevel=4,
            )
            return None
        return f"solver {self._explain(feature)}"

    def change_fault(self, feature: str, array: str) -> str | None:
        """Return why the solver does not follow a change of what a feature has in an array, with the cures; or None."""
        if feature not in self._of_build:
            return self.fault(feature)
        return (
            f"solver {self.solver!r} reads {array} ({feature}) only while it is built; build another simulation, or"
            " choose another solver"
        )

    def trust(self) -> None:
        """For the core: Take all features that the solver has for live, to see whether it follows their changes."""
        self._of_build = set()

    def left_out(self, feature: str) -> str | None:
        """Return that the solver leaves a feature out, as the user accepts, with the cure; None if it does not."""
        if feature not in self._left_out:
            return None
        return (
            f"solver {self.solver!r} leaves {feature} out, as simulation.accept_unsupported permits; choose a solver"
            " that has it"
        )

    def attribute_fault(self, array: str, elements: np.ndarray = _NOWHERE) -> str | None:
        """Return why the solver cannot honour what is set in an array of the model, with the cure; None if it can.

        The elements are those that are set, for what depends on their joints or shapes; -1 is none.
        """
        if array in STRUCTURE:
            return "it is part of the structure of the scene; build another simulation to change it"
        return (
            self.change_fault(OF_ATTRIBUTES.get(array, ""), array)
            or self._dimension_fault(array, elements)
            or self._kind_fault(array, elements)
        )

    def _kind_fault(self, array: str, dofs: np.ndarray) -> str | None:
        """Return why the solver has no such number at ball or free joints of some DOFs, with the cures; or None.

        A DOF of -1 is none.
        """
        features = OF_KINDS.get(array)
        if features is None or not len(dofs := np.unique(dofs[dofs >= 0])):
            return None
        kinds = np.repeat(on_host(self._model.joint_type), np.diff(on_host(self._model.joint_qd_start)))[dofs]
        faults = (self.fault(each) for kind, each in features.items() if int(newton.JointType[kind]) in kinds)
        return next(filter(None, faults), None)

    def _dimension_fault(self, array: str, shapes: np.ndarray) -> str | None:
        """Return why a coefficient of friction has no effect on some shapes, with the cure; None if it has one.

        A shape of -1 is none.
        """
        name = array.removeprefix("shape_material_")
        if name == array or name not in (dimensions := self._dimensions()):
            return None
        stated = on_host(self._model.mujoco.condim)  # pyrefly: ignore[missing-attribute]
        flat, dimension = np.unique(shapes[shapes >= 0]), dimensions[name]
        short = flat[stated[flat] < dimension]
        if not len(short):
            return None
        where = listed(repr(self._model.shape_label[shape]) for shape in short)
        return (
            f"solver {self.solver!r} has no such friction at contacts of condim below {dimension}, as {where} asks for;"
            f' write condim="{dimension}" into the file, or scene.shapes.{name}'
        )

    def refusal(self, of: Range, elements: np.ndarray) -> str:
        """Return why some elements of an array do not take the values that were set, with the cure."""
        starts = getattr(self._model, of.starts).numpy()
        joints = np.unique(np.searchsorted(starts, elements, side="right") - 1)
        where = listed(repr(self._model.joint_label[joint]) for joint in joints)
        if (feature := of.never.get(int(elements[0]))) is not None:
            return f"{where}: solver {self._explain(feature)}"
        if of.has_bounds and of.low[elements[0]] <= of.high[elements[0]]:
            return (
                f"beyond the range of the control of the asset's own servo at {where}, which solver {self.solver!r}"
                " does not keep; stay within it"
            )
        if of.low[elements[0]] > of.high[elements[0]]:
            return (
                f"solver {self.solver!r} can give {of.what} to a joint only while it is built, and {where} had none;"
                " set scene.settable_joints = true, which prepares every joint"
            )
        return (
            f"solver {self.solver!r} cannot take {of.what} away from {where} after it is built; set a small value in"
            " place of zero, and a large one in place of infinity"
        )

    def check(self, taken: Taken | None = None, control: newton.Control | None = None) -> None:
        """Refuse what was written into arrays and the built solver does not take over, as setters do.

        `taken` is for DOFs that have drivers, and `control` for targets. Synchronises with the device.
        """
        for name in _OF_CONTROL & self._ranges.keys() if control is not None else ():
            of, values = self._ranges[name], on_host(getattr(control, name))
            slack = _ROUNDING * (1.0 + abs(values))
            is_in = (values >= of.low - slack) & (values <= of.high + slack)
            is_out = of.has_bounds & (of.low <= of.high) & ~is_in
            if is_out.any():
                raise ConfigError(f"control.{name}: {self.refusal(of, np.flatnonzero(is_out))}")
        for name, built in self._built.items():
            values = getattr(self._model, name).numpy()
            is_new = values != built
            changed = np.unique(np.nonzero(is_new)[0])
            if taken is not None and len(values) == self._model.joint_dof_count:
                changed = changed[~taken(name, changed)]
            if len(changed) and (fault := self.attribute_fault(name, changed)):
                raise ConfigError(f"model.{name}: {fault}")
            if not len(changed) or (of := self._ranges.get(name)) is None:
                continue
            is_out = is_new & ~((values >= of.low) & (values <= of.high))
            if is_out.any():
                raise ConfigError(f"model.{name}: {self.refusal(of, np.flatnonzero(is_out))}")

    def bound(self, array: str, bounds: np.ndarray) -> None:
        """For the core: Refuse targets beyond the ranges of servos, shape [elements, 2]."""
        low, high = bounds.T
        if (before := self._ranges.get(array)) is not None:
            low, high = np.maximum(low, before.low), np.minimum(high, before.high)
        starts = "joint_q_start" if array == "joint_target_q" else "joint_qd_start"
        self._ranges[array] = Range(_PULL, low, high, starts=starts, has_bounds=True)

    def range_of(self, array: str) -> Range | None:
        """Return the values that the solver takes over in an array of the model or the control; None for any."""
        return self._ranges.get(array)


def _ranges(model: newton.Model, fixed: Collection[str], kept: Collection[str]) -> dict[str, Range]:
    """Return the range of each array of joints in which the solver does not take over every value."""
    of = {name: getattr(model, name).numpy() for name in _ARRAYS}
    mode, limits = of["joint_target_mode"], (of["joint_limit_lower"], of["joint_limit_upper"])
    is_limited = (limits[0] > -newton.MAXVAL) | (limits[1] < newton.MAXVAL)
    has_gain = (of["joint_target_ke"] != 0.0) | (of["joint_target_kd"] != 0.0)
    is_live = has_gain if "joint_drives" in kept else np.ones_like(has_gain)
    pulls = np.isin(mode, (_MODES.POSITION, _MODES.POSITION_VELOCITY)) & is_live
    drags = np.isin(mode, (_MODES.VELOCITY, _MODES.POSITION_VELOCITY)) & is_live
    below = float(np.nextafter(np.float32(newton.MAXVAL), np.float32(0.0)))
    bounded = float(np.nextafter(np.float32(NO_LIMIT), np.float32(0.0)))
    is_bounded = of["joint_effort_limit"] < NO_LIMIT
    rows = {
        "joint_target_ke": ("joint_drives", _PULL, pulls, _POSITIVE),
        "joint_target_kd": ("joint_drives", "a drive", pulls | drags, _POSITIVE),
        "joint_target_qd": ("joint_drives", "a drive that follows velocities", drags, _ANYTHING),
        "joint_limit_lower": ("joint_limits", "limits", is_limited, (-below, np.inf)),
        "joint_limit_upper": ("joint_limits", "limits", is_limited, (-np.inf, below)),
        "joint_effort_limit": ("effort_limits", "a limit of its effort", is_bounded, (-np.inf, bounded)),
        "joint_armature": ("armature", "armature", of["joint_armature"] != 0.0, _POSITIVE),
        "joint_friction": ("joint_friction", "friction", of["joint_friction"] != 0.0, _POSITIVE),
        "joint_damping": ("joint_damping", "damping", of["joint_damping"] != 0.0, _POSITIVE),
    }
    found = {}
    for name, (feature, what, had, bounds) in rows.items():
        is_held = had & (feature in kept)
        if name in of:
            is_held &= (of[name] >= bounds[0]) & (of[name] <= bounds[1])
        is_out = ~had & (feature in fixed)
        # Nothing, a part or anything is taken over; the lower ends, then the upper ones.
        low, high = (np.select([is_out, is_held], [_NOTHING[end], bounds[end]], _ANYTHING[end]) for end in (0, 1))
        found[name] = Range(what, low, high)
    found["joint_target_q"] = _of_coordinates(model, pulls | ("joint_drives" not in fixed))
    return {name: each for name, each in found.items() if each.is_limited.any()}


def _without(
    model: newton.Model, ranges: Mapping[str, Range], arrays: Collection[str], features: Collection[str]
) -> dict[str, Range]:
    """Return ranges of arrays in which joints of a kind take nothing over, as the solver lacks a feature for them."""
    kinds = np.repeat(on_host(model.joint_type), np.diff(on_host(model.joint_qd_start)))
    found = {}
    for name in sorted(arrays):
        of = {int(newton.JointType[kind]): feature for kind, feature in OF_KINDS[name].items()}
        lacking = {kind: feature for kind, feature in of.items() if feature not in features}
        never = {dof: lacking[kind] for dof, kind in enumerate(kinds.tolist()) if kind in lacking}
        if never:
            before = ranges.get(name) or Range("", np.full(len(kinds), -np.inf), np.full(len(kinds), np.inf))
            low, high = before.low.copy(), before.high.copy()
            low[[*never]], high[[*never]] = _NOTHING
            found[name] = attrs.evolve(before, low=low, high=high, never=never)
    return found


_ARRAYS = (
    *("joint_target_mode", "joint_target_ke", "joint_target_kd", "joint_limit_lower", "joint_limit_upper"),
    *("joint_effort_limit", "joint_armature", "joint_friction", "joint_damping"),
)


def _of_coordinates(model: newton.Model, is_free: np.ndarray) -> Range:
    """Return the range of target coordinates from that of DOFs; a joint with a quaternion is as its first DOF is."""
    starts, firsts = on_host(model.joint_q_start), on_host(model.joint_qd_start)
    joints = np.repeat(np.arange(model.joint_count), np.diff(starts))
    within = np.arange(len(joints)) - starts[joints]
    free = is_free[firsts[joints] + np.minimum(within, np.diff(firsts)[joints] - 1)]
    low, high = (np.where(free, _ANYTHING[end], _NOTHING[end]) for end in (0, 1))
    return Range(_PULL, low, high, starts="joint_q_start")
