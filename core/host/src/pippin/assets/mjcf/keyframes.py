"""Keyframes of MJCF files: start positions, velocities and targets of joints, found by the joints' names.

The order of joints differs between MuJoCo and Newton, which merges the joints of a body.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs
import mujoco
import newton
import numpy as np
import warp as wp
from newton.math import quat_between_axes
from pippin.assets.actuators.asset_actuators import AssetActuators
from pippin.assets.mjcf.rewriting import servo_of
from pippin.attribute_rows import write
from pippin.axes import axis_labels
from pippin.config.model import AssetConfig
from pippin.errors import ConfigError
from pippin.labels import name_of
from pippin.quaternions import from_mujoco, rotated
from pippin.spelling import did_you_mean

_FREE, _BALL, _SLIDE = (int(getattr(mujoco.mjtJoint, f"mjJNT_{name}")) for name in ("FREE", "BALL", "SLIDE"))


def keyframe_names(model: Any) -> list[str]:
    """Return the names of the keyframes of MuJoCo's model; one without a name is its index as text."""
    return [model.key(index).name or str(index) for index in range(model.nkey)]


def start_at(builder: newton.ModelBuilder, model: Any, config: AssetConfig, where: str) -> Keyframe:
    """Set the joints of a builder to the positions and velocities of the asset's keyframe, and return the keyframe."""
    names = keyframe_names(model)
    if config.keyframe not in names:
        known = f"keyframes: {', '.join(names)}" if names else "the file has no keyframes; leave it out"
        hint = did_you_mean(str(config.keyframe), names) or ";"
        raise ConfigError(f"{where}.keyframe: {config.keyframe!r} is not a keyframe of {config.path!r}{hint} {known}")
    turn = quat_between_axes(newton.Axis.from_any(config.up_axis or "z"), builder.up_axis)
    placement: Any = wp.transform(config.position, config.rotation) * wp.transform(wp.vec3(0.0), turn)
    keyframe = Keyframe(builder, model, names.index(config.keyframe), placement, config.scale or 1.0)
    keyframe.set_joints()
    return keyframe


