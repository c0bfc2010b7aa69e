"""Flags of MJCF files: what a flag or a disabled group switches off is taken out of the file, for every solver."""

from __future__ import annotations

from typing import Any

import mujoco

_GROUPS = 31
"""Number of groups of actuators that a file can disable."""


def fold_flags(spec: Any) -> None:
    """Take out of a spec what its flags and disabled groups of actuators switch off. The flags stay.

    Passive forces of the medium and the compensation of gravity end where both flags of passive forces are disabled.
    """
    flags = spec.option.disableflags
    off = {name[7:] for name, bit in mujoco.mjtDisableBit.__members__.items() if "_" in name and flags & int(bit)}
    if "CONSTRAINT" in off:
        off |= {"CONTACT", "LIMIT", "FRICTIONLOSS", "EQUALITY"}
    laws = [*spec.joints, *spec.tendons]
    for flag, attribute, value in _SWITCHED:
        for each in laws if flag in off else ():
            setattr(each, attribute, value)
    if "CONTACT" in off:
        for geom in spec.geoms:
            geom.contype = geom.conaffinity = 0
    for flag, elements in (("CONTACT", spec.pairs), ("EQUALITY", spec.equalities)):
        for each in list(elements) if flag in off else ():
            spec.delete(each)
    if {"SPRING", "DAMPER"} <= off:
        spec.option.density = spec.option.viscosity = 0.0
        for body in spec.bodies:
            body.gravcomp = 0.0
    for actuator in spec.actuators:
        if "CLAMPCTRL" in off:
            actuator.ctrllimited = int(mujoco.mjtLimited.mjLIMITED_FALSE)
        if "DAMPER" in off:
            actuator.damping = [0.0] * len(actuator.damping)
        is_in_group = 0 <= actuator.group < _GROUPS and spec.option.disableactuator & (1 << actuator.group)
        if "ACTUATION" in off or is_in_group:
            actuator.gaintype, actuator.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_NONE
            actuator.gainprm, actuator.biasprm = [0.0] * len(actuator.gainprm), [0.0] * len(actuator.biasprm)
    spec.option.disableactuator = 0


_SWITCHED = (
    ("LIMIT", "limited", int(mujoco.mjtLimited.mjLIMITED_FALSE)),
    ("FRICTIONLOSS", "frictionloss", 0.0),
    ("SPRING", "stiffness", [0.0] * 3),
    ("DAMPER", "damping", [0.0] * 3),
)
"""Attributes of joints and tendons that a flag switches off, and their values then."""
