"""Gains of joint drives, proposed from the inertia that each axis moves, its load and the length of a step.

A gain is a natural frequency: kp = I ω² and kd = 2 I ω with I the inertia of the axis at the start pose, all other
joints held. This is critical damping. An explicit drive is stable up to some gain only, which the inverse of the whole
mass matrix decides: an axis between two light links responds more than its own inertia says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs
import newton
import numpy as np
from pippin import ConfigError, SimulationConfig
from pippin.arrays import on_host, present
from pippin.assembly import first_world
from pippin.axes import axis_labels, choose_axes

NEW_GROUP = "joints"
"""Name of the group that is proposed for a file without groups."""

_STABLE = 1.0
"""Largest value of (kd dt + kp dt² / 2) / I; an explicit drive diverges from 2 on."""

_LEAST_DAMPING = 0.3
"""Damping ratio below which the frequency is lowered instead."""

_LIMITLESS = 1e5
"""Effort limit from which on a joint counts as unlimited [N or N·m]."""

_DIGITS = 3


@attrs.frozen(kw_only=True)
class Load:
    """Inertia and weight that one axis moves at the start pose."""

    label: str
    """Label of the axis."""

    dof: int
    inertia: float
    """Inertia about the axis, the other joints held, with armature [kg or kg·m²]."""

    gravity: float
    """Effort that holds the axis against gravity [N or N·m]."""

    effort_limit: float
    """Largest effort [N or N·m]; infinite if the asset states none."""


@attrs.frozen(kw_only=True)
class Gain:
    """The gains that are proposed for one axis."""

    load: Load
    frequency: float
    """Natural frequency of axis and drive [Hz]."""

    damping: float
    """Damping ratio of this oscillation; 1 is critical."""

    is_limited: bool
    """Whether the step is too long for the wanted frequency with critical damping."""

    @property
    def kp(self) -> float:
        """Proportional gain [N/m or N·m/rad]."""
        return _rounded(self.load.inertia * (2.0 * math.pi * self.frequency) ** 2)

    @property
    def kd(self) -> float:
        """Derivative gain [N·s/m or N·m·s/rad]."""
        return _rounded(4.0 * math.pi * self.load.inertia * self.frequency * self.damping)

    @property
    def sag(self) -> float:
        """Distance from the target at which the drive carries the load [m or rad]."""
        return abs(self.load.gravity) / self.kp

    @property
    def is_too_weak(self) -> bool:
        """Whether the effort limit is below the load."""
        return self.load.effort_limit < abs(self.load.gravity)


@attrs.frozen(kw_only=True)
class Proposal:
    """The gains that are proposed for one actuator group."""

    name: str
    is_new: bool
    """Whether the file has no such group."""

    is_implicit: bool
    gains: Sequence[Gain]


def tune(
    config: SimulationConfig,
    *,
    frequency: float = 5.0,
    sag: float = 0.05,
    is_implicit: bool = False,
    model: newton.Model | None = None,
) -> list[Proposal]:
    """Return gains for each group of a configuration that has kp and kd; without groups, for all axes of the scene.

    Args:
        config: The configuration. The first world gives the inertias.
        frequency: Natural frequency of each axis [Hz]. It is raised if the sag is too large, and lowered if the step is
            too long.
        sag: Largest distance from the target at which a drive carries its load, if the step allows it [m or rad].
        is_implicit: Whether a new group has implicit efforts. These are stable with any gain.
        model: The model of the configuration, with the pose of the inertias; by default it is built.

    Raises:
        ConfigError: The model cannot be built, no group has gains, or an axis has no inertia.
    """
    model = first_world(config) if model is None else model
    labels = axis_labels(model)
    groups = {name: group.config for name, group in config.actuators.items() if hasattr(group.config, "kp")}
    if config.actuators and not groups:
        names = ", ".join(config.actuators)
        raise ConfigError(f"actuators: no group has the gains kp and kd, only {names}; name a group of the type 'pd'")
    patterns = {name: group.joints for name, group in groups.items()} or {NEW_GROUP: (".*",)}
    proposals = []
    for name, joints in patterns.items():
        implicit = getattr(groups.get(name), "effort_mode", "implicit" if is_implicit else "") == "implicit"
        where = f"actuators.{name}.joints"
        gains = _gains(model, dofs_of(model, joints, where), labels, config.simulation.dt, frequency, sag, implicit)
        proposals.append(Proposal(name=name, is_new=name not in groups, is_implicit=implicit, gains=gains))
    return proposals


def loads(model: newton.Model, dofs: Sequence[int], labels: Sequence[str]) -> tuple[list[Load], np.ndarray]:
    """Return what some axes move in the model's pose, and the inverse of their mass matrix, shape [axes, axes]."""
    mass, gravity = _mass_matrix(model)
    inertias, limits = mass.diagonal(), on_host(model.joint_effort_limit)
    light = [labels[dof] for dof in dofs if not inertias[dof] > 1e-9]
    if light:
        raise ConfigError(f"tune: {light[0]!r} moves no inertia; give the asset an armature or a mass")
    whole = [
        Load(
            label=labels[dof],
            dof=dof,
            inertia=float(inertias[dof]),
            gravity=float(gravity[dof]),
            effort_limit=float(limits[dof]) if 0.0 < limits[dof] < _LIMITLESS else math.inf,
        )
        for dof in dofs
    ]
    driven = np.linalg.pinv(mass)[np.ix_(dofs, dofs)]
    return whole, driven


