"""Everything that a user can set while a simulation runs, with what a solver has to declare to honour it.

The kit tries each on a body of its own, and the reference page *honoured* is made of the same table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs
from pippin.components import Declaration
from pippin.views import ARTICULATION, RIGID_BODY

from .benches import DURATION
from .scenes import GRAVITY

Body = Literal["slider", "wheel", "ball", "fixed"]
"""Mechanism of a change: a slider along x, a wheel on a hinge about z, a free ball, or a ball on a fixed root."""

Motion = Literal["x", "y", "z", "x speed", "y speed", "z speed", "turn speed"]
"""What is measured: the change of a position [m] or a velocity [m/s, rad/s] of the body, in world axes."""

_JOINTS: Mapping[Body, str] = {
    "slider": "prismatic_joints",
    "wheel": "revolute_joints",
    "ball": "free_joints",
    "fixed": "fixed_joints",
}


@attrs.frozen
class RuntimeChange:
    """One change at run time, on a body that moves in one way if it is honoured, and in another if not."""

    name: str
    """Call that makes the change, such as `set_masses`."""

    value: Any
    """New value: a number, or numbers of one row."""

    meaning: str
    """Meaning of the motion, without its unit."""

    motion: Motion
    acting: tuple[float, float]
    """Bounds of the motion in the world that is changed."""

    idle: tuple[float, float] = (-0.005, 0.005)
    """Bounds of the motion in the other worlds, which are not changed; by default it stands still."""

    body: Body = attrs.field(default="slider", kw_only=True)
    feature: str = attrs.field(default="", kw_only=True)
    """Name in `pippin.solving.FEATURES` of what the solver needs; empty if it needs nothing but the body."""

    flags: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    """Names in `newton.ModelFlags` that the solver has to take over while it runs."""

    first: Mapping[str, float] = attrs.field(default={}, kw_only=True)
    """Setters that are called in all worlds before, with their values."""

    start: tuple[float, float] = attrs.field(default=(0.0, 0.0), kw_only=True)
    """Position [m] and velocity [m/s] of the slider at the start."""

    push: float = attrs.field(default=0.0, kw_only=True)
    """Force along x on the centre of mass in each step [N]."""

    torque: float = attrs.field(default=0.0, kw_only=True)
    """Torque about z in each step [N·m]."""

    attribute: str = attrs.field(default="", kw_only=True)
    """Name of the attribute that `set_attribute` sets."""

    @property
    def expectation(self) -> str:
        """Meaning of the motion, with its unit; for errors and the reference page."""
        unit = "rad/s" if self.motion == "turn speed" else "m/s" if "speed" in self.motion else "m"
        return f"{self.meaning} [{unit}]"

    @property
    def label(self) -> str:
        """Name among all changes: that of the call, with the attribute that it sets."""
        return f"{self.name}_{self.attribute}" if self.attribute else self.name

    @property
    def prepares(self) -> frozenset[str]:
        """Features that its `first` setters change."""
        return frozenset(ARTICULATION[setter.removeprefix("set_")].feature for setter in self.first) - {""}

    @property
    def of_body(self) -> frozenset[str]:
        """Features that a solver needs to move the body."""
        return frozenset({"rigid_bodies", _JOINTS[self.body]})


@attrs.frozen(kw_only=True)
class Cell:
    """Verdict of a declaration on a change."""

    is_honoured: bool
    """Whether the call acts; otherwise it is refused."""

    lacks: str = ""
    """The first feature that the solver does not have or reads at the build, or else the first change that it does not
    follow, if the call is refused."""

    is_withheld: bool = False
    """Whether the solver has what the call changes, but declares that it reads it at the build only."""

    option: str = ""
    """The option of the solver that makes the call act, if it is refused without."""

    is_fixed: bool = False
    """Whether the call acts only at joints that had the feature when the solver was built."""


def cell_of(change: RuntimeChange, declared: Declaration) -> Cell:
    """Return what a solver's declaration says of a runtime change."""
    features, flags = declared.supported_features, declared.live_changes
    needed = [*sorted(change.of_body, reverse=True), *([change.feature] if change.feature else [])]
    lacking = [each for each in needed if features is not None and each not in features]
    if lacking:
        return Cell(is_honoured=False, lacks=lacking[0], option=declared.optional_features.get(lacking[0], ""))
    if features is not None and change.flags and features.get(change.feature) == "build":
        return Cell(is_honoured=False, lacks=change.feature, is_withheld=True)
    if ignored := [flag for flag in change.flags if flags is not None and flag not in flags]:
        return Cell(is_honoured=False, lacks=ignored[0], is_withheld=True)
    return Cell(is_honoured=True, is_fixed=change.feature in declared.features_fixed_at_build)


def _set(quantity: str, *rest: Any, **options: Any) -> RuntimeChange:
    of_view = ARTICULATION.get(quantity) or RIGID_BODY[quantity]
    return RuntimeChange(f"set_{quantity}", *rest, feature=of_view.feature, flags=of_view.flags, **options)


_FAST, _AWAY = (0.0, 1.0), (0.1, 0.0)
"""Starts of the slider: at 1 m/s, and 0.1 m away."""

