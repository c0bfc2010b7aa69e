"""Newton's first world as MJCF, which MotrixSim reads: bodies, joints, drives, shapes and pairs that may touch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import newton
import numpy as np
from pippin.quaternions import rotated
from pippin_engines import FAR, FirstWorld, WorldJoint, WorldShape

__all__ = ["Scene"]

SIZES = {"PLANE": 0, "SPHERE": 1, "CAPSULE": 2, "ELLIPSOID": 3, "CYLINDER": 2, "BOX": 3, "CONE": -1, "CONVEX_MESH": -1}
"""How many numbers of a shape MJCF has; -1 is a mesh."""

OFF = 1e-4
"""Distance of corners of meshes from their places, by their distance from the origin."""

ALIKE = (
    *("joint_X_p", "joint_X_c", "joint_axis", "joint_damping", "joint_stiffness", "joint_rest_q", "joint_limit_lower"),
    *("joint_limit_upper", "joint_effort_limit", "shape_transform", "shape_scale", "shape_material_mu", "shape_margin"),
)
"""Arrays of the model that all worlds share in MotrixSim."""


class Scene:
    """A model whose worlds hold the same.

    Args:
        model: Newton's model, on the CPU.
    """

    def __init__(self, model: newton.Model) -> None:
        #: The joints and shapes of the first world.
        self.world = FirstWorld(model)
        self._axes = [(joint, index) for joint in self.world.joints for index in range(len(joint.axes))]

    def _of_axes(self, name: str) -> np.ndarray:
        """Return an array of the model for the axes of joints of all worlds, [W, n]."""
        columns = [(joint.q if name == "rest_q" else joint.qd)[index] for joint, index in self._axes]
        return self.world.numbers(f"joint_{name}")[0][:, columns]

    def numbers(self) -> dict[str, np.ndarray]:
        """Return what each world may have of its own, as `Engine` takes it."""
        mass, com, inertia = self.world.numbers("body_mass", "body_com", "body_inertia")
        found = {"mass": mass, "com": com, "inertia": six(inertia)}
        return found | {name: self._of_axes(name) for name in ("armature", "friction", "target_ke", "target_kd")}

    def joints(self) -> dict[str, Any]:
        """Return the kind, body and number of axes of each joint, the body that each body is fixed to or is, and the
        point of each body that its joint holds.
        """
        joints = self.world.joints
        carriers, anchors = list(range(len(joints))), np.zeros((len(joints), 3))
        for joint in joints:
            if joint.kind == "FIXED":
                carriers[joint.child] = joint.parent if joint.parent < 0 else carriers[joint.parent]
            elif len(joint.axes):
                anchors[joint.child] = joint.inner[:3]
        kinds = [(joint.kind, joint.child, len(joint.axes)) for joint in joints]
        return {"joints": kinds, "carriers": carriers, "anchors": anchors}

    def mjcf(self, dt: float) -> str:
        """Return the text of the first world with substeps of `dt` [s]."""
        names = [f"{joint.child}_{index}" for joint, index in self._axes]
        actuators = "".join(f'<motor joint="j{name}"/>' for name in names)
        for name, most in zip(names, self._of_axes("effort_limit")[0], strict=True):
            law = f'gaintype="fixed" biastype="affine" gainprm="1" biasprm="0 0 0"{bounds("forcerange", -most, most)}'
            actuators += f'<general name="d{name}" joint="j{name}" {law}/>'
        meshes = "".join(mesh(shape) for shape in self.world.shapes if SIZES[shape.kind] < 0)
        return (
            f'<mujoco><compiler angle="radian" autolimits="true"/><option timestep="{dt:.17g}"/><asset>{meshes}</asset>'
            f"<worldbody>{''.join(self._shapes_of(-1))}{self._bodies_of(-1)}</worldbody>"
            f"<actuator>{actuators}</actuator><contact>{''.join(self._pairs())}</contact></mujoco>"
        )

    def _bodies_of(self, parent: int) -> str:
        return "".join(self._body(joint) for joint in self.world.joints if joint.parent == parent)

    def _body(self, joint: WorldJoint) -> str:
        body, numbers = joint.child, self.numbers()
        mass, com, inertia = (numbers[name][0, body] for name in ("mass", "com", "inertia"))
        inertial = f'<inertial pos="{text(com)}" mass="{mass:.9g}" fullinertia="{text(inertia)}"/>'
        return (
            f'<body name="b{body}" {placed(joint.place)}>{self._joint(joint)}'
            f"{inertial if mass else ''}{''.join(self._shapes_of(body))}{self._bodies_of(body)}</body>"
        )

    def _joint(self, joint: WorldJoint) -> str:
        if joint.kind == "FREE":
            return f'<freejoint name="j{joint.child}"/>'
        names, found = ("damping", "stiffness", "rest_q", "limit_lower", "limit_upper"), ""
        for index, axis in enumerate(rotated(joint.inner[3:], joint.axes)):
            at, kind = self._axes.index((joint, index)), "slide" if index < joint.slides else "hinge"
            damping, stiffness, rest, low, high = (self._of_axes(name)[0, at] for name in names)
            found += (
                f'<joint name="j{joint.child}_{index}" type="{kind}" pos="{text(joint.inner[:3])}" axis="{text(axis)}"'
                f' damping="{damping:.9g}" stiffness="{stiffness:.9g}" springref="{rest:.9g}"'
                f"{bounds('range', low, high)}/>"
            )
        return found

    def _shapes_of(self, body: int) -> Iterator[str]:
        for shape in self.world.shapes:
            count, name = SIZES[shape.kind], f"g{shape.row}"
            form = f'type="{shape.kind.lower()}" size="{text(shape.size[:count]) or "0 0 1"}"'
            form = f'type="mesh" mesh="m{shape.row}"' if count < 0 else form
            if shape.body == body:
                yield f'<geom name="{name}" {form} {placed(shape.place)} contype="0" conaffinity="0"/>'

    def _pairs(self) -> Iterator[str]:
        for pair in self.world.touching:
            first, second = (f"g{shape.row}" for shape in pair)
            margin, mu = sum(shape.margin for shape in pair), sum(shape.mu for shape in pair) / 2.0
            numbers = f'margin="{margin:.9g}" friction="{text([mu, mu])} 0 0 0"'
            yield f'<pair geom1="{first}" geom2="{second}" condim="3" {numbers}/>'


def mesh(shape: WorldShape) -> str:
    """Return the corners of a cone, or of a convex mesh.

    MotrixSim is at a loss where neighbouring triangles are in one plane, so that no corner is quite in its place.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)
    corners = np.stack([np.cos(angles), np.sin(angles), np.full(48, -1.0)], 1)
    corners = np.vstack([corners, [[0.0, 0.0, 1.0]]]) * shape.size[[0, 0, 1]]
    if shape.kind == "CONVEX_MESH":
        corners = np.unique(shape.corners, axis=0)
    corners += OFF * np.abs(corners).max() * np.random.default_rng(0).uniform(-1.0, 1.0, corners.shape)
    return f'<mesh name="m{shape.row}" vertex="{text(corners)}"/>'


def placed(frame: np.ndarray) -> str:
    """Return the attributes of a frame."""
    return f'pos="{text(frame[:3])}" quat="{text(np.roll(frame[3:], 1))}"'


def text(values: Any) -> str:
    """Return numbers for an attribute."""
    return " ".join(f"{value:.9g}" for value in np.ravel(values))


def bounds(name: str, low: float, high: float) -> str:
    """Return an attribute with a range; empty if nothing is limited."""
    return f' {name}="{max(low, -FAR):.9g} {min(high, FAR):.9g}"' if max(low, -high) > -FAR else ""


def six(inertia: np.ndarray) -> np.ndarray:
    """Return the numbers xx, yy, zz, xy, xz and yz of symmetric matrices, [..., 6]."""
    return inertia[..., [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
