"""Problems with contacts: a block on a slope, spheres that roll, bounce or leave, a box that tips, towers, a grip."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp

from .problem import BenchmarkProblem, ProblemMotion
from .reference_motions import integrated
from .smooth_problems import at

_GRAVITY = 9.81
_SIDE = 0.2
_DENSITY = 500.0


class _Contact(BenchmarkProblem):
    """Boxes or spheres on a plate, under gravity that may be tilted about y."""

    slope = 0.0
    friction = 0.6
    restitution = 0.0

    def tables(self) -> Mapping[str, object]:
        """Return the gravity of the problem."""
        return {"gravity": (_GRAVITY * math.sin(self.slope), 0.0, -_GRAVITY * math.cos(self.slope))}

    def build(self, builder: newton.ModelBuilder) -> None:
        """Add the content of one world."""
        builder.add_shape_box(-1, xform=at(z=-0.1), hx=4.0, hy=1.0, hz=0.1, cfg=self._surface())
        self._add_bodies(builder)

    def _add_bodies(self, builder: newton.ModelBuilder) -> None:
        self._add_box(builder, (0.0, 0.0, _SIDE / 2))

    def _surface(self) -> newton.ModelBuilder.ShapeConfig:
        return newton.ModelBuilder.ShapeConfig(density=_DENSITY, mu=self.friction, restitution=self.restitution)

    def _add_box(self, builder: newton.ModelBuilder, place: Sequence[float], turn: float = 0.0) -> None:
        body = self._add_free(builder, place, wp.quat(0.0, math.sin(turn / 2), 0.0, math.cos(turn / 2)))
        builder.add_shape_box(body, hx=_SIDE / 2, hy=_SIDE / 2, hz=_SIDE / 2, cfg=self._surface())

    def _add_sphere(self, builder: newton.ModelBuilder, place: Sequence[float]) -> None:
        body = self._add_free(builder, place, wp.quat_identity())
        builder.add_shape_sphere(body, radius=_SIDE / 2, cfg=self._surface())

    def _add_free(self, builder: newton.ModelBuilder, place: Sequence[float], turn: Any) -> int:
        label = f"body_{builder.body_count}"
        body = builder.add_link(label=label, xform=wp.transform(wp.vec3(*place), turn))
        builder.add_articulation([builder.add_joint_free(body)], label=label)
        return body


class BlockAtRest(_Contact):
    """A block that friction holds on a slope."""

    title = "box on a slope below its angle of friction: how far it creeps in 2 s"
    unit, limit, duration, is_quick = "m", 0.02, 2.0, True
    slope = math.atan(0.35)

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        place = motion.poses[:, 0, :3]
        return float(np.linalg.norm((place - place[0])[:, :2], axis=1).max())


class SlidingBlock(_Contact):
    """A block that slides down a slope."""

    title = "box on a slope above its angle of friction: way against ½ g (sin θ - μ cos θ) t²"
    unit, limit, is_quick = "1", 0.1, True
    slope, friction = math.atan(0.5), 0.2

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        expected = (
            0.5 * _GRAVITY * (math.sin(self.slope) - self.friction * math.cos(self.slope)) * motion.times[-1] ** 2
        )
        return float(abs(motion.poses[-1, 0, 0] - motion.poses[0, 0, 0] - expected) / expected)


class RollingSphere(_Contact):
    """A sphere that rolls down a slope without sliding."""

    title = "sphere that rolls down a slope: way against 5/14 g sin θ t²"
    unit, limit = "1", 0.1
    slope = math.atan(0.3)

    def _add_bodies(self, builder: newton.ModelBuilder) -> None:
        self._add_sphere(builder, (0.0, 0.0, _SIDE / 2))

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        expected = 5.0 / 14.0 * _GRAVITY * math.sin(self.slope) * motion.times[-1] ** 2
        return float(abs(motion.poses[-1, 0, 0] - expected) / expected)


class Bounces(_Contact):
    """A sphere that falls and bounces."""

    title = "sphere that bounces with a restitution of 0.7: height against the parabolas of free flight"
    unit, limit = "m", 0.05
    restitution = 0.7
    _height = 0.5

    def _add_bodies(self, builder: newton.ModelBuilder) -> None:
        self._add_sphere(builder, (0.0, 0.0, self._height + _SIDE / 2))

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        own = motion.poses[:, 0, 2] - _SIDE / 2
        return float(np.abs(own - [self._truth(time) for time in motion.times]).max())

    def _truth(self, time: float) -> float:
        speed, left = math.sqrt(2.0 * _GRAVITY * self._height), time - math.sqrt(2.0 * self._height / _GRAVITY)
        if left < 0.0:
            return self._height - 0.5 * _GRAVITY * time**2
        speed *= self.restitution
        while left > 2.0 * speed / _GRAVITY:
            left -= 2.0 * speed / _GRAVITY
            speed *= self.restitution
        return speed * left - 0.5 * _GRAVITY * left**2


class TippingBox(_Contact):
    """A box that falls from its edge."""

    title = "box that stands on an edge and tips: angle to the physical pendulum about the edge"
    unit, limit, duration = "rad", 0.1, 0.2
    friction = 1.0
    _start = 0.2

    def _add_bodies(self, builder: newton.ModelBuilder) -> None:
        # The diagonal from the edge to the centre leans by 0.2 rad.
        reach = _SIDE / math.sqrt(2.0)
        place = (reach * math.sin(self._start), 0.0, reach * math.cos(self._start))
        self._add_box(builder, place, math.pi / 4 + self._start)

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        # I + m r² of a cube of side s about its edge is 2/3 m s², and r = s / √2.
        pull = 3.0 * _GRAVITY / (2.0 * math.sqrt(2.0) * _SIDE)
        truth = integrated(
            lambda state: np.array([state[1], pull * math.sin(state[0])]),
            np.array([self._start, 0.0]),
            motion.times,
            1e-3,
        )
        return float(np.abs(motion.angles() - math.pi / 4 - truth[:, 0]).max())


class LiftOff(_Contact):
    """A sphere that leaves the ground.

    Where a gap opens, there is no force, neither a push nor a pull: contacts are complementary.
    """

    title = "sphere that leaves the ground with 2 m/s: height to v t - ½ g t²"
    unit, limit, duration = "m", 0.02, 0.4
    _speed = 2.0

    def _add_bodies(self, builder: newton.ModelBuilder) -> None:
        self._add_sphere(builder, (0.0, 0.0, _SIDE / 2))
        builder.joint_qd[2] = self._speed

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        own = motion.poses[:, 0, 2] - _SIDE / 2
        return float(np.abs(own - self._speed * motion.times + 0.5 * _GRAVITY * motion.times**2).max())


class Stack(_Contact):
    """Five boxes on top of each other."""

    title = "tower of five boxes: how far a box is from its place in 2 s"
    unit, limit, duration, is_quick = "m", 0.05, 2.0, True

    def _places(self) -> list[tuple[float, float, float]]:
        return [(0.0, 0.0, _SIDE * (level + 0.5)) for level in range(5)]

    def _add_bodies(self, builder: newton.ModelBuilder) -> None:
        for place in self._places():
            self._add_box(builder, place)

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        return float(np.linalg.norm(motion.poses[:, :, :3] - self._places(), axis=2).max())


class Pyramid(Stack):
    """Boxes in rows of three, two and one."""

    title = "pyramid of six boxes: how far a box is from its place in 2 s"
    is_quick = False

    def _places(self) -> list[tuple[float, float, float]]:
        rows = [(level, count) for level, count in enumerate((3, 2, 1))]
        return [
            ((index - 0.5 * (count - 1)) * 1.1 * _SIDE, 0.0, _SIDE * (level + 0.5))
            for level, count in rows
            for index in range(count)
        ]


class Cradle(_Contact):
    """Newton's cradle: spheres that hang side by side."""

    title = "Newton's cradle of five spheres: the last one rises as far as the first one fell"
    unit, limit, duration = "rad", 0.2, 0.6
    restitution, friction = 1.0, 0.0
    _angle, _length = 0.5, 0.5

    def build(self, builder: newton.ModelBuilder) -> None:
        """Add the content of one world."""
        for index in range(5):
            body, pivot = builder.add_link(label=f"ball_{index}"), at(1.001 * _SIDE * index)
            builder.add_shape_sphere(body, xform=at(z=-self._length), radius=_SIDE / 2, cfg=self._surface())
            hinge = builder.add_joint_revolute(-1, body, parent_xform=pivot, axis=(0.0, 1.0, 0.0), armature=0.0)
            builder.add_articulation([hinge], label=f"ball_{index}")
        builder.joint_q[0] = self._angle

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        highest = min(motion.angles(4).min(), 0.0)
        return float(abs(self._angle + highest) + np.abs(motion.angles(2)).max())


