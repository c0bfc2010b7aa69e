"""Newton's worlds as prims for PhysX: in each, a scene with bodies, joints, shapes and pairs without contacts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.quaternions import product, rotated
from pippin_engines import FirstWorld, WorldJoint, WorldShape

from . import PhysXConfig

__all__ = ["Stage"]

FORMS = {
    "BOX": ("cube", "size"),
    "SPHERE": ("sphere", "radius"),
    **{kind.upper(): (kind, "radius", "height") for kind in ("capsule", "cylinder", "cone")},
    **dict.fromkeys(("ELLIPSOID", "CONVEX_MESH"), ("mesh", "points", "face_vertex_counts", "face_vertex_indices")),
    "PLANE": ("plane",),
}
"""The prim of each shape, and the names of what tells its size."""

OWNER = {"simulation_owner": ["/env0/scene"]}
"""The scene of bodies and shapes."""

BODY = {
    "physics_rigid_body": OWNER,
    "physx_rigid_body": {"angular_damping": 0.0, "max_angular_velocity": np.inf},
    "physics_mass": {"mass": 1.0, "diagonal_inertia": np.ones(3)},
}
"""Schemas of a body: PhysX would damp and limit its turns. Its mass comes with the numbers of the worlds."""

ROOT = {"physics_articulation_root": dict[str, Any]()}

X = wp.vec3(1.0, 0.0, 0.0)
"""The axis of joints of PhysX."""

FAR = 1e6
"""Coordinates [m, rad] from which Newton's builders mean that nothing is limited."""

HULL = 34
"""Most points of a convex mesh: PhysX leaves points out of a hull that has more than 64 triangles."""

NUMBERS = {
    "BODY_MASS": ("body_mass",),
    "BODY_COM_POSE": ("body_com",),
    "BODY_INERTIA": ("body_inertia",),
    "DOF_LIMIT": ("joint_limit_lower", "joint_limit_upper"),
    "DOF_ARMATURE": ("joint_armature",),
    "DOF_STIFFNESS": ("joint_target_ke",),
    "DOF_DAMPING": ("joint_target_kd",),
    "DOF_MAX_FORCE": ("joint_effort_limit",),
    "DOF_FRICTION_PROPERTIES": ("joint_friction", "joint_friction", "joint_damping"),
}
"""What each world has of its own: PhysX's names, and those of the arrays of the model."""

ALIKE = (
    *("joint_X_p", "joint_X_c", "joint_axis", "shape_transform", "shape_scale", "shape_margin"),
    *("shape_material_mu", "shape_material_restitution"),
)
"""Arrays of the model that all worlds share."""

Prim = tuple[str, str, dict[str, Any], dict[str, dict[str, Any]]]
"""A prim of a world: its path there, its type, what it has of the type, and its schemas with what it has of each, some
with an axis of a joint behind a colon. A list holds paths."""


