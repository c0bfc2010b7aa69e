"""Newton's first world as MJCF, which MotrixSim reads: bodies, joints, drives, shapes and pairs that may touch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import newton
import numpy as np
from newton import GeoType
from pippin.quaternions import conjugate, product, rotated

__all__ = ["Scene"]

SHAPES = {
    GeoType.PLANE: ("plane", 0),
    GeoType.SPHERE: ("sphere", 1),
    GeoType.CAPSULE: ("capsule", 2),
    GeoType.ELLIPSOID: ("ellipsoid", 3),
    GeoType.CYLINDER: ("cylinder", 2),
    GeoType.BOX: ("box", 3),
}
"""The name of each shape in MJCF, and how many numbers say its size."""

AXES = ("REVOLUTE", "PRISMATIC")

FAR = 1e6
"""Coordinates [m, rad] and efforts [N, N·m] from which Newton's builders mean that nothing is limited."""

ALIKE = {
    "joint": ("X_p", "X_c", "axis", "damping", "stiffness", "rest_q", "limit_lower", "limit_upper", "effort_limit"),
    "shape": ("type", "transform", "scale", "material_mu"),
}
"""Arrays of the model that all worlds share in MotrixSim."""


class Scene:
    """A model whose worlds hold the same.

    Args:
        model: Newton's model, on the CPU.
    """

    def __init__(self, model: newton.Model) -> None:
        self.model, worlds = model, model.world_count
        self.joint_count, self.body_count = model.joint_count // worlds, model.body_count // worlds
        #: The kind of each joint, the body that it hangs from, and the one that it moves.
        self.kinds = [newton.JointType(kind).name for kind in self.joints("type")]
        self.parents, self.children = self.joints("parent").tolist(), self.joints("child").tolist()
        #: Hinges and sliders, free joints, and the DOFs and coordinates of the former.
        self.axes = [row for row, kind in enumerate(self.kinds) if kind in AXES]
        self.free = [row for row, kind in enumerate(self.kinds) if kind == "FREE"]
        self.dofs = self.joints("qd_start")[self.axes]
        self.coordinates = self.joints("q_start")[self.axes]
        #: The body that each body is fixed to or is; -1 is the world.
        self.carriers = list(range(self.body_count))
        for kind, parent, child in zip(self.kinds, self.parents, self.children, strict=True):
            if kind == "FIXED":
                self.carriers[child] = parent if parent < 0 else self.carriers[parent]
        own = np.isin(model.shape_world.numpy(), (-1, 0)) if model.shape_count else np.zeros(0, bool)
        flags = model.shape_flags.numpy() if model.shape_count else np.zeros(0, int)
        #: Shapes of the first world, and of all worlds, that collide.
        self.shapes = np.flatnonzero(own & (flags & int(newton.ShapeFlags.COLLIDE_SHAPES) != 0))

    def joints(self, name: str) -> np.ndarray:
        """Return an array of the joints of the first world."""
        return getattr(self.model, f"joint_{name}").numpy()[: self.joint_count]

    def faults(self) -> Iterator[str]:
        """Yield why MotrixSim, or this wrapper, cannot simulate the model."""
        model, worlds = self.model, self.model.world_count
        loose = np.setdiff1d(np.arange(self.body_count), self.children)
        if len(loose):
            yield f"type: body {model.body_label[loose[0]]!r} has no joint; give it a free one"
        for shape in self.shapes:
            kind, label = GeoType(model.shape_type.numpy()[shape]), model.shape_label[shape]
            is_fixed = model.shape_body.numpy()[shape] < 0
            scale = model.shape_scale.numpy()[shape]
            if kind not in SHAPES:
                yield f"type: 'motrix' has no shapes of the kind {kind.name.lower()}, as {label!r} is; use a convex one"
            elif kind == GeoType.PLANE and (not is_fixed or scale[:2].any()):
                yield f"type: plane {label!r} moves, or has edges; let it be a box, or an endless ground"
            if model.shape_margin.numpy()[shape] != 0.0:
                yield f"type: 'motrix' knows no margin of shapes, as {label!r} has; make the shape larger"
        for kind, names in ALIKE.items():
            for name in names if worlds > 1 else ():
                array = getattr(model, f"{kind}_{name}").numpy()
                of_worlds = model.shape_world.numpy() if kind == "shape" else None
                array = array if of_worlds is None else array[of_worlds >= 0]
                if len(array) and (array.reshape(worlds, -1) != array.reshape(worlds, -1)[0]).any():
                    yield f"type: {kind}_{name} differs between worlds, and 'motrix' has one for all; make it equal"

    def mjcf(self, dt: float) -> str:
        """Return the text of the first world with substeps of `dt` [s]."""
        actuators = [f'<motor joint="j{row}"/>' for row in self.axes]
        actuators += [
            f'<general name="d{row}" joint="j{row}" gaintype="fixed" biastype="affine" gainprm="1" biasprm="0 0 0"'
            f"{bounds('forcerange', -most, most)}/>"
            for row, most in zip(self.axes, self.of_axes("effort_limit")[0], strict=True)
        ]
        return (
            '<mujoco><compiler angle="radian" autolimits="true"/>'
            f'<option timestep="{dt:.17g}"/>'
            f"<worldbody>{self._shapes_of(-1)}{self._bodies(-1)}</worldbody>"
            f"<actuator>{''.join(actuators)}</actuator><contact>{self._pairs()}</contact></mujoco>"
        )

    def of_axes(self, name: str, source: Any = None) -> np.ndarray:
        """Return an array of the model, or of a control, for the hinges and sliders of all worlds, [W, n]."""
        array = getattr(source or self.model, f"joint_{name}").numpy()
        values = array.reshape(self.model.world_count, -1).astype(float)
        return values[:, self.coordinates if name.endswith("_q") else self.dofs]

    def numbers(self) -> dict[str, np.ndarray]:
        """Return what each world may have of its own, as `Engine` takes it."""
        shape = self.model.world_count, self.body_count
        mass, com, inertia = (getattr(self.model, f"body_{name}").numpy() for name in ("mass", "com", "inertia"))
        found = {"mass": mass.reshape(shape), "com": com.reshape(*shape, 3), "inertia": six(inertia).reshape(*shape, 6)}
        names = {"armature": "armature", "friction": "friction", "stiffness": "target_ke", "damping": "target_kd"}
        found |= {name: self.of_axes(own) for name, own in names.items()}
        return {name: values.astype(float) for name, values in found.items()}

    def anchors(self) -> np.ndarray:
        """Return the point of each body that its joint holds, [bodies, 3]."""
        found = np.zeros((self.body_count, 3))
        found[[self.children[row] for row in self.axes]] = self.joints("X_c")[self.axes, :3]
        return found

    def _bodies(self, parent: int) -> str:
        return "".join(self._body(row) for row, each in enumerate(self.parents) if each == parent)

    def _body(self, row: int) -> str:
        body, model = self.children[row], self.model
        outer, inner = (self.joints(name)[row].astype(float) for name in ("X_p", "X_c"))
        turn = product(outer[3:], conjugate(inner[3:]))
        place = outer[:3] - rotated(turn, inner[:3])
        mass, com, inertia = (getattr(model, f"body_{name}").numpy()[body] for name in ("mass", "com", "inertia"))
        inertial = f'<inertial pos="{text(com)}" mass="{mass:.9g}" fullinertia="{text(six(inertia))}"/>'
        return (
            f'<body name="b{body}" pos="{text(place)}" quat="{text(np.roll(turn, 1))}">{self._joint(row, inner)}'
            f"{inertial if self.carriers[body] >= 0 else ''}{self._shapes_of(body)}{self._bodies(body)}</body>"
        )

    def _joint(self, row: int, inner: np.ndarray) -> str:
        kind = self.kinds[row]
        if kind not in AXES:
            return f'<freejoint name="j{row}"/>' if kind == "FREE" else ""
        names = ("damping", "stiffness", "rest_q", "limit_lower", "limit_upper")
        damping, stiffness, rest, low, high = (self.of_axes(name)[0, self.axes.index(row)] for name in names)
        axis = rotated(inner[3:], self.joints("axis")[self.joints("qd_start")[row]].astype(float))
        return (
            f'<joint name="j{row}" type="{"hinge" if kind == "REVOLUTE" else "slide"}" pos="{text(inner[:3])}"'
            f' axis="{text(axis)}" damping="{damping:.9g}" stiffness="{stiffness:.9g}" springref="{rest:.9g}"'
            f"{bounds('range', low, high)}/>"
        )

    def _shapes_of(self, body: int) -> str:
        model, found = self.model, []
        for shape in self.shapes[model.shape_body.numpy()[self.shapes] == body] if len(self.shapes) else ():
            name, count = SHAPES[GeoType(model.shape_type.numpy()[shape])]
            place, size = model.shape_transform.numpy()[shape], model.shape_scale.numpy()[shape][:count]
            found.append(
                f'<geom name="g{shape}" type="{name}" size="{text(size) if count else "0 0 1"}" pos="{text(place[:3])}"'
                f' quat="{text(np.roll(place[3:], 1))}" contype="0" conaffinity="0"/>'
            )
        return "".join(found)

    def _pairs(self) -> str:
        pairs, mu = self.model.shape_contact_pairs, self.model.shape_material_mu
        rows = () if pairs is None or not len(self.shapes) else pairs.numpy()
        return "".join(
            f'<pair geom1="g{first}" geom2="g{second}" condim="3" friction="{text([mean, mean])} 0 0 0"/>'
            for first, second in rows
            if {first, second} <= set(self.shapes.tolist())
            for mean in [mu.numpy()[[first, second]].mean()]
        )


def text(values: Any) -> str:
    """Return numbers for an attribute."""
    return " ".join(f"{value:.9g}" for value in np.ravel(values))


def bounds(name: str, low: float, high: float) -> str:
    """Return an attribute with a range; empty if nothing is limited."""
    return f' {name}="{max(low, -FAR):.9g} {min(high, FAR):.9g}"' if max(low, -high) > -FAR else ""


def six(inertia: np.ndarray) -> np.ndarray:
    """Return the numbers xx, yy, zz, xy, xz and yz of symmetric matrices, [..., 6]."""
    return inertia[..., [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
