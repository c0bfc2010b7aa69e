"""Problems of matter: a rod that bends, a strip of cloth that sways between its ends, a block of grains in flight."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
import warp as wp

from .problem import BenchmarkProblem, ProblemMotion
from .reference_motions import PlanarChain
from .smooth_problems import swung

_ROOTS = (1.875104068711961, 4.694091132974175, 7.854757438237613, 10.995540734875467, 14.13716839104647)
"""The first solutions β of cos β cosh β = -1."""


class RodCantilever(BenchmarkProblem):
    """A straight rod that is clamped at one end and released: it swings about the shape to which its weight bends it.

    The rod bends in joints between its segments, so the clamp is in the middle of the first segment, which is held.
    Gravity is 4 m/s², so that it stays a beam of small deflections.
    """

    title = "rod clamped at one end and released: way of its tip against Euler and Bernoulli's beam, by the static sag"
    unit, limit = "1", 0.2
    young, radius, density, gravity = 2.3e7, 0.05, 1000.0, 4.0
    segments, length = 8, 1.0

    def tables(self) -> Mapping[str, object]:
        """Return the gravity and the content of the problem."""
        rod = {
            "type": "rod",
            "label": "rod",
            "end": [self.length, 0.0, 0.0],
            "segments": self.segments,
            "radius": self.radius,
            "youngs_modulus": self.young,
            "poissons_ratio": 0.3,
            "pin": [{"part": "first"}],
        }
        return {"gravity": (0.0, 0.0, -self.gravity), "objects": [rod]}

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        heights = motion.poses[:, -1, 2]
        truth = np.array([self.sag(time) for time in motion.times])
        return float(np.abs(heights - heights[0] + truth).max() / self.static_sag)

    @property
    def static_sag(self) -> float:
        """How far the centre of the last segment sags at rest [m]: w x² (6 L² - 4 L x + x²) / 24 E I."""
        length, place = self._lengths
        load = self.gravity / self._stiffness
        return load * place**2 * (6.0 * length**2 - 4.0 * length * place + place**2) / 24.0

    def sag(self, time: float) -> float:
        """Return how far the centre of the last segment has sunk at a time [m].

        A beam of the stiffness E I and the mass μ for each length that is released at rest sags by
        g Σ 2 σ / β φ(x) (1 - cos ω t) / ω² over its modes, with ω² = E I β⁴ / μ L⁴ and
        φ(x) = cosh κx - cos κx - σ (sinh κx - sin κx), where κ = β / L and σ = (sinh β - sin β) / (cosh β + cos β).
        """
        length, place = self._lengths
        total = 0.0
        for root in _ROOTS:
            share = (math.sinh(root) - math.sin(root)) / (math.cosh(root) + math.cos(root))
            way, rate = root * place / length, math.sqrt(self._stiffness) * (root / length) ** 2
            shape = math.cosh(way) - math.cos(way) - share * (math.sinh(way) - math.sin(way))
            total += 2.0 * share / root * shape * (1.0 - math.cos(rate * time)) / rate**2
        return self.gravity * total

    @property
    def _lengths(self) -> tuple[float, float]:
        """The length of the beam from its clamp, and from there to the centre of the last segment [m]."""
        segment = self.length / self.segments
        return self.length - 0.5 * segment, self.length - segment

    @property
    def _stiffness(self) -> float:
        """E I / μ [m⁴/s²]; a segment is a capsule, whose round ends lie in its neighbours."""
        segment = self.length / self.segments
        mass = self.density * math.pi * self.radius**2 * (1.0 + 4.0 / 3.0 * self.radius / segment)
        return self.young * math.pi * self.radius**4 / 4.0 / mass


class HangingCloth(BenchmarkProblem):
    """A strip of cloth that hangs from its two ends, one lower than the other, and sways in its plane.

    It starts at rest in the shape to which a gravity that is tilted by `tilt` would pull it. The cloth hardly stretches
    and does not resist bending, so each row of its particles moves as a hinge of a chain.
    """

    title = "strip of cloth that sways between its ends: distance to the chain that does not stretch"
    unit, limit, is_quick = "m", 0.02, True
    cells, cell, density, lame = 12, 0.05, 0.2, 200.0
    tilt, pull = 0.7, 3.0
    """Angle by which the start is turned about y [rad], and the tension of its lowest cell in weights of a row."""

    @functools.cached_property
    def chain(self) -> PlanarChain:
        """The chain of the rows, whose last hinge is held: a link has half a row's mass at each end."""
        slopes = np.arctan((np.arange(self.cells) - 0.5 * (self.cells - 1)) / self.pull) + self.tilt
        end = self.cell * np.array([np.cos(slopes).sum(), np.sin(slopes).sum()])
        mass = self.density * self.cell**2
        return PlanarChain(
            angles=tuple(np.arctan2(-np.cos(slopes), -np.sin(slopes))),
            mass=mass,
            inertia=0.25 * mass * self.cell**2,
            length=self.cell,
            pin=(float(end[0]), float(end[1])),
        )

    def build(self, builder: newton.ModelBuilder) -> None:
        """Add the content of one world."""
        chain = self.chain
        places = _hinges(chain, np.array(chain.angles))
        origin: dict[str, Any] = {"pos": wp.vec3(), "rot": wp.quat_identity(), "vel": wp.vec3()}
        vertices: list[Any] = [wp.vec3(x, y, z) for x, z in places for y in (0.0, self.cell)]
        corners = [(2 * row, 2 * row + 2, 2 * row + 3, 2 * row, 2 * row + 3, 2 * row + 1) for row in range(self.cells)]
        builder.add_cloth_mesh(
            **origin,
            scale=1.0,
            vertices=vertices,
            indices=[index for own in corners for index in own],
            density=self.density,
            tri_ke=self.lame,
            tri_ka=self.lame,
            tri_kd=0.0,
            edge_ke=0.0,
            edge_kd=0.0,
            particle_radius=1e-3,
            label="strip",
        )
        for held in (0, 1, -2, -1):
            builder.particle_mass[held] = 0.0
            builder.particle_flags[held] &= ~int(newton.ParticleFlags.ACTIVE)

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        angles = swung(self.chain, len(motion.times))
        truth = np.stack([_hinges(self.chain, own) for own in angles]).repeat(2, axis=1)
        apart = motion.particles[:, :, [0, 2]] - truth
        return float(np.sqrt((apart**2).sum(axis=2).mean(axis=1)).max())


