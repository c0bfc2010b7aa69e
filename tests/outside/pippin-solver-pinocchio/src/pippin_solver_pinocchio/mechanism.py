"""Newton's mechanism of one world as Pinocchio's, with the place of each joint in the arrays of both."""

import newton
import numpy as np
import pinocchio as pin


class Mechanism:
    """The first world of a model; all worlds hold the same.

    Args:
        model: Newton's model.
    """

    def __init__(self, model: newton.Model) -> None:
        rows, bodies = model.joint_count // model.world_count, model.body_count // model.world_count
        #: Pinocchio's model, without gravity.
        self.model = pin.Model()
        #: Pinocchio's joint that carries each body, and the place of the body in the frame of this joint.
        self.bodies: list[tuple[int, pin.SE3]] = [(0, pin.SE3.Identity())] * bodies
        names = ("type", "parent", "child", "qd_start", "X_p", "X_c")
        arrays = {name: getattr(model, f"joint_{name}").numpy() for name in names}
        axes, inertia_of_rotors = model.joint_axis.numpy(), model.joint_armature.numpy()
        inertias = (model.body_mass.numpy(), model.body_com.numpy(), model.body_inertia.numpy())
        for row in range(rows):
            self._add({name: array[row] for name, array in arrays.items()}, axes, inertias)
        self.model.armature = inertia_of_rotors[: self.model.nv].astype(float)

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
        self.bodies[body] = (index, child)
        if index:
            self.model.appendBodyToJoint(index, pin.Inertia(float(mass), com, inertia), child)


def _place(transform: np.ndarray) -> pin.SE3:
    """Return Newton's transform, a position and a quaternion xyzw."""
    return pin.XYZQUATToSE3(transform.astype(float))
