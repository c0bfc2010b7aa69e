"""Newton's worlds as a USD stage: a scene of PhysX for each, with bodies, joints, shapes and pairs without contacts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pippin.quaternions import product, rotated
from pippin_engines import FirstWorld, WorldJoint, WorldShape

from . import PhysXConfig

__all__ = ["Stage"]

JOINTS = {"FIXED": "PhysicsFixedJoint", "REVOLUTE": "PhysicsRevoluteJoint", "PRISMATIC": "PhysicsPrismaticJoint"}
"""The prim of each joint that is not free."""

FORMS = {
    **{"SPHERE": "Sphere", "CAPSULE": "Capsule", "CYLINDER": "Cylinder", "CONE": "Cone", "BOX": "Cube"},
    **{"PLANE": "Plane", "ELLIPSOID": "Mesh", "CONVEX_MESH": "Mesh"},
}
"""The prim of each shape."""

BODY = ("PhysicsRigidBodyAPI", "PhysxRigidBodyAPI", "PhysicsMassAPI")
ROOT = ("PhysicsArticulationRootAPI",)
SHAPE = (
    *("PhysicsCollisionAPI", "PhysxCollisionAPI", "PhysicsMeshCollisionAPI"),
    *("PhysicsFilteredPairsAPI", "MaterialBindingAPI"),
)
"""Schemas of a body, of the root of an articulation, and of a shape."""

OWNER = "rel physics:simulationOwner = </env0/scene>"
"""The scene of bodies and shapes."""

MASS = "float physics:mass = 1; float3 physics:diagonalInertia = (1, 1, 1)"
"""The mass of a body until the engine gets others."""

FREE = "float physxRigidBody:angularDamping = 0; float physxRigidBody:maxAngularVelocity = inf"
"""What PhysX would do to bodies unless told otherwise."""

FAR = 1e6
"""Coordinates [m, rad] from which Newton's builders mean that nothing is limited."""

HULL = 34
"""Most points of a convex mesh: PhysX leaves points out of a hull that has more than 64 triangles."""

NUMBERS = (
    *("body_mass", "body_com", "body_inertia", "joint_armature", "joint_target_ke", "joint_target_kd"),
    *("joint_effort_limit", "joint_friction", "joint_damping"),
)
"""Arrays of the model of which each world has its own in PhysX."""

ALIKE = (
    *("joint_X_p", "joint_X_c", "joint_axis", "joint_limit_lower", "joint_limit_upper", "shape_transform"),
    *("shape_scale", "shape_margin", "shape_material_mu", "shape_material_restitution"),
)
"""Arrays of the model that all worlds share."""


