"""Everything that a user can set while a simulation runs, with what a solver has to declare to honour it.

The kit tries each on a body of its own, and the reference page *honoured* is made of the same table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import attrs
from pippin.support.declaration import Declaration

from .mechanisms import DURATION
from .scenes import GRAVITY

Body = Literal["slider", "wheel", "ball", "held"]
"""Mechanism of an ask: a slider along x, a wheel on a hinge about z, a free ball, or a ball on a fixed root."""

Motion = Literal["x", "y", "z", "x speed", "y speed", "z speed", "turn speed"]
"""What is measured: the change of a position [m] or a velocity [m/s, rad/s] of the body, in world axes."""

_JOINTS: Mapping[Body, str] = {
    "slider": "prismatic_joints",
    "wheel": "revolute_joints",
    "ball": "free_joints",
    "held": "fixed_joints",
}


@attrs.frozen(kw_only=True)
class RuntimeChange:
    """One way to ask for something, on a body that moves in one way if it is honoured, and in another if not."""

    name: str
    """Call that asks, such as `set_masses`."""

    value: Any
    """Value that is asked for: a number, or numbers of one row."""

    body: Body = "slider"
    motion: Motion
    acting: tuple[float, float]
    """Bounds of the motion in the world that is asked."""

    idle: tuple[float, float]
    """Bounds of the motion in the other worlds, which are not asked."""

    expectation: str
    """Meaning of the motion, with its unit; for errors and the reference page."""

    feature: str = ""
    """Name in `pippin.solving.FEATURES` of what the solver needs; empty if it needs nothing but the body."""

    flags: tuple[str, ...] = ()
    """Names in `newton.ModelFlags` that the solver has to take over while it runs."""

    first: Mapping[str, float] = {}
    """Setters that are called in all worlds before, with their values."""

    start: tuple[float, float] = (0.0, 0.0)
    """Position [m] and velocity [m/s] of the slider at the start."""

    push: float = 0.0
    """Force along x on the centre of mass in each step [N]."""

    torque: float = 0.0
    """Torque about z in each step [N·m]."""

    attribute: str = ""
    """Name of the attribute that `set_attribute` sets."""

    @property
    def label(self) -> str:
        """Name of the ask among all: that of the call, with the attribute that it sets."""
        return f"{self.name}_{self.attribute}" if self.attribute else self.name

    @property
    def of_body(self) -> frozenset[str]:
        """Features that a solver needs to move the body."""
        return frozenset({"rigid_bodies", _JOINTS[self.body]})


@attrs.frozen(kw_only=True)
class Cell:
    """Verdict of a declaration on an ask."""

    is_honoured: bool
    """Whether the call acts; otherwise it is refused."""

    lacks: str = ""
    """The first feature or flag that the solver does not declare, if the call is refused."""

    option: str = ""
    """The option of the solver that makes the call act, if it is refused without."""

    is_fixed: bool = False
    """Whether the call acts only at joints that had the feature when the solver was built."""


def cell_of(ask: RuntimeChange, declared: Declaration) -> Cell:
    """Return what a solver's declaration says of an ask."""
    features, changes = declared.supported_features, declared.supported_model_changes
    needed = [*sorted(ask.of_body, reverse=True), *([ask.feature] if ask.feature else [])]
    lacking = [each for each in needed if features is not None and each not in features]
    lacking += [flag for flag in ask.flags if changes is not None and flag not in changes]
    if lacking:
        return Cell(is_honoured=False, lacks=lacking[0], option=declared.optional_features.get(lacking[0], ""))
    return Cell(is_honoured=True, is_fixed=ask.feature in declared.features_fixed_at_build)


_FORCES, _INERTIAL = ("JOINT_DOF_FORCE_PROPERTIES",), ("BODY_INERTIAL_PROPERTIES",)
_PULL, _DRAG = {"set_dof_stiffnesses": 100.0}, {"set_dof_dampings": 10.0}
_STILL, _FALL = (-0.005, 0.005), GRAVITY * DURATION

