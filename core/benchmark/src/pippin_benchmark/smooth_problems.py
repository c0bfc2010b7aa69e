"""Problems without contacts: tops, pendulums, chains, a loop and an arm with drives."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import newton
import numpy as np
import warp as wp

from .problem import SAMPLE, BenchmarkProblem, ProblemMotion
from .reference_motions import PlanarChain, angle_between, rotation


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
    """A planar chain of links on hinges."""

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
        end = wp.transform(wp.vec3(0.0, 0.0, -self.chain.length), wp.quat_identity())
        place = wp.transform(wp.vec3(pin[0], 0.0, pin[1]), wp.quat_identity())
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
        frame = wp.transform(wp.vec3(0.0, 0.0, 0.0 if above < 0 else -chain.length), wp.quat_identity())
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
