"""A four-legged robot that falls on its feet, and whose drives then carry it."""

from __future__ import annotations

import functools
import math

import attrs
import newton
import numpy as np
import warp as wp
from pippin.quaternions import rotated

from .problem import BenchmarkProblem, ProblemMotion
from .smooth_problems import at, moments


@attrs.frozen(kw_only=True)
class Leg:
    """A leg of two links between a trunk that stays level and a round foot that rolls on the ground.

    Its hip and its knee turn about y, and have drives. Links turn by absolute angles; at zero they hang down.
    """

    thigh: float = 0.7
    """Angle of the thigh that the drives hold in the air [rad]."""

    shank: float = -0.7
    """Angle of the shank that the drives hold in the air [rad]."""

    length: float = 0.2
    """Length of each link [m]; its centre of mass is half way."""

    foot: float = 0.03
    """Radius of the foot, which has no mass [m]."""

    masses: tuple[float, float] = (1.0, 0.6)
    """Mass of the thigh and of the shank [kg]."""

    trunk: float = 2.0
    """Mass of the trunk that the leg carries [kg]."""

    stiffness: float = 30.0
    """Stiffness of each drive [N·m/rad]."""

    damping: float = 1.5
    """Damping of each drive [N·m·s/rad]."""

    gravity: float = 9.81
    """Acceleration of free fall [m/s²]."""

    def height(self, thigh: float, shank: float) -> float:
        """Return the height of the hip above the ground [m] at some angles [rad]."""
        return self.foot + self.length * (math.cos(thigh) + math.cos(shank))

    def reach(self, thigh: float, shank: float) -> float:
        """Return the place of the foot from the hip along x [m] at some angles [rad]."""
        return -self.length * (math.sin(thigh) + math.sin(shank))

    def energy(self, thigh: float, shank: float) -> float:
        """Return the potential energy of the leg, of its drives and of what it carries [J] at some angles [rad]."""
        height, (upper, lower) = self.height(thigh, shank), self.masses
        weights = self.trunk * height
        weights += upper * (height - 0.5 * self.length * math.cos(thigh))
        weights += lower * (height - self.length * (math.cos(thigh) + 0.5 * math.cos(shank)))
        turned = (thigh - self.thigh, shank - thigh - self.shank + self.thigh)
        return self.gravity * weights + 0.5 * self.stiffness * (turned[0] ** 2 + turned[1] ** 2)

    @functools.cached_property
    def standing(self) -> tuple[float, float]:
        """The angles of thigh and shank at rest [rad], if the foot rolls from where it landed, and does not slide.

        The foot moves along x by its radius for each radian that the shank turns. With this, the shank follows from the
        thigh, and the thigh from the least energy.
        """
        low, high = self.thigh - 0.5, self.thigh + 0.5
        for _ in range(100):
            third = (high - low) / 3.0
            if self._energy_of(low + third) < self._energy_of(high - third):
                high -= third
            else:
                low += third
        thigh = 0.5 * (low + high)
        return thigh, self._shank_of(thigh)

    def _energy_of(self, thigh: float) -> float:
        return self.energy(thigh, self._shank_of(thigh))

    def _shank_of(self, thigh: float) -> float:
        """Return the angle of the shank at which the foot has rolled to its place, by Newton's method."""
        shank, start = self.shank, self.reach(self.thigh, self.shank)
        for _ in range(20):
            apart = self.reach(thigh, shank) - start - self.foot * (shank - self.shank)
            shank += apart / (self.length * math.cos(shank) + self.foot)
        return shank


class QuadrupedDrop(BenchmarkProblem):
    """A robot with a trunk and four legs falls from 0.1 m on its feet.

    The knees of the front legs point backwards and those of the hind legs forwards, so the trunk stays level.
    """

    title = (
        "quadruped that falls on its feet: distance of trunk and feet to their formula, and depth of feet, after 1.5 s"
    )
    unit, limit, duration, is_quick = "m", 0.015, 2.0, True
    leg = Leg()
    hips = ((0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15))
    drop = 0.1
    friction = 1.0

    def build(self, builder: newton.ModelBuilder) -> None:
        """Add the content of one world."""
        leg = self.leg
        builder.add_shape_box(-1, xform=at(z=-0.1), hx=2.0, hy=2.0, hz=0.1, cfg=self._surface())
        start = at(z=leg.height(leg.thigh, leg.shank) + self.drop)
        trunk = builder.add_link(label="trunk", mass=4.0 * leg.trunk, inertia=moments(0.06, 0.12, 0.15), xform=start)
        joints = [builder.add_joint_free(trunk)]
        for number, (x, y) in enumerate(self.hips):
            side, above, place = math.copysign(1.0, x), trunk, at(x, y)
            for name, mass, angle in zip(
                ("thigh", "shank"), leg.masses, (side * leg.thigh, side * (leg.shank - leg.thigh)), strict=True
            ):
                own = mass * leg.length**2 / 12.0
                link = builder.add_link(label=f"{name}_{number}", mass=mass, inertia=moments(own, own, 0.1 * own))
                builder.body_com[link] = wp.vec3(0.0, 0.0, -0.5 * leg.length)
                joints.append(self._add_hinge(builder, above, link, place, angle))
                above, place = link, at(z=-leg.length)
            builder.add_shape_sphere(above, xform=place, radius=leg.foot, cfg=self._surface())
        builder.add_articulation(joints, label="quadruped")

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        leg, (thigh, shank) = self.leg, self.leg.standing
        poses = motion.poses[motion.times > 1.5 - 1e-9]
        apart = np.linalg.norm(poses[:, 0, :3] - (0.0, 0.0, leg.height(thigh, shank)), axis=1)
        errors = [apart.max()]
        for number, (x, y) in enumerate(self.hips):
            side = math.copysign(1.0, x)
            place = (x + side * leg.reach(thigh, shank), y)
            shin = poses[:, 2 + 2 * number]
            foot = shin[:, :3] + rotated(shin[:, 3:], np.array([0.0, 0.0, -leg.length]))
            errors += [np.linalg.norm(foot[:, :2] - place, axis=1).max(), (leg.foot - foot[:, 2]).max()]
        return float(max(errors))

    def _surface(self) -> newton.ModelBuilder.ShapeConfig:
        return newton.ModelBuilder.ShapeConfig(density=0.0, mu=self.friction)

    def _add_hinge(self, builder: newton.ModelBuilder, above: int, link: int, place: wp.transform, angle: float) -> int:
        """Add a hinge with a drive that holds an angle [rad], at which it starts, and return it."""
        joint = builder.add_joint_revolute(
            above,
            link,
            parent_xform=place,
            axis=(0.0, 1.0, 0.0),
            armature=0.0,
            target_ke=self.leg.stiffness,
            target_kd=self.leg.damping,
            target_q=angle,
        )
        builder.joint_q[-1] = angle
        return joint
