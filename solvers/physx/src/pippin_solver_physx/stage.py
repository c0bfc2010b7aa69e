"""Newton's worlds as prims for PhysX: in each, a scene with bodies, joints, shapes and pairs without contacts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.quaternions import product
from pippin_engines import FAR, FirstWorld, WorldJoint, WorldShape

from . import PhysXConfig

FORMS = ("BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE", "PLANE", "ELLIPSOID", "CONVEX_MESH")
"""Kinds of shapes."""

OWNER = {"simulation_owner": ["/env0/scene"]}
"""The scene of bodies and shapes."""

REPORT = {"physx_contact_report": {"threshold": 0.0}}
"""The schema of bodies, and of shapes without one, whose contacts are told."""

BODY: dict[str, Any] = {"physx_rigid_body": {"angular_damping": 0.0, "max_angular_velocity": np.inf}, **REPORT}
BODY |= {"physics_rigid_body": OWNER, "physics_mass": {"mass": 1.0, "diagonal_inertia": np.ones(3)}}
"""Schemas of a body: PhysX would damp and limit its turns. Its mass comes with the numbers of the worlds."""

ROOT = {"physics_articulation_root": dict[str, Any]()}

NUMBERS: dict[str, tuple[str, ...]] = {"BODY_MASS": ("body_mass",), "BODY_COM_POSE": ("body_com",)}
NUMBERS |= {"BODY_INERTIA": ("body_inertia",), "DOF_LIMIT": ("joint_limit_lower", "joint_limit_upper")}
NUMBERS |= {"DOF_ARMATURE": ("joint_armature",), "DOF_MAX_FORCE": ("joint_effort_limit",)}
NUMBERS |= {"DOF_STIFFNESS": ("joint_target_ke",), "DOF_DAMPING": ("joint_target_kd",)}
NUMBERS |= {"DOF_FRICTION_PROPERTIES": ("joint_friction", "joint_friction", "joint_damping")}
"""What each world has of its own: PhysX's names, and those of the arrays of the model."""

ALIKE = (
    *("joint_X_p", "joint_X_c", "joint_axis", "shape_transform", "shape_scale", "shape_margin"),
    *("shape_material_mu", "shape_material_restitution"),
)
"""Arrays of the model that all worlds share."""


class Stage:
    """A model whose worlds hold the same.

    Args:
        model: Newton's model, on the CPU.
        config: The settings.
    """

    def __init__(self, model: Any, config: PhysXConfig) -> None:
        self._model, self._config, self._world = model, config, FirstWorld(model)
        self._parents = {joint.parent for joint in self._world.joints}

    def numbers(self) -> dict[str, np.ndarray]:
        """Return what each world has of its own, by the names of `NUMBERS`, shape [W, bodies or velocities, n]."""
        found = {kind: np.stack(self._world.numbers(*names), axis=-1) for kind, names in NUMBERS.items()}
        com = found["BODY_COM_POSE"][..., 0]
        found["BODY_COM_POSE"] = np.append(com, np.broadcast_to([0.0, 0.0, 0.0, 1.0], (*com.shape[:2], 4)), axis=-1)
        found["DOF_LIMIT"] = np.clip(found["DOF_LIMIT"], -FAR, FAR)  # without limits, a hinge would not count its turns
        return found

    def arguments(self) -> dict[str, Any]:
        """Return the prims of a world, its trees, and the gravity of the scenes, for the engine.

        A prim is its path in the first world, its type, what it has of the type, and its schemas with what it has of
        each; some schemas name an axis of a joint behind a colon.
        """
        joints, gravity = self._world.joints, self._model.gravity.numpy()[0].astype(float)
        free = {f"b{joint.child}": [joint.q, joint.qd] for joint in joints if joint.kind == "FREE"}
        axes = {f"j{joint.child}": [*joint.q, *joint.qd] for joint in joints if joint.axis.any()}
        prims = [("/env0", "xform", {}, {}), self._scene(gravity), *self._bodies(), *self._shapes()]
        roots = [path.rpartition("/")[2] for path, _, _, schemas in prims if ROOT.keys() <= schemas.keys()]
        return {"prims": prims, "free": free, "roots": roots, "axes": axes, "gravity": gravity}

    def _scene(self, gravity: np.ndarray) -> tuple[Any, ...]:
        magnitude = float(np.linalg.norm(gravity))
        columns = {"gravity_direction": gravity / (magnitude or 1.0), "gravity_magnitude": magnitude}
        counts = {"position": self._config.position_iterations, "velocity": self._config.velocity_iterations}
        settings = {f"{end}_{of}_iteration_count": n for of, n in counts.items() for end in ("min", "max")}
        settings |= {"solver_type": self._config.method.upper(), "disable_sleeping": True, "broadphase_type": "SAP"}
        return "/env0/scene", "physics_scene", columns, {"physx_scene": settings}

    def _bodies(self) -> Iterator[tuple[Any, ...]]:
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

    def _joint(self, joint: WorldJoint, found: dict[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return the type of a joint between two bodies, and what it has; PhysX's axis is x."""
        turn, schemas, own = np.eye(4)[3], {}, {"REVOLUTE": "angular", "PRISMATIC": "linear"}.get(joint.kind)
        if own:
            turn = np.array(newton.math.quat_between_vectors_robust(wp.vec3(1.0, 0.0, 0.0), wp.vec3(*joint.axis)))
            found |= {"axis": "X", "lower_limit": -FAR, "upper_limit": FAR}
            schemas = {f"physics_drive:{own}": {"type": "force"}, f"physx_joint_axis:{own}": {}}
        for side, frame in enumerate((joint.outer, joint.inner)):
            found |= {f"local_pos{side}": frame[:3], f"local_rot{side}": product(frame[3:], turn)}
        return f"physics_{joint.kind.lower()}_joint", found, schemas

    def _shapes(self) -> Iterator[tuple[Any, ...]]:
        for shape in self._world.shapes:
            place, (kind, sizes) = path(shape), form(shape)
            apart = [path(other) for other in self._world.apart(shape)]
            schemas = {"physics_collision": OWNER, "physx_collision": {"rest_offset": shape.margin}}
            schemas |= {"physics_mesh_collision": {"approximation": "convexHull"}}
            schemas |= {"physics_filtered_pairs": {"filtered_pairs": apart}} | (REPORT if shape.body < 0 else {})
            schemas |= {"material_binding": {"material_binding_physics": [f"{place}/m"]}}
            yield place, kind, {"local_matrix": shape.matrix.ravel()} | sizes, schemas
            surface = {"static_friction": shape.mu, "dynamic_friction": shape.mu, "restitution": shape.restitution}
            yield f"{place}/m", "material", {}, {"physics_material": surface}


def path(shape: WorldShape) -> str:
    """Return the place of a shape in its world."""
    return f"/env0/b{shape.body}/s{shape.row}" if shape.body >= 0 else f"/env0/s{shape.row}"


def form(shape: WorldShape) -> tuple[str, dict[str, Any]]:
    """Return the type of a shape, and what tells its size; the faces of a mesh are PhysX's."""
    (radius, half, _), points = shape.size, np.arange(len(shape.corners))
    faces = {"face_vertex_counts": np.array([len(points)]), "face_vertex_indices": points}
    forms = {"BOX": ("cube", {"size": 2.0}), "SPHERE": ("sphere", {"radius": radius}), "PLANE": ("plane", {})}
    forms |= dict.fromkeys(("ELLIPSOID", "CONVEX_MESH"), ("mesh", {"points": shape.corners} | faces))
    return forms.get(shape.kind, (shape.kind.lower(), {"radius": radius, "height": 2.0 * half}))
