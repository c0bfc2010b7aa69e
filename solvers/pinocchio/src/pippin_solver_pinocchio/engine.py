"""Pinocchio's worlds: this file, NumPy and Pinocchio are all that their environment has."""

import numpy as np
import pinocchio as pin

CONTRACT = 1
DISTRIBUTION = "pin"

JOINTS = {
    "REVOLUTE": pin.JointModelRevoluteUnaligned,
    "PRISMATIC": pin.JointModelPrismaticUnaligned,
    "FREE": lambda axis: pin.JointModelFreeFlyer(),
}
"""Pinocchio's joint for each of Newton's, from its axis."""


def place(transform):
    """Return Pinocchio's transform of a position and a quaternion xyzw."""
    return pin.XYZQUATToSE3(transform)


def turn(q, place):
    """Return the rotation of a free body, whose coordinates begin at a place."""
    return pin.Quaternion(q[place + 3 : place + 7]).toRotationMatrix()


class Engine:
    """Equal worlds, stepped one after another by semi-implicit Euler steps.

    Args:
        arrays: `q` [W, nq] and `v` [W, nv], in Pinocchio's frames; `efforts` [W, nv]; `wrenches` [W, bodies, 6], at
            the centres of mass, in the axes of the world; `gravity` [W, 3].
        kinds: The name of each joint's kind.
        parents: The body that each joint hangs from; -1 is the world.
        children: The body that each joint moves.
        outer: The frame of each joint in its parent, [joints, 7].
        inner: Its frame in its child, [joints, 7].
        axes: Its axis, [joints, 3].
        armature: Inertia that rotors add, [nv].
        damping: Passive damping, [nv].
        mass: Mass of each body [kg].
        com: Its centre of mass in its frame, [bodies, 3].
        inertia: Its inertia about it, [bodies, 3, 3].
        dt: The step [s].
    """

    def __init__(
        self, arrays, *, kinds, parents, children, outer, inner, axes, armature, damping, mass, com, inertia, dt
    ):
        self.arrays, self.com, self.dt, self.model = arrays, com, dt, pin.Model()
        self.bodies = [(0, pin.SE3.Identity())] * len(mass)  # the joint that carries each, and its place there
        self.free = []  # the columns of coordinates and velocities of free bodies
        for row, (kind, parent, child) in enumerate(zip(kinds, parents, children, strict=True)):
            carrier, carried = (0, pin.SE3.Identity()) if parent < 0 else self.bodies[parent]
            outside, inside = carried * place(outer[row]), place(inner[row]).inverse()
            if kind == "FIXED":
                carrier, inside = carrier, outside * inside
            else:
                if kind == "FREE":
                    self.free.append((self.model.nq, slice(self.model.nv, self.model.nv + 6)))
                carrier = self.model.addJoint(carrier, JOINTS[kind](axes[row]), outside, f"joint_{child}")
            self.bodies[child] = (carrier, inside)
            if carrier:
                self.model.appendBodyToJoint(
                    carrier, pin.Inertia(float(mass[child]), com[child], inertia[child]), inside
                )
        self.model.armature, self.damping = armature + dt * damping, damping  # implicit dampers
        self.data = self.model.createData()

    def step(self, count):
        """Take substeps."""
        for world in range(len(self.arrays["q"])):
            q, v, efforts, wrenches, gravity = (
                self.arrays[name][world] for name in ("q", "v", "efforts", "wrenches", "gravity")
            )
            self.model.gravity.linear = gravity
            for _ in range(count):
                pin.forwardKinematics(self.model, self.data, q)
                pulls = efforts - self.damping * v
                self.move(q, v, pin.aba(self.model, self.data, q, v, pulls, self.at_joints(wrenches)))

    def move(self, q, v, acceleration):
        """Take a semi-implicit Euler step: free bodies keep their velocity in the outer axes, as they do in flight."""
        outer = {}
        for place, speed in self.free:
            linear, angular = v[speed][:3], v[speed][3:]
            change = acceleration[speed][:3] + np.cross(angular, linear)
            outer[place] = turn(q, place) @ (linear + self.dt * change)
        v += self.dt * acceleration
        places = {place: q[place : place + 3] + self.dt * velocity for place, velocity in outer.items()}
        q[:] = pin.integrate(self.model, q, self.dt * v)
        for place, speed in self.free:
            q[place : place + 3] = places[place]
            v[speed.start : speed.start + 3] = turn(q, place).T @ outer[place]

    def at_joints(self, wrenches):
        """Return the wrench on each joint in its frame: those of bodies act at the centres of mass, in outer axes."""
        found = pin.StdVec_Force([pin.Force.Zero() for _ in range(self.model.njoints)])
        for body, wrench in enumerate(wrenches):
            joint, inside = self.bodies[body]
            if joint and wrench.any():
                turn, at = self.data.oMi[joint].rotation.T, inside.act(self.com[body])
                force, torque = turn @ wrench[:3], turn @ wrench[3:]
                found[joint] += pin.Force(force, torque + np.cross(at, force))
        return found
