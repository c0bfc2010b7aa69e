"""Newton's first world as MJCF, which MotrixSim reads: bodies, joints, drives, shapes and pairs that may touch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import newton
import numpy as np
from newton import GeoType
from pippin.quaternions import conjugate, product, rotated

__all__ = ["Scene"]

SIZES = {"plane": 0, "sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3, "cone": -1, "convex_mesh": -1}
"""How many numbers of a shape MJCF has; -1 is a mesh."""

AXES = ("REVOLUTE", "PRISMATIC")

FAR = 1e6
"""Coordinates [m, rad] and efforts [N, N·m] from which Newton's builders mean that nothing is limited."""

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
        self._model, joints = model, model.joint_count // model.world_count
        self._kinds = [newton.JointType(kind).name for kind in self._of("joint_type")[:joints]]
        self._parents, self._children = (self._of(f"joint_{end}")[:joints].tolist() for end in ("parent", "child"))
        #: The name, the kind and the body of each joint.
        self.joints = [[f"j{row}", *each] for row, each in enumerate(zip(self._kinds, self._children, strict=True))]
        #: Hinges and sliders.
        self.axes = [row for row, kind in enumerate(self._kinds) if kind in AXES]
        collide = self._of("shape_flags") & int(newton.ShapeFlags.COLLIDE_SHAPES) != 0
        self._names = [GeoType(kind).name.lower() for kind in self._of("shape_type")]
        #: Shapes that collide, of the first world and of none.
        self.shapes = np.flatnonzero(collide & (self._of("shape_world") <= 0))

    def _of(self, name: str, source: Any = None) -> np.ndarray:
        """Return an array of the model, or of a control; empty if it has none."""
        array = getattr(source or self._model, name)
        return np.zeros(0, int) if array is None else array.numpy()

    def of_axes(self, name: str, source: Any = None) -> np.ndarray:
        """Return an array of the model, or of a control, for the hinges and sliders of all worlds, [W, n]."""
        columns = self._of("joint_q_start" if name.endswith("_q") else "joint_qd_start")[self.axes]
        return self._of(f"joint_{name}", source).reshape(self._model.world_count, -1).astype(float)[:, columns]

    def faults(self) -> Iterator[str]:
        """Yield which shapes MotrixSim, or this wrapper, does not have."""
        for shape in self.shapes:
            name, label = self._names[shape], self._model.shape_label[shape]
            if name not in SIZES:
                yield f"type: 'motrix' has no shapes of the kind {name}, as {label!r} is; set convex_hulls in its asset"
            is_endless = self._of("shape_body")[shape] < 0 and not self._of("shape_scale")[shape, :2].any()
            if name == "plane" and not is_endless:
                yield f"type: plane {label!r} moves, or has edges; let it be a box, or an endless ground"

    def numbers(self) -> dict[str, np.ndarray]:
        """Return what each world may have of its own, as `Engine` takes it."""
        mass, com, inertia = (self._of(f"body_{name}").astype(float) for name in ("mass", "com", "inertia"))
        shape = self._model.world_count, len(self._children)
        found = {"mass": mass.reshape(shape), "com": com.reshape(*shape, 3), "inertia": six(inertia).reshape(*shape, 6)}
        return found | {name: self.of_axes(name) for name in ("armature", "friction", "target_ke", "target_kd")}

    def holders(self) -> dict[str, Any]:
        """Return the body that each body is fixed to or is, and the point of each body that its joint holds."""
        carriers, anchors = list(range(len(self._children))), np.zeros((len(self._children), 3))
        for row, (kind, parent, child) in enumerate(zip(self._kinds, self._parents, self._children, strict=True)):
            if kind == "FIXED":
                carriers[child] = parent if parent < 0 else carriers[parent]
            elif kind in AXES:
                anchors[child] = self._of("joint_X_c")[row, :3]
        return {"carriers": carriers, "anchors": anchors}

    def mjcf(self, dt: float) -> str:
        """Return the text of the first world with substeps of `dt` [s]."""
        actuators = "".join(f'<motor joint="j{row}"/>' for row in self.axes)
        for row, most in zip(self.axes, self.of_axes("effort_limit")[0], strict=True):
            law = f'gaintype="fixed" biastype="affine" gainprm="1" biasprm="0 0 0"{bounds("forcerange", -most, most)}'
            actuators += f'<general name="d{row}" joint="j{row}" {law}/>'
        meshes = "".join(self._mesh(shape) for shape in self.shapes if SIZES[self._names[shape]] < 0)
        return (
            f'<mujoco><compiler angle="radian" autolimits="true"/><option timestep="{dt:.17g}"/><asset>{meshes}</asset>'
            f"<worldbody>{''.join(self._shapes_of(-1))}{self._bodies_of(-1)}</worldbody>"
            f"<actuator>{actuators}</actuator><contact>{''.join(self._pairs())}</contact></mujoco>"
        )

    def _bodies_of(self, parent: int) -> str:
        return "".join(self._body(row) for row, each in enumerate(self._parents) if each == parent)

    def _body(self, row: int) -> str:
        body = self._children[row]
        outer, inner = (self._of(f"joint_{name}")[row].astype(float) for name in ("X_p", "X_c"))
        turn = product(outer[3:], conjugate(inner[3:]))
        place = outer[:3] - rotated(turn, inner[:3])
        mass, com, inertia = (self._of(f"body_{name}")[body] for name in ("mass", "com", "inertia"))
        inertial = f'<inertial pos="{text(com)}" mass="{mass:.9g}" fullinertia="{text(six(inertia))}"/>'
        return (
            f'<body name="b{body}" pos="{text(place)}" quat="{text(np.roll(turn, 1))}">{self._joint(row, inner)}'
            f"{inertial if mass else ''}{''.join(self._shapes_of(body))}{self._bodies_of(body)}</body>"
        )

    def _joint(self, row: int, inner: np.ndarray) -> str:
        kind = self._kinds[row]
        if kind not in AXES:
            return f'<freejoint name="j{row}"/>' if kind == "FREE" else ""
        names = ("damping", "stiffness", "rest_q", "limit_lower", "limit_upper")
        damping, stiffness, rest, low, high = (self.of_axes(name)[0, self.axes.index(row)] for name in names)
        axis = rotated(inner[3:], self._of("joint_axis")[self._of("joint_qd_start")[row]].astype(float))
        return (
            f'<joint name="j{row}" type="{"hinge" if kind == "REVOLUTE" else "slide"}" pos="{text(inner[:3])}"'
            f' axis="{text(axis)}" damping="{damping:.9g}" stiffness="{stiffness:.9g}" springref="{rest:.9g}"'
            f"{bounds('range', low, high)}/>"
        )

    def _shapes_of(self, body: int) -> Iterator[str]:
        for shape in self.shapes[self._of("shape_body")[self.shapes] == body]:
            name, place = self._names[shape], self._of("shape_transform")[shape]
            form = f'type="{name}" size="{text(self._of("shape_scale")[shape, : SIZES[name]]) or "0 0 1"}"'
            form = f'type="mesh" mesh="m{shape}"' if SIZES[name] < 0 else form
            frame = f'pos="{text(place[:3])}" quat="{text(np.roll(place[3:], 1))}"'
            yield f'<geom name="g{shape}" {form} {frame} contype="0" conaffinity="0"/>'

    def _mesh(self, shape: Any) -> str:
        """Return the corners of a cone, or of a convex mesh.

        MotrixSim is at a loss where neighbouring triangles are in one plane, so that no corner is quite in its place.
        """
        angles = np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)
        corners = np.stack([np.cos(angles), np.sin(angles), np.full(48, -1.0)], 1)
        corners = np.vstack([corners, [[0.0, 0.0, 1.0]]]) * self._of("shape_scale")[shape, [0, 0, 1]]
        if self._names[shape] == "convex_mesh":
            source: Any = self._model.shape_source[shape]
            corners = np.unique(source.vertices, axis=0) * self._of("shape_scale")[shape]
        corners += OFF * np.abs(corners).max() * np.random.default_rng(0).uniform(-1.0, 1.0, corners.shape)
        return f'<mesh name="m{shape}" vertex="{text(corners)}"/>'

    def _pairs(self) -> Iterator[str]:
        for first, second in self._of("shape_contact_pairs") if len(self.shapes) else ():
            if np.isin((first, second), self.shapes).all():
                mu, margin = (self._of(f"shape_{name}")[[first, second]] for name in ("material_mu", "margin"))
                numbers = f'margin="{margin.sum():.9g}" friction="{text([mu.mean(), mu.mean()])} 0 0 0"'
                yield f'<pair geom1="g{first}" geom2="g{second}" condim="3" {numbers}/>'


def text(values: Any) -> str:
    """Return numbers for an attribute."""
    return " ".join(f"{value:.9g}" for value in np.ravel(values))


def bounds(name: str, low: float, high: float) -> str:
    """Return an attribute with a range; empty if nothing is limited."""
    return f' {name}="{max(low, -FAR):.9g} {min(high, FAR):.9g}"' if max(low, -high) > -FAR else ""


def six(inertia: np.ndarray) -> np.ndarray:
    """Return the numbers xx, yy, zz, xy, xz and yz of symmetric matrices, [..., 6]."""
    return inertia[..., [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
