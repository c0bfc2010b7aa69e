"""The build of a simulation in phases: from a configuration to all objects that a step uses."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

import attrs
import newton
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.assets.actuators.asset_actuators import actuator_notes, replaced_actuators
from pippin.assets.actuators.prims import find_prim_actuators
from pippin.assets.report import report_imports
from pippin.binding import Host, Services
from pippin.catalog.entries import Catalog
from pippin.components.registry import Components
from pippin.components.tracing import HookTrace
from pippin.config import SimulationConfig
from pippin.devices import WARP_LOCK, find_device, kind_of
from pippin.extras import version_faults
from pippin.solving.contact_source import Capacity
from pippin.state.double_buffer import Assignable, DoubleBuffer
from pippin.state.draws import WorldSeeds
from pippin.state.kinematics import ModifiedWorlds, WrittenWorlds
from pippin.state.model_changes import ModelChanges, refuse_massless
from pippin.state.monitor import Bounds, Monitor, StepInput, inputs_of, inputs_of_control
from pippin.state.observables import allocate_observables
from pippin.state.pipeline_kernels import kernels_made_once
from pippin.state.places import StartPoses
from pippin.state.variants import choose_variants
from pippin.state.world_layout import SceneObjects, WorldLayout
from pippin.state.world_rows import WorldReset
from pippin.step.built import Built
from pippin.step.callbacks import Callbacks
from pippin.step.host_schedule import periods_in_steps
from pippin.step.owners import DisabledActuators
from pippin.step.plan import StepPlan
from pippin.support.features import live_changes

from .faults import refuse_undeterministic, refuse_values, remedies, with_determinism
from .merged_frames import frame_notes
from .model import Prototype, build_model
from .scene import world_offsets
from .solver import SolverBuilding

_LOGGER = logging.getLogger(__name__)
"""Says which part of a build begins; the commands show it."""


def assemble(
    config: SimulationConfig,
    plugins: Sequence[Any] | Mapping[str, Any],
    prototype: Prototype | None,
    callbacks: Callbacks,
    trace: HookTrace | None,
) -> Built:
    """Build everything except the step. Arguments and errors are those of `pippin.Simulation`.

    If a later phase fails, the components made so far are closed.
    """
    for fault in version_faults():
        _LOGGER.warning("%s", fault)
    device, original = find_device(config.simulation.device), config
    kind = kind_of(device)
    config = with_determinism(config, kind)
    catalog = config.catalog.restrict(Catalog.installed())
    prims = {"actuators": find_prim_actuators(config, catalog)}
    components = Components(config, plugins, catalog, trace, of_stages=prims)
    with components.closed_on_failure(), WARP_LOCK, wp.ScopedDevice(device), kernels_made_once():
        periods = periods_in_steps(components.declarations, config.simulation.control_dt)
        building = SolverBuilding(components, config, original.collision, catalog)
        refuse_undeterministic(components, config, kind, catalog)
        _LOGGER.info("assets and worlds")
        model, layout, imports = build_model(components, config, prototype, device)
        step = building.choose_substeps(model)
        refuse_values(model)
        refuse_massless(model)
        ignored_features = building.refuse_gaps(model, are_stated=prototype is None)
        callbacks.call("model_ready", model=model)
        building.pose(model)
        building.refuse_faults(model)
        _LOGGER.info("solver %s", building.name)
        solver = building.build(model)
        is_mujoco, replaced = hasattr(solver, "mj_model"), replaced_actuators(model)
        found = report_imports(imports, config.scene, is_for_mujoco=is_mujoco, step=step.solver_dt, replaced=replaced)
        for each in imports:
            each.part.custom_attributes.clear()
        _LOGGER.info("contacts")
        source = building.find_contacts(model, solver)
        states, control = _initial_states(model, layout.places), model.control()
        kinds = frozenset(step.observables).union(*(each.observables for each in components.declarations.values()))
        substep_count = step.decimation * step.substep_count
        modified = ModifiedWorlds(model, is_asked=_asks(components, "step_solver", "written_worlds"), at_first=True)
        reports = allocate_observables(kinds, building.reported(solver), solver, source.contacts, substep_count)
        seeds = WorldSeeds(model.world_count, config.scene.first_world, step.seed, device)
        return Built(
            config=building.config,
            catalog=catalog,
            device=device,
            components=components,
            callbacks=callbacks,
            model=model,
            layout=layout,
            actuator_notes=[*building.notes, *actuator_notes(model), *frame_notes(model)],
            ignored_features=ignored_features,
            world_offsets=world_offsets(config.scene),
            solver=solver,
            support=building.support(model),
            source=source,
            states=states,
            control=control,
            disabled=DisabledActuators(components, control),
            reports=reports,
            import_reports=tuple(found),
            written=WrittenWorlds(model, solver, states[0], modified),
            modified=modified,
            model_changes=_changes(building, components, model, solver, layout, seeds),
            reset=WorldReset(model, states, control),
            periods=periods,
            step_counter=wp.zeros(1, dtype=wp.int64, device=device),
            seeds=seeds,
        )


def few_worlds(config: SimulationConfig, prototype: Prototype | None) -> tuple[SimulationConfig, Prototype | None]:
    """Return a simulation of two worlds of each prototype, which launches the same kernels.

    It is the same simulation if that has as few worlds, or if assets or objects choose their worlds.
    """
    scene, few = config.scene, prototype
    placed = (*scene.assets, *(each.config for each in scene.objects))
    if isinstance(prototype, Sequence):
        few = [(each, 2) for each in {id(each): each for each, _ in prototype}.values()]
    count = 2 * len(few) if isinstance(few, Sequence) else 2
    if count >= scene.worlds or any(each.worlds is not None for each in placed):
        return config, prototype
    return attrs.evolve(config, scene=attrs.evolve(scene, worlds=count)), few


def _asks(components: Components, hook: str, argument: str) -> bool:
    answer = components.single(hook)
    return answer is not None and answer.takes(argument)


def _changes(
    building: SolverBuilding,
    components: Components,
    model: newton.Model,
    solver: newton.solvers.SolverBase,
    layout: WorldLayout,
    seeds: WorldSeeds,
) -> ModelChanges:
    """Return the changes of the model, of which the hook `notify_model_changed` or else the solver itself is told, with
    the first one: the variants that worlds choose.
    """
    hook = "notify_model_changed"
    answer = components.single(hook)

    def notify(flags: int, changed_worlds: wp.array) -> None:
        if answer is None:
            solver.notify_model_changed(flags)
        else:
            answer.call(solver=solver, flags=flags, changed_worlds=changed_worlds)

    taken = building.declaration.live_changes
    if taken is not None:  # and the changes of features that the user accepts to lose
        taken |= live_changes(dict.fromkeys(building.config.simulation.accept_unsupported, "live"))
    changes = ModelChanges(taken, model, building.name, notify, is_asked=_asks(components, hook, "changed_worlds"))
    choose_variants(SceneObjects(model, layout.objects, layout.prototype_of_world), seeds, changes)
    return changes


def bind_components(built: Built, simulation: Host) -> StepPlan:
    """Bind every component to the running simulation, and return the plan of a step."""
    components, buffers = built.components, {}
    with WARP_LOCK, wp.ScopedDevice(built.device):
        observers = {name for name, each in components.declarations.items() if each.is_observer}
        # Whoever only looks comes last: the others, such as the task, have what it looks at.
        for answer in sorted(components.implementations("bind"), key=lambda each: each.owner in observers):
            _LOGGER.info("%s", answer.owner)
            binding = ComponentBinding(
                label=answer.owner,
                simulation=simulation,
                step_period=built.periods.get(answer.owner, 1),
                layout=built.layout,
            )
            answer.call(simulation=simulation, binding=binding)
            if binding.buffers:
                buffers[answer.owner] = binding.buffers
        inputs: list[StepInput] = []
        for name, attributes in components.attributes.items():
            own = list(inputs_of(name.replace(":", "."), attributes, built.model.world_count))
            if arrays := {**{each.name: each.array for each in own}, **attributes.state_arrays()}:
                built.reset.add(name, arrays, attributes.worlds)
            inputs += own
        inputs += inputs_of_control(built.model, built.control)
        return StepPlan.of(built, _monitor(built, inputs), buffers, _opaque(components, simulation))


def _initial_states(model: newton.Model, places: StartPoses | None) -> tuple[newton.State, newton.State]:
    # Without gradients in any case: steps keep none, and `rollout` makes its own states.
    state, following = model.state(requires_grad=False), model.state(requires_grad=False)
    if model.joint_count:
        newton.eval_fk(model, present(state.joint_q), present(state.joint_qd), state)
    if places is not None:
        places.place_all(model, state)
    following.assign(state)
    return state, following


def _of_solver(built: Built, capacity: Capacity, solution: Sequence[Capacity]) -> Capacity:
    """Return the capacity of a buffer with the key of the solver that sizes it, if the file gives this key."""
    choice, worlds = built.components.choices.get(built.components.solver_name), built.model.world_count
    config = None if choice is None else choice[1].config
    if capacity.field == "collision.rigid_contact_max" and built.config.collision.rigid_contact_max is None:
        for own in solution:
            is_given = getattr(config, own.field.removeprefix("solver."), None) is not None
            if own.is_per_world and is_given and own.allocated * worlds == capacity.allocated:
                return attrs.evolve(capacity, field=own.field, shared_by=worlds)
    return capacity


def _monitor(built: Built, inputs: Sequence[StepInput]) -> Monitor:
    solver, step = built.components.attributes[built.components.solver_name], built.config.simulation
    solution = solver.capacities()
    detection = [_of_solver(built, each, solution) for each in built.source.capacities]
    return Monitor(
        built.model,
        step.control_dt,
        detection=detection,
        solution=solution,
        harmless_bits=solver.harmless_overflow_bits,
        bounds=Bounds(step.max_speed, step.max_effort),
        cures=partial(remedies, built.components, built.model, built.solver, built.source),
        step=built.step_counter,
        inputs=inputs,
    )


def _opaque(components: Components, simulation: Host) -> tuple[type, ...]:
    observers = (type(components[name]) for name, each in components.declarations.items() if each.is_observer)
    of_warp = (wp.Kernel, wp.Module, wp.Stream, type(simulation.device))
    return (simulation.__class__, weakref.ProxyType, Catalog, newton.Model, newton.ModelBuilder, *of_warp, *observers)


S = TypeVar("S", bound=Assignable)


@attrs.frozen(kw_only=True, eq=False)
class ComponentBinding:
    """The binding of one component."""

    label: str
    simulation: Host
    step_period: int
    buffers: list[DoubleBuffer[Any]] = attrs.field(factory=list)
    """The double buffers that the component requested."""
    _layout: WorldLayout = attrs.field(alias="layout")

    @property
    def services(self) -> Services:
        """What the simulation does for the component within a step."""
        return self.simulation.services

    @property
    def worlds(self) -> np.ndarray:
        """Ascending indices of the worlds that contain elements of the component."""
        return self._layout.worlds_held(self.label)

    def indices(
        self, what: Literal["body", "joint", "shape"], local: Sequence[int] | Mapping[int, Sequence[int]]
    ) -> np.ndarray:
        """Return the indices in the model of a prototype's elements, shape [len(worlds), len(local)]."""
        return self._layout.indices(self.simulation.model, local, what, self.label)

    def double_buffer(self, first: S, second: S) -> DoubleBuffer[S]:
        """Return a pair of states that the host settles at the end of each control step."""
        buffer = DoubleBuffer(first, second)
        self.buffers.append(buffer)
        return buffer
