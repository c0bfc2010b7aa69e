"""Followers of the values of a motion: bodies, particles, joints, targets of actuators, and forces."""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.binding import Binding
from pippin.config.geometry import HERE
from pippin.controllers import Tools
from pippin.errors import ConfigError
from pippin.labels import match
from pippin.spelling import did_you_mean
from pippin.state.world_layout import Element

from . import kernels
from .motion_config import MotionConfig

_TARGETS = {"position": "position_targets", "velocity": "velocity_targets", "effort": "feedforward"}
_SIX_AXES = (newton.JointType.FREE, newton.JointType.DISTANCE, newton.JointType.ROD)


class Mover(abc.ABC):
    """A follower of the values of a motion."""

    unused_hooks: tuple[str, ...] = ("start_step", "before_substep")
    """Hooks of the motion in which nothing is to be done."""

    widths: tuple[int, ...] = (3,)
    """Permitted numbers of components of values that are no numbers."""

    takes_turns: bool = False
    """Whether the motion writes from its start to its end alone, so that another one may write before and after."""

    _claimed: tuple[str, np.ndarray] | None = None

    def __init__(self, config: MotionConfig, binding: Binding) -> None:
        self.config, self.host = config, binding.simulation
        self.model: newton.Model = binding.simulation.model
        self._objects = binding.services.scene_objects
        #: What moves, as indices in the model, and the world of each.
        self.indices, self.worlds = self.find()
        #: Largest number of elements in a world.
        self.element_count = int(np.bincount(self.worlds).max())

    @property
    def claimed(self) -> tuple[str, np.ndarray]:
        """What no other motion may move: the kind of elements, and their indices."""
        return self._claimed or (self.config.subject, self.indices)

    @abc.abstractmethod
    def find(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of what moves, and the world of each, or refuse what something else moves."""

    @abc.abstractmethod
    def move(self, state: newton.State) -> None:
        """Write into a state, or the targets of the control step that begins with it. May be recorded."""

    def follow(self, motion: Any) -> None:
        """Follow the values of a motion from now on, or refuse their number of components."""
        config, width = self.config, motion.values.shape[1]
        permitted = (1, self.element_count) if config.is_scalar else self.widths
        if width not in permitted:
            count = " or ".join(map(str, dict.fromkeys(permitted)))
            cure = "" if config.is_scalar or width > 1 else ", or add 'along' or 'about'"
            raise ConfigError(f"{config.subject}: a value has {width} components; give it {count}{cure}")
        ranks = np.zeros_like(self.worlds)
        if config.is_scalar and width > 1:
            per_world = np.bincount(self.worlds, minlength=self.host.world_count)
            if len(np.unique(per_world[per_world > 0])) > 1:
                raise ConfigError(f"{config.subject}: a value has {width} components, but worlds differ; give it one")
            ranks = np.concatenate([np.arange(count) for count in per_world.tolist()])
        course, chosen = kernels.TrajectoryValues(), config.along or config.about
        course.counts, course.active = motion.counts, motion.active
        course.times, course.lead = motion.times, motion.lead
        course.values, course.rates = motion.values, motion.rates
        course.is_eased = getattr(config, "interpolation", None) == "smooth"  # pyrefly: ignore[bad-assignment]
        in_space = kernels.POSED if width == 7 else kernels.DISPLACED
        course.mode = kernels.ALONG if config.along else kernels.ABOUT if config.about else in_space
        direction = np.array(chosen or HERE)
        course.direction = wp.vec3(*(direction / (np.linalg.norm(direction) or 1.0)))
        # pyrefly: ignore[bad-assignment]
        course.point, course.has_point = wp.vec3(*(config.point or HERE)), config.point is not None
        # pyrefly: ignore[bad-assignment]
        course.is_own, course.is_from_start = config.frame == "own", config.from_start
        elements = kernels.Elements()
        elements.index, elements.world, elements.column = map(self._ints, (self.indices, self.worlds, ranks))
        self.course, self.elements = course, elements

    def refuse_moved(self, motions: Mapping[str, Any]) -> None:
        """Refuse what an earlier motion moves already; forces add up."""
        kind, indices = self.claimed
        for label, other in motions.items():
            mover = getattr(other, "mover", None)
            if mover is not None and kind != "force_on" and mover.claimed[0] == kind and not self._has_turn(mover):
                both = np.intersect1d(indices, mover.claimed[1])
                labels = self.model.body_label if kind == "bodies" else range(max(indices) + 1)
                self._refuse(both, labels, f"is moved by motions.{label} already; leave one of the two out")

    def _has_turn(self, other: Mover) -> bool:
        ends = (math.inf if each.config.end is None else each.config.end for each in (self, other))
        own_end, other_end = ends
        return self.takes_turns and (own_end <= other.config.start or other_end <= self.config.start)

    def select(self, what: Element, selection: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return what a selection means, and the world of each."""
        indices = self._objects.select(what, selection, f"{self.config.subject}")
        worlds = on_host(self.model.particle_world if what == "particle" else self.model.body_world)[indices]
        return indices, worlds

    def launch(self, kernel: Any, *inputs: Any) -> None:
        """Run a kernel for each element."""
        wp.launch(kernel, len(self.indices), [self.elements, self.course, *inputs], device=self.model.device)

    def _ints(self, numbers: Any) -> wp.array:
        return wp.array(np.asarray(numbers), dtype=int, device=self.model.device)

    def _refuse(self, elements: np.ndarray, labels: Any, why: str) -> None:
        if elements.size:
            raise ConfigError(f"{self.config.subject}: {labels[elements[0]]!r} {why}")

    def _are_kinematic(self, bodies: np.ndarray) -> np.ndarray:
        flags = np.append(on_host(self.model.body_flags), int(newton.BodyFlags.KINEMATIC))
        return (flags[bodies] & int(newton.BodyFlags.KINEMATIC)) != 0


class Bodies(Mover):
    """Kinematic bodies."""

    widths = (3, 7)

    def find(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bodies, and the world of each."""
        model, labels = self.model, self.model.body_label
        bodies, worlds = self.select("body", self.config.bodies)
        cure = 'is moved by forces; set motion = "kinematic" in its object'
        self._refuse(bodies[~self._are_kinematic(bodies)], labels, cure)
        children, types = (on_host(array) for array in (model.joint_child, model.joint_type))
        is_free = np.isin(types, [int(each) for each in _SIX_AXES])
        in_tree = on_host(model.joint_articulation) >= 0
        held = np.intersect1d(bodies, children[in_tree & ~is_free])
        self._refuse(held, labels, "hangs on a joint; name the joint in 'joints'")
        is_root = (types == int(newton.JointType.FREE)) & (on_host(model.joint_parent) < 0)
        joint_of = np.full(model.body_count, -1)
        joint_of[children[is_root]] = np.flatnonzero(is_root)
        self._joints = self._ints(joint_of[bodies])
        self._starts = wp.zeros(len(bodies), dtype=wp.transform, device=model.device)
        return bodies, worlds

    def move(self, state: newton.State) -> None:
        """Write poses and velocities, and those of free joints."""
        model = self.model
        joints = (self._joints, model.joint_X_p, model.joint_X_c, model.joint_q_start, model.joint_qd_start)
        arrays = (state.body_q, state.body_qd, state.joint_q, state.joint_qd)
        self.launch(kernels.move_bodies, *joints, model.body_com, self._starts, *arrays)


class Particles(Mover):
    """Pinned particles."""

    def find(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the particles, and the world of each."""
        model = self.model
        particles, worlds = self.select("particle", self.config.particles)
        flags, masses = (on_host(array)[particles] for array in (model.particle_flags, model.particle_mass))
        is_free = ((flags & int(newton.ParticleFlags.ACTIVE)) != 0) & (masses > 0.0)
        names = [f"particle {number}" for number in range(model.particle_count)]
        self._refuse(particles[is_free], names, "is moved by forces; name it in the 'pin' of its object")
        places = on_host(model.particle_q)
        centres = np.zeros((self.host.world_count, 3), dtype=np.float32)
        for world in np.unique(worlds).tolist():
            centres[world] = self.config.point or places[particles[worlds == world]].mean(axis=0)
        self._centres = wp.array(centres, dtype=wp.vec3, device=model.device)
        self._starts = wp.zeros(len(particles), dtype=wp.vec3, device=model.device)
        return particles, worlds

    def move(self, state: newton.State) -> None:
        """Write positions and velocities."""
        arrays = (self._centres, self._starts, state.particle_q, state.particle_qd)
        self.launch(kernels.move_particles, *arrays)


class Joints(Mover):
    """Hinges and sliders of kinematic bodies."""

    def find(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the coordinates of the joints, and the world of each."""
        model = self.model
        names = list(dict.fromkeys(model.joint_label))
        wanted = {names[index] for index in match(self.config.joints, names, "joint", "joints")}
        joints = np.flatnonzero([label in wanted for label in model.joint_label])
        types, children, parents = map(on_host, (model.joint_type, model.joint_child, model.joint_parent))
        starts, dofs = map(on_host, (model.joint_q_start, model.joint_qd_start))
        single = [int(newton.JointType.REVOLUTE), int(newton.JointType.PRISMATIC)]
        self._refuse(
            joints[~np.isin(types[joints], single)], model.joint_label, "is no hinge and no slider; leave it out"
        )
        cure = (
            'carries a body that forces move; drive it by an actuator group, or set motion = "kinematic" in its object'
        )
        self._refuse(joints[~self._are_kinematic(children[joints])], model.joint_label, cure)
        cure = "hangs on a body that forces move; only joints of kinematic bodies can be moved"
        self._refuse(joints[~self._are_kinematic(parents[joints])], model.joint_label, cure)
        follows = np.isin(np.arange(model.joint_count), joints)
        kinematic = self._are_kinematic(children)
        moved = set(children[joints].tolist())
        for joint in range(model.joint_count):  # parents come first in an articulation
            if kinematic[joint] and int(parents[joint]) in moved:
                follows[joint] = True
                moved.add(int(children[joint]))
        self._follows = wp.array(follows, dtype=bool, device=model.device)
        self._dofs = self._ints(dofs[joints])
        self._starts = wp.zeros(len(joints), dtype=float, device=model.device)
        self._claimed = ("bodies", children[joints])
        return starts[joints], on_host(model.joint_world)[joints]

    def move(self, state: newton.State) -> None:
        """Write positions and velocities of the joints, and poses of the bodies that they carry."""
        # A solver that writes bodies alone leaves the joints of all states but one as they were.
        kept = self.host.state
        kept_q, kept_qd = present(kept.joint_q), present(kept.joint_qd)
        arrays = (state.joint_q, state.joint_qd, kept_q, kept_qd)
        self.launch(kernels.move_joints, self._dofs, self._starts, *arrays)
        newton.eval_fk(self.model, kept_q, kept_qd, state, joint_mask=self._follows)


class Targets(Mover):
    """Targets of an actuator group."""

    unused_hooks = ("before_substep", "after_substep")

    def find(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the column of each target, and its world."""
        config, actuators = self.config, self.host.actuators
        group = str(config.actuator)
        if group not in actuators:
            near = did_you_mean(group, actuators)
            raise ConfigError(f"actuator: no group {group!r} in [actuators]{near}")
        actuator = actuators[group]
        try:
            self._targets = getattr(actuator, _TARGETS[config.target])
        except AttributeError as error:
            raise ConfigError(f"target: {config.actuator!r} has no {config.target} targets: {error}") from error
        labels = list(actuator.joint_labels)
        columns = np.array(match(config.joints, labels, "axis", "joints") if config.joints else range(len(labels)))
        self._rows = self._ints(np.repeat(np.arange(len(actuator.worlds)), len(columns)))
        count = len(actuator.worlds) * len(columns)
        self._starts = wp.zeros(count, dtype=float, device=self.model.device)
        self._claimed = (f"{group} {config.target}", columns)
        for name, controller in self.host.controllers.items():
            taken = np.intersect1d(columns, controller.writes(group, _TARGETS[config.target]))
            self._refuse(taken, labels, f"is commanded by controllers.{name}; move its goals, by 'goal_of'")
        return np.tile(columns, len(actuator.worlds)), np.repeat(actuator.worlds, len(columns))

    def move(self, state: newton.State) -> None:
        """Write the targets."""
        is_effort = self.config.target == "effort"
        self.launch(kernels.write_targets, self._rows, is_effort, self._starts, self._targets)


class Goals(Mover):
    """Goals of a controller, in phases: each motion writes them from its start to its end."""

    unused_hooks = ("before_substep", "after_substep")
    widths = (3, 7)
    takes_turns = True

    def find(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of each goal, and its world."""
        controllers, label = Tools.owners(self.host), str(self.config.goal_of)
        if label not in controllers:
            near = did_you_mean(label, controllers)
            raise ConfigError(f"goal_of: no controller {label!r} in [controllers], and no such group with goals{near}")
        controller, device = controllers[label], self.model.device
        self._goals: wp.array = controller.goals
        worlds = np.repeat(controller.worlds, self._goals.shape[1])
        self._bodies = self._ints(self._frames_of(worlds))
        self._starts, self._frames = (wp.zeros(len(worlds), dtype=wp.transform, device=device) for _ in range(2))
        start, dt = self.config.start, self.host.control_dt
        step = round(start / dt)
        # Control steps until the motion begins, as the kernel counts them: the first evaluation is at time zero.
        self._first = step + 1 + (step * dt < start - kernels.ROUNDING)
        goals = np.arange(len(worlds))
        self._claimed = (f"goals of {label}", goals)
        return goals, worlds

    def move(self, state: newton.State) -> None:
        """Write the goals."""
        arrays = (state.body_q, self._starts, self._frames, self._goals.flatten())
        self.launch(kernels.move_goals, self._first, self._bodies, *arrays)

    def _frames_of(self, worlds: np.ndarray) -> np.ndarray:
        label, model = self.config.relative_to, self.model
        if label is None:
            return np.full(len(worlds), -1)
        names = list(dict.fromkeys(model.body_label))
        chosen = {names[index] for index in match([label], names, "body", "relative_to")}
        found = np.flatnonzero([name in chosen for name in model.body_label])
        of_world = dict(zip(on_host(model.body_world)[found].tolist(), found.tolist(), strict=True))
        if len(chosen) > 1 or len(of_world) < len(found):
            raise ConfigError(f"relative_to: {label!r} matches several bodies of a world; name one")
        absent = [world for world in worlds.tolist() if world not in of_world]
        if absent:
            raise ConfigError(
                f"relative_to: {label!r} matches no body of world {absent[0]}; name one that each world has"
            )
        return np.array([of_world[world] for world in worlds.tolist()])


class Forces(Mover):
    """Forces and torques on bodies."""

    unused_hooks = ("start_step", "after_substep")

    def find(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bodies, and the world of each."""
        bodies, worlds = self.select("body", self.config.force_on)
        self._refuse(bodies[self._are_kinematic(bodies)], self.model.body_label, "is kinematic: no force moves it")
        return bodies, worlds

    def move(self, state: newton.State) -> None:
        """Add the forces to those of the state."""
        self.launch(kernels.add_forces, self.model.body_com, state.body_q, state.body_f)


MOVERS: Mapping[str, type[Mover]] = {
    "bodies": Bodies,
    "particles": Particles,
    "joints": Joints,
    "actuator": Targets,
    "goal_of": Goals,
    "force_on": Forces,
}
"""Followers of the values of a motion, by the key that names them."""