_PUT, _FASTER, _SLOWED = (0.19, 0.21), (0.9, 1.1), (-0.95, -0.3)
"""Bounds of what is put 0.2 m away, of what gets 1 m/s, and of what is slowed from 1 m/s."""

_FALL = (-1.05 * GRAVITY * DURATION, -0.95 * GRAVITY * DURATION)
_PULL, _DRAG = {"set_dof_stiffnesses": 100.0}, {"set_dof_dampings": 10.0}
_SHIFTED, _ALONG_X = (0.2, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)

_CHANGES = (
    _set("dof_positions", 0.2, "a slider is put 0.2 m away", "x", _PUT),
    _set("joint_coords", 0.2, "a slider is put 0.2 m away", "x", _PUT),
    _set("dof_velocities", 1.0, "a slider gets 1 m/s", "x speed", _FASTER),
    _set("dof_position_targets", 0.1, "a drive of 100 N/m pulls a slider to 0.1 m", "x", (0.02, 0.12), first=_PULL),
    _set(
        "dof_velocity_targets", 1.0, "a drive of 10 N·s/m pulls a slider to 1 m/s", "x speed", (0.3, 0.9), first=_DRAG
    ),
    _set("dof_forces", 1.0, "1 N accelerates a slider", "x speed", (0.08, 0.12)),
    _set(
        "dof_limits",
        (-0.03, 0.03),
        "a limit of 0.03 m stops a slider",
        "x",
        (-0.05, 0.08),
        idle=(0.09, 0.11),
        start=_FAST,
    ),
    _set(
        "dof_stiffnesses", 100.0, "a drive of 100 N/m pulls a slider back from 0.1 m", "x", (-0.12, -0.025), start=_AWAY
    ),
    _set("dof_dampings", 10.0, "a drive of 10 N·s/m slows a slider from 1 m/s", "x speed", _SLOWED, start=_FAST),
    _set(
        "dof_max_forces",
        1.0,
        "a drive held to 1 N moves a slider by t²/2 N/kg",
        "x",
        (-0.01, -0.002),
        idle=(-0.15, -0.025),
        first=_PULL,
        start=_AWAY,
    ),
    _set(
        "dof_max_velocities", 0.2, "a limit of 0.2 m/s slows a slider from 1 m/s", "x speed", (-0.9, -0.6), start=_FAST
    ),
    _set(
        "dof_armatures",
        2.0,
        "armature of twice its mass slows a slider's start to a third",
        "x speed",
        (0.3, 0.37),
        idle=(0.95, 1.05),
        push=10.0,
    ),
    _set("dof_frictions", 5.0, "friction of 5 N slows a slider from 1 m/s", "x speed", (-0.7, -0.3), start=_FAST),
    RuntimeChange(
        "set_attribute",
        10.0,
        "a passive damping (`joint_damping`) of 10 N·s/m slows a slider from 1 m/s",
        "x speed",
        _SLOWED,
        feature="joint_damping",
        flags=("JOINT_DOF_FORCE_PROPERTIES",),
        start=_FAST,
        attribute="joint_damping",
    ),
    RuntimeChange(
        "set_attribute",
        False,
        "a fixed joint that is switched off (`joint_enabled`) lets a body fall",
        "z speed",
        _FALL,
        idle=(-0.05, 0.05),  # a joint may be a spring, whose body still swings
        body="fixed",
        feature="disabled_joints",
        flags=("JOINT_PROPERTIES",),
        attribute="joint_enabled",
    ),
    _set("root_transforms", _SHIFTED, "a body on a fixed root is put 0.2 m away", "x", _PUT, body="fixed"),
    _set("root_velocities", _ALONG_X, "a free ball gets 1 m/s", "x speed", _FASTER, body="ball"),
    _set("transforms", _SHIFTED, "a free ball is put 0.2 m away", "x", _PUT, body="ball"),
    _set("velocities", _ALONG_X, "a free ball gets 1 m/s", "x speed", _FASTER, body="ball"),
    RuntimeChange(
        "apply_forces",
        (500.0, 0.0, 0.0),
        "500 N during one step accelerate a ball of 1 kg",
        "x speed",
        (0.1, 10.0),
        body="ball",
    ),
    _set(
        "masses",
        2.0,
        "twice the mass halves what 10 N do to a ball of 1 kg",
        "x speed",
        (0.45, 0.55),
        idle=(0.95, 1.05),
        body="ball",
        push=10.0,
    ),
    _set(
        "coms",
        (0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 1.0),
        "a ball that a torque turns moves about a centre of mass 0.1 m away",
        "x",
        (0.015, 0.035),
        body="ball",
        torque=0.5,
    ),
    _set(
        "inertias",
        (0.02, 0.0, 0.0, 0.0, 0.02, 0.0, 0.0, 0.0, 0.02),
        "twice the inertia halves what 1 N·m does to a wheel of 0.01 kg·m²",
        "turn speed",
        (4.5, 5.5),
        idle=(9.0, 11.0),
        body="wheel",
        first={"set_dof_forces": 1.0},
    ),
    _set("disable_gravities", 1, "a ball floats", "z speed", (-0.02, 0.02), _FALL, body="ball"),
)

RUNTIME_CHANGES: Mapping[str, RuntimeChange] = {change.label: change for change in _CHANGES}
"""The runtime changes by name."""
