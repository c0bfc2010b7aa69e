"""Bed of a random walk: a simulation of one solver that is put back to its start, and steps that are taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
import pippin
import warp as wp
from pippin.state.world_rows import arrays_of, worlds_of
from pippin.step.callbacks import Callbacks
from pippin_conformance import scenes
from pippin_conformance.plugin_under_test import PluginUnderTest

from ..scenes import cloth

STEPS = 2
"""Control steps in which a call has to show its effect."""

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "implicit-mpm": {"separate_worlds": True, "grid_type": "dense", "max_iterations": 20},
    "steel": {"enable_joint_limits": True},
}
"""Options of the solvers that a walk needs, or that let it try more calls."""

TWINS = frozenset({"implicit-mpm"})
"""Solvers whose steps cannot be taken back, since they allocate: a second simulation takes the same steps."""

SUBSTEPS: Mapping[str, int] = {"semi-implicit": 8}
"""Substeps of the solvers that are not stable with steps of 2 ms."""

LEFT_OUT = frozenset({"carried_sliders"})
"""Features of the robots that a solver may lack."""

ONE_WORLD = frozenset({"style3d"})
"""Solvers that support only one world."""

COUPLED: Mapping[str, float] = {
    "implicit-mpm": 3e-4,  # it iterates until all worlds have converged
    "mujoco-native": 1e-5,  # a change of the model rounds the state of all worlds to single precision
}
"""Solvers with the largest difference of a world that nobody asked [m, m/s], if it is not zero."""


PARAMETERS = (
    *("body_mass", "body_inertia", "body_com", "joint_armature", "joint_friction", "joint_damping", "joint_stiffness"),
    *("joint_limit_lower", "joint_limit_ke", "joint_limit_kd", "joint_target_ke", "joint_target_kd"),
    *("joint_effort_limit", "joint_X_p", "joint_X_c", "shape_material_mu", "shape_material_ke", "shape_transform"),
    *("gravity", "mujoco:gravcomp"),
)
"""Arrays of the model with parameters that can differ between worlds."""


def link(builder: newton.ModelBuilder, label: str) -> int:
    """Add a link of 1 kg."""
    com = wp.vec3(0.02, 0.01, -0.03)
    return builder.add_link(label=label, mass=1.0, com=com, inertia=wp.diag(wp.vec3(0.02, 0.03, 0.04)))


def robots(builder: newton.ModelBuilder) -> None:
    """Add a robot on a free root with hinge, slider and two-axis joint, an arm on the world, and a ball on the ground.

    Its hinge `knee` is driven by a group, and all other joints by drives of the model.
    """
    axis = newton.ModelBuilder.JointDofConfig
    drive = {"armature": 0.0, "target_ke": 20.0, "target_kd": 1.0, "limit_lower": -0.5, "limit_upper": 0.5}
    beside = wp.transform(wp.vec3(0.3, 0.0, 0.0), wp.quat_identity())
    base, shank, shin, hand = (link(builder, label) for label in ("base", "shank", "shin", "hand"))
    joints = [builder.add_joint_free(base, label="root")]
    builder.joint_q[-7:] = [0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 1.0]
    options: dict[str, Any] = {"parent_xform": beside, **drive}
    joints.append(builder.add_joint_revolute(base, shank, axis=(0.0, 1.0, 0.0), label="knee", **options))
    joints.append(builder.add_joint_prismatic(shank, shin, axis=(1.0, 0.0, 0.0), label="tube", **options))
    axes = [axis(axis=each, **drive) for each in ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    joints.append(builder.add_joint_d6(base, hand, angular_axes=axes, parent_xform=beside, label="wrist"))
    builder.add_articulation(joints, label="robot")
    upper, lower = link(builder, "upper"), link(builder, "lower")
    options["parent_xform"] = wp.transform(wp.vec3(2.0, 0.0, 2.0), wp.quat_identity())
    arm = [builder.add_joint_revolute(-1, upper, axis=(0.0, 1.0, 0.0), label="shoulder", **options)]
    options["parent_xform"] = beside
    arm.append(builder.add_joint_prismatic(upper, lower, axis=(1.0, 0.0, 0.0), label="elbow", **options))
    builder.add_articulation(arm, label="arm")
    scenes.ball(builder)
    builder.joint_q[-7:-5] = [-2.0, 0.0]
    builder.joint_qd[-6:] = [1.0, 0.5, 0.0, 0.0, 0.0, 1.0]


class Wind:
    """A constant wrench on each body, so that its inertia matters, and a constant force on each particle."""

    def blow(self, state: newton.State) -> None:
        """Add the forces of one substep."""
        if state.body_f is not None:
            count = len(state.body_f)
            pattern = np.resize(
                np.float32([[0.6, -0.4, 0.5, 0.05, 0.04, -0.06], [-0.3, 0.5, 0.4, -0.04, 0.06, 0.05]]), 12
            )
            state.body_f.assign(state.body_f.numpy() + np.resize(pattern, (count, 6)))
        if state.particle_f is not None:
            state.particle_f.assign(state.particle_f.numpy() + np.float32([1e-3, 2e-3, 0.0]))


@attrs.frozen(eq=False)
class Bits:
    """Contents of all arrays that a user can see, by name: state, control, the memory of components, model."""

    seen: Mapping[str, np.ndarray]
    model: Mapping[str, np.ndarray]

    def differences(self, other: Bits) -> list[str]:
        """Return the names of the arrays that are not the same, bit for bit."""
        pairs = [(self.seen, other.seen), (self.model, other.model)]
        return [name for a, b in pairs for name in a | b if name not in b or a[name].tobytes() != b[name].tobytes()]


class Bed:
    """A simulation for a walk.

    Args:
        solver: Name of an installed solver.
        folder: Folder for files.
    """

    def __init__(self, solver: str, folder: Path) -> None:
        self.solver, self._wind = solver, Wind()
        self._second: Bed | None = None
        self._plugin = PluginUnderTest(kind="solver", name=solver, config=OPTIONS.get(solver, {}))
        declared = self._plugin.declaration
        self.features, self.changes = declared.supported_features, declared.live_changes
        self.has_bodies = self.features is None or "rigid_bodies" in self.features
        self.world_count = 1 if solver in ONE_WORLD else 3
        self.prototype = self._prototype()
        self.simulation = self.build()
        #: The views that are asked, by name.
        self.views: dict[str, Any] = self._views()
        if solver == "mujoco-native":
            self._make_room()
        self.step(1)
        self.simulation.reset()
        self._start = self.bits()
        #: The state at the start.
        self.start_motion = self.motion()
        #: Callbacks that the walk added, by the world that they push.
        self.handles: dict[int, Any] = {}
        #: Folder for files.
        self.folder = folder
        group = self.group
        self._parameters = {} if group is None else {name: group.get(name).numpy().copy() for name in group.parameters}

    def _prototype(self) -> newton.ModelBuilder:
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        component = self._plugin.component()
        if hasattr(component, "configure_builder"):
            component.configure_builder(builder=builder)
        if self.has_bodies:
            robots(builder)
        elif self.solver in ONE_WORLD:
            cloth(builder)
        else:
            scenes.grains(builder)
        return builder

    def build(self) -> pippin.Simulation:
        """Return a new simulation of the scene."""
        group = {"type": "pd", "joints": ["knee"], "kp": 20.0, "kd": 1.0}
        lacking = [] if self.features is None else sorted(LEFT_OUT - self.features.keys())
        options = {"substeps": SUBSTEPS.get(self.solver, 1), "capture": "off", "accept_unsupported": lacking}
        tables: dict[str, Any] = {
            "simulation": {"device": "cpu", "dt": 0.002, **options},
            "scene": {"worlds": self.world_count, "ground": True, "settable_joints": self.has_bodies},
            "solver": {"type": self.solver, **OPTIONS.get(self.solver, {})},
        }
        if self.has_bodies:
            tables |= {"actuators": {"legs": group}, "sensors": {"joints": {"type": "joint-state", "joints": [".*"]}}}
        callbacks = Callbacks()
        callbacks.add("before_substep", self._wind.blow, name="wind")
        return pippin.Simulation(pippin.structure(tables), prototype=self.prototype, callbacks=callbacks)

    def _make_room(self) -> None:
        """Change every parameter once, and back: MuJoCo's worlds get memory for it, which nothing can take back."""
        arrays = arrays_of(self.simulation.model)
        before = {name: arrays[name].numpy().copy() for name in PARAMETERS}
        for factor in (0.99, 1.0):
            for name, values in before.items():
                arrays[name].assign(factor * values + np.float32(0.01 * (1.0 - factor)))
            self.simulation.notify_model_changed(self._flags)
            self.step(1)

    @property
    def _flags(self) -> int:
        """All changes of the model that the solver takes over."""
        known = [flag for flag in newton.ModelFlags if flag.name != "ALL"]
        return sum(flag for flag in known if self.changes is None or flag.name in self.changes)

    def _views(self) -> dict[str, Any]:
        view = self.simulation.view
        if not self.has_bodies:
            return {}
        articulations = {name: view.articulations(name) for name in ("robot", "arm", "ball")}
        return {
            **articulations,
            "all": view.articulations("**"),
            "bodies": view.rigid_bodies("**"),
            "body": view.rigid_bodies("ball"),
        }

    @property
    def group(self) -> Any:
        """The actuator group; None if the scene has no joints."""
        return self.simulation.actuators.get("legs")

    def step(self, count: int = STEPS) -> None:
        """Advance."""
        self.simulation.step(count)

    def restart(self) -> None:
        """Put model, inputs, group and state back to the start, and tell the solver."""
        simulation = self.simulation
        while self.handles:
            self.handles.popitem()[1].remove()
        _ = simulation.state
        arrays = arrays_of(simulation.model)
        for name, contents in self._start.model.items():
            if arrays[name].numpy().tobytes() != contents.tobytes():
                arrays[name].assign(contents)
        for name, array in arrays_of(simulation.control).items():
            array.assign(self._start.seen[f"control.{name}"])
        if self.group is not None:
            simulation.set_enabled(self.group, True)
            for name, values in self._parameters.items():
                if not np.array_equal(self.group.get(name).numpy(), values):
                    self.group.set(name, values)
            for name in ("position_targets", "velocity_targets", "feedforward"):
                getattr(self.group, name).assign(self._start.seen[f"actuators:legs._effort.{name}"])
        simulation.notify_model_changed(self._flags)
        self.step(1)  # the solver is told before a step, and not when steps are taken back
        simulation.reset()

    def bits(self) -> Bits:
        """Return copies of everything that a user can see."""
        outcome = self.simulation.state_record()
        seen = {name: array for name, array in outcome.arrays.items() if "._properties._values." not in name}
        model = {name: array.numpy().copy() for name, array in arrays_of(self.simulation.model).items()}
        return Bits(seen, model)

    def motion(self) -> dict[str, list[np.ndarray]]:
        """Return the rows of each world of the arrays of the state."""
        found = {}
        for name, array in arrays_of(self.simulation.state).items():
            worlds = worlds_of(self.simulation.model, name)
            if self.solver in TWINS and name not in ("particle_q", "particle_qd"):
                continue  # the memory of the grid
            if worlds is not None and len(worlds) == len(array):
                values = array.numpy()
                found[name] = [values[worlds == world].copy() for world in range(self.world_count)]
        return found

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        """Take back, after the `with` block, the steps that are taken in it."""
        count = self.simulation.step_count
        with self.simulation.program.undone():
            yield
            _ = self.simulation.state
        self.simulation.step_count = count

    def twin(self, before: Callable[[], object] | None = None) -> dict[str, list[np.ndarray]]:
        """Return the motion of the next steps without the call that follows, and take them back.

        Args:
            before: Called before these steps; a second simulation takes them without this call.
        """
        if self.solver in TWINS:
            return self._follower().twin_of(self)
        with self.taken_back():
            if before is not None:
                before()
            self.step()
            return self.motion()

    def _follower(self) -> Bed:
        """Return the second simulation."""
        if self._second is None:
            self._second = Bed(self.solver, self.folder)
        return self._second

    def twin_of(self, other: Bed) -> dict[str, list[np.ndarray]]:
        """Return the motion of the next steps from the state of another simulation of the same scene."""
        mine, theirs = arrays_of(self.simulation.state), arrays_of(other.simulation.state)
        for name, array in theirs.items():
            if mine[name].shape == array.shape:  # the grid's own arrays follow the grains
                mine[name].assign(array)
        self.simulation.view.set_gravity(other.simulation.view.get_gravity())
        for handle in [self.handles.pop(world) for world in list(self.handles)]:
            handle.remove()
        for world, handle in other.handles.items():
            self.handles[world] = self.simulation.callbacks.add(handle.phase, handle.function, is_capturable=False)
        self.step()
        return self.motion()
