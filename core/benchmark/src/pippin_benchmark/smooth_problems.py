"""Problems without contacts: tops, pendulums, chains, a loop and an arm with drives; and of matter, a rod that bends, a
strip of cloth that sways between its ends, and a block of grains in flight.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp

from .problem import SAMPLE, BenchmarkProblem, ProblemMotion
from .reference_motions import PlanarChain, angle_between, rotation

_ROOTS = (1.875104068711961, 4.694091132974175, 7.854757438237613, 10.995540734875467, 14.13716839104647)
"""The first solutions β of cos β cosh β = -1."""


@functools.cache
def _turned(moments: tuple[float, ...], spin: tuple[float, ...], samples: int) -> np.ndarray:
    return rotation(np.array(moments), np.array(spin), SAMPLE * np.arange(samples))


@functools.cache
def swung(chain: PlanarChain, samples: int) -> np.ndarray:
    """Return the angles of the links of a chain at all samples of a motion [rad], shape [samples, links]."""
    return chain.motion(SAMPLE * np.arange(samples))


class _Top(BenchmarkProblem):
    """A free body without weight that turns."""

    unit, conserves = "rad", ("energy", "angular momentum")
    principal: tuple[float, float, float]
    spin: tuple[float, float, float]

    def build(self, builder: newton.ModelBuilder) -> None:
        """Add the content of one world."""
        body = builder.add_link(label="top", mass=1.0, inertia=moments(*self.principal))
        builder.add_articulation([builder.add_joint_free(body)], label="top")
        builder.joint_qd[-3:] = list(self.spin)

    def tables(self) -> Mapping[str, object]:
        """Return the gravity of the problem."""
        return {"gravity": (0.0, 0.0, 0.0)}

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        truth = _turned(self.principal, self.spin, len(motion.times))
        return float(angle_between(motion.poses[:, 0, 3:], truth).max())


class FreeTop(_Top):
    """A symmetric top that precesses."""

    title = "symmetric top at 6 rad/s, without weight: angle to the solution of Euler's equations"
    limit, is_quick = 0.1, True
    principal, spin = (0.02, 0.02, 0.01), (1.0, 0.0, 6.0)


class FastTop(_Top):
    """A symmetric top that turns ten times faster."""

    title = "symmetric top at 60 rad/s, without weight: angle to the solution of Euler's equations"
    limit, duration = 0.1, 0.5
    principal, spin = (0.02, 0.02, 0.01), (2.0, 0.0, 60.0)


class Dzhanibekov(_Top):
    """A body that flips, because it turns about its middle axis."""

    title = "body that turns about its middle axis and flips: angle to the solution of Euler's equations"
    limit = 0.2
    principal, spin = (0.01, 0.02, 0.03), (0.02, 8.0, 0.0)


class _Chain(BenchmarkProblem):
    unit = "m"
    chain: PlanarChain

    def build(self, builder: newton.ModelBuilder) -> None:
        """Add the content of one world."""
        add_chain(builder, self.chain)

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        chain, links = self.chain, range(motion.poses.shape[1])
        angles = np.stack([motion.angles(link) for link in links], axis=1)
        half = -0.5 * chain.length * np.stack([np.sin(angles), np.cos(angles)], axis=-1)
        centres, truth = motion.poses[:, :, [0, 2]] + half, chain.points(swung(chain, len(motion.times)))
        return float(np.sqrt(((centres - truth) ** 2).sum(axis=-1).mean(axis=1)).max())


class LargePendulum(_Chain):
    """A pendulum that swings far."""

    title = "pendulum released 2 rad from its rest: distance to the solution of its equation"
    limit, duration, conserves, is_quick = 0.03, 2.0, ("energy",), True
    chain = PlanarChain(angles=(2.0,))


class DoublePendulum(_Chain):
    """Two links that swing before chaos begins."""

    title = "double pendulum released from 1.5 and 1 rad: distance to the solution of Lagrange's equations"
    limit, conserves, is_quick = 0.03, ("energy",), True
    chain = PlanarChain(angles=(1.5, 1.0))


class LongChain(_Chain):
    """Twenty links that fall from a bow."""

    title = "chain of 20 links released from a bow: distance to the solution of Lagrange's equations"
    limit, duration, conserves = 0.05, 0.5, ("energy",)
    chain = PlanarChain(angles=tuple(np.linspace(1.2, -0.4, 20)), mass=0.1, inertia=1e-4, length=0.1)


class FourBar(_Chain):
    """A crank, a coupler and a rocker, whose last hinge closes a loop."""

    title = "four-bar linkage that swings: distance to the solution with a constraint in double precision"
    limit, conserves = 0.03, ("energy",)
    chain = PlanarChain(angles=(0.9, -1.2, -1.5), pin=None)

    def __init__(self) -> None:
        angles = np.array(self.chain.angles)
        end = -self.chain.length * np.stack([np.sin(angles), np.cos(angles)]).sum(axis=1)
        self.chain = PlanarChain(angles=self.chain.angles, pin=(float(end[0]), float(end[1])))

    def build(self, builder: newton.ModelBuilder) -> None:
        """Add the content of one world."""
        bodies = add_chain(builder, self.chain)
        pin = self.chain.pin or (0.0, 0.0)
        end, place = at(z=-self.chain.length), at(pin[0], z=pin[1])
        builder.add_joint_revolute(
            -1, bodies[-1], parent_xform=place, child_xform=end, axis=(0.0, 1.0, 0.0), armature=0.0, label="loop"
        )


class DrivenArm(_Chain):
    """An arm of three links that drives hold against gravity."""

    title = "arm of three links that its drives turn: distance to the solution of Lagrange's equations"
    limit, is_quick = 0.01, True
    chain = PlanarChain(
        angles=(0.0, 0.0, 0.0), drives=((60.0, 6.0, 0.8), (30.0, 3.0, -0.6), (10.0, 1.0, 0.5)), length=0.3
    )


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> wp.transform:
    """Return the pose of what is at a place [m], and not turned."""
    return wp.transform(wp.vec3(x, y, z), wp.quat_identity())


def moments(x: float, y: float, z: float) -> wp.mat33:
    """Return the inertia with some principal moments [kg·m²]."""
    return wp.mat33(x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z)


def add_chain(builder: newton.ModelBuilder, chain: PlanarChain) -> Sequence[int]:
    """Add a chain, and return its bodies; the origin of each is at its upper hinge."""
    bodies, joints, above = [], [], -1
    turns = np.diff(chain.angles, prepend=0.0)
    for index, turn in enumerate(turns):
        body = builder.add_link(
            label=f"link_{index}", mass=chain.mass, inertia=moments(chain.inertia, chain.inertia, chain.inertia)
        )
        builder.body_com[body] = wp.vec3(0.0, 0.0, -0.5 * chain.length)
        frame = at(z=0.0 if above < 0 else -chain.length)
        stiffness, damping, target = chain.drives[index] if chain.drives else (0.0, 0.0, 0.0)
        joints.append(
            builder.add_joint_revolute(
                above,
                body,
                parent_xform=frame,
                axis=(0.0, 1.0, 0.0),
                armature=0.0,
                target_ke=stiffness,
                target_kd=damping,
                target_q=target,
                label=f"hinge_{index}",
            )
        )
        builder.joint_q[-1] = float(turn)
        bodies.append(body)
        above = body
    builder.add_articulation(joints, label="chain")
    return bodies


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
