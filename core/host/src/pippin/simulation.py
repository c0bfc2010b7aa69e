"""A running simulation: built from a configuration, then stepped, reset, saved and closed."""

from __future__ import annotations

import logging
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from .binding import Services, refuse_closed
from .config import ComponentConfig, SimulationConfig, load, refuse_missing_extras
from .devices import WARP_LOCK, leave_out_backward_kernels, no_garbage_collection, start_newton
from .errors import SimulationError
from .frozen_attributes import FrozenAttributes, freeze
from .state.captured_arrays import CapturedArrays
from .step.callbacks import Callbacks
from .step.host_schedule import HostSchedule
from .validators import whole_number

if TYPE_CHECKING:
    import newton
    import numpy as np
    import warp as wp

    from .assets.report import ImportReport
    from .components.registry import Components
    from .components.tracing import HookTrace
    from .solving.contact_source import Capacity, ContactSource
    from .state.draws import WorldSeeds
    from .state.kinematics import Coordinates
    from .state.step_data import StateRecord
    from .views import SimulationView

_LOGGER = logging.getLogger(__name__)


class Simulation(FrozenAttributes):
    """One or many worlds, a solver, actuators and sensors, stepped together.

    Args:
        config: The configuration, or the path of its file, or its tables as a dictionary.
        plugins: Plugin objects made in Python, called after those of the file: a sequence, or a mapping from labels.
        prototype: The content of one world, built in Python, in place of `scene.assets`; or several contents in world
            order, each with its number of neighbouring worlds. Copies are used, with the scene's gravity. Register
            the solver's custom attributes before you add elements, as usual with `newton.ModelBuilder`.
        callbacks: Functions to call at events and in the phases of a step; more can be added to `callbacks` later.
        trace: The record of hook calls, from the build on.
        folder: The folder for the files of viewers and recorders, which the first file makes; without it, the paths of
            files must be absolute.

    Raises:
        ConfigError: The configuration names something unknown, or its parts contradict each other.
        PluginError: A plugin cannot be loaded, or breaks its contract.
    """

    _assignable = frozenset({"step_count"})

    def __init__(
        self,
        config: SimulationConfig | str | os.PathLike[str] | Mapping[str, Any],
        plugins: Sequence[Any] | Mapping[str, Any] = (),
        prototype: newton.ModelBuilder | Sequence[tuple[newton.ModelBuilder, int]] | None = None,
        callbacks: Callbacks | None = None,
        trace: HookTrace | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        leave_out_backward_kernels()
        config = load(config)
        refuse_missing_extras(config)
        import_hot_modules(requires_grad=config.simulation.requires_grad)
        from .assembly.built import assemble, bind_components, few_worlds
        from .step.compilation import compiling_together
        from .step.services import SimulationServices
        from .step.stepping import CurrentProgram, Stepping

        # Observers and plugins made in Python expect no second build.
        few, shown = few_worlds(config.unobserved(), prototype)
        rehearse = partial(type(self), few, prototype=shown)
        #: Functions that are called at events and in the phases of a step.
        self.callbacks: Callbacks = Callbacks() if callbacks is None else callbacks
        #: The folder for the files of viewers and recorders; None if none was given.
        self.folder: Path | None = None if folder is None else Path(folder)
        with config.tree.placing(), compiling_together(rehearse):
            built = assemble(config, plugins, prototype, self.callbacks, trace)
        self._built, self._components, self._state = built, built.components, built.states[0]
        self._view, self._captured_model = None, CapturedArrays({})
        self._stepping = Stepping()
        self._is_ready = self._is_closing = self._is_closed = False
        self.config, self.catalog, self.device = built.config, built.catalog, built.device
        self.model, self.solver, self.control = built.model, built.solver, built.control
        #: Position at which each world is drawn [m], shape [world_count, 3]; in physics, all worlds are at the origin.
        self.world_offsets: np.ndarray = built.world_offsets
        #: The features of the scene that nothing honours, with the users of each: accepted, or merely stated by a file.
        self.ignored_features: Mapping[str, Sequence[str]] = built.ignored_features
        #: For the core: differences of the simulated robots from MuJoCo's own models; empty for other solvers.
        self.import_reports: tuple[ImportReport, ...] = built.import_reports
        #: The source of contacts.
        self.contact_source: ContactSource = built.source
        #: What the simulation does for its components within a step.
        self.services: Services = SimulationServices(host := weakref.proxy(self), built)
        #: Control steps so far.
        self.step_count: int = 0
        #: The same on the device, shape [1]: kernels of a recorded step may read it.
        self.step_counter: wp.array[wp.int64] = built.step_counter
        #: Number of resets of each world so far, on the device, shape [world_count].
        self.reset_counts: wp.array[int] = built.reset.counts
        #: The seeds of the random draws of each world.
        self.seeds: WorldSeeds = built.seeds
        with self._components.closed_on_failure(), config.tree.placing():
            with compiling_together(rehearse):
                self._plan = self.services.plan = bind_components(built, host)
            self._current = CurrentProgram(self._plan)
            self._schedule = HostSchedule(self._components, self.callbacks, built.periods, host)
            if any(getattr(each, "draws_starts", False) for each in self._components.values()):
                self.reset()  # the first episode starts like all others
            self._is_ready = True
            self._captured_model = CapturedArrays({"model": self.model})
            freeze(self, *(each for each in self.actuators.values() if isinstance(each, FrozenAttributes)))
            self.callbacks.call("simulation_ready", simulation=self)
            self._schedule.start()

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        overrides: Mapping[str, Any] | None = None,
        plugins: Sequence[Any] | Mapping[str, Any] = (),
        prototype: newton.ModelBuilder | Sequence[tuple[newton.ModelBuilder, int]] | None = None,
        callbacks: Callbacks | None = None,
        trace: HookTrace | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Build the simulation that a file describes.

        Args:
            path: A TOML, YAML or JSON file.
            overrides: Values that replace those of the file, by key path: `{"solver.iterations": 8}`; tables merge.
            plugins: As for the class.
            prototype: As for the class.
            callbacks: As for the class.
            trace: As for the class.
            folder: As for the class.

        Raises:
            ConfigError: As for the class; names file and line.
            PluginError: As for the class.
        """
        leave_out_backward_kernels()
        return cls(load(path, overrides), plugins, prototype, callbacks, trace, folder)

    def world_indices(
        self, what: Literal["body", "joint", "shape"], local: Sequence[int] | Mapping[int, Sequence[int]]
    ) -> np.ndarray:
        """Return the model's indices of a prototype's bodies, joints or shapes, shape [world_count, len(local)].

        In `bind`, a component uses `Binding.indices`, which knows the worlds of the component.

        Args:
            what: The kind of element that `local` counts.
            local: Indices in the prototype, as `extend_prototype` saw it, or a mapping from each `prototype` to them.

        Raises:
            ConfigError: Some worlds have more of these elements than others.
            PluginError: The worlds differ, and `local` is not a mapping from prototypes.
        """
        return self._built.layout.indices(self.model, local, what, None)

    @property
    def prototype_of_world(self) -> np.ndarray:
        """The prototype that each world is a copy of, shape [world_count]: zeros unless worlds differ."""
        return self._built.layout.prototype_of_world

    @property
    def state(self) -> newton.State:
        """The state after the last step, with consistent joints and bodies; always the same object."""
        self._built.written.settle()
        return self._state

    @property
    def program(self) -> Any:
        """The operations of a control step and their graphs, `is_captured`, `eager_reasons`; print it to see all."""
        return self._current.program

    @property
    def stepped_state(self) -> newton.State | None:
        """The state of the hook or callback that runs now; None between steps."""
        return self._built.current.state

    @property
    def observables(self) -> newton.solvers.SolverBase.Observables | None:
        """The solver's reports of the last substep; None if none were requested."""
        return None if self._built.reports is None else self._built.reports.measured

    @property
    def view(self) -> SimulationView:
        """Articulations, bodies and contacts of all worlds as dense arrays; a new view if the last one is invalid."""
        from .views.simulation_view import SimulationView

        view = self._view if self._view is not None and self._view.is_valid else SimulationView(self)
        self._view = None if self._is_closed else view  # pyrefly: ignore[bad-assignment]  closed, it keeps nothing
        return view

    @property
    def is_closed(self) -> bool:
        """Whether the simulation was closed: it can be read, but not changed."""
        return self._is_closed

    @property
    def world_count(self) -> int:
        """The number of worlds."""
        return self.model.world_count

    @property
    def dt(self) -> float:
        """Length of a physics step [s]."""
        return self.config.simulation.dt

    @property
    def solver_dt(self) -> float:
        """Length of a substep, which is a step of the solver [s]."""
        return self.config.simulation.solver_dt

    @property
    def control_dt(self) -> float:
        """Length of a control step [s]."""
        return self.config.simulation.control_dt

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.step_count * self.control_dt

    @property
    def contacts(self) -> newton.Contacts | None:
        """The contacts of the last detection; None if the solver does not export them.

        A solver that detects contacts itself exports them only if `simulation.observables` or a sensor asks for
        `contact_f`.
        """
        needed, reported = self.contact_source.filled_with, self.observables
        is_filled = needed is None or (reported is not None and needed in reported.kinds)
        return self.contact_source.contacts if is_filled else None

    @property
    def capacities(self) -> tuple[Capacity, ...]:
        """The buffers of fixed size of contacts and solver, with their allocated sizes."""
        return self._plan.monitor.capacities

    def __getattr__(self, name: str) -> Any:
        """Return the components of a table of the file: by label, as `sensors`; or the one of a table like `task`.

        A table without plugins is an empty mapping; a table of one component that is not there is None.
        """
        components: Components | None = vars(self).get("_components")
        if components is None or name not in components.tables():
            return super().__getattr__(name)  # pyrefly: ignore[missing-attribute]  hidden from type checkers
        is_labelled = getattr(components.catalog.tables[name], "is_labelled", False)
        return components.by_label(name) if is_labelled else components.get(name)

    def __dir__(self) -> list[str]:
        """Return the names of all attributes, with those of tables."""
        return [*super().__dir__(), *self._components.tables()]

    def component(self, name: str) -> Any:
        """Return the component of a name such as `sensors:torso` or `task`; None if there is none."""
        return self._components.get(name)

    @property
    def notes(self) -> Mapping[str, Sequence[str]]:
        """Facts that a reader of the results should know, by component; components without notes are left out.

        `scene` stands for the import of the assets, for their own actuators, and for what the solver ignores of them.
        """
        off = self._schedule.notes
        notes = {"scene": self._built.notes}
        notes |= {name: [*each.notes, *off.get(name, ())] for name, each in self._components.attributes.items()}
        return {name: texts for name, texts in notes.items() if texts}

    @property
    def selected_plugins(self) -> Mapping[str, tuple[str, ComponentConfig]]:
        """Kind and configuration of each plugin chosen by name, in the file or on a stage, by component."""
        return self._components.choices

    def step(self, count: int = 1) -> None:
        """Advance by `count` control steps.

        Nothing is read back from the device: call `raise_errors` if a diverged world should stop the run.

        Raises:
            SimulationError: The first step cannot be captured although `simulation.capture` requires it; or the
                simulation is closed, `count` is negative, or a step runs, whose hook or callback this is.
            PluginError: The first step shows that the solver's declaration is wrong.
        """
        self._stepping.refuse("step", is_closed=self._is_closing)
        self._stepping.step(self, count, self._current, self._schedule)

    @property
    def is_waiting(self) -> bool:
        """Whether `step` waits because a viewer paused or slowed it: then an exception ends no step halfway."""
        return self._schedule.is_waiting

    @property
    def seconds_waited(self) -> float:
        """Time for which `step` waited for viewers so far [s]."""
        return self._schedule.seconds_waited

    def rollout(
        self,
        count: int,
        *,
        start: newton.State | None = None,
        first: int = 0,
        before_step: Callable[[int], None] | None = None,
    ) -> tuple[newton.State, ...]:
        """Return the states of the next `count` control steps, for a `wp.Tape`; the simulation does not advance.

        Call it inside `with wp.Tape() as tape:`. `tape.backward` then gives the gradients with respect to the first
        returned state, `control`, the targets of actuators and the arrays of `model` that the solver reads. The
        operations are those of `step` without sensors. Each call of the solver has its own output state, and nothing
        is captured.

        Args:
            count: Number of control steps.
            start: The state to start from, by default `state`. Long rollouts are taken in pieces, to save memory.
            first: Control steps from `state` to `start`, so that `step_counter` is right.
            before_step: Called before each control step with its number, counted from `first`. It may write inputs,
                by kernels whose backward pass a tape can use although they overwrite.

        Returns:
            A copy of the start and the states after each control step, `count + 1` in total; the caller owns them.

        Raises:
            ConfigError: `simulation.requires_grad` is not set, or a component would make the gradients wrong.
            SimulationError: The simulation is closed, a number is negative, or a buffer of contacts overflowed.
        """
        self._stepping.refuse("rollout", is_closed=self._is_closing)
        count, first = (whole_number(each, "rollout", error=SimulationError) for each in (count, first))
        with self._stepping.during("rollout"):
            return self._current.roll_out(count, start, first, before_step)

    def reset(self, worlds: Any = None) -> None:
        """Reset worlds to their initial state, and reset the memory that components and solver have of them.

        Targets and inputs of actuator groups start anew, too; `control` belongs to the user otherwise. `raise_errors`
        forgets the failures of these worlds, and overflows of buffers that the worlds share only if all are reset.

        Args:
            worlds: Indices of worlds, or a boolean mask of shape [world_count]; None means all worlds.

        Raises:
            ConfigError: An index is out of range, or the mask has another shape.
        """
        self._refuse("reset")
        with WARP_LOCK, self._stepping.during("reset"):
            self._built.written.settle()
            self._plan.resetting.run(self._built.reset.mask_of(worlds, "reset: worlds"))
            self._components.call_each("observe", state=self.state, dt=self.control_dt)

    def invalidate(self, what: Coordinates, worlds: Any = None) -> None:
        """Report that `joints`, `bodies` or `particles` of the state were written, so that the rest follows them.

        The computation runs once, on the device and only for the written worlds, before the next step or when `state`
        is read again: forward kinematics from `joint_q` and `joint_qd`, or inverse kinematics from `body_q` and
        `body_qd`. The solver's memory of these worlds is reset. In one world, write either joints or bodies.

        Args:
            what: The written part of the state.
            worlds: Indices of worlds, or a boolean mask of shape [world_count]; None means all worlds.

        Raises:
            ConfigError: An index is out of range, the mask has another shape, or `what` is unknown.
        """
        self._refuse("invalidate")
        with WARP_LOCK:
            self._built.written.add(what, self._built.reset.mask_of(worlds, "invalidate: worlds"))

    def set_enabled(self, component: Any, enabled: bool) -> None:
        """Enable or disable an actuator, from the next step on. A disabled one adds no effort and keeps its state.

        Disabling zeroes `control.joint_f` of the driven DOFs once; the caller may then write these entries.

        Args:
            component: One of `actuators`, or an object passed as a plugin.
            enabled: Whether the actuator acts.

        Raises:
            ConfigError: The component is not an actuator of this simulation.
        """
        refuse_closed(self, "set_enabled")
        self._built.disabled.set_enabled(component, enabled)

    def notify_model_changed(self, flags: newton.ModelFlags | int, worlds: Any = None) -> None:
        """Report in-place changes of `model`, so that the solver is notified before the next step; graphs stay valid.

        Flags and worlds are merged: the solver is notified once of all changes since the last step.

        Args:
            flags: The kinds of change, such as `newton.ModelFlags.SHAPE_PROPERTIES`.
            worlds: Indices of the changed worlds, or a boolean mask of shape [world_count]; None means all worlds. Most
                solvers read all worlds again in any case.

        Raises:
            ConfigError: A flag is unknown, the solver cannot apply such changes while it runs, an index is out of
                range, or the mask has another shape.
        """
        refuse_closed(self, "notify_model_changed")
        self._captured_model.refuse_others()
        with WARP_LOCK:
            mask = None if worlds is None else self._built.reset.mask_of(worlds, "notify_model_changed: worlds")
            self._built.model_changes.add(flags, mask)

    def raise_errors(self) -> None:
        """Raise if a step produced a diverged state or a buffer overflowed. Synchronises with the device.

        A state has diverged if it is not finite, or exceeds `simulation.max_speed` or `simulation.max_effort`.

        Raises:
            BufferOverflowError: Names the buffers, and the keys to raise with the sizes that were needed.
            SimulationError: Names the step, the world and the joint or body that diverged, and what may cure it.
            ConfigError: A view got an invalid index in an array on the device, or an array of the model has values that
                the built solver cannot take over.
        """
        self._plan.monitor.check()
        self._built.support.check(self._plan.owners.taken, self.control)
        self._built.model_changes.check()
        for attributes in self._components.attributes.values():
            attributes.raise_errors()
        if self._view is not None:
            self._view.raise_errors()

    @property
    def first_diverged_step(self) -> int | None:
        """The first control step, counted from 1, with a diverged state in a world that was not reset since; else None.

        Synchronises with the device.
        """
        return self._plan.monitor.first_diverged_step()

    @property
    def iteration_limit_count(self) -> int:
        """How often the solver reached a limit of iterations, counted over the substeps of all worlds.

        Zero if the solver does not report it. Synchronises with the device.
        """
        return self._plan.monitor.harmless_count()

    def state_record(self) -> StateRecord:
        """For the core: return exact copies of the results so far: states, inputs, and the memory of components.

        Deterministic simulations of one file have equal records after the same steps. Synchronises with the device.
        """
        self._stepping.refuse("state_record", is_closed=False)
        with WARP_LOCK:
            return self._plan.data.record()

    @property
    def unsaved_reasons(self) -> Mapping[str, str]:
        """Reasons why the simulation cannot be saved, by component; empty if it can be."""
        reasons = {name: each.unsaved_reason for name, each in self._components.attributes.items()}
        return {name: reason for name, reason in reasons.items() if reason is not None}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all data that steps carry on into one file; see `load`. Synchronises with the device.

        The file holds data only, and is written completely or not at all. Equal states give equal files, byte for byte.

        Args:
            path: The file, which is replaced if it is there.

        Raises:
            SimulationError: A component declares that it cannot continue from a file; names its reason.
        """
        self._refuse("save")
        for name, reason in self.unsaved_reasons.items():
            raise SimulationError(f"save: {name}: {reason}; run it in one piece")
        self._current.checkpoint(self.step_count).write(path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        plugins: Sequence[Any] | Mapping[str, Any] = (),
        prototype: newton.ModelBuilder | Sequence[tuple[newton.ModelBuilder, int]] | None = None,
        folder: str | os.PathLike[str] | None = None,
        *,
        observed: bool = True,
        device: str | None = None,
    ) -> Self:
        """Build a simulation and continue from the call of `save`, bit for bit.

        Args:
            path: A file written by `save` with the same versions of Pippin, Newton and Warp.
            plugins: The plugin objects of the saved simulation.
            prototype: The prototype of the saved simulation.
            folder: As for the class.
            observed: Whether the viewers and recorders of the saved configuration are built.
            device: Device in place of the saved one; one of another kind gives other bits.

        Raises:
            ConfigError: The file is missing or not a checkpoint, or belongs to other versions or another simulation.
        """
        leave_out_backward_kernels()
        from .state.checkpoint import Checkpoint

        checkpoint = Checkpoint.read(path)
        simulation = cls(checkpoint.configuration(device, observed=observed), plugins, prototype, folder=folder)
        with simulation._components.closed_on_failure():
            simulation._current.resume(checkpoint, os.fspath(path))
            simulation.step_count = checkpoint.step_count
            simulation._schedule.start()
        return simulation

    def close(self) -> None:
        """Call the `stopped` callbacks and close the components, once.

        The arrays, and the getters of views, stay readable; each call that would change something is an error. Notes
        that components add now, such as a recorder that cannot write its last rows, are logged as warnings.
        """
        if self._is_closing:
            return
        self._refuse("close")
        self._is_closing = True
        with ExitStack() as last:
            last.callback(self.callbacks.close)
            last.callback(vars(self).update, _is_closed=True, _view=None)
            last.callback(self._components.close)
            noted = self._components.noted if self._is_ready else set[str]
            before = noted()
            if self._is_ready:
                self.callbacks.call("stopped", simulation=self)
        for note in noted() - before:
            _LOGGER.warning("%s", note)

    def _refuse(self, where: str) -> None:
        self._stepping.refuse(where, is_closed=self._is_closed)

    def _cure_of(self, name: str) -> str | None:
        if hasattr(self.config.simulation, name):
            return f"simulation.{name} is a key of the configuration, which the build reads"
        return f"call view.set_{name}(…)" if name == "gravity" else None

    def __repr__(self) -> str:
        solver = self.config.solver.type if self.config.solver else type(self.solver).__name__
        return f"Simulation(worlds={self.world_count}, solver={solver}, time={self.time:g} s, device={self.device})"

    def __enter__(self) -> Self:
        refuse_closed(self, "with")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def import_hot_modules(*, requires_grad: bool, will_fork: bool = False) -> None:
    """Import Newton, Warp and what builds a simulation, which takes seconds.

    Args:
        requires_grad: Whether kernels are compiled with gradients.
        will_fork: Whether the process will be forked: then Warp is not started, as it loads the driver of a GPU.
    """
    start_newton(requires_grad=requires_grad, will_fork=will_fork)
    with no_garbage_collection():
        from .assembly import built  # noqa: F401 - the one door to the modules that import Newton
