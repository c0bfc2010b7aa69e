"""Reference motions of planar chains: hinges about y, in double precision and by Lagrange's equations."""

from __future__ import annotations

import attrs
import numpy as np

from .integrator import integrated


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
