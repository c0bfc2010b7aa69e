"""Pinocchio behind Newton's solver interface: one set of coordinates in double precision for each world."""

import newton
import numpy as np
import pinocchio as pin
import warp as wp

from .mechanism import Mechanism


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
        self.data = self.mechanism.model.createData()
        count = model.world_count
        self.q = np.tile(pin.neutral(self.mechanism.model), (count, 1))
        self.v = np.zeros((count, self.mechanism.model.nv))

    def state_arrays(self) -> dict[str, wp.array]:
        """Return the engine's coordinates and velocities, in its own memory."""
        return {name: wp.array(getattr(self, name), device="cpu", copy=False) for name in ("q", "v")}

    def read(self, state: newton.State, worlds: wp.array) -> None:
        """Read the joints of the masked worlds, shape [world_count + 1]."""
        for world in np.flatnonzero(worlds.numpy()[:-1]):
            q, qd = (self._of(array, world) for array in (state.joint_q, state.joint_qd))
            for joint in self.mechanism.joints:
                if not joint.is_free:
                    self.q[world, joint.own_q], self.v[world, joint.own_v] = q[joint.q], qd[joint.qd]
                    continue
                pose = q[joint.q : joint.q + 7].astype(float)
                pose[3:] /= np.linalg.norm(pose[3:])
                turn = pin.XYZQUATToSE3(pose).rotation
                speed, spin = (turn.T @ part for part in np.split(qd[joint.qd : joint.qd + 6].astype(float), 2))
                self.q[world, joint.own_q : joint.own_q + 7] = pose
                # Newton's velocity is that of the centre of mass, Pinocchio's that of the joint's origin.
                speed -= np.cross(spin, joint.com)
                self.v[world, joint.own_v : joint.own_v + 6] = np.concatenate([speed, spin])

    def advance(self, body_f: wp.array, joint_f: wp.array, dt: float) -> None:
        """Take a semi-implicit Euler step of `dt` [s] under wrenches on bodies and efforts on joints."""
        model, data, gravity = self.mechanism.model, self.data, self.model.gravity.numpy()
        for world in range(self.model.world_count):
            q, v = self.q[world], self.v[world]
            model.gravity.linear = gravity[world].astype(float)
            pin.forwardKinematics(model, data, q)
            efforts, wrenches = self._efforts(self._of(joint_f, world)), self._wrenches(self._of(body_f, world))
            v += dt * pin.aba(model, data, q, v, efforts, wrenches)
            q[:] = pin.integrate(model, q, dt * v)

    def write(self, state: newton.State) -> None:
        """Write the joints of all worlds."""
        for world in range(self.model.world_count):
            q, qd = (self._of(array, world) for array in (state.joint_q, state.joint_qd))
            for joint in self.mechanism.joints:
                if not joint.is_free:
                    q[joint.q], qd[joint.qd] = self.q[world, joint.own_q], self.v[world, joint.own_v]
                    continue
                pose = self.q[world, joint.own_q : joint.own_q + 7]
                turn = pin.XYZQUATToSE3(pose).rotation
                speed, spin = np.split(self.v[world, joint.own_v : joint.own_v + 6], 2)
                q[joint.q : joint.q + 7] = pose
                qd[joint.qd : joint.qd + 6] = np.concatenate([turn @ (speed + np.cross(spin, joint.com)), turn @ spin])

    def _of(self, array: wp.array, world: int) -> np.ndarray:
        """Return the part of an array that belongs to a world."""
        return array.numpy().reshape(self.model.world_count, -1)[world]

    def _efforts(self, joint_f: np.ndarray) -> np.ndarray:
        efforts = np.zeros(self.mechanism.model.nv)
        for joint in self.mechanism.joints:
            if not joint.is_free:
                efforts[joint.own_v] = joint_f[joint.qd]
                continue
            turn = self.data.oMi[joint.index].rotation
            force, torque = (turn.T @ part for part in np.split(joint_f[joint.qd : joint.qd + 6].astype(float), 2))
            efforts[joint.own_v : joint.own_v + 6] = np.concatenate([force, torque + np.cross(joint.com, force)])
        return efforts

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
