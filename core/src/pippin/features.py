"""What a scene may ask of a solver: how it is found in a model, and what happens where a solver leaves it out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

if TYPE_CHECKING:
    import newton

__all__ = ["FEATURES", "RIGID_CHANGES", "RIGID_TREES", "Feature", "FeatureWarning", "used_features"]

_NO_LIMIT = 1e6
"""From here on, Newton's importers and builders mean that an effort or a velocity is not limited."""


class FeatureWarning(UserWarning):
    """The solver leaves out something that the scene sets."""


@attrs.frozen(kw_only=True)
class Feature:
    """Something that a scene may contain and a solver may support."""

    meaning: str
    """What it is, for the reference."""

    users: Callable[[newton.Model], Sequence[str]]
    """Finds what uses it in a model: labels, or what stands for them."""

    is_structural: bool = True
    """Whether a scene without it is another mechanism, and so is refused; else only its numbers change."""


def used_features(model: newton.Model) -> dict[str, Sequence[str]]:
    """Return what uses each feature, by feature, without those that nothing uses.

    Args:
        model: Any finalized model; its arrays are read on the host.
    """
    found = {name: feature.users(model) for name, feature in FEATURES.items()}
    return {name: users for name, users in found.items() if users}


def _host(array: Any) -> np.ndarray:
    """Return the contents of an array, empty where the model has none of it."""
    return np.zeros(0, dtype=int) if array is None else array.numpy()


def _joints(model: newton.Model, kind: str) -> Sequence[str]:
    import newton

    return _joints_where(model, _types(model) == int(newton.JointType[kind]))


def _joints_where(model: newton.Model, chosen: Any) -> Sequence[str]:
    return [model.joint_label[index] for index in np.flatnonzero(chosen & _is_moved(model)[_host(model.joint_child)])]


def _is_moved(model: newton.Model) -> np.ndarray:
    """Tell of each body whether forces move it; the others are moved by hand, and ask nothing of a solver."""
    import newton

    return (_host(model.body_flags) & int(newton.BodyFlags.KINEMATIC)) == 0


def _types(model: newton.Model) -> np.ndarray:
    return _host(model.joint_type)


def _joints_of_dofs(model: newton.Model, chosen: np.ndarray) -> Sequence[str]:
    """Return the joints of chosen DOFs; six of a free joint are no joint's axis, and are left out."""
    import newton

    if not len(chosen):
        return ()
    starts = _host(model.joint_qd_start)
    joints = np.searchsorted(starts, np.flatnonzero(chosen), side="right") - 1
    owners = [joint for joint in np.unique(joints) if _types(model)[joint] != int(newton.JointType.FREE)]
    return [model.joint_label[joint] for joint in owners]


def _loops(model: newton.Model) -> Sequence[str]:
    """Joints outside every articulation whose child hangs in a tree by another joint."""
    children, articulations = _host(model.joint_child), _host(model.joint_articulation)
    in_tree = np.isin(children, children[articulations >= 0])
    return _joints_where(model, (articulations < 0) & in_tree)


def _drives(model: newton.Model) -> np.ndarray:
    return (_host(model.joint_target_ke) != 0.0) | (_host(model.joint_target_kd) != 0.0)


def _limits(model: newton.Model) -> np.ndarray:
    return (_host(model.joint_limit_lower) > -_NO_LIMIT) | (_host(model.joint_limit_upper) < _NO_LIMIT)


def _mimics(model: newton.Model) -> Sequence[str]:
    return _joints_where(model, _host(model.joint_mimic_joint) >= 0)


def _mimic_constraints(model: newton.Model) -> Sequence[str]:
    return [label or f"mimic constraint {index}" for index, label in enumerate(model.constraint_mimic_label)]


def _triangles(model: newton.Model) -> Sequence[str]:
    """Triangles that resist stretching; as a mere surface of collision they ask nothing of a solver."""
    count = int(np.any(_host(model.tri_materials)[:, :2] != 0.0, axis=1).sum()) if model.tri_count else 0
    return [f"{count} triangles"] if count else ()


def _bending(model: newton.Model) -> Sequence[str]:
    count = int((_host(model.edge_bending_properties)[:, 0] != 0.0).sum()) if model.edge_count else 0
    return [f"{count} edges"] if count else ()


