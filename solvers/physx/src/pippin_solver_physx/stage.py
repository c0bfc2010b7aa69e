"""Newton's worlds as a USD stage: a scene of PhysX for each, with bodies, joints, shapes and pairs without contacts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import newton
import numpy as np
import warp as wp
from newton import GeoType

from . import PhysXConfig

__all__ = ["Stage"]

JOINTS = {"FIXED": "PhysicsFixedJoint", "REVOLUTE": "PhysicsRevoluteJoint", "PRISMATIC": "PhysicsPrismaticJoint"}
"""The prim of each joint that is not free."""

ROUND = {GeoType.SPHERE: "Sphere", GeoType.CAPSULE: "Capsule", GeoType.CYLINDER: "Cylinder", GeoType.CONE: "Cone"}
FORMS = ROUND | {GeoType.BOX: "Cube", GeoType.PLANE: "Plane", GeoType.ELLIPSOID: "Mesh", GeoType.CONVEX_MESH: "Mesh"}
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

FAR = 1e6
"""Coordinates [m, rad] from which Newton's builders mean that nothing is limited."""

HULL = 34
"""Most points of a convex mesh: PhysX leaves points out of a hull that has more than 64 triangles."""

Frame: Any = wp.transform

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
        self._model, self._config = model, config
        count = model.joint_count // model.world_count
        kinds = [newton.JointType(kind).name for kind in model.joint_type.numpy()[:count]]
        ends = [getattr(model, f"joint_{end}").numpy()[:count].tolist() for end in ("parent", "child")]
        self._joints = list(zip(range(count), kinds, *ends, strict=True))
        collides, own = (np.zeros(0, bool),) * 2
        if model.shape_count:
            collides = model.shape_flags.numpy() & int(newton.ShapeFlags.COLLIDE_SHAPES) != 0
            own = model.shape_world.numpy() <= 0
        self._bodies = {
            shape: int(model.shape_body.numpy()[shape]) for shape in np.flatnonzero(collides & own).tolist()
        }
        met = set(map(frozenset, model.shape_contact_pairs.numpy().tolist())) if self._bodies else set()
        pairs = [(a, b) for a in self._bodies for b in self._bodies if a < b and self._bodies[a] != self._bodies[b]]
        self._met = [pair for pair in pairs if frozenset(pair) in met]
        self._apart = [pair for pair in pairs if frozenset(pair) not in met]
        #: Gravity of each world [m/s²], shape [W, 3].
        self.gravity = model.gravity.numpy()[: model.world_count].astype(float)

    def faults(self) -> Iterator[str]:
        """Yield what PhysX, or this wrapper, does not have."""
        model, linked = self._model, {frozenset(ends) for _, _, *ends in self._joints if ends[0] >= 0}
        for row, kind, parent, _ in self._joints:
            if kind == "FREE" and parent >= 0:
                yield f"type: free joint {model.joint_label[row]!r} has a parent; let it hang from the world"
        for shape, body in self._bodies.items():
            kind, label = GeoType(model.shape_type.numpy()[shape]), model.shape_label[shape]
            if kind not in FORMS:
                cure = "let convex_hulls be true in its asset, or let it be another shape"
                yield f"type: 'physx' has no shapes of the kind {kind.name.lower()}, as {label!r} is; {cure}"
            if kind == GeoType.PLANE and (body >= 0 or model.shape_scale.numpy()[shape, :2].any()):
                yield f"type: plane {label!r} moves, or has edges; let it be a box, or an endless ground"
            if kind == GeoType.CONVEX_MESH and len(model.shape_source[shape].vertices) > HULL:
                yield f"type: mesh {label!r} has more than {HULL} points, and PhysX would leave some out; reduce it"
        for pair in self._met:
            if frozenset(self._bodies[shape] for shape in pair) in linked:
                names = " and ".join(repr(model.shape_label[shape]) for shape in pair)
                yield f"type: {names} may touch across a joint, as they never do in PhysX; let their pair be filtered"

    def notes(self) -> Iterator[str]:
        """Yield what of the model is not exact."""
        for shape in self._bodies:
            if GeoType(self._model.shape_type.numpy()[shape]) == GeoType.ELLIPSOID:
                label = self._model.shape_label[shape]
                yield f"ellipsoid {label!r} is a convex mesh in PhysX, within 5 % of its size"

    def trees(self) -> list[dict[str, Any]]:
        """Return what `Tree` is told of each tree of joints; columns are Newton's coordinates and velocities."""
        found, owners = list[dict[str, Any]](), dict[int, dict[str, Any]]()
        starts = [getattr(self._model, f"joint_{name}_start").numpy().tolist() for name in ("q", "qd")]
        for row, kind, parent, child in self._joints:
            columns = [list(range(start[row], start[row + 1])) for start in starts]
            if parent < 0:
                free = columns if kind == "FREE" else None
                found.append({"root": f"b{child}" if free else f"root{row}", "bodies": [], "free": free, "axes": {}})
            owners[child] = owner = owners.get(parent, found[-1])
            owner["bodies"].append(child)
            owner["axes"][f"j{row}"] = columns
        return found

    def numbers(self) -> dict[str, np.ndarray]:
        """Return what each world has of its own, by the names of `NUMBERS`, shape [W, ...]."""
        arrays = {name: getattr(self._model, name).numpy() for name in NUMBERS}
        return {name: array.reshape(self._model.world_count, -1).astype(float) for name, array in arrays.items()}

    def usd(self) -> str:
        """Return the text of all worlds."""
        model = self._model
        surfaces = [getattr(model, f"shape_material_{name}") for name in ("mu", "restitution")]
        numbers = [array.numpy().tolist() for array in surfaces if self._bodies]
        #: Friction and restitution of each shape.
        self._surfaces = {shape: tuple(array[shape] for array in numbers) for shape in self._bodies}
        content = "".join([*self._materials(), *self._shapes_of(-1), *self._trees()])
        worlds = [
            prim("Xform", f"env{row}", (), self._scene(gravity), content.replace("/env0/", f"/env{row}/"))
            for row, gravity in enumerate(self.gravity)
        ]
        return '#usda 1.0\n(\nmetersPerUnit = 1\nkilogramsPerUnit = 1\nupAxis = "Z"\n)\n' + "".join(worlds)

    def _scene(self, gravity: np.ndarray) -> str:
        counts = {"Position": self._config.position_iterations, "Velocity": self._config.velocity_iterations}
        bounds = [(end, *each) for each in counts.items() for end in ("min", "max")]
        magnitude = float(np.linalg.norm(gravity))
        return prim(
            *("PhysicsScene", "scene", ("PhysxSceneAPI",)),
            f"vector3f physics:gravityDirection = {text(gravity / (magnitude or 1.0))}",
            f"float physics:gravityMagnitude = {magnitude:.9g}",
            'uniform token physxScene:broadphaseType = "SAP"; bool physxScene:enableGPUDynamics = false',
            "bool physxScene:disableSleeping = true",
            f'uniform token physxScene:solverType = "{self._config.method.upper()}"',
            *(f"uint physxScene:{end}{of}IterationCount = {count}" for end, of, count in bounds),
        )

    def _materials(self) -> Iterator[str]:
        for row, (mu, restitution) in enumerate(dict.fromkeys(self._surfaces.values())):
            frictions = (f"float physics:{kind}Friction = {mu:.9g}" for kind in ("static", "dynamic"))
            bounce = f"float physics:restitution = {restitution:.9g}"
            yield prim("Material", f"m{row}", ("PhysicsMaterialAPI",), *frictions, bounce)

    def _trees(self) -> Iterator[str]:
        """Yield bodies and joints, with all hinges and sliders at zero."""
        model, poses = self._model, {-1: wp.transform_identity()}
        for row, kind, parent, child in self._joints:
            rows = [getattr(model, f"joint_X_{end}").numpy()[row].tolist() for end in "pc"]
            outer, inner = (Frame(*each) for each in rows)
            start, base = model.joint_q_start.numpy()[row], f"b{parent}"
            motion = Frame(*model.joint_q.numpy()[start : start + 7].tolist()) if kind == "FREE" else poses[-1]
            poses[child] = poses[parent] * outer * motion * wp.transform_inverse(inner)
            if parent < 0 and kind != "FREE":  # a joint of an articulation has a body at both ends
                base = f"x{row}"
                yield self._body(base, poses[-1])
                yield prim("PhysicsFixedJoint", f"root{row}", ROOT, f"rel physics:body1 = </env0/{base}>")
            is_root = kind == "FREE" and any(child == other for _, _, other, _ in self._joints)
            yield self._body(f"b{child}", poses[child], *self._shapes_of(child), apis=ROOT if is_root else ())
            if kind != "FREE":
                yield self._joint(row, kind, (base, f"b{child}"), (outer, inner))

    def _body(self, name: str, pose: Any, *shapes: str, apis: tuple[str, ...] = ()) -> str:
        mass = "float physics:mass = 1; float3 physics:diagonalInertia = (1, 1, 1)"  # until the engine has others
        free = "float physxRigidBody:angularDamping = 0; float physxRigidBody:maxAngularVelocity = inf"
        return prim("Xform", name, BODY + apis, *placed(pose), OWNER, mass, free, *shapes)

    def _joint(self, row: int, kind: str, bodies: tuple[str, str], frames: tuple[Any, Any]) -> str:
        model, limits, apis = self._model, list[str](), tuple[str, ...]()
        if kind != "FIXED":
            dof, own = model.joint_qd_start.numpy()[row], "angular" if kind == "REVOLUTE" else "linear"
            axis = wp.vec3(*model.joint_axis.numpy()[dof].tolist())
            turn = wp.transform(wp.vec3(), wp.quat_between_vectors(wp.vec3(1.0, 0.0, 0.0), axis))
            frames = tuple(frame * turn for frame in frames)
            apis = (f"PhysicsDriveAPI:{own}", f"PhysxJointAxisAPI:{own}")
            limits = ['uniform token physics:axis = "X"', f'uniform token drive:{own}:physics:type = "force"']
            for end in ("lower", "upper"):  # a hinge without limits would not count its turns
                value = np.clip(getattr(model, f"joint_limit_{end}").numpy()[dof], -FAR, FAR)
                value = np.degrees(value) if kind == "REVOLUTE" else value
                limits.append(f"float physics:{end}Limit = {value:.9g}")
        for side, (body, frame) in enumerate(zip(bodies, frames, strict=True)):
            limits.append(f"rel physics:body{side} = </env0/{body}>")
            limits.append(f"point3f physics:localPos{side} = {text(frame[:3])}")
            limits.append(f"quatf physics:localRot{side} = {text((frame[6], *frame[3:6]))}")
        return prim(JOINTS[kind], f"j{row}", apis, *limits)

    def _shapes_of(self, body: int) -> Iterator[str]:
        model, materials = self._model, list(dict.fromkeys(self._surfaces.values()))
        for shape in [shape for shape, carrier in self._bodies.items() if carrier == body]:
            kind, size = GeoType(model.shape_type.numpy()[shape]), model.shape_scale.numpy()[shape].astype(float)
            lines = ["double size = 2"] if kind == GeoType.BOX else []
            if kind in ROUND:
                lines = [f"double radius = {size[0]:.9g}"]
                lines += [f"double height = {2.0 * size[1]:.9g}"] if kind != GeoType.SPHERE else []
            elif FORMS[kind] == "Mesh":
                lines = hull(ball() if kind == GeoType.ELLIPSOID else model.shape_source[shape].vertices)
            yield prim(
                *(FORMS[kind], f"s{shape}", SHAPE, OWNER),
                *placed(model.shape_transform.numpy()[shape], size if FORMS[kind] in ("Cube", "Mesh") else (1, 1, 1)),
                *lines,
                f"float physxCollision:restOffset = {model.shape_margin.numpy()[shape]:.9g}",
                f"rel material:binding:physics = </env0/m{materials.index(self._surfaces[shape])}>",
                f"rel physics:filteredPairs = [{', '.join(self._path(b) for a, b in self._apart if a == shape)}]",
            )

    def _path(self, shape: int) -> str:
        body = self._bodies[shape]
        return f"</env0/b{body}/s{shape}>" if body >= 0 else f"</env0/s{shape}>"


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
        f"double3 xformOp:translate = {text(frame[:3])}; quatd xformOp:orient = {text((frame[6], *frame[3:6]))}",
        f"double3 xformOp:scale = {text(scale)}",
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient", "xformOp:scale"]',
    ]


def ball() -> list[list[float]]:
    """Return 34 points around a ball of radius 1, mirrored at all planes of the axes: their hull is within 5 %."""
    points, turns = [[0.0, 0.0, 1.049], [0.0, 0.0, -1.049]], (np.arange(8) + 0.5) * np.pi / 4.0
    for tilt in np.radians((47.0, 78.0)):
        up, out = 1.049 * np.cos(tilt), 1.049 * np.sin(tilt)
        points += [[out * np.cos(turn), out * np.sin(turn), z] for turn in turns for z in (up, -up)]
    return points


def hull(points: Any) -> list[str]:
    """Return the lines of the convex hull of points; its faces are PhysX's."""
    corners = (np.arange(-(-len(points) // 3) * 3) % len(points)).tolist()
    return [
        f"point3f[] points = [{', '.join(map(text, points))}]",
        f"int[] faceVertexCounts = {[3] * (len(corners) // 3)}; int[] faceVertexIndices = {corners}",
        'uniform token physics:approximation = "convexHull"',
    ]