_SETTERS: Iterable[RuntimeChange] = (
    RuntimeChange(
        name="set_dof_positions",
        value=0.2,
        motion="x",
        acting=(0.19, 0.21),
        idle=_STILL,
        expectation="a slider is put 0.2 m away [m]",
    ),
    RuntimeChange(
        name="set_joint_coords",
        value=0.2,
        motion="x",
        acting=(0.19, 0.21),
        idle=_STILL,
        expectation="a slider is put 0.2 m away [m]",
    ),
    RuntimeChange(
        name="set_dof_velocities",
        value=1.0,
        motion="x speed",
        acting=(0.9, 1.1),
        idle=_STILL,
        expectation="a slider gets 1 m/s [m/s]",
    ),
    RuntimeChange(
        name="set_dof_position_targets",
        value=0.1,
        motion="x",
        acting=(0.02, 0.12),
        idle=_STILL,
        expectation="a drive of 100 N/m pulls a slider to 0.1 m [m]",
        feature="joint_drives",
        first=_PULL,
    ),
    RuntimeChange(
        name="set_dof_velocity_targets",
        value=1.0,
        motion="x speed",
        acting=(0.3, 0.9),
        idle=_STILL,
        expectation="a drive of 10 N·s/m pulls a slider to 1 m/s [m/s]",
        feature="joint_drives",
        first=_DRAG,
    ),
    RuntimeChange(
        name="set_dof_forces",
        value=1.0,
        motion="x speed",
        acting=(0.08, 0.12),
        idle=_STILL,
        expectation="1 N accelerates a slider [m/s]",
    ),
    RuntimeChange(
        name="set_dof_limits",
        value=(-0.03, 0.03),
        motion="x",
        acting=(-0.05, 0.08),
        idle=(0.09, 0.11),
        expectation="a limit of 0.03 m stops a slider [m]",
        feature="joint_limits",
        flags=_FORCES,
        start=(0.0, 1.0),
    ),
    RuntimeChange(
        name="set_dof_stiffnesses",
        value=100.0,
        motion="x",
        acting=(-0.12, -0.025),
        idle=_STILL,
        expectation="a drive of 100 N/m pulls a slider back from 0.1 m [m]",
        feature="joint_drives",
        flags=_FORCES,
        start=(0.1, 0.0),
    ),
    RuntimeChange(
        name="set_dof_dampings",
        value=10.0,
        motion="x speed",
        acting=(-0.95, -0.3),
        idle=_STILL,
        expectation="a drive of 10 N·s/m slows a slider from 1 m/s [m/s]",
        feature="joint_drives",
        flags=_FORCES,
        start=(0.0, 1.0),
    ),
    RuntimeChange(
        name="set_dof_max_forces",
        value=1.0,
        motion="x",
        acting=(-0.01, -0.002),
        idle=(-0.15, -0.025),
        expectation="a drive held to 1 N moves a slider by t²/2 N/kg [m]",
        feature="effort_limits",
        flags=_FORCES,
        first=_PULL,
        start=(0.1, 0.0),
    ),
    RuntimeChange(
        name="set_dof_max_velocities",
        value=0.2,
        motion="x speed",
        acting=(-0.9, -0.6),
        idle=_STILL,
        expectation="a limit of 0.2 m/s slows a slider from 1 m/s [m/s]",
        feature="velocity_limits",
        flags=_FORCES,
        start=(0.0, 1.0),
    ),
    RuntimeChange(
        name="set_dof_armatures",
        value=2.0,
        motion="x speed",
        acting=(0.3, 0.37),
        idle=(0.95, 1.05),
        expectation="armature of twice its mass slows a slider's start to a third [m/s]",
        feature="armature",
        flags=("JOINT_DOF_INERTIAL_PROPERTIES",),
        push=10.0,
    ),
    RuntimeChange(
        name="set_dof_frictions",
        value=5.0,
        motion="x speed",
        acting=(-0.7, -0.3),
        idle=_STILL,
        expectation="friction of 5 N slows a slider from 1 m/s [m/s]",
        feature="joint_friction",
        flags=_FORCES,
        start=(0.0, 1.0),
    ),
    RuntimeChange(
        name="set_attribute",
        value=10.0,
        motion="x speed",
        acting=(-0.95, -0.3),
        idle=_STILL,
        expectation="a passive damping (`joint_damping`) of 10 N·s/m slows a slider from 1 m/s [m/s]",
        feature="joint_damping",
        flags=_FORCES,
        start=(0.0, 1.0),
        attribute="joint_damping",
    ),
    RuntimeChange(
        name="set_attribute",
        value=False,
        body="held",
        motion="z speed",
        acting=(-1.05 * _FALL, -0.95 * _FALL),
        idle=_STILL,
        expectation="a fixed joint that is switched off (`joint_enabled`) lets a body fall [m/s]",
        feature="disabled_joints",
        flags=("JOINT_PROPERTIES",),
        attribute="joint_enabled",
    ),
    RuntimeChange(
        name="set_root_transforms",
        value=(0.2, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        body="held",
        motion="x",
        acting=(0.19, 0.21),
        idle=_STILL,
        expectation="a body on a fixed root is put 0.2 m away [m]",
        flags=("JOINT_PROPERTIES",),
    ),
    RuntimeChange(
        name="set_root_velocities",
        value=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        body="ball",
        motion="x speed",
        acting=(0.9, 1.1),
        idle=_STILL,
        expectation="a free ball gets 1 m/s [m/s]",
    ),
    RuntimeChange(
        name="set_transforms",
        value=(0.2, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        body="ball",
        motion="x",
        acting=(0.19, 0.21),
        idle=_STILL,
        expectation="a free ball is put 0.2 m away [m]",
    ),
    RuntimeChange(
        name="set_velocities",
        value=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        body="ball",
        motion="x speed",
        acting=(0.9, 1.1),
        idle=_STILL,
        expectation="a free ball gets 1 m/s [m/s]",
    ),
    RuntimeChange(
        name="apply_forces",
        value=(500.0, 0.0, 0.0),
        body="ball",
        motion="x speed",
        acting=(0.1, 10.0),
        idle=_STILL,
        expectation="500 N during one step accelerate a ball of 1 kg [m/s]",
    ),
    RuntimeChange(
        name="set_masses",
        value=2.0,
        body="ball",
        motion="x speed",
        acting=(0.45, 0.55),
        idle=(0.95, 1.05),
        expectation="twice the mass halves what 10 N do to a ball of 1 kg [m/s]",
        flags=_INERTIAL,
        push=10.0,
    ),
    RuntimeChange(
        name="set_coms",
        value=(0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 1.0),
        body="ball",
        motion="x",
        acting=(0.015, 0.035),
        idle=_STILL,
        expectation="a ball that a torque turns moves about a centre of mass 0.1 m away [m]",
        flags=_INERTIAL,
        torque=0.5,
    ),
    RuntimeChange(
        name="set_inertias",
        value=(0.02, 0.0, 0.0, 0.0, 0.02, 0.0, 0.0, 0.0, 0.02),
        body="wheel",
        motion="turn speed",
        acting=(4.5, 5.5),
        idle=(9.0, 11.0),
        expectation="twice the inertia halves what 1 N·m does to a wheel of 0.01 kg·m² [rad/s]",
        flags=_INERTIAL,
        first={"set_dof_forces": 1.0},
    ),
    RuntimeChange(
        name="set_disable_gravities",
        value=1,
        body="ball",
        motion="z speed",
        acting=(-0.02, 0.02),
        idle=(-1.05 * _FALL, -0.95 * _FALL),
        expectation="a ball floats [m/s]",
        feature="gravity_compensation",
        flags=_INERTIAL,
    ),
)

RUNTIME_CHANGES: Mapping[str, RuntimeChange] = {ask.label: ask for ask in _SETTERS}
"""The asks by name."""