def _equalities(model: newton.Model) -> Sequence[str]:
    """MuJoCo's equality constraints that the importer made no joint and no mimic constraint of."""
    rows: Any = getattr(model, "mujoco")  # noqa: B009  a namespace of custom attributes
    if not rows.equality_constraint_count:
        return ()
    is_left = _host(rows.equality_constraint_enabled).astype(bool) & (_host(rows.equality_constraint_target) < 0)
    labels = rows.equality_constraint_label
    return [labels[index] or f"equality constraint {index}" for index in np.flatnonzero(is_left)]


def _counted(*attributes: str) -> Callable[[newton.Model], Sequence[str]]:
    """Return a function that numbers what a model counts and has no labels for."""

    def users(model: newton.Model) -> Sequence[str]:
        counts = {name: getattr(model, name) for name in attributes}
        return [f"{count} {name.removesuffix('_count')}" for name, count in counts.items() if count]

    return users


def _custom(frequency: str) -> Callable[[newton.Model], Sequence[str]]:
    def users(model: newton.Model) -> Sequence[str]:
        count = model.custom_frequency_counts.get(frequency, 0)
        return [f"{count} rows of {frequency}"] if count else ()

    return users


def _bodies(model: newton.Model) -> Sequence[str]:
    return [model.body_label[index] for index in np.flatnonzero(_is_moved(model))]


def _colliders(model: newton.Model) -> Sequence[str]:
    """Shapes on moving bodies that collide with shapes."""
    import newton

    is_collider = (_host(model.shape_flags) & int(newton.ShapeFlags.COLLIDE_SHAPES)) != 0
    bodies = _host(model.shape_body)
    is_on_moved = (bodies >= 0) & np.append(_is_moved(model), False)[bodies]
    return [model.shape_label[index] for index in np.flatnonzero(is_collider & is_on_moved)]


def _unequal_worlds(model: newton.Model) -> Sequence[str]:
    """Worlds that hold other things than the first one."""
    layouts = list(_layouts(model))
    return [f"world {index}" for index, layout in enumerate(layouts) if layout != layouts[0]]


def _layouts(model: newton.Model) -> Iterator[tuple[Any, ...]]:
    """Yield for each world its counts, and the trees, kinds and meshes of its joints and shapes."""
    starts = {what: _host(getattr(model, f"{what}_world_start")) for what in ("body", "joint", "shape", "particle")}
    kinds = [(_types(model), "joint"), (_host(model.joint_dof_dim), "joint"), (_host(model.shape_type), "shape")]
    bodies = [(_host(model.joint_parent), "joint"), (_host(model.joint_child), "joint")]
    bodies.append((_host(model.shape_body), "shape"))
    for world in range(model.world_count):
        first, end = starts["body"][world : world + 2]
        part = {what: slice(*starts[what][world : world + 2]) for what in ("joint", "shape")}
        trees = [np.maximum(array[part[what]] - first, -1).tobytes() for array, what in bodies]
        meshes = [hash(source) for source in model.shape_source[part["shape"]]]
        particle_count = np.diff(starts["particle"][world : world + 2])[0]
        yield end - first, particle_count, trees, [array[part[what]].tobytes() for array, what in kinds], meshes


def _by_type(kind: str) -> Callable[[newton.Model], Sequence[str]]:
    return lambda model: _joints(model, kind)


def _by_dof(choose: Callable[[newton.Model], np.ndarray]) -> Callable[[newton.Model], Sequence[str]]:
    return lambda model: _joints_of_dofs(model, choose(model)) if model.joint_dof_count else ()


def _nonzero(attribute: str) -> Callable[[newton.Model], Sequence[str]]:
    return _by_dof(lambda model: _host(getattr(model, attribute)) != 0.0)


