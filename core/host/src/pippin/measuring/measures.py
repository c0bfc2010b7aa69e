"""Physical quantities of a state, measured in the same way for every solver.

Everything is computed on the host in double precision, from Newton's model and a state; nothing is written. Data
inside a solver, such as its own contacts, are not read. Each measure has one value per world; entities that belong to
no world are not counted. The arrays of a state may be NumPy's, with samples in front: so have the measures then.
"""

from __future__ import annotations

from typing import Any, Literal

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.quaternions import conjugate, product, rotated
from pippin.state.pipeline_kernels import kernels_made_once
from pippin.support.features import NO_LIMIT


def kinetic_energy(model: newton.Model, state: newton.State, *, has_rotors: bool = True) -> np.ndarray:
    """Return the kinetic energy of bodies and particles [J], shape [world_count].

    The energy is the sum of ½ m v² + ½ ωᵀ I ω, with v of the centre of mass, and of ½ a q̇² for rotor inertias a, which
    need `joint_qd`.

    Args:
        model: The model of the simulation.
        state: A state of it; its arrays may be NumPy's, with samples in front, and so is the energy then.
        has_rotors: Whether rotor inertias count; not for a solver that leaves them out.
    """
    energy: Any = np.zeros(model.world_count)
    if model.body_count:
        velocity = _double(state.body_qd)
        mass, inertia = _double(model.body_mass), _double(model.body_inertia).reshape(-1, 3, 3)
        omega = rotated(conjugate(_double(state.body_q)[..., 3:]), velocity[..., 3:])
        of_body = 0.5 * mass * (velocity[..., :3] ** 2).sum(axis=-1)
        of_body += 0.5 * np.einsum("...ni,nij,...nj->...n", omega, inertia, omega)
        energy = energy + _sums(model, model.body_world, of_body)
    if model.particle_count:
        speed = (_double(state.particle_qd) ** 2).sum(axis=-1)
        energy = energy + _sums(model, model.particle_world, 0.5 * _double(model.particle_mass) * speed)
    if has_rotors and model.joint_dof_count:
        of_dof = 0.5 * _double(model.joint_armature) * _double(state.joint_qd) ** 2
        joint_of_dof = np.repeat(np.arange(model.joint_count), np.diff(on_host(model.joint_qd_start)))
        energy = energy + _sums(model, on_host(model.joint_world)[joint_of_dof], of_dof)
    return energy


def potential_energy(model: newton.Model, state: newton.State) -> np.ndarray:
    """Return the potential energy of gravity [J], shape [world_count]: the sum of -m g·x over centres of mass.

    The energy of springs, drives and deformed material is not included.

    Args:
        model: The model of the simulation.
        state: A state of it; its arrays may be NumPy's, with samples in front, and so is the energy then.
    """
    energy: Any = np.zeros(model.world_count)
    gravity = _double(model.gravity)
    if model.body_count:
        of_body = -_double(model.body_mass) * (gravity[on_host(model.body_world)] * _centres(model, state)).sum(axis=-1)
        energy = energy + _sums(model, model.body_world, of_body)
    if model.particle_count:
        height = (gravity[on_host(model.particle_world)] * _double(state.particle_q)).sum(axis=-1)
        energy = energy + _sums(model, model.particle_world, -_double(model.particle_mass) * height)
    return energy


def positions(model: newton.Model, state: newton.State) -> np.ndarray:
    """Return the positions of the bodies' centres of mass, then of the particles [m], shape [bodies + particles, 3].

    Args:
        model: The model of the simulation.
        state: A state of it; its arrays may be NumPy's, with samples in front, and so are the positions then.
    """
    parts = [_centres(model, state)] if model.body_count else []
    parts += [_double(state.particle_q)] if model.particle_count else []
    return np.concatenate(parts, axis=-2) if parts else np.zeros((0, 3))


def limit_violation(model: newton.Model, state: newton.State, unit: Literal["rad", "m"]) -> np.ndarray | None:
    """Return the largest violation of joint limits in each world [rad or m], shape [world_count], 0 without any;
    None if no coordinate of this unit is limited.

    The violation is the largest of `lower - q`, `q - upper` and 0, over hinges, sliders and the axes of D6 joints. A
    solver in maximal coordinates knows an angle only up to whole turns; such an angle lies between -π and π. Of the
    state, `joint_q` is read.
    """
    if not model.joint_count:
        return None
    first_q, first_qd = on_host(model.joint_q_start), on_host(model.joint_qd_start)
    is_axial = np.diff(first_q) == np.diff(first_qd)  # else the coordinates hold a quaternion, which has no limits
    joint = np.repeat(np.arange(model.joint_count), np.diff(first_qd))
    index = np.arange(model.joint_dof_count) - first_qd[joint]
    is_linear = index < _linear_dofs(model)[joint]
    lower, upper = _double(model.joint_limit_lower), _double(model.joint_limit_upper)
    is_limited = (lower > -NO_LIMIT) | (upper < NO_LIMIT)
    chosen = np.flatnonzero(is_axial[joint] & is_limited & (is_linear == (unit == "m")))
    if not len(chosen):
        return None
    q = _double(state.joint_q)[..., first_q[joint[chosen]] + index[chosen]]
    beyond = np.maximum(np.maximum(lower[chosen] - q, q - upper[chosen]), 0.0)
    return _largest(model.world_count, on_host(model.joint_world)[joint[chosen]], beyond)