class ThrownGrains(BenchmarkProblem):
    """A block of grains that is thrown: nothing presses on it, so each grain flies on its own parabola."""

    title = "block of 125 grains that is thrown: distance of the grains to their parabolas"
    unit, limit, duration = "m", 0.05, 0.5
    speed, gravity, spacing = 1.0, 9.81, 0.05

    def tables(self) -> Mapping[str, object]:
        """Return the gravity and the content of the problem."""
        grains = {
            "type": "granular",
            "label": "grains",
            "size": [4.0 * self.spacing] * 3,
            "spacing": self.spacing,
            "density": 1000.0,
            "velocity": [self.speed, 0.0, 0.0],
        }
        return {"gravity": (0.0, 0.0, -self.gravity), "objects": [grains]}

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        flown = np.stack([self.speed * motion.times, 0.0 * motion.times, -0.5 * self.gravity * motion.times**2], axis=1)
        apart = motion.particles - motion.particles[0] - flown[:, None]
        return float(np.sqrt((apart**2).sum(axis=2).mean(axis=1)).max())


def _hinges(chain: PlanarChain, angles: np.ndarray) -> np.ndarray:
    """Return the places of the hinges and of the end along x and z [m], shape [links + 1, 2]."""
    links = -chain.length * np.stack([np.sin(angles), np.cos(angles)], axis=1)
    return np.concatenate([np.zeros((1, 2)), np.cumsum(links, axis=0)])
