"""Reference motions in double precision, by the classical method of Runge and Kutta: of free bodies that turn, by
Euler's equations, and of planar chains of hinges about y, by Lagrange's.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np
from pippin.quaternions import product


def integrated(
    rates: Callable[[np.ndarray], np.ndarray], start: np.ndarray, times: np.ndarray, step: float
) -> np.ndarray:
    """Return the states at some ascending times [s], shape [times, states], in steps of at most `step` [s]."""
    states, state, now = [], np.asarray(start, dtype=float), 0.0
    for time in times:
        count = int(np.ceil((time - now) / step - 1e-9))
        own = (time - now) / max(count, 1)
        for _ in range(count):
            first = rates(state)
            second = rates(state + 0.5 * own * first)
            third = rates(state + 0.5 * own * second)
            fourth = rates(state + own * third)
            state = state + own / 6.0 * (first + 2.0 * second + 2.0 * third + fourth)
        now = float(time)
        states.append(state)
    return np.array(states)


def rotation(moments: np.ndarray, velocity: np.ndarray, times: np.ndarray, step: float = 1e-3) -> np.ndarray:
    """Return the orientations of a free body that starts along the axes of the world, shape [times, 4] (x, y, z, w)."""

    def rates(state: np.ndarray) -> np.ndarray:
        turn, spin = state[:4], state[4:]
        own = 0.5 * product(turn, np.append(spin, 0.0))
        return np.concatenate([own, -np.cross(spin, moments * spin) / moments])

    return integrated(rates, np.array([0.0, 0.0, 0.0, 1.0, *velocity]), times, step)[:, :4]


def angle_between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the angle between orientations [rad], shape [...], of quaternions of any length."""
    dot = (first * second).sum(axis=-1) / (np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1))
    return 2.0 * np.arccos(np.clip(np.abs(dot), 0.0, 1.0))


@attrs.frozen(kw_only=True, eq=False)
class PlanarChain:
    """A chain of equal links that hang from hinges about y, the first of which the world holds.

    The links turn by absolute angles φ about y; at zero they hang down. With levers A and B of the masses they obey
    Σⱼ (Aᵢⱼ cos(φᵢ - φⱼ) + I δᵢⱼ) φ̈ⱼ = -Σⱼ Aᵢⱼ sin(φᵢ - φⱼ) φ̇ⱼ² - g Bᵢ sin φᵢ + Qᵢ.
    """

    angles: tuple[float, ...]
    """Angle of each link at the start, where all are at rest [rad]."""

    mass: float = 1.0
    """Mass of a link [kg]."""

    inertia: float = 0.01
    """Moment of inertia of a link about y, at its centre of mass [kg·m²]."""

    length: float = 0.3
    """From a hinge to the next one [m]; the centre of mass is half way."""

    gravity: float = 9.81
    """Acceleration of free fall [m/s²]."""

    drives: tuple[tuple[float, float, float], ...] = ()
    """Stiffness [N·m/rad], damping [N·m·s/rad] and target [rad] of the drive of each hinge."""

    pin: tuple[float, float] | None = None
    """Place of a hinge to the world at the end of the last link, from the first hinge along x and z [m]."""

    def motion(self, times: np.ndarray, step: float = 1e-3) -> np.ndarray:
        """Return the absolute angles at some times [s], shape [times, links]."""
        start = np.concatenate([self.angles, np.zeros(len(self.angles))])
        return integrated(self._rates, start, times, step)[:, : len(self.angles)]

    def points(self, angles: np.ndarray) -> np.ndarray:
        """Return the centres of mass from the first hinge along x and z [m], shape [..., links, 2]."""
        way = -self.length * np.stack([np.sin(angles), np.cos(angles)], axis=-1)
        return np.cumsum(way, axis=-2) - 0.5 * way

    def _rates(self, state: np.ndarray) -> np.ndarray:
        angles, rates = np.split(state, 2)
        count = len(angles)
        levers = np.tri(count) * self.length
        np.fill_diagonal(levers, 0.5 * self.length)
        coupling, difference = self.mass * levers.T @ levers, angles[:, None] - angles
        inertia = coupling * np.cos(difference) + self.inertia * np.eye(count)
        forces = -(coupling * np.sin(difference)) @ rates**2
        forces -= self.gravity * self.mass * levers.sum(axis=0) * np.sin(angles)
        if self.drives:
            stiffness, damping, target = np.array(self.drives).T
            turned, speed = np.diff(angles, prepend=0.0), np.diff(rates, prepend=0.0)
            torque = stiffness * (target - turned) - damping * speed
            forces += torque - np.append(torque[1:], 0.0)
        if self.pin is None:
            return np.concatenate([rates, np.linalg.solve(inertia, forces)])
        # The end keeps its place: G φ̈ = -Ġ φ̇, held by forces along the rows of G.
        held = -self.length * np.stack([np.cos(angles), -np.sin(angles)])
        turning = self.length * np.stack([np.sin(angles), np.cos(angles)]) @ rates**2
        system = np.block([[inertia, held.T], [held, np.zeros((2, 2))]])
        return np.concatenate([rates, np.linalg.solve(system, np.concatenate([forces, -turning]))[:count]])