class Stage:
    """A model whose worlds hold the same.

    Args:
        model: Newton's model, on the CPU.
        config: The settings.
    """

    def __init__(self, model: Any, config: PhysXConfig) -> None:
        self._config, self._world = config, FirstWorld(model)
        self._parents = {joint.parent for joint in self._world.joints}
        self._touching = {frozenset((first.row, second.row)) for first, second in self._world.touching}
        #: Gravity of each world [m/s²], shape [W, 3].
        self.gravity = model.gravity.numpy()[: model.world_count].astype(float)

    def faults(self) -> Iterator[str]:
        """Yield what PhysX, or this wrapper, does not have."""
        world = self._world
        yield from world.faults("physx", FORMS)
        for shape in world.shapes:
            if shape.kind == "CONVEX_MESH" and len(shape.corners) > HULL:
                label = shape.label
                yield f"type: mesh {label!r} has more than {HULL} points, and PhysX would leave some out; reduce it"
        linked = {frozenset((joint.parent, joint.child)) for joint in world.joints if joint.parent >= 0}
        for first, second in world.touching:
            if frozenset((first.body, second.body)) in linked:
                names = f"{first.label!r} and {second.label!r}"
                yield f"type: {names} may touch across a joint, as they never do in PhysX; let their pair be filtered"

    def notes(self) -> list[str]:
        """Return what of the model is not exact."""
        labels = [shape.label for shape in self._world.shapes if shape.kind == "ELLIPSOID"]
        return [f"ellipsoid {label!r} is a convex mesh in PhysX, within 5 % of its size" for label in labels]

    def numbers(self) -> dict[str, np.ndarray]:
        """Return what each world has of its own, by the names of `NUMBERS`, shape [W, n]."""
        return self._world.numbers(*NUMBERS)

    def trees(self) -> dict[str, Any]:
        """Return the root of each tree with what `Tree` is told of it, and the columns of all joints by their names."""
        joints, roots = self._world.joints, {}
        for joint in (joint for joint in joints if joint.parent < 0):
            free = [joint.q, joint.qd] if joint.kind == "FREE" else []
            told = {"free": free, "is_loose": bool(free) and joint.child not in self._parents}
            roots[f"b{joint.child}" if free else f"root{joint.child}"] = told
        return {"roots": roots, "axes": {f"j{joint.child}": [joint.q, joint.qd] for joint in joints}}

    def usd(self) -> str:
        """Return the text of all worlds."""
        content = "".join([*self._shapes_of(-1), *self._bodies()])
        worlds = [
            prim("Xform", f"env{row}", (), self._scene(gravity), content.replace("/env0/", f"/env{row}/"))
            for row, gravity in enumerate(self.gravity)
        ]
        return '#usda 1.0\n(\nmetersPerUnit = 1\nkilogramsPerUnit = 1\nupAxis = "Z"\n)\n' + "".join(worlds)

    def _scene(self, gravity: np.ndarray) -> str:
        counts = {"Position": self._config.position_iterations, "Velocity": self._config.velocity_iterations}
        magnitude = float(np.linalg.norm(gravity))
        return prim(
            *("PhysicsScene", "scene", ("PhysxSceneAPI",)),
            f"vector3f physics:gravityDirection = {text(gravity / (magnitude or 1.0))}",
            f"float physics:gravityMagnitude = {magnitude:.9g}",
            'uniform token physxScene:broadphaseType = "SAP"; bool physxScene:enableGPUDynamics = false',
            "bool physxScene:disableSleeping = true",
            f'uniform token physxScene:solverType = "{self._config.method.upper()}"',
            *(f"uint physxScene:{end}{of}IterationCount = {n}" for of, n in counts.items() for end in ("min", "max")),
        )

    def _bodies(self) -> Iterator[str]:
        """Yield bodies and joints, with all coordinates at zero: the engine gets them before the first step."""
        poses = {-1: np.eye(7)[6]}
        for joint in self._world.joints:
            pose, place, base = poses[joint.parent], joint.place, f"b{joint.parent}"
            turn = pose[3:]
            poses[joint.child] = np.append(pose[:3] + rotated(turn, place[:3]), product(turn, place[3:]))
            if joint.parent < 0 and joint.kind != "FREE":  # a joint of an articulation has a body at both ends
                base = f"x{joint.child}"
                yield prim("Xform", base, BODY, OWNER, MASS)
                yield prim("PhysicsFixedJoint", f"root{joint.child}", ROOT, f"rel physics:body1 = </env0/{base}>")
            apis = ROOT if joint.kind == "FREE" and joint.child in self._parents else ()
            shapes = self._shapes_of(joint.child)
            yield prim("Xform", f"b{joint.child}", BODY + apis, *placed(poses[joint.child]), OWNER, MASS, FREE, *shapes)
            if joint.kind != "FREE":
                yield self._joint(joint, base)

    def _joint(self, joint: WorldJoint, base: str) -> str:
        lines, apis, frames = list[str](), tuple[str, ...](), [joint.outer, joint.inner]
        if joint.kind != "FIXED":
            own = "angular" if joint.kind == "REVOLUTE" else "linear"
            apis = (f"PhysicsDriveAPI:{own}", f"PhysxJointAxisAPI:{own}")
            lines = ['uniform token physics:axis = "X"', f'uniform token drive:{own}:physics:type = "force"']
            frames = [np.append(frame[:3], product(frame[3:], from_x(joint.axis))) for frame in frames]
            ends = self._world.numbers("joint_limit_lower", "joint_limit_upper").values()
            for name, values in zip(("lower", "upper"), ends, strict=True):
                value = np.clip(values[0, joint.qd[0]], -FAR, FAR)  # a hinge without limits would not count its turns
                value = np.degrees(value) if joint.kind == "REVOLUTE" else value
                lines.append(f"float physics:{name}Limit = {value:.9g}")
        for side, (body, frame) in enumerate(zip((base, f"b{joint.child}"), frames, strict=True)):
            lines.append(f"rel physics:body{side} = </env0/{body}>; point3f physics:localPos{side} = {text(frame[:3])}")
            lines.append(f"quatf physics:localRot{side} = {text(np.roll(frame[3:], 1))}")
        return prim(JOINTS[joint.kind], f"j{joint.child}", apis, *lines)

    def _shapes_of(self, body: int) -> Iterator[str]:
        for shape in [shape for shape in self._world.shapes if shape.body == body]:
            frictions = (f"float physics:{kind}Friction = {shape.mu:.9g}" for kind in ("static", "dynamic"))
            bounce = f"float physics:restitution = {shape.restitution:.9g}"
            others = [other for other in self._world.shapes if other.row > shape.row and other.body != body]
            apart = [path(other) for other in others if frozenset((shape.row, other.row)) not in self._touching]
            yield prim(
                *(FORMS[shape.kind], f"s{shape.row}", SHAPE, OWNER),
                *form(shape),
                f"float physxCollision:restOffset = {shape.margin:.9g}",
                f"rel physics:filteredPairs = [{', '.join(apart)}]",
                f"rel material:binding:physics = {path(shape)[:-1]}/m>",
                prim("Material", "m", ("PhysicsMaterialAPI",), *frictions, bounce),
            )


