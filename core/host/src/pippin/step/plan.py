"""The plan of a control step: its operations, in order, from the components."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import newton
from pippin.actuation.effort import zero_efforts
from pippin.arrays import present
from pippin.components.registry import Implementation
from pippin.config import SimulationOptions
from pippin.errors import ConfigError, PluginError
from pippin.state.double_buffer import DoubleBuffer
from pippin.state.kinematics import ContinuousAngles
from pippin.state.monitor import Monitor
from pippin.state.observables import Accelerations
from pippin.state.step_data import StepData

from .built import Built
from .callbacks import Phase
from .owners import DofOwners
from .program import Operation, Program
from .resetting import EndedWorlds, Resetting
from .substeps import AdaptiveDetection, ExternalForces


@attrs.frozen(kw_only=True, eq=False)
class StepPlan(Built):
    """A built simulation whose components are bound, and the operations of a step.

    Substeps use `states` in turn, and detections use `contacts` in turn; a tape has one state more than the solver's
    calls in a physics step. Every operation is bound to the objects that are current at its place. With two states and
    an odd number of substeps, a last operation copies the result into the first state.
    """

    contacts: tuple[newton.Contacts | None, ...]
    """The buffer of `source`; for a tape, one buffer for each detection of a physics step."""
    monitor: Monitor
    buffers: Mapping[str, list[DoubleBuffer[Any]]]
    """The double buffers that components requested."""
    owners: DofOwners
    """The component that drives each degree of freedom."""
    angles: ContinuousAngles
    """Joint coordinates from bodies, for a solver that writes bodies only."""
    resetting: Resetting
    """The reset of worlds."""
    ended: EndedWorlds | None
    """The worlds whose episodes end in a step; None if no component ends episodes."""
    opaque: tuple[type, ...]
    """Classes whose instances hold nothing that a step changes, except the objects listed here."""

    @classmethod
    def of(
        cls, built: Built, monitor: Monitor, buffers: Mapping[str, list[DoubleBuffer[Any]]], opaque: tuple[type, ...]
    ) -> StepPlan:
        """Return the plan of a simulation whose components are bound."""
        parts = {field.name: getattr(built, field.name) for field in attrs.fields(Built)}
        resetting = Resetting(built, monitor)
        return cls(
            **parts,
            contacts=(built.source.contacts,),
            monitor=monitor,
            buffers=buffers,
            owners=DofOwners(built.components, built.model, built.disabled),
            angles=ContinuousAngles(built.model),
            resetting=resetting,
            ended=EndedWorlds.of(built.components, resetting),
            opaque=opaque,
        )

    @property
    def options(self) -> SimulationOptions:
        """The table `[simulation]`."""
        return self.config.simulation

    def program(self) -> Program:
        """Return the program of one control step."""
        forces = ExternalForces(self.states[0])
        held = {name: dict(each.held_arrays) for name, each in self.components.attributes.items()}
        return Program(
            list(self._operations(forces)),
            device=self.model.device,
            policy=self.options.capture,
            save=lambda: self.data.snapshot({"forces": forces, "held": held}),
            observe=lambda: self.data.record(),
            trace=self.components.trace,
            rehearse=None if self.ended is None else self.ended.rehearse,
        )

    @property
    def data(self) -> StepData:
        """Everything that a step reads and changes."""
        recorded = (*self.callbacks.of("after_actuators"), *self.callbacks.of("before_substep"))
        reached = {f"{each.phase}:{each.name}": each.reach() for each in recorded}
        return StepData(
            outputs={
                "state": self.states[0],
                "next_state": self.states[1],
                "control": self.control,
                "reports": self.reports,
            },
            acting={**self.components, **reached},
            # `acting` has the component that builds the solver; the solver itself is listed here.
            inner={
                "states": self.states,
                "source": self.source,
                "monitor": self.monitor,
                "buffers": self.buffers,
                "solver itself": self.solver,
                "reset counts": self.reset.counts,
                "modified": self.modified,
            },
            hosts=frozenset({"solver itself", *self.components}),
            model=self.model,
            opaque=self.opaque,
        )

    def _operations(self, forces: ExternalForces) -> Iterator[Operation]:
        state = self.states[0]
        yield Operation(name="keep_forces", run=forces.keep)
        control_dt = self.options.control_dt
        yield from self._hook("start_step", state=state, control=self.control, dt=control_dt)
        for tick in range(self.ticks):
            yield from self.physics_step(tick * self.solver_calls, forces, is_last=tick == self.ticks - 1)
        if self.ticks * self.solver_calls % 2:
            yield Operation(name="copy_back", run=lambda: state.assign(self.states[1]))
        yield from self._settle_buffers()
        yield from self._readings(state)
        yield Operation(name="clear_forces", run=state.clear_forces)
        if self.reports is not None and self.reports.overflow is not None:
            yield Operation(name="monitor_overflow", run=partial(self.monitor.note_overflow, self.reports.overflow))
        yield Operation(name="monitor", run=lambda: self.monitor.note_step(state, self.control))
        yield from self._hook("end_step", state=state, control=self.control, dt=control_dt)
        if self.ended is not None:
            yield from self.ended.operations()
        yield from self._hook("observe", state=state, dt=control_dt)

    def physics_step(
        self, first: int, forces: ExternalForces, *, is_last: bool, start: newton.State | None = None
    ) -> Iterator[Operation]:
        """Yield the operations of one physics step, after `first` calls of the solver in the control step.

        The forces are the user's at the start of the control step. If the step is its last one, the user sees its
        last state. The state at the start of the control step is by default the first one.
        """
        calls = self.solver_calls
        yield from self._actuation(self._state(first))
        substeps = (
            self._whole_substep(first + call, forces, is_last=is_last and call == calls - 1) for call in range(calls)
        )
        if self.source.overtravel is not None:
            yield self._adaptive(first, [[*each] for each in substeps])
        else:
            for call, substep in enumerate(substeps):
                if self.source.is_run_by_host and call % self.source.interval == 0:
                    yield from self.collision(self._state(first + call), self._contacts(first + call))
                yield from substep
        if self._needs_joint_state(is_last):
            is_each_tick = self._is_answered("apply_actuators")
            before = self._state(0) if start is None else start
            dt = self.options.dt * (self.options.decimation // (self.ticks if is_each_tick else 1))
            last = self._state(first) if is_each_tick else before
            yield self._inverse_kinematics(self._state(first + calls), last, dt)

    def _adaptive(self, first: int, substeps: Sequence[Sequence[Operation]]) -> Operation:
        if len(substeps) % 2:
            raise ConfigError(
                f"simulation.substeps: {len(substeps)}, but collision.interval = 'adaptive' needs even ones; add one"
            )
        states = (self._state(first), self._state(first + 1))
        return AdaptiveDetection(self.source, states, substeps, self.monitor.note_detection, self.options.dt).operation

    def _whole_substep(self, count: int, forces: ExternalForces, *, is_last: bool) -> Iterator[Operation]:
        accelerations = self._accelerations if is_last else None
        yield from self._substep(count, forces, accelerations)
        after = self._state(count + 1)
        if self._needs_bodies(is_last=is_last):
            joints = present(after.joint_q), present(after.joint_qd)
            yield Operation(name="eval_fk", run=partial(newton.eval_fk, self.model, *joints, after))
        arguments = self.solver_arguments(count)
        dt = arguments["dt"]
        if self._coordinates == "mixed" and self.model.joint_count > 0:
            yield self._inverse_kinematics(after, self._state(count), dt * arguments["substep_count"])
        if accelerations is not None:
            yield Operation(name="measure_accelerations", run=partial(accelerations.measure, after, dt))

    def _actuation(self, state: newton.State) -> Iterator[Operation]:
        dofs = self.owners.acting()
        if dofs is not None:
            # A tape does not record `zero_`: the user's efforts on these DOFs would seem to have an effect.
            is_all = len(dofs) == self.model.joint_dof_count and not self.model.requires_grad
            zero = present(self.control.joint_f).zero_ if is_all else partial(zero_efforts, dofs, self.control)
            yield Operation(name="zero_efforts", run=zero)
        yield from self._hook("apply_actuators", state=state, control=self.control, dt=self.options.dt)
        yield from self._called("after_actuators", state=state, control=self.control, dt=self.options.dt)

    def collision(self, state: newton.State, contacts: newton.Contacts | None) -> Iterator[Operation]:
        """Yield the operations of one detection of contacts."""
        assert contacts is not None, "a pipeline fills a buffer"
        horizon = self.options.solver_dt * min(self.source.interval, self.options.substep_count)
        yield Operation(name="collide", run=lambda: self.source.collide(state, contacts, horizon))
        yield Operation(name="monitor_contacts", run=self.monitor.note_detection)

    def _substep(self, count: int, forces: ExternalForces, accelerations: Accelerations | None) -> Iterator[Operation]:
        state = self._state(count)
        arguments = self.solver_arguments(count)
        yield Operation(name="apply_forces", run=lambda: forces.apply(state))
        yield from self._hook("before_substep", state=state, control=self.control, dt=arguments["dt"])
        yield from self._called("before_substep", state=state, control=self.control, dt=arguments["dt"])
        if accelerations is not None:
            yield Operation(name="keep_velocities", run=partial(accelerations.keep, state))
        yield self.solver_step(**arguments)
        yield from self._hook("after_substep", state=arguments["state_out"], control=self.control, dt=arguments["dt"])
        if self.source.is_run_by_solver:
            yield Operation(name="monitor_contacts", run=self.monitor.note_detection)
        if self.monitor.notes_solution:
            yield Operation(name="monitor_solver", run=self.monitor.note_solution)

    @property
    def ticks(self) -> int:
        """Number of physics steps to list: all of them, or one that stands for all if nothing happens between them."""
        is_between = self._acts_between or self.reports is not None
        return 1 if self._takes_substeps and not is_between else self.options.decimation

    @property
    def _acts_between(self) -> bool:
        """Whether an actuator or a callback acts anew in each physics step, and not once for a whole control step."""
        closed = [each for each in self._acting() if not self.components.attributes[each.owner].is_open_loop]
        return any((closed, self.components.wrappers("apply_actuators"), self.callbacks.of("after_actuators")))

    @property
    def solver_calls(self) -> int:
        """Calls of the solver in a physics step: one per substep, or one if the solver takes all of them at once."""
        return 1 if self._takes_substeps else self.options.substep_count

    @property
    def _takes_substeps(self) -> bool:
        answer = self.components.single("step_solver")
        takes_all = answer is not None and answer.takes("substep_count")
        hook, after = "before_substep", self.components.implementations("after_substep")
        acting = (self.components.implementations(hook), self.components.wrappers(hook), self.callbacks.of(hook), after)
        is_between = any(acting) or self._accelerations is not None
        return takes_all and not is_between and self.source.pipeline is None

    @property
    def _accelerations(self) -> Accelerations | None:
        return None if self.reports is None else self.reports.accelerations

    def solver_arguments(self, count: int) -> dict[str, Any]:
        """Return the arguments of the solver's step after `count` calls."""
        substep_count = self.options.decimation * self.options.substep_count // (self.ticks * self.solver_calls)
        return {
            "solver": self.solver,
            "state_in": self._state(count),
            "state_out": self._state(count + 1),
            "control": self.control,
            "contacts": None if self.source.is_run_by_solver else self._contacts(count),
            "observables": None if self.reports is None else self.reports.of((count + 1) * substep_count - 1),
            "dt": self.options.solver_dt,
            "substep_count": substep_count,
            "written_worlds": self.modified.mask,
        }

    def solver_step(self, **arguments: Any) -> Operation:
        """Return the operation of one call of the solver."""
        answer = self.components.single("step_solver")
        if answer is not None:
            operation = self._operation("step_solver", answer, arguments)
            return attrs.evolve(operation, run=self.modified.during(operation.run))
        solver = arguments.pop("solver")
        # Newton's solvers take one substep at a time, and read the whole state.
        del arguments["substep_count"], arguments["written_worlds"]
        owner, trace = self.components.solver_name, self.components.trace
        run = self.components.guarded(owner, "step", partial(solver.step, **arguments))
        return Operation(
            name="step_solver(solver)",
            run=run if trace is None else trace.timed("step_solver", f"host: {type(solver).__name__}", run),
            eager_reason=self.components.eager_reason(self.components.solver_name),
            is_repeatable=True,
        )

    def _hook(self, hook: str, **arguments: Any) -> Iterator[Operation]:
        """Yield one operation for each component that answers, or a single operation if the hook is wrapped."""
        off = self.disabled.all if hook == "apply_actuators" else ()
        answers = self._acting() if hook == "apply_actuators" else self.components.implementations(hook)
        wrappers = self.components.wrappers(hook)
        if wrappers:
            reasons = [self.components.eager_reason(part.owner) for part in (*answers, *wrappers)]
            yield Operation(
                name=f"{hook}(wrapped)",
                run=self.current.during(arguments["state"], lambda: self.components.call(hook, off, **arguments)),
                eager_reason=next((reason for reason in reasons if reason is not None), None),
            )
            return
        for answer in answers:
            operation = self._operation(hook, answer, arguments)
            yield attrs.evolve(operation, run=self.current.during(arguments["state"], operation.run))

    def _acting(self) -> tuple[Implementation, ...]:
        answers = self.components.implementations("apply_actuators")
        return tuple(answer for answer in answers if not self.disabled.has(answer.component))

    def _called(self, phase: Phase, **arguments: Any) -> Iterator[Operation]:
        for callback in self.callbacks.of(phase):
            reason = None if callback.is_capturable else "it was added with is_capturable=False"
            run = self.current.during(arguments["state"], callback.bind(**arguments))
            yield Operation(name=f"{phase}({callback.name})", run=run, eager_reason=reason)

    def _readings(self, state: newton.State) -> Iterator[Operation]:
        wrappers = self.components.wrappers("update_sensors")
        answers = self.components.implementations("update_sensors")
        timed = [answer.owner for answer in answers if answer.owner in self.periods]
        if wrappers and timed:
            raise PluginError(
                f"{wrappers[0].owner}: wraps update_sensors, which would call {', '.join(timed)} in every step"
                " although it has a period; leave out one or the other"
            )
        arguments = {
            "state": state,
            "contacts": self.source.contacts,
            "observables": None if self.reports is None else self.reports.measured,
        }
        control_dt = self.options.control_dt
        if wrappers:
            yield from self._hook("update_sensors", **arguments, dt=control_dt)
            return
        for answer in answers:
            period = self.periods.get(answer.owner, 1)
            yield self._operation("update_sensors", answer, {**arguments, "dt": control_dt * period}, period)

    def _settle_buffers(self) -> Iterator[Operation]:
        """Yield operations that settle double buffers, named as `apply_actuators`: both are recorded, or neither."""
        is_wrapped = bool(self.components.wrappers("apply_actuators"))
        for owner, buffers in self.buffers.items():
            if self.disabled.has(self.components[owner]):
                continue
            reason = self.components.eager_reason(owner)
            name = f"apply_actuators({'wrapped' if is_wrapped else owner})"
            for buffer in buffers:
                yield Operation(name=name, run=buffer.settle, eager_reason=reason)

    def _state(self, count: int) -> newton.State:
        return self.states[count % len(self.states)]

    def _contacts(self, count: int) -> newton.Contacts | None:
        return self.contacts[count % self.solver_calls // self.source.interval % len(self.contacts)]

    def _needs_joint_state(self, is_last_tick: bool) -> bool:
        has_readers = is_last_tick or self._is_answered("apply_actuators")
        return self._coordinates == "maximal" and has_readers and self.model.joint_count > 0

    def _needs_bodies(self, *, is_last: bool) -> bool:
        answered = self._is_answered("apply_actuators", "before_substep")
        has_readers = is_last or answered or self.source.pipeline is not None or self._accelerations is not None
        return self._coordinates == "joint" and has_readers

    def _is_answered(self, *hooks: str) -> bool:
        called = [*self.callbacks.of("after_actuators"), *self.callbacks.of("before_substep")]
        return bool(called) or any(self.components.implementations(hook) for hook in hooks)

    @property
    def _coordinates(self) -> str:
        return self.components.declarations[self.components.solver_name].coordinates

    @property
    def has_hidden_memory(self) -> bool:
        """Whether the solver has memory that the host can neither see nor put back, so that no step can be undone."""
        declared = self.components.declarations[self.components.solver_name]
        return self.modified.is_asked and declared.engine_memory == "own"

    @property
    def is_maximal(self) -> bool:
        """Whether the solver writes bodies, so that the host computes joint coordinates."""
        return self._coordinates in ("maximal", "mixed")

    def _inverse_kinematics(self, state: newton.State, last: newton.State, dt: float) -> Operation:
        """Return the operation that computes joint coordinates; `last` has those of `dt` seconds before."""
        return Operation(name="eval_ik", run=partial(self.angles.evaluate, state, last, dt))

    def _operation(self, hook: str, answer: Implementation, arguments: Mapping[str, Any], period: int = 1) -> Operation:
        return Operation(
            name=f"{hook}({answer.owner})",
            run=answer.bind(**arguments),
            eager_reason=self.components.eager_reason(answer.owner),
            # Without the solver, nothing would move in a comparison; what it remembers is put back, if that can be.
            is_repeatable=answer.owner == self.components.solver_name and not self.has_hidden_memory,
            period=period,
        )
