"""Newton's worlds as a USD stage: a scene of PhysX for each, with bodies, joints, shapes and pairs without contacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from newton import GeoType
from pippin.solving import JointMap

__all__ = ["Stage"]

AXES = {"REVOLUTE": "angular", "PRISMATIC": "linear"}
"""PhysX's name for the axis of each kind of joint that has one."""

FORMS = {
    GeoType.PLANE: "Plane",
    GeoType.SPHERE: "Sphere",
    GeoType.CAPSULE: "Capsule",
    GeoType.CYLINDER: "Cylinder",
    GeoType.CONE: "Cone",
    GeoType.BOX: "Cube",
    GeoType.ELLIPSOID: "Mesh",
    GeoType.CONVEX_MESH: "Mesh",
}
"""The prim of each shape; all but a mesh are exact."""

FAR = 1e6
"""Coordinates [m, rad] and efforts [N, N·m] from which Newton's builders mean that nothing is limited."""

HULL = 255
"""Most points of a convex mesh of PhysX."""

ALIKE = (
    *("joint_X_p", "joint_X_c", "joint_axis", "joint_limit_lower", "joint_limit_upper"),
    *("shape_transform", "shape_scale", "shape_material_mu", "shape_material_restitution"),
)
"""Arrays of the model that all worlds share."""