def joint_gap(model: newton.Model, state: newton.State) -> np.ndarray | None:
    """Return the largest joint gap in each world [m], shape [world_count].

    The gap is the distance between the two anchors of a joint, one on its parent and one on its child, along the
    directions in which the joint does not slide. Free joints, distance joints, rods and disabled joints are left out.
    Solvers in maximal coordinates let joints drift. In reduced coordinates only a joint that closes a loop can drift.
    """
    kinds = newton.JointType
    constraining = [int(kind) for kind in (kinds.REVOLUTE, kinds.PRISMATIC, kinds.BALL, kinds.FIXED, kinds.D6)]
    if not model.joint_count:
        return None
    is_constraining = np.isin(on_host(model.joint_type), constraining)
    chosen = np.flatnonzero(is_constraining & on_host(model.joint_enabled).astype(bool))
    if not len(chosen):
        return None
    parent_frame = _frames(state, on_host(model.joint_parent)[chosen], _double(model.joint_X_p)[chosen])
    child_frame = _frames(state, on_host(model.joint_child)[chosen], _double(model.joint_X_c)[chosen])
    apart = rotated(conjugate(parent_frame[..., 3:]), child_frame[..., :3] - parent_frame[..., :3])
    slides = _linear_dofs(model)[chosen]
    first, axes = on_host(model.joint_qd_start)[chosen], _double(model.joint_axis)
    for slide in range(slides.max(initial=0)):
        rows = np.flatnonzero(slides > slide)
        axis = axes[first[rows] + slide]
        apart[..., rows, :] -= (apart[..., rows, :] * axis).sum(axis=-1, keepdims=True) * axis
    return _largest(model.world_count, on_host(model.joint_world)[chosen], np.linalg.norm(apart, axis=-1))


class PenetrationProbe:
    """Penetration of rigid shapes, found by a collision pipeline of its own: the same for every solver.

    Args:
        model: The model.
    """

    def __init__(self, model: newton.Model) -> None:
        self._model = model
        with kernels_made_once():
            self._pipeline = newton.CollisionPipeline(model, publish_capacity=False)
        self._contacts = self._pipeline.contacts()
        self._distance = wp.zeros(self._contacts.rigid_contact_max, dtype=float, device=model.device)

    def depth(self, state: newton.State) -> np.ndarray:
        """Return the deepest penetration in each world [m], shape [world_count]; 0 if no shapes touch.

        The depth of a contact is the overlap of the surfaces, each moved outwards by its shape's margin, along the
        contact's normal.
        """
        shapes, depths = self.pairs(state)
        world_of_shape = on_host(self._model.shape_world)
        worlds = np.where(shapes >= 0, world_of_shape[shapes], -1).max(axis=1, initial=-1)
        return _largest(self._model.world_count, worlds, np.maximum(depths, 0.0))

    def pairs(self, state: newton.State) -> tuple[np.ndarray, np.ndarray]:
        """Return the two shapes of each contact, shape [contacts, 2], and its depth [m], negative for a gap."""
        model, contacts = self._model, self._contacts
        self._pipeline.collide(state, contacts)
        newton.eval_rigid_contact_kinematics(model, state, contacts, out_distance=self._distance)
        count = min(int(contacts.rigid_contact_count.numpy()[0]), contacts.rigid_contact_max)
        columns = (contacts.rigid_contact_shape0, contacts.rigid_contact_shape1)
        shapes = np.stack([on_host(shape)[:count] for shape in columns], axis=1)
        return shapes, -_double(self._distance)[:count]


def _linear_dofs(model: newton.Model) -> np.ndarray:
    return on_host(model.joint_dof_dim)[:, 0]


def _double(array: Any) -> np.ndarray:
    return np.asarray(array if isinstance(array, np.ndarray) else present(array).numpy(), dtype=np.float64)


def _sums(model: newton.Model, worlds: Any, values: np.ndarray) -> np.ndarray:
    worlds = worlds if isinstance(worlds, np.ndarray) else on_host(worlds)
    sums, is_owned = np.zeros((*values.shape[:-1], model.world_count)), worlds >= 0
    np.add.at(np.moveaxis(sums, -1, 0), worlds[is_owned], np.moveaxis(values[..., is_owned], -1, 0))
    return sums


def _largest(world_count: int, worlds: np.ndarray, values: np.ndarray) -> np.ndarray:
    largest, is_owned = np.zeros((*values.shape[:-1], world_count)), worlds >= 0
    np.maximum.at(np.moveaxis(largest, -1, 0), worlds[is_owned], np.moveaxis(values[..., is_owned], -1, 0))
    return largest


def _centres(model: newton.Model, state: newton.State) -> np.ndarray:
    poses = _double(state.body_q)
    return poses[..., :3] + rotated(poses[..., 3:], _double(model.body_com))


def _frames(state: newton.State, bodies: np.ndarray, local: np.ndarray) -> np.ndarray:
    """Return frames fixed to bodies, in world coordinates, shape [..., frames, 7]; body -1 is the world."""
    poses = _double(state.body_q)[..., bodies, :]
    poses[..., bodies < 0, :] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    origins = poses[..., :3] + rotated(poses[..., 3:], local[:, :3])
    return np.concatenate([origins, product(poses[..., 3:], local[:, 3:])], axis=-1)
