"""Pinocchio behind Newton's solver interface: one set of coordinates in double precision for each world."""

import newton
import numpy as np
import pinocchio as pin
import warp as wp
from pippin.solving import EngineFrames, JointMap

from .mechanism import Mechanism

FRAMES = EngineFrames(point="origin", linear_axes="inner", angular_axes="inner")
"""A free joint of Pinocchio: its pose in the parent's frame, and the velocity of its origin, in its own axes."""


class PinocchioEngine(newton.solvers.SolverBase):
    """All worlds of a model, stepped one after another.

    Newton's state has single precision. The engine goes on from its own coordinates, unless something else wrote the
    joints of a world.

    Args:
        model: Newton's model, on the CPU.
    """

    def __init__(self, model: newton.Model) -> None:
        super().__init__(model)
        self.mechanism = Mechanism(model)
        self.joints = JointMap(model, FRAMES)
        self.data = self.mechanism.model.createData()
        count = model.world_count
        self.q = np.tile(pin.neutral(self.mechanism.model), (count, 1))
        self.v = np.zeros((count, self.mechanism.model.nv))

    def state_arrays(self) -> dict[str, wp.array]:
        """Return the engine's coordinates and velocities, in its own memory."""
        return {name: wp.array(getattr(self, name), device="cpu", copy=False) for name in ("q", "v")}

    def advance(self, body_f: wp.array, control: newton.Control, dt: float) -> None:
        """Take a semi-implicit Euler step of `dt` [s] under wrenches on bodies and efforts on joints."""
        model, data, gravity = self.mechanism.model, self.data, self.model.gravity.numpy()
        efforts = self.joints.efforts(control, self.q)
        for world in range(self.model.world_count):
            q, v = self.q[world], self.v[world]
            model.gravity.linear = gravity[world].astype(float)
            pin.forwardKinematics(model, data, q)
            v += dt * pin.aba(model, data, q, v, efforts[world], self._wrenches(self._of(body_f, world)))
            q[:] = pin.integrate(model, q, dt * v)

    def _of(self, array: wp.array, world: int) -> np.ndarray:
        """Return the part of an array that belongs to a world."""
        return array.numpy().reshape(self.model.world_count, -1)[world]

    def _wrenches(self, body_f: np.ndarray) -> pin.StdVec_Force:
        """Return the wrench on each joint in its frame: Newton's act at the centres of mass, in the world's axes."""
        wrenches = pin.StdVec_Force([pin.Force.Zero() for _ in range(self.mechanism.model.njoints)])
        com = self.model.body_com.numpy()
        for body, (force, torque) in enumerate(body_f.astype(float).reshape(-1, 2, 3)):
            index, place = self.mechanism.bodies[body]
            if index and (force.any() or torque.any()):
                turn, at = self.data.oMi[index].rotation, place.act(com[body].astype(float))
                wrenches[index] += pin.Force(turn.T @ force, turn.T @ torque + np.cross(at, turn.T @ force))
        return wrenches
