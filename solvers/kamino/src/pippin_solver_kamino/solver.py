"""Kamino: a solver for Pippin."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import attrs
import newton
import numpy as np
import pippin
import warp as wp
from pippin.arrays import on_host
from pippin.devices import kind_of
from pippin.quaternions import rotated
from pippin.solving import RIGID_TREES, Capacity, ContactSource

from .counting import CountingKamino
from .settings import KaminoConfig

__all__ = ["SolverKamino"]


class SolverKamino:
    """Newton's `SolverKamino`, over contacts from Newton's pipeline or from its own detector.

    The build of the solver fixes the set of bodies that can move: masses and flags cannot change it later.
    """

    coordinates = (
        "maximal"  # it also writes joint velocities, but of a free body's origin instead of its centre of mass
    )
    supported_features = RIGID_TREES | {
        "body_variants": "live",
        "armature": "live",
        "ball_drives": "live",
        "effort_limits": "live",
        "free_damping": "live",
        "heterogeneous_worlds": "live",
        "joint_damping": "live",
        "joint_friction": "live",
        "kinematic_bodies": "build",
        "loop_joints": "live",
        "restitution": "live",
    }
    features_fixed_at_build = frozenset(
        {"armature", "effort_limits", "joint_damping", "joint_drives", "joint_friction", "joint_limits"}
    )
    features_kept_from_build = features_fixed_at_build - {"joint_friction"}
    optional_features: ClassVar = {
        "contact_stiffness": "constraints.contact_compliance",
        "limit_stiffness": "constraints.limit_compliance",
        "rolling_friction": "lox.contact_spatial_friction",
        "torsional_friction": "lox.contact_spatial_friction",
    }
    supported_observables = frozenset({"contact_f"})

    def __init__(self, config: KaminoConfig) -> None:
        if config.integrator == "moreau" and not config.use_collision_detector:
            raise pippin.ConfigError(
                "integrator: 'moreau' needs Kamino's own contacts; set use_collision_detector = true"
            )
        self.config = config
        self.notes: list[str] = []
        self.eager_reason: str | None = None
        compliant = config.constraints
        self.supported_features = type(self).supported_features | {
            **({"limit_stiffness": "live"} if compliant.limit_compliance else {}),
            **({"contact_stiffness": "live", "restitution": "no"} if compliant.contact_compliance else {}),
        }
        if config.dynamics_solver == "lox" and config.lox.contact_spatial_friction:
            self.supported_features |= {"rolling_friction": "live", "torsional_friction": "live"}

    @property
    def is_capturable(self) -> bool:
        """True, except on the CPU with `padmm` and the linear solver `CR`."""
        return self.eager_reason is None

    @property
    def detects_contacts(self) -> bool:
        """Whether Kamino detects contacts itself."""
        return self.config.use_collision_detector

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register Kamino's attributes: multipliers and forces of the state, and solver settings of USD scenes."""
        newton.solvers.SolverKamino.register_custom_attributes(builder)

    @pippin.hookimpl
    def complete_builder(self, builder: newton.ModelBuilder) -> None:
        """Switch off drives without gains, as a URDF's joints have; Kamino refuses them."""
        gains = zip(builder.joint_target_ke, builder.joint_target_kd, strict=True)
        for dof, (stiffness, damping) in enumerate(gains):
            if not stiffness and not damping:
                builder.joint_target_mode[dof] = int(newton.JointTargetMode.NONE)

    @pippin.hookimpl
    def check_model(self, model: newton.Model) -> Iterator[str]:
        """Yield the D6 joints that Kamino does not have; it would fail with an error about its memory. In a coupling,
        loops are not closed at resets: their bodies belong to the host's state.
        """
        if self.config.use_fk_solver and not isinstance(model, newton.Model):
            yield "use_fk_solver: true, but in a coupling loops cannot be closed at resets; leave it out"
        self.notes = [*_carried_rotors(model), *_hard_friction(model), *_hard_ties(model)]
        if not model.joint_count:
            return
        dims: Any = model.joint_dof_dim
        kinds: Any = model.joint_type
        starts, axes = on_host(model.joint_qd_start), on_host(model.joint_axis)
        of_d6 = (kinds.numpy() == int(newton.JointType.D6)).nonzero()[0]
        for joint, (linear, angular) in zip(of_d6.tolist(), dims.numpy()[of_d6].tolist(), strict=True):
            if (linear, angular) not in _AXES:
                yield (
                    f"type: 'kamino' has no joint of {linear} linear and {angular} angular axes, as"
                    f" {model.joint_label[joint]!r} has; put a body between two joints, or choose another solver"
                )
            elif (linear, angular) == (1, 1) and np.linalg.norm(np.cross(*axes[starts[joint] :][:2])) > 1e-3:
                yield (  # it takes the axis of the slide for that of the hinge
                    f"type: 'kamino' has no joint whose slide and hinge have different axes, as"
                    f" {model.joint_label[joint]!r} has; put a body between two joints, or choose another solver"
                )

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverKamino:
        """Return the solver with the settings of the asset, overridden by the configuration.

        Raises:
            ConfigError: Settings contradict each other.
        """
        if self.config.max_contacts_per_world is not None:
            model.rigid_contact_max = self.config.max_contacts_per_world * model.world_count
        elif (room := _room(model)) is not None:
            # Newton's estimate is 1000 or more even if nothing can collide, and Kamino's matrices grow with its square.
            model.rigid_contact_max = room * model.world_count  # 0 would stand for the estimate
        if not isinstance(model, newton.Model):
            _own_arrays(model)
        _drop_rotors(model)
        values = attrs.asdict(self.config, filter=lambda field, _: field.name != "max_contacts_per_world")
        backend = {name: values.pop(name) for name in ("dynamics_solver", "sparse_jacobian")}
        try:
            settings = newton.solvers.SolverKamino.Config.from_model(model, **backend)
            settings.rotation_correction = "continuous"
            _overlay(settings, values)
            settings.validate()
        except ValueError as error:
            raise pippin.ConfigError(
                f"dynamics_solver: {self.config.dynamics_solver!r} does not take these settings: {error}"
            ) from error
        dynamics: Any = settings.dynamics
        if kind_of(model.device) == "cpu":
            self._fit_to_cpu(settings.dynamics_solver, dynamics.linear_solver_type)
        self._solver = CountingKamino(
            model, settings, loops=_worlds_with_loops(model) if self.config.use_fk_solver else []
        )
        return self._solver

    def _fit_to_cpu(self, dynamics_solver: str, linear_solver: str) -> None:
        if linear_solver == "CRF":
            raise pippin.ConfigError(
                "dynamics.linear_solver_type: 'CRF' has kernels for CUDA alone, and the device is the CPU; set 'CR'"
            )
        if linear_solver == "CR" and dynamics_solver == "padmm":
            self.eager_reason = "on the CPU, Warp does not record the strided copies of its linear solver 'CR'"

    @pippin.hookimpl
    def initialize_contacts(self, model: newton.Model, solver: newton.solvers.SolverKamino) -> ContactSource | None:
        """Return the buffer to which Kamino exports its contacts; None if Newton's pipeline detects contacts."""
        if not self.config.use_collision_detector:
            return None
        contacts = newton.Contacts(model.rigid_contact_max or 0, 0, device=model.device)
        return ContactSource(contacts=contacts, filled_with="contact_f")

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        """Close the loops of the initial state, if Kamino's forward kinematics is used.

        Raises:
            ConfigError: A mechanism with a loop has too few drives to determine its pose.
        """
        if self._solver.closes_loops:
            self._solver.reset(simulation.state)
            poses: Any = simulation.state.body_q
            if not abs(poses.numpy()).max() < math.inf:  # nor is a NaN
                raise pippin.ConfigError(
                    "use_fk_solver: the positions of the joints with drives do not determine the pose of a mechanism"
                    " with loops; give one more of its joints a drive with gains, or leave the key out"
                )
        elif simulation.model.joint_count:
            # It leaves out joints between bodies that cannot move, and gives the state smaller arrays of multipliers:
            # a reset of no world does so now, before a step is recorded.
            none = wp.zeros(simulation.world_count + 1, dtype=bool, device=simulation.model.device)
            self._solver.reset(simulation.state, world_mask=none)

    def capacities(self) -> tuple[Capacity, ...]:
        """Return the capacity of contacts of one world; contacts of Kamino's own detector are not counted."""
        counts = self._solver.contacts_in_world
        is_own = self.config.use_collision_detector
        return (
            Capacity(
                field=f"solver.{'collision_detector.' if is_own else ''}max_contacts_per_world",
                holds="contacts of one world",
                allocated=-(-(self._solver.model.rigid_contact_max or 0) // len(counts)),
                is_per_world=True,
                count=None if is_own else counts,
            ),
        )

    @pippin.hookimpl
    def close(self) -> None:
        """Let Newton's solver go of a method of its own, by which it keeps itself and the model."""
        if (solver := vars(self).get("_solver")) is not None:
            vars(solver._solver_kamino).pop("_forward_dynamics", None)


_PER_SHAPE, _PER_PAIR = 16, 8
"""Room for contacts of a shape that moves, and of two shapes that can collide: boxes in a pile have 12 and 4."""


def _room(model: Any) -> int | None:
    """Return the room for contacts of a world; None for Newton's estimate, as nobody knows how many meshes have."""
    if not model.shape_contact_pair_count:
        return 1
    pairs = on_host(model.shape_contact_pairs)
    kinds, bodies, worlds = (on_host(getattr(model, f"shape_{name}")) for name in ("type", "body", "world"))
    if not isinstance(model, newton.Model) or np.isin(kinds[pairs], _MESHES).any():
        return None
    moving = np.unique(pairs[bodies[pairs] >= 0])
    of_shapes, of_pairs = (
        np.bincount(np.maximum(each, 0), minlength=1).max() for each in (worlds[moving], worlds[pairs].max(axis=1))
    )
    return int(min(_PER_SHAPE * of_shapes, _PER_PAIR * of_pairs))


_MESHES = (int(newton.GeoType.MESH), int(newton.GeoType.HFIELD))


def _carried_rotors(model: Any) -> Iterator[str]:
    """Yield a note for the rotor inertias of ball joints on bodies that turn: Kamino's do not turn as MuJoCo's."""
    if not model.joint_count:
        return
    kinds, parents, starts = (on_host(each) for each in (model.joint_type, model.joint_parent, model.joint_qd_start))
    armature = on_host(model.joint_armature)
    carried = np.flatnonzero((kinds == int(newton.JointType.BALL)) & (parents >= 0))
    labels = [model.joint_label[joint] for joint in carried if armature[starts[joint] : starts[joint] + 3].any()]
    if labels:
        yield (
            f"armature of ball joints on bodies that turn, which 'kamino' lets turn otherwise than MuJoCo:"
            f" {', '.join(labels[:4])}{', ...' if len(labels) > 4 else ''}; the motion differs if the armature is not"
            " small beside the moments of the body that it moves"
        )


_CREEP = 0.02 * 0.95 / 2.0 * (1.0 - 0.9) / 0.9
"""Time in which MuJoCo's friction loses what an effort adds to a joint that it holds [s], with its usual solref 0.02 1
and solimp 0.9 0.95.
"""


def _hard_friction(model: Any) -> Iterator[str]:
    """Yield a note with the joint whose friction gives way most in MuJoCo: Kamino's holds."""
    friction = on_host(model.joint_friction) if model.joint_count else np.zeros(0)
    if not friction.any():
        return
    names = ("child", "X_c", "axis", "qd_start", "dof_dim", "type", "armature", "world")
    children, frames, axes, starts, dims, kinds, rotors, worlds = (on_host(getattr(model, f"joint_{n}")) for n in names)
    masses, com, inertias = (on_host(getattr(model, f"body_{name}")) for name in ("mass", "com", "inertia"))
    most, where = 0.0, ""
    for joint in np.flatnonzero((worlds <= 0) & (kinds != int(newton.JointType.FREE))):
        body, first = children[joint], starts[joint]
        arm, turns = frames[joint, :3] - com[body], rotated(frames[joint, None, 3:], axes[first : starts[joint + 1]])
        for place, axis in enumerate(turns):
            inertia = masses[body]
            if place >= dims[joint, 0]:
                inertia = axis @ inertias[body] @ axis + masses[body] * np.square(np.cross(axis, arm)).sum()
            creep = _CREEP * friction[first + place] / (inertia + rotors[first + place] or np.inf)
            said = f"{model.joint_label[joint]!r} by up to {creep:.2g} {'m' if place < dims[joint, 0] else 'rad'}/s"
            most, where = max((most, where), (float(creep), said))
    yield (
        f"joint_friction is hard: what it holds stands still, where MuJoCo's lets it creep, {where}, and a file's"
        " solreffriction and solimpfriction say nothing"
    )


_TIME = 0.02
"""Time in which MuJoCo's ties pull together what breaks them, with its usual solref [s]."""


def _hard_ties(model: Any) -> Iterator[str]:
    """Yield a note for the joints outside of trees, as `connect` and `weld` of MJCF are: Kamino's are hard."""
    if not model.joint_count:
        return
    loose = np.flatnonzero((on_host(model.joint_articulation) < 0) & (on_host(model.joint_world) <= 0))
    if len(loose):
        labels = [model.joint_label[joint] for joint in loose]
        yield (
            f"joints that close loops (connect, weld) are hard: {', '.join(labels[:4])}{', ...' * (len(labels) > 4)}."
            f" MuJoCo's give way by up to {1e3 * _TIME:g} ms times the speed with which their bodies start apart"
        )


def _drop_rotors(model: Any) -> None:
    """Set the rotor inertias of free joints to zero: Kamino throws a free body with one."""
    kinds, starts, armature = (each.numpy() for each in (model.joint_type, model.joint_qd_start, model.joint_armature))
    is_free = (kinds == int(newton.JointType.FREE)).repeat(np.diff(starts))
    if armature[is_free].any():
        armature[is_free] = 0.0
        model.joint_armature.assign(armature)


def _own_arrays(view: Any) -> None:
    """Give a part of a model arrays of its own, where Kamino's conversion writes: world indices and local frames."""
    worlds = [f"{kind}_world{end}" for kind in ("body", "joint", "shape") for end in ("", "_start")]
    for name in (*worlds, "body_com", "body_inertia", "shape_transform", "joint_X_p", "joint_X_c"):
        setattr(view, name, wp.clone(getattr(view, name)))


def _worlds_with_loops(model: Any) -> list[bool]:
    """Tell for each world, and for the part that all share, whether two joints hold a body of it."""
    held = Counter(model.joint_child.numpy().tolist() if model.joint_count else ())
    found = {int(model.body_world.numpy()[body]) for body, count in held.items() if count > 1}
    return [world in found for world in (*range(model.world_count), -1)]


def _overlay(settings: Any, values: Mapping[str, Any]) -> None:
    """Set the attributes of Newton's settings, including nested ones, to all values that are not None."""
    for name, value in values.items():
        present = getattr(settings, name)
        if isinstance(value, Mapping) and not isinstance(present, Mapping):
            _overlay(present, value)
        elif value is not None:
            setattr(settings, name, value)


_AXES = frozenset({(0, 0), (1, 0), (0, 1), (0, 2), (1, 1), (3, 0), (0, 3)})
"""Numbers of linear and angular axes of the D6 joints that Kamino has."""