class Stage:
    """A model whose worlds hold the same.

    Args:
        model: Newton's model, on the CPU.
        iterations: PhysX's iterations of positions and of velocities.
    """

    def __init__(self, model: newton.Model, iterations: Sequence[int] = (32, 1)) -> None:
        self.model, self._iterations, worlds = model, iterations, model.world_count
        joints, self.body_count = model.joint_count // worlds, model.body_count // worlds
        self._kinds = kinds = [newton.JointType(kind).name for kind in model.joint_type.numpy()[:joints]]
        self._parents, self._children = (getattr(model, f"joint_{end}").numpy() for end in ("parent", "child"))
        #: The body and the first DOF of each free joint.
        dofs = model.joint_qd_start.numpy()
        self.free = [(int(self._children[row]), int(dofs[row])) for row in range(joints) if kinds[row] == "FREE"]
        own = np.isin(model.shape_world.numpy(), (-1, 0)) if model.shape_count else np.zeros(0, bool)
        flags = model.shape_flags.numpy() if model.shape_count else np.zeros(0, int)
        self._shapes = np.flatnonzero(own & (flags & int(newton.ShapeFlags.COLLIDE_SHAPES) != 0)).tolist()
        self._carriers = model.shape_body.numpy()[self._shapes].tolist() if self._shapes else []
        pairs = model.shape_contact_pairs
        self._pairs = {frozenset(pair) for pair in (() if pairs is None else pairs.numpy().tolist())}

    def faults(self) -> Iterator[str]:
        """Yield what PhysX, or this wrapper, does not have."""
        model = self.model
        jointed = {frozenset(pair) for pair in zip(self._parents.tolist(), self._children.tolist(), strict=True)}
        for joint, kind in enumerate(self._kinds):
            if kind == "FREE" and self._parents[joint] >= 0:
                yield f"type: free joint {model.joint_label[joint]!r} has a parent; let it hang from the world"
        for shape, carrier in zip(self._shapes, self._carriers, strict=True):
            kind, label = GeoType(model.shape_type.numpy()[shape]), model.shape_label[shape]
            if kind not in FORMS:
                cure = "let convex_hulls be true in its asset, or use another solver"
                yield f"type: 'physx' has no shapes of the kind {kind.name.lower()}, as {label!r} is; {cure}"
            if kind == GeoType.PLANE and (carrier >= 0 or model.shape_scale.numpy()[shape, :2].any()):
                yield f"type: plane {label!r} moves, or has edges; let it be a box, or an endless ground"
            if kind == GeoType.CONVEX_MESH and len(model.shape_source[shape].vertices) > HULL:
                yield f"type: mesh {label!r} has more than {HULL} points; reduce it"
        for first, second in self._candidates():
            bodies = frozenset(int(model.shape_body.numpy()[shape]) for shape in (first, second))
            if bodies in jointed and -1 not in bodies and frozenset((first, second)) in self._pairs:
                names = f"{model.shape_label[first]!r} and {model.shape_label[second]!r}"
                yield f"type: {names} touch across a joint, which PhysX never lets happen; let their pair be filtered"

    def trees(self) -> list[dict[str, Any]]:
        """Return the root of each tree of joints, and the columns of its coordinates and velocities in `JointMap`."""
        found, owners, joints = list[dict[str, Any]](), dict[int, dict[str, Any]](), JointMap(self.model)
        for row, kind in enumerate(self._kinds):
            parent, child = int(self._parents[row]), int(self._children[row])
            if parent < 0:
                free = [range(starts[row], starts[row + 1]) for starts in (joints.q_start, joints.qd_start)]
                is_free = kind == "FREE"
                found.append({"root": f"b{child}" if is_free else f"root{row}", "bodies": [], "free": None, "axes": {}})
                owners[-1 - row] = found[-1]
                if is_free:
                    found[-1]["free"] = [list(columns) for columns in free]
            owners[child] = owner = owners[-1 - row if parent < 0 else parent]
            owner["bodies"].append(child)
            if kind in AXES:
                owner["axes"][f"j{row}"] = [joints.q_start[row], joints.qd_start[row]]
        return found

    def numbers(self) -> dict[str, np.ndarray]:
        """Return what each world has of its own, as `Engine.change` takes it."""
        worlds, model = self.model.world_count, self.model
        found = {name: getattr(model, f"body_{name}").numpy().astype(float) for name in ("mass", "com", "inertia")}
        found["inertia"] = found["inertia"].reshape(-1, 9)
        found = {name: values.reshape(worlds, self.body_count, *values.shape[1:]) for name, values in found.items()}
        names = {"armature": "armature", "stiffness": "target_ke", "damping": "target_kd"}
        found |= {name: self._of_axes(own) for name, own in names.items()}
        most, dry, damping = (self._of_axes(name) for name in ("effort_limit", "friction", "damping"))
        found["effort_limit"] = np.where(most < FAR, most, np.finfo(np.float32).max)
        return found | {"friction": np.stack([dry, dry, damping], axis=-1)}

    def _of_axes(self, name: str) -> np.ndarray:
        return getattr(self.model, f"joint_{name}").numpy().astype(float).reshape(self.model.world_count, -1)

    def usd(self) -> str:
        """Return the text of all worlds."""
        content = "".join([*self._materials(), *self._shapes_of(-1), *self._bodies(), *self._joints()])
        worlds = [
            prim("Xform", f"env{row}", (), self._scene(gravity), content.replace("/env0/", f"/env{row}/"))
            for row, gravity in enumerate(self.gravity)
        ]
        return '#usda 1.0\n(\nmetersPerUnit = 1\nkilogramsPerUnit = 1\nupAxis = "Z"\n)\n' + "".join(worlds)

    def _scene(self, gravity: np.ndarray) -> str:
        return prim(
            "PhysicsScene",
            "scene",
            ("PhysxSceneAPI",),
            f"vector3f physics:gravityDirection = {numbers_of(gravity / (np.linalg.norm(gravity) or 1.0))}",
            f"float physics:gravityMagnitude = {np.linalg.norm(gravity):.9g}",
            "bool physxScene:enableGPUDynamics = false",
            'uniform token physxScene:broadphaseType = "SAP"',
        )

    @property
    def gravity(self) -> np.ndarray:
        """Gravity of each world [m/s²], shape [W, 3]."""
        return self.model.gravity.numpy()[: self.model.world_count].astype(float)

    def _surfaces(self) -> list[tuple[float, float]]:
        """Return friction and restitution of the shapes."""
        names = ("mu", "restitution")
        found = [getattr(self.model, f"shape_material_{name}").numpy()[self._shapes].tolist() for name in names]
        return list(zip(*found, strict=True)) if self._shapes else []

    def _materials(self) -> Iterator[str]:
        for row, (mu, restitution) in enumerate(dict.fromkeys(self._surfaces())):
            yield prim(
                "Material",
                f"m{row}",
                ("PhysicsMaterialAPI",),
                f"float physics:staticFriction = {mu:.9g}",
                f"float physics:dynamicFriction = {mu:.9g}",
                f"float physics:restitution = {restitution:.9g}",
            )

    def _bodies(self) -> Iterator[str]:
        frames = {-1: wp.transform_identity()}
        for row, kind in enumerate(self._kinds):
            parent, child = int(self._parents[row]), int(self._children[row])
            outer, inner = self._ends(row)
            start = int(self.model.joint_q_start.numpy()[row])
            motion = self.model.joint_q.numpy()[start : start + 7].tolist() if kind == "FREE" else [0.0] * 6 + [1.0]
            frames[child] = frames[parent] * outer * wp.transform(*motion) * wp.transform_inverse(inner)
            if parent < 0 and kind != "FREE":
                yield self._body(f"x{row}", frames[-1], False)
            is_root = kind == "FREE" and child in self._parents
            yield self._body(f"b{child}", frames[child], is_root, *self._shapes_of(child))

    def _body(self, name: str, frame: Any, is_root: bool, *shapes: str) -> str:
        root = self._root if is_root else ((), ())
        return prim(
            "Xform",
            name,
            ("PhysicsRigidBodyAPI", "PhysxRigidBodyAPI", "PhysicsMassAPI", *root[0]),
            *placed(frame),
            OWNER,
            "float physics:mass = 1",
            "point3f physics:centerOfMass = (0, 0, 0)",
            "float3 physics:diagonalInertia = (1, 1, 1)",
            "float physxRigidBody:angularDamping = 0",
            "float physxRigidBody:maxAngularVelocity = inf",
            "float physxRigidBody:sleepThreshold = 0",
            "float physxRigidBody:stabilizationThreshold = 0",
            f"int physxRigidBody:solverPositionIterationCount = {self._iterations[0]}",
            f"int physxRigidBody:solverVelocityIterationCount = {self._iterations[1]}",
            *root[1],
            *shapes,
        )

    @property
    def _root(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        positions, velocities = self._iterations
        return ("PhysicsArticulationRootAPI", "PhysxArticulationAPI"), (
            f"int physxArticulation:solverPositionIterationCount = {positions}",
            f"int physxArticulation:solverVelocityIterationCount = {velocities}",
            "float physxArticulation:sleepThreshold = 0",
            "float physxArticulation:stabilizationThreshold = 0",
            "bool physxArticulation:enabledSelfCollisions = true",
        )

    def _joints(self) -> Iterator[str]:
        for row, kind in enumerate(self._kinds):
            parent, child = int(self._parents[row]), int(self._children[row])
            ends = self._ends(row)
            if parent < 0 and kind != "FREE":
                (apis, lines), none = self._root, wp.transform_identity()
                yield prim("PhysicsFixedJoint", f"root{row}", apis, *lines, *linked(None, f"x{row}", none, none))
            base = f"b{parent}" if parent >= 0 else f"x{row}"
            if kind == "FIXED":
                yield prim("PhysicsFixedJoint", f"j{row}", (), *linked(base, f"b{child}", *ends))
            elif kind in AXES:
                yield self._axis(row, kind, linked(base, f"b{child}", *(end * self._turn(row) for end in ends)))

    def _ends(self, row: int) -> list[Any]:
        return [wp.transform(*getattr(self.model, f"joint_X_{end}").numpy()[row].tolist()) for end in ("p", "c")]

    def _turn(self, row: int) -> Any:
        """Return the turn from x to the axis of a joint."""
        axis = self.model.joint_axis.numpy()[self.model.joint_qd_start.numpy()[row]]
        return wp.transform(wp.vec3(), wp.quat_between_vectors(wp.vec3(1.0, 0.0, 0.0), wp.vec3(*axis.tolist())))

    def _axis(self, row: int, kind: str, frames: Sequence[str]) -> str:
        axis, dof = AXES[kind], self.model.joint_qd_start.numpy()[row]
        low, high = (float(getattr(self.model, f"joint_limit_{end}").numpy()[dof]) for end in ("lower", "upper"))
        scale = 180.0 / np.pi if axis == "angular" else 1.0
        return prim(
            "PhysicsRevoluteJoint" if axis == "angular" else "PhysicsPrismaticJoint",
            f"j{row}",
            (f"PhysicsDriveAPI:{axis}", f"PhysxJointAxisAPI:{axis}"),
            *frames,
            'uniform token physics:axis = "X"',
            f"float physics:lowerLimit = {scale * max(low, -FAR):.9g}",  # a hinge without limits would count no turns
            f"float physics:upperLimit = {scale * min(high, FAR):.9g}",
            f'uniform token drive:{axis}:physics:type = "force"',
        )

    def _shapes_of(self, body: int) -> Iterator[str]:
        model, surfaces = self.model, self._surfaces()
        materials = list(dict.fromkeys(surfaces))
        for shape, carrier, surface in zip(self._shapes, self._carriers, surfaces, strict=True):
            if carrier != body:
                continue
            kind, size = GeoType(model.shape_type.numpy()[shape]), model.shape_scale.numpy()[shape].astype(float)
            apart = [self._path(other) for pair in self._candidates() if (other := self._filtered(shape, pair)) >= 0]
            form, lines = FORMS[kind], []
            if form == "Mesh":
                lines = hull(*(ball() if kind == GeoType.ELLIPSOID else corners(model.shape_source[shape])))
            elif form in ("Sphere", "Capsule", "Cylinder", "Cone"):
                height = [] if form == "Sphere" else [f"double height = {2.0 * size[1]:.9g}"]
                lines = [f"double radius = {size[0]:.9g}", *height]
            scale = size if form in ("Cube", "Mesh") else None
            yield prim(
                form,
                f"s{shape}",
                SHAPE,
                *placed(model.shape_transform.numpy()[shape], scale),
                OWNER,
                *lines,
                f"float physxCollision:restOffset = {model.shape_margin.numpy()[shape]:.9g}",
                f"rel material:binding:physics = </env0/m{materials.index(surface)}>",
                f"rel physics:filteredPairs = [{', '.join(apart)}]",
            )

    def _candidates(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs of shapes of different bodies, of which one moves."""
        rows = list(zip(self._shapes, self._carriers, strict=True))
        for place, (first, body) in enumerate(rows):
            yield from ((first, second) for second, other in rows[place + 1 :] if body != other)

    def _filtered(self, shape: int, pair: tuple[int, int]) -> int:
        """Return the second shape of a pair that never touches if this is its first one, else -1."""
        return pair[1] if pair[0] == shape and frozenset(pair) not in self._pairs else -1

    def _path(self, shape: int) -> str:
        body = self._carriers[self._shapes.index(shape)]
        return f"</env0/b{body}/s{shape}>" if body >= 0 else f"</env0/s{shape}>"


SHAPE = (
    *("PhysicsCollisionAPI", "PhysxCollisionAPI", "PhysicsMeshCollisionAPI", "PhysicsFilteredPairsAPI"),
    *("PhysxConvexHullCollisionAPI", "MaterialBindingAPI"),
)
"""Schemas of a shape."""

OWNER = "rel physics:simulationOwner = </env0/scene>"
"""The scene of what is in the first world; references of the other worlds lead to their own."""


def prim(kind: str, name: str, apis: Sequence[str], *content: str) -> str:
    """Return the text of a prim, with lines and other prims in it."""
    schemas = f" (prepend apiSchemas = [{', '.join(map(repr_of, apis))}])" if apis else ""
    return "\n".join([f'def {kind} "{name}"{schemas} {{', *content, "}\n"])


def repr_of(text: str) -> str:
    """Return a quoted text."""
    return f'"{text}"'


def numbers_of(values: Any) -> str:
    """Return numbers as a tuple of USD."""
    return f"({', '.join(f'{value:.9g}' for value in values)})"


def placed(frame: Any, scale: np.ndarray | None = None) -> list[str]:
    """Return the lines that place a prim in its parent."""
    lines = [
        f"double3 xformOp:translate = {numbers_of(frame[:3])}",
        f"quatd xformOp:orient = {numbers_of((frame[6], *frame[3:6]))}",
    ]
    names = ["translate", "orient"]
    if scale is not None:
        lines.append(f"double3 xformOp:scale = {numbers_of(scale)}")
        names.append("scale")
    order = ", ".join(f'"xformOp:{name}"' for name in names)
    return [*lines, f"uniform token[] xformOpOrder = [{order}]"]


def linked(base: str | None, tip: str, outer: Any, inner: Any) -> list[str]:
    """Return the lines that join two bodies at a frame of each."""
    lines = [f"rel physics:body0 = </env0/{base}>"] if base else []
    lines.append(f"rel physics:body1 = </env0/{tip}>")
    for side, frame in enumerate((outer, inner)):
        lines.append(f"point3f physics:localPos{side} = {numbers_of(frame[:3])}")
        lines.append(f"quatf physics:localRot{side} = {numbers_of((frame[6], *frame[3:6]))}")
    return lines


def corners(mesh: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the points and the triangles of a mesh."""
    return np.asarray(mesh.vertices, float), np.asarray(mesh.indices).reshape(-1, 3)


def ball() -> tuple[np.ndarray, np.ndarray]:
    """Return the points of a ball of radius 1, mirrored at all planes of the axes, and triangles with all of them."""
    rings = list[list[float]]()
    for angle in np.arange(1, 14) * np.pi / 14:
        count = 4 * round(7.0 * np.sin(angle))
        turns = (np.arange(count) + 0.5) * 2.0 * np.pi / count
        rings += [[np.sin(angle) * np.cos(t), np.sin(angle) * np.sin(t), np.cos(angle)] for t in turns]
    points = np.array([[0.0, 0.0, 1.0], *rings, [0.0, 0.0, -1.0]])
    return points, np.arange(len(points) // 3 * 3).reshape(-1, 3)


def hull(points: np.ndarray, triangles: np.ndarray) -> list[str]:
    """Return the lines of a convex mesh."""
    return [
        f"point3f[] points = [{', '.join(map(numbers_of, points))}]",
        f"int[] faceVertexCounts = {[3] * len(triangles)}",
        f"int[] faceVertexIndices = {triangles.ravel().tolist()}",
        'uniform token physics:approximation = "convexHull"',
        f"int physxConvexHullCollision:hullVertexLimit = {HULL}",
    ]