@attrs.frozen(eq=False)
class Keyframe:
    """One keyframe of MuJoCo's model, for the joints of a builder."""

    builder: newton.ModelBuilder
    model: Any
    index: int
    placement: Any
    """Pose of the file's origin in the world."""
    scale: float
    """Scale of lengths."""

    def set_joints(self) -> None:
        """Set the positions and velocities of all joints that the keyframe and the builder both have."""
        positions, velocities = self.model.key_qpos[self.index], self.model.key_qvel[self.index]
        for own, (joint, axis) in self._joints():
            q, v = positions[own.qposadr[0] :], velocities[own.dofadr[0] :]
            kind = int(own.type[0])
            if kind == _FREE:
                self._set_free(joint, q[:7], v[:6])
            elif kind == _BALL:
                turn = _turn(q[:4])
                self._write(joint, 0, [*turn], rotated(np.array(turn), v[:3]))
            else:
                length = self.scale if kind == _SLIDE else 1.0
                start = float(q[0] - self.model.qpos0[own.qposadr[0]])
                self._write(joint, axis, [length * start], [length * float(v[0])])

    def left_out(self) -> list[str]:
        """Return the parts of the keyframe that have no place in the builder."""
        placed = {own.id for own, _ in self._joints()}
        free = (self.model.joint(index) for index in np.flatnonzero(self.model.jnt_type == _FREE))
        fixed = [self.model.body(int(own.bodyid[0])).name for own in free if own.id not in placed]
        texts = [f"the poses of bodies that `floating` fixes: {', '.join(fixed)}"] if fixed else []
        texts += ["the activations of actuators"] if np.any(self.model.key_act[self.index]) else []
        return texts + (["the poses of mocap bodies"] if self.model.nmocap else [])

    def set_targets(self) -> None:
        """Set the inputs of the asset's actuators: the controls of the keyframe.

        If all controls are zero, as if the keyframe had none, the targets of servos are the present positions.
        """
        controls, builder = self.model.key_ctrl[self.index], self.builder
        places = {own.id: place for own, place in self._joints()}
        rows = {name_of(label): row for row, label in enumerate(AssetActuators(builder).labels)}
        for actuator in range(self.model.nu):
            target = int(self.model.actuator_trnid[actuator, 0])
            kind = servo_of(self.model, actuator)
            if kind is None:
                row = rows.get(name_of(self.model.actuator(actuator).name))
                if row is not None and controls[actuator]:
                    write(builder, "mujoco:ctrl", row, controls[actuator])
                continue
            if target not in places:
                continue
            joint, axis = places[target]
            coordinate, dof = builder.joint_q_start[joint] + axis, builder.joint_qd_start[joint] + axis
            own = self.model.joint(target)
            length = self.scale if int(own.type[0]) == _SLIDE else 1.0
            if kind == "velocity":
                builder.joint_target_qd[dof] = length * float(controls[actuator])
            elif np.any(controls):
                reference = self.model.qpos0[own.qposadr[0]]
                builder.joint_target_q[coordinate] = length * float(controls[actuator] - reference)
            else:
                builder.joint_target_q[coordinate] = builder.joint_q[coordinate]

    def _joints(self) -> Iterator[tuple[Any, tuple[int, int]]]:
        """Yield each joint of MuJoCo's model with the builder's joint and axis; none for a root that is now fixed."""
        places = _places(self.builder)
        for index in range(self.model.njnt):
            own = self.model.joint(index)
            name = own.name if int(own.type[0]) != _FREE else self.model.body(int(own.bodyid[0])).name
            place = places.get((int(own.type[0]) == _FREE, name.replace("-", "_")))
            if place is not None:
                yield own, place

    def _set_free(self, joint: int, q: np.ndarray, v: np.ndarray) -> None:
        """Set a free joint: MuJoCo's velocities are of the body's origin, and rotation in its own frame."""
        builder, placement = self.builder, self.placement
        anchor: Any = builder.joint_X_p[joint]
        pose: Any = placement * wp.transform(self.scale * q[:3], _turn(q[3:]))
        relative = wp.transform_inverse(anchor) * pose * builder.joint_X_c[joint]
        arm = rotated(np.array(pose.q), np.array(builder.body_com[builder.joint_child[joint]]))
        spin = rotated(np.array(pose.q), v[3:])
        linear = rotated(np.array(placement.q), self.scale * v[:3]) + np.cross(spin, arm)
        into = np.array(wp.quat_inverse(anchor.q))
        self._write(joint, 0, [*relative], [*rotated(into, linear), *rotated(into, spin)])

    def _write(self, joint: int, axis: int, q: Iterable[float], qd: Iterable[float]) -> None:
        coordinate = self.builder.joint_q_start[joint] + axis
        dof = self.builder.joint_qd_start[joint] + axis
        for index, value in enumerate(q, coordinate):
            self.builder.joint_q[index] = float(value)
        for index, value in enumerate(qd, dof):
            self.builder.joint_qd[index] = float(value)


def _turn(wxyz: np.ndarray) -> Any:
    return wp.quat(*from_mujoco(wxyz / np.linalg.norm(wxyz)))


def _places(builder: newton.ModelBuilder) -> dict[tuple[bool, str], tuple[int, int]]:
    """Return joint and axis by the name that an MJCF file gives it; a free joint by the name of its body."""
    places = {}
    for joint, label in enumerate(builder.joint_label):
        body = builder.body_label[builder.joint_child[joint]]
        if builder.joint_type[joint] == newton.JointType.FREE:
            places[True, body.rpartition("worldbody/")[2]] = (joint, 0)
            continue
        places[False, label.removeprefix(f"{body}/")] = (joint, 0)
        if builder.joint_type[joint] == newton.JointType.D6:
            path = label[: len(label) - len(name_of(label))]
            for axis, own in enumerate(axis_labels(builder, [joint])):
                places[False, own.removeprefix(path)] = (joint, axis)
    return places
