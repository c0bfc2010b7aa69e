"""Actuators of a file that a group of the configuration replaces: they are off, and their limits are the joints'."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import labels
from pippin.attribute_rows import numbers, write
from pippin.errors import ConfigError

from .asset_actuators import (
    AUTO,
    CONTROLLED,
    DELAY,
    DOF_DELAY,
    GENERAL,
    IS_DRIVEN,
    LOST,
    OFF,
    AssetActuators,
    prepare_actuators,
    register,
)

_SILENT = (
    *("gainprm", "biasprm", "gaintype", "biastype", "dyntype", "ctrlspec", "damping", "dampingpoly"),
    *("has_forcerange", "has_ctrlrange", "has_actrange"),
)
"""Attributes that are zero for an actuator without effect."""

_FIXED, _AFFINE, _DC_MOTOR = 0, 1, 3
"""MuJoCo's laws of gains."""

_INTEGRATOR, _FILTERS = 1, (2, 3)
"""MuJoCo's laws of the states of actuators."""


def mark_driven(builder: newton.ModelBuilder, dofs: Collection[int], *, has_delay: bool) -> None:
    """Note that a group drives some degrees of freedom, and switch off the asset's own actuators of them.

    Such an actuator exerts nothing whatever its input. Its rotor inertia stays, its limit becomes that of its joints,
    and so does its delay if the group may have one; what else it knew is noted.

    Raises:
        ConfigError: Another group sets the input of such an actuator.
    """
    prepare_actuators(builder)
    register(builder, IS_DRIVEN, newton.Model.AttributeFrequency.JOINT_DOF)
    attributes: Any = builder.custom_attributes
    attributes[IS_DRIVEN].values.update(dict.fromkeys(dofs, 1))
    own = AssetActuators(builder)
    bounds, efforts, delays = _bounds(builder, own), dict[int, float](), dict[int, float]()
    lags = numbers(builder, DELAY)
    for actuator in np.flatnonzero(own.owners != OFF).tolist():
        arms = own.transmissions.arms(actuator)
        if arms.keys().isdisjoint(dofs):
            continue
        if own.owners[actuator] == CONTROLLED:
            raise ConfigError(
                f"joints: another group sets the input of {labels.name_of(own.labels[actuator])!r}, which drives one of"
                " these joints; leave it out of one of them"
            )
        force = float(np.abs(bounds[actuator]).max())
        for dof, arm in arms.items():
            limit = force * arm if np.isfinite([force, arm]).all() else np.inf
            efforts[dof] = efforts.get(dof, 0.0) + limit  # motors of one joint act together
        lost = _lost(builder, own, actuator, bounds[actuator].tolist(), list(arms.values()))
        lag = float(lags[actuator]) if actuator < len(lags) else 0.0
        taken = [delays.setdefault(dof, lag) for dof in arms] if has_delay else [0.0]
        if any(each != lag for each in taken):  # another motor of the joint has another one, or the group none
            lost = (*lost, f"its delay of {lag:.4g} s")
        write(builder, LOST, actuator, ", ".join(lost))
        _silence(builder, own, actuator)
    if any(delays.values()):
        register(builder, DOF_DELAY, newton.Model.AttributeFrequency.JOINT_DOF, wp.float32)
        attributes[DOF_DELAY].values.update(delays)
    for dof, effort in efforts.items():
        if effort:
            builder.joint_effort_limit[dof] = min(builder.joint_effort_limit[dof], effort)


def _bounds(builder: newton.ModelBuilder, own: AssetActuators) -> np.ndarray:
    """Return the least and the largest force of each actuator, zero without a gain [N or N·m], shape [actuators, 2].

    The range of the input bounds the force of a motor: a fixed gain without a bias. A servo has a range of force alone.
    """
    if not len(own):
        return np.zeros((0, 2))
    column = lambda name: numbers(builder, f"mujoco:actuator_{name}")  # noqa: E731
    gain, bias, law, dynamics = column("gainprm"), column("biasprm"), column("gaintype"), column("dyntype")
    inputs = np.where(dynamics[:, None] == _INTEGRATOR, [-np.inf, np.inf], own.ctrl_ranges)
    acts = np.where(dynamics[:, None] == 0, [-np.inf, np.inf], own.act_ranges)
    inputs = np.stack([np.maximum(inputs[:, 0], acts[:, 0]), np.minimum(inputs[:, 1], acts[:, 1])], axis=1)
    is_direct = (law == _FIXED) | ((law == _AFFINE) & ~gain[:, 1:3].any(axis=1))
    is_direct &= (column("biastype") == 0) | ~bias.any(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        # A DC motor whose input is a voltage has K / R: its stall torque is that of the largest voltage.
        factors = np.where(law == _DC_MOTOR, gain[:, 1] / gain[:, 0], gain[:, 0])
        forces = np.sort(factors[:, None] * inputs, axis=1)
    is_direct |= (law == _DC_MOTOR) & ~np.isin(column("ctrlspec"), (1, 2))
    forces = np.where(is_direct[:, None] & np.isfinite(forces), forces, [-np.inf, np.inf])
    both = np.stack([forces, own.force_ranges, _tendon_ranges(builder)])
    is_passive = np.isin(law, (_FIXED, _AFFINE)) & (gain[:, 0] == 0.0)
    return np.where(is_passive[:, None], 0.0, np.stack([both[..., 0].max(axis=0), both[..., 1].min(axis=0)], axis=1))


def _tendon_ranges(builder: newton.ModelBuilder) -> np.ndarray:
    """Return the range of the force that the tendon of each actuator allows, infinite without, shape [actuators, 2]."""
    kinds, targets = (numbers(builder, f"mujoco:actuator_{name}") for name in ("trntype", "trnid"))
    found = np.tile([-np.inf, np.inf], (len(kinds), 1))
    ranges, limited = (numbers(builder, f"mujoco:tendon_actuator_force_{name}") for name in ("range", "limited"))
    for actuator in np.flatnonzero(kinds == 2).tolist():
        tendon = int(targets[actuator][0])
        if 0 <= tendon < len(ranges) and limited[tendon] and ranges[tendon][0] < ranges[tendon][1]:
            found[actuator] = ranges[tendon]
    return found


def _lost(
    builder: newton.ModelBuilder, own: AssetActuators, actuator: int, bounds: list[float], arms: list[float]
) -> Iterator[str]:
    column = lambda name: numbers(builder, f"mujoco:actuator_{name}")[actuator]  # noqa: E731
    low, high = bounds
    if np.isfinite(bounds).any() and (np.isnan(arms).any() or not np.isclose(low, -high)):
        yield f"its range of forces from {low:.4g} to {high:.4g}"
    if column("dyntype") in _FILTERS:
        yield f"its lag of {column('dynprm')[0]:.4g} s"
    if column("damping"):
        yield f"its damping of {column('damping'):.4g}"
    if column("gaintype") == _DC_MOTOR:
        yield "its back-EMF"


def _silence(builder: newton.ModelBuilder, own: AssetActuators, actuator: int) -> None:
    if not own.is_servo[actuator]:
        write(builder, "mujoco:ctrl_type", actuator, GENERAL)  # parameters of a DC motor would act again
    for name in _SILENT:
        write(builder, f"mujoco:actuator_{name}", actuator, None)
    for name in ("force", "ctrl", "act"):
        # A drive in the servo's place may have a range of its own.
        write(builder, f"mujoco:actuator_{name}limited", actuator, AUTO)
    write(builder, "mujoco:actuator_actdim", actuator, -1)
    own.own(actuator, OFF)