def stable_drives(
    inertias: np.ndarray, inverse: np.ndarray, wanted: np.ndarray, dt: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the frequency [Hz] and the damping ratio of each axis at which explicit drives are stable.

    Only the axes that take part in an unstable motion are changed: their damping first, then their frequency.

    Args:
        inertias: Inertia of each axis [kg or kg·m²], shape [axes].
        inverse: The inverse of the mass matrix on these axes, shape [axes, axes].
        wanted: Frequency of each axis [Hz], shape [axes]; the wanted damping ratio is 1.
        dt: Length of a step [s].
    """
    rates, damping = 2.0 * math.pi * wanted, np.ones(len(wanted))
    while True:
        root = np.sqrt(inertias * dt * rates * (2.0 * damping + 0.5 * dt * rates))
        values, vectors = np.linalg.eigh(root[:, None] * inverse * root)
        if values[-1] <= _STABLE:
            return rates / (2.0 * math.pi), damping
        share = vectors[:, -1] ** 2
        fast, factor = share > 0.1 * share.max(), max(0.5, min(0.95, _STABLE / values[-1]))
        rates[fast & (damping <= _LEAST_DAMPING)] *= factor
        damping[fast] = np.maximum(_LEAST_DAMPING, factor * damping[fast])


def _gains(
    model: newton.Model,
    dofs: Sequence[int],
    labels: Sequence[str],
    dt: float,
    frequency: float,
    sag: float,
    is_implicit: bool,
) -> list[Gain]:
    found, inverse = loads(model, dofs, labels)
    inertias = np.array([load.inertia for load in found])
    needed = [math.sqrt(abs(load.gravity) / (sag * load.inertia)) / (2.0 * math.pi) for load in found]
    wanted = np.maximum(frequency, needed)
    chosen, damping = wanted, np.ones(len(found))
    if not is_implicit:
        chosen, damping = stable_drives(inertias, inverse, wanted, dt)
    limited = (chosen < wanted) | (damping < 1.0)
    rows = zip(found, chosen.tolist(), damping.tolist(), limited.tolist(), strict=True)
    return [Gain(load=load, frequency=each, damping=ratio, is_limited=less) for load, each, ratio, less in rows]


def dofs_of(model: newton.Model, patterns: Sequence[str], where: str) -> list[int]:
    """Return the degrees of freedom that patterns choose in the first world that has them."""
    found, _ = choose_axes(model, patterns, where)
    worlds, starts = on_host(model.joint_world), on_host(model.joint_qd_start)
    first = min(worlds[joint] for joint, _ in found)
    return [int(starts[joint]) + axis for joint, axis in found if worlds[joint] == first]


def _mass_matrix(model: newton.Model) -> tuple[np.ndarray, np.ndarray]:
    """Return the mass matrix of the whole model, and the effort that holds each degree of freedom."""
    state, count = model.state(), model.joint_dof_count
    newton.eval_fk(model, present(state.joint_q), present(state.joint_qd), state)
    matrices, jacobians = newton.eval_mass_matrix(model, state), newton.eval_jacobian(model, state)
    whole, gravity = np.eye(count), np.zeros(count)
    if matrices is None or jacobians is None:
        raise ConfigError("tune: the scene has no articulation; give it a robot with joints")
    starts, dof_starts = on_host(model.articulation_start), on_host(model.joint_qd_start)
    masses, accelerations = on_host(model.body_mass), on_host(model.gravity).reshape(-1, 3)
    children, worlds = on_host(model.joint_child), on_host(model.articulation_world)
    for index, (mass, jacobian) in enumerate(zip(on_host(matrices), on_host(jacobians), strict=True)):
        joints = slice(starts[index], starts[index + 1])
        first, end = dof_starts[starts[index]], dof_starts[starts[index + 1]]
        dofs, bodies = slice(first, end), children[joints]
        whole[dofs, dofs] = mass[: end - first, : end - first]
        motion = jacobian.reshape(-1, 6, jacobian.shape[-1])[: len(bodies), :3, : end - first]
        weight = masses[bodies, None] * accelerations[worlds[index]]
        gravity[dofs] = -np.einsum("bid,bi->d", motion, weight)
    return whole, gravity


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