FEATURES: Mapping[str, Feature] = {
    "rigid_bodies": Feature(meaning="bodies that move", users=_bodies),
    "rigid_contacts": Feature(meaning="contacts between rigid shapes", users=_colliders),
    "fixed_joints": Feature(meaning="joints without a degree of freedom", users=_by_type("FIXED")),
    "free_joints": Feature(meaning="free-floating bodies", users=_by_type("FREE")),
    "revolute_joints": Feature(meaning="hinges", users=_by_type("REVOLUTE")),
    "prismatic_joints": Feature(meaning="sliders", users=_by_type("PRISMATIC")),
    "ball_joints": Feature(meaning="ball joints", users=_by_type("BALL")),
    "d6_joints": Feature(meaning="joints of several axes", users=_by_type("D6")),
    "distance_joints": Feature(meaning="joints that keep a distance", users=_by_type("DISTANCE")),
    "rod_joints": Feature(meaning="joints of cables and rods", users=_by_type("ROD")),
    "loop_joints": Feature(meaning="joints that close a kinematic loop", users=_loops),
    "joint_limits": Feature(meaning="limits of joint positions", users=_by_dof(_limits)),
    "joint_drives": Feature(meaning="the model's own joint drives", users=_by_dof(_drives)),
    "disabled_joints": Feature(
        meaning="joints that are switched off",
        users=lambda model: _joints_where(model, ~_host(model.joint_enabled).astype(bool)),
    ),
    "mimic_joints": Feature(meaning="joints that follow another one", users=_mimics),
    "mimic_constraints": Feature(
        meaning="joints that follow another one by a constraint of its own, as MJCF writes it", users=_mimic_constraints
    ),
    "equality_constraints": Feature(
        meaning="MuJoCo's equality constraints that are neither a joint nor a mimic constraint", users=_equalities
    ),
    "tendons": Feature(meaning="Newton's tendons", users=_counted("tendon_count")),
    "mujoco_tendons": Feature(meaning="MuJoCo's tendons", users=_custom("mujoco:tendon")),
    "muscles": Feature(meaning="muscles", users=_counted("muscle_count")),
    "particles": Feature(meaning="particles", users=_counted("particle_count")),
    "springs": Feature(meaning="springs between particles", users=_counted("spring_count")),
    "triangles": Feature(meaning="elastic triangles between particles", users=_triangles),
    "bending": Feature(meaning="edges of cloth that resist bending", users=_bending),
    "tetrahedra": Feature(meaning="elastic tetrahedra between particles", users=_counted("tet_count")),
    "gradients": Feature(
        meaning="derivatives of the step",
        users=lambda model: ["simulation.requires_grad"] if model.requires_grad else (),
    ),
    "heterogeneous_worlds": Feature(meaning="worlds that do not hold the same", users=_unequal_worlds),
    "armature": Feature(
        meaning="rotor inertia of joints [kg, kg·m²]", users=_nonzero("joint_armature"), is_structural=False
    ),
    "joint_friction": Feature(
        meaning="dry friction of joints [N, N·m]", users=_nonzero("joint_friction"), is_structural=False
    ),
    "joint_damping": Feature(
        meaning="passive damping of joints [N·s/m, N·m·s/rad]", users=_nonzero("joint_damping"), is_structural=False
    ),
    "joint_stiffness": Feature(
        meaning="passive stiffness of joints [N/m, N·m/rad]", users=_nonzero("joint_stiffness"), is_structural=False
    ),
    "effort_limits": Feature(
        meaning="limits of the effort of the model's own joint drives [N, N·m]",
        users=_by_dof(lambda model: _drives(model) & (_host(model.joint_effort_limit) < _NO_LIMIT)),
        is_structural=False,
    ),
    "velocity_limits": Feature(
        meaning="limits of joint velocities [m/s, rad/s]",
        users=_by_dof(lambda model: _host(model.joint_velocity_limit) < _NO_LIMIT),
        is_structural=False,
    ),
}
"""Every feature by name, those of structure first."""


RIGID_TREES = frozenset(
    {
        "rigid_bodies",
        "rigid_contacts",
        "fixed_joints",
        "free_joints",
        "revolute_joints",
        "prismatic_joints",
        "ball_joints",
        "d6_joints",
        "joint_limits",
        "joint_drives",
    }
)
"""What most robots need: bodies in trees of joints with limits and drives, and contacts."""


RIGID_CHANGES = frozenset(
    {
        "BODY_INERTIAL_PROPERTIES",
        "JOINT_DOF_FORCE_PROPERTIES",
        "JOINT_DOF_PROPERTIES",
        "JOINT_PROPERTIES",
        "MODEL_PROPERTIES",
        "SHAPE_PROPERTIES",
    }
)
"""What most solvers of rigid bodies take over while they run: masses, gains, frames, gravity, friction."""