class Stage:
    """A model whose worlds hold the same.

    Args:
        model: Newton's model, on the CPU.
        config: The settings.
    """

    def __init__(self, model: newton.Model, config: PhysXConfig) -> None:
        self._model, self._config, self._world = model, config, FirstWorld(model)
        self._parents = {joint.parent for joint in self._world.joints}
        self._touching = {frozenset((first.row, second.row)) for first, second in self._world.touching}

    def faults(self) -> Iterator[str]:
        """Yield what PhysX, or this wrapper, does not have."""
        world = self._world
        yield from world.faults("physx", FORMS)
        for shape in world.shapes:
            if len(shape.corners) > HULL:
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
        """Return what each world has of its own, by the names of `NUMBERS`, shape [W, bodies or velocities, n]."""
        found = {
            kind: np.stack([self._world.numbers(name)[name] for name in names], axis=-1)
            for kind, names in NUMBERS.items()
        }
        com = found["BODY_COM_POSE"][..., 0]
        found["BODY_COM_POSE"] = np.append(com, np.broadcast_to([0.0, 0.0, 0.0, 1.0], (*com.shape[:2], 4)), axis=-1)
        found["DOF_LIMIT"] = np.clip(found["DOF_LIMIT"], -FAR, FAR)  # without limits, a hinge would not count its turns
        return found

    def arguments(self) -> dict[str, Any]:
        """Return the prims of a world, its trees, and the gravity of the scenes, for the engine."""
        joints, gravity = self._world.joints, self._model.gravity.numpy()[0].astype(float)
        free = {f"b{joint.child}": [joint.q, joint.qd] for joint in joints if joint.kind == "FREE"}
        roots = [f"b{joint.child}" for joint in joints if joint.kind == "FREE" and joint.child in self._parents]
        roots += [f"root{joint.child}" for joint in joints if joint.kind != "FREE" and joint.parent < 0]
        axes = {f"j{joint.child}": [*joint.q, *joint.qd] for joint in joints if joint.axis.any()}
        prims = [("/env0", "xform", {}, {}), self._scene(gravity), *self._bodies(), *self._shapes()]
        return {"prims": prims, "free": free, "roots": roots, "axes": axes, "gravity": gravity}

    def _scene(self, gravity: np.ndarray) -> Prim:
        magnitude = float(np.linalg.norm(gravity))
        columns = {"gravity_direction": gravity / (magnitude or 1.0), "gravity_magnitude": magnitude}
        counts = {"position": self._config.position_iterations, "velocity": self._config.velocity_iterations}
        settings = {f"{end}_{of}_iteration_count": n for of, n in counts.items() for end in ("min", "max")}
        settings |= {"solver_type": self._config.method.upper(), "disable_sleeping": True}
        settings |= {"broadphase_type": "SAP", "enable_gpudynamics": False}
        return "/env0/scene", "physics_scene", columns, {"physx_scene": settings}

    def _bodies(self) -> Iterator[Prim]:
        """Yield bodies, all at the origin, and joints: the engine gets coordinates before the first step."""
        for joint in self._world.joints:
            base, own, is_free = f"/env0/b{joint.parent}", f"/env0/b{joint.child}", joint.kind == "FREE"
            if joint.parent < 0 and not is_free:  # a joint of an articulation has a body at both ends
                base = f"/env0/x{joint.child}"
                yield base, "xform", {}, BODY
                yield f"/env0/root{joint.child}", "physics_fixed_joint", {"body1": [base]}, ROOT
            yield own, "xform", {}, {**BODY, **ROOT} if is_free and joint.child in self._parents else BODY
            if not is_free:
                yield f"/env0/j{joint.child}", *self._joint(joint, {"body0": [base], "body1": [own]})

    def _joint(self, joint: WorldJoint, ends: dict[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return the type of a joint between two bodies, and what it has; PhysX's axis is x."""
        found, schemas, own = ends, {}, {"REVOLUTE": "angular", "PRISMATIC": "linear"}.get(joint.kind)
        turn = np.eye(4)[3]
        if own:
            turn = np.array(newton.math.quat_between_vectors_robust(X, wp.vec3(*joint.axis)))
            found |= {"axis": "X", "lower_limit": -FAR, "upper_limit": FAR}
            schemas = {f"physics_drive:{own}": {"type": "force"}, f"physx_joint_axis:{own}": {}}
        for side, frame in enumerate((joint.outer, joint.inner)):
            found |= {f"local_pos{side}": frame[:3], f"local_rot{side}": product(frame[3:], turn)}
        return f"physics_{joint.kind.lower()}_joint", found, schemas

    def _shapes(self) -> Iterator[Prim]:
        for shape in self._world.shapes:
            place, (kind, *names) = path(shape), FORMS[shape.kind]
            others = [other for other in self._world.shapes if other.row > shape.row and other.body != shape.body]
            apart = [path(other) for other in others if frozenset((shape.row, other.row)) not in self._touching]
            schemas = {
                "physics_collision": OWNER,
                "physx_collision": {"rest_offset": shape.margin},
                "physics_mesh_collision": {"approximation": "convexHull"},
                "physics_filtered_pairs": {"filtered_pairs": apart},
                "material_binding": {"material_binding_physics": [f"{place}/m"]},
            }
            yield place, kind, placed(shape) | {name: sizes(shape)[name] for name in names}, schemas
            surface = {"static_friction": shape.mu, "dynamic_friction": shape.mu, "restitution": shape.restitution}
            yield f"{place}/m", "material", {}, {"physics_material": surface}


def path(shape: WorldShape) -> str:
    """Return the place of a shape in its world."""
    return f"/env0/b{shape.body}/s{shape.row}" if shape.body >= 0 else f"/env0/s{shape.row}"


def placed(shape: WorldShape) -> dict[str, Any]:
    """Return where a shape is in its body: the images of its axes, which are half a box, and of its origin."""
    found, scale = np.eye(4), shape.size if shape.kind == "BOX" else np.ones(3)
    found[:3, :3], found[3, :3] = rotated(shape.place[3:], np.diag(scale)), shape.place[:3]
    return {"local_matrix": found.ravel()}


def sizes(shape: WorldShape) -> dict[str, Any]:
    """Return what may tell the size of a shape; the faces of a convex mesh are PhysX's."""
    points = shape.size * ball() if shape.kind == "ELLIPSOID" else shape.corners
    faces = {"face_vertex_counts": np.array([len(points)]), "face_vertex_indices": np.arange(len(points))}
    return {"size": 2.0, "radius": shape.size[0], "height": 2.0 * shape.size[1], "points": points} | faces


def ball() -> np.ndarray:
    """Return 34 points around a ball of radius 1, mirrored at all planes of the axes: their hull is within 5 %."""
    turns, tilts = (np.arange(8) + 0.5) * np.pi / 4.0, np.radians((47.0, 78.0, 102.0, 133.0))
    rings = [(np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)) for a in tilts for b in turns]
    return 1.049 * np.array([(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), *rings])