class GrippedCube(_Contact):
    """A cube that two fingers hold against gravity."""

    title = "cube held by two fingers of 40 N: how far it creeps in 2 s"
    unit, limit, duration = "m", 0.02, 2.0
    friction = 0.8

    def build(self, builder: newton.ModelBuilder) -> None:
        """Add the content of one world."""
        body = self._add_free(builder, (0.0, 0.0, 0.0), wp.quat_identity())
        half = 0.03
        builder.add_shape_box(body, hx=half, hy=half, hz=half, cfg=self._surface())
        for side in (-1.0, 1.0):
            finger = builder.add_link(label=f"finger_{builder.body_count}")
            builder.add_shape_box(finger, hx=0.01, hy=0.02, hz=0.04, cfg=self._surface())
            place = at(side * (half + 0.01))
            # A spring of 400 N/m whose rest is 0.1 m inwards presses by 40 N.
            slide = builder.add_joint_prismatic(
                -1,
                finger,
                parent_xform=place,
                axis=(-side, 0.0, 0.0),
                armature=0.0,
                target_ke=400.0,
                target_kd=40.0,
                target_q=0.1,
            )
            builder.add_articulation([slide], label=f"finger_{finger}")
            # The builder places a body only by its joint when it is finalised.
            builder.body_q[finger] = place

    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""
        place = motion.poses[:, 0, :3]
        return float(np.linalg.norm(place - place[0], axis=1).max())
