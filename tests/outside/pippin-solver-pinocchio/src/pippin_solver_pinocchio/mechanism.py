"""Newton's mechanism of one world as Pinocchio's, with the place of each joint in the arrays of both."""

from dataclasses import dataclass

import newton
import numpy as np
import pinocchio as pin


@dataclass(frozen=True)
class Joint:
    """A joint that moves, in both engines."""

    index: int
    """Pinocchio's joint."""

    q: int
    """First of Newton's coordinates of a world; Pinocchio's are at `own_q`."""

    qd: int
    """First of Newton's velocities of a world; Pinocchio's are at `own_v`."""

    own_q: int
    own_v: int
    is_free: bool

    com: np.ndarray
    """Centre of mass of its body, in the frame of the joint [m]."""


class Mechanism:
    """The first world of a model; all worlds hold the same.

    Args:
        model: Newton's model.
    """

    def __init__(self, model: newton.Model) -> None:
        rows, bodies = model.joint_count // model.world_count, model.body_count // model.world_count
        #: Pinocchio's model, without gravity.
        self.model = pin.Model()
        #: The joints that move.
        self.joints: list[Joint] = []
        #: Pinocchio's joint that carries each body, and the place of the body in the frame of this joint.
        self.bodies: list[tuple[int, pin.SE3]] = [(0, pin.SE3.Identity())] * bodies
        names = ("type", "parent", "child", "q_start", "qd_start", "X_p", "X_c")
        arrays = {name: getattr(model, f"joint_{name}").numpy() for name in names}
        axes, inertia_of_rotors = model.joint_axis.numpy(), model.joint_armature.numpy()
        inertias = (model.body_mass.numpy(), model.body_com.numpy(), model.body_inertia.numpy())
        for row in range(rows):
            self._add({name: array[row] for name, array in arrays.items()}, axes, inertias)
        armature = np.zeros(self.model.nv)
        for joint in self.joints:
            width = 6 if joint.is_free else 1
            armature[joint.own_v : joint.own_v + width] = inertia_of_rotors[joint.qd : joint.qd + width]
        self.model.armature = armature

    def _add(self, joint, axes, inertias) -> None:
        parent, carried = (0, pin.SE3.Identity()) if joint["parent"] < 0 else self.bodies[joint["parent"]]
        placement, child = carried * _place(joint["X_p"]), _place(joint["X_c"]).inverse()
        body, kind = int(joint["child"]), newton.JointType(joint["type"])
        mass, com, inertia = (array[body].astype(float) for array in inertias)
        if kind == newton.JointType.FIXED:
            index, child = parent, placement * child
        else:
            axis = axes[joint["qd_start"]].astype(float)
            own = {
                newton.JointType.REVOLUTE: lambda: pin.JointModelRevoluteUnaligned(axis),
                newton.JointType.PRISMATIC: lambda: pin.JointModelPrismaticUnaligned(axis),
                newton.JointType.FREE: pin.JointModelFreeFlyer,
            }[kind]()
            index = self.model.addJoint(parent, own, placement, f"joint_{body}")
            places = int(joint["q_start"]), int(joint["qd_start"]), self.model.idx_qs[index], self.model.idx_vs[index]
            self.joints.append(Joint(index, *places, kind == newton.JointType.FREE, child.act(com)))
        self.bodies[body] = (index, child)
        if index:
            self.model.appendBodyToJoint(index, pin.Inertia(float(mass), com, inertia), child)


def _place(transform: np.ndarray) -> pin.SE3:
    """Return Newton's transform, a position and a quaternion xyzw."""
    return pin.XYZQUATToSE3(transform.astype(float))