def from_x(axis: np.ndarray) -> np.ndarray:
    """Return a rotation that turns the axis x into another one, also into -x, of length 1; xyzw."""
    x, y, z = axis * (1.0 if axis[0] >= 0.0 else -1.0)
    turn = np.array([0.0, -z, y, 1.0 + x]) / np.sqrt(2.0 + 2.0 * x)
    return turn if axis[0] >= 0.0 else product(turn, np.array([0.0, 0.0, 1.0, 0.0]))


def path(shape: WorldShape) -> str:
    """Return the place of a shape."""
    return f"</env0/b{shape.body}/s{shape.row}>" if shape.body >= 0 else f"</env0/s{shape.row}>"


def form(shape: WorldShape) -> Iterator[str]:
    """Yield the lines of a shape's frame and size."""
    yield from placed(shape.place, shape.size if shape.kind == "BOX" else (1, 1, 1))
    if shape.kind == "BOX":
        yield "double size = 2"
    elif FORMS[shape.kind] == "Mesh":
        yield from hull(shape.size * ball() if shape.kind == "ELLIPSOID" else shape.corners)
    elif shape.kind != "PLANE":
        yield f"double radius = {shape.size[0]:.9g}"
        if shape.kind != "SPHERE":
            yield f"double height = {2.0 * shape.size[1]:.9g}"


def prim(kind: str, name: str, apis: tuple[str, ...], *content: str) -> str:
    """Return the text of a prim, with lines and other prims in it."""
    quoted = ", ".join(f'"{api}"' for api in apis)
    schemas = f" (prepend apiSchemas = [{quoted}])" if apis else ""
    return "\n".join([f'def {kind} "{name}"{schemas} {{', *content, "}\n"])


def text(values: Any) -> str:
    """Return numbers as a tuple of USD."""
    return f"({', '.join(f'{value:.9g}' for value in values)})"


def placed(frame: Any, scale: Any = (1, 1, 1)) -> list[str]:
    """Return the lines that place a prim in its parent."""
    return [
        f"double3 xformOp:translate = {text(frame[:3])}; quatd xformOp:orient = {text(np.roll(frame[3:], 1))}",
        f"double3 xformOp:scale = {text(scale)}",
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient", "xformOp:scale"]',
    ]


def ball() -> np.ndarray:
    """Return 34 points around a ball of radius 1, mirrored at all planes of the axes: their hull is within 5 %."""
    turns, tilts = (np.arange(8) + 0.5) * np.pi / 4.0, np.radians((47.0, 78.0, 102.0, 133.0))
    rings = [(np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)) for a in tilts for b in turns]
    return 1.049 * np.array([(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), *rings])


def hull(points: Any) -> list[str]:
    """Return the lines of the convex hull of points; its faces are PhysX's."""
    corners = (np.arange(-(-len(points) // 3) * 3) % len(points)).tolist()
    return [
        f"point3f[] points = [{', '.join(map(text, points))}]",
        f"int[] faceVertexCounts = {[3] * (len(corners) // 3)}; int[] faceVertexIndices = {corners}",
        'uniform token physics:approximation = "convexHull"',
    ]
