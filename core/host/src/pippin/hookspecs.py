"""The hooks of the plugin contract, in the order in which the host calls them, and their two markers.

A component answers with methods marked `pippin.hookimpl`. It names only the arguments that it uses. The solver is
called first, then actuators, sensors, controllers, motions, other plugins, viewers and recorders, each table in the
order of the file, and then objects made in Python. Optional attributes of components are in `pippin.components`: the
host reads those of `Declaration` once, and those of `RuntimeAttributes` after `bind`.

A wrapper, `pippin.hookimpl(wrapper=True)`, surrounds the answers of all components. These hooks can be wrapped: the
hooks of the builder, `apply_actuators`, `before_substep` and `update_sensors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import newton
    import warp as wp

    from .binding import Binding, Host
    from .config import CollisionConfig
    from .solving.contact_source import ContactSource

hookspec = pluggy.HookspecMarker("pippin")
"""The marker of a hook: of Pippin, and of a class that a plugin names in `hookspecs`."""

hookimpl = pluggy.HookimplMarker("pippin")
"""The marker of a method that answers the hook of its name; `@hookimpl(wrapper=True)` marks a wrapper."""


class Hooks:
    """The hooks of Pippin. "Build" runs once; "step" may be recorded into a graph and replayed without Python."""

    @hookspec
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register custom attributes and defaults, before any asset is added. Build; once per builder."""

    @hookspec
    def fill_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Add robots, objects or terrain to one world, after its assets and before any component looks for elements.
        Build; once per `prototype`, counted from 0; worlds that differ have several. Worlds share the shapes that
        `complete_builder` adds.
        """

    @hookspec
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Add sites, armature or limits to one world's assets, before replication. Build; once per `prototype`, counted
        from 0; worlds that differ have several. Raise `NoMatchError` if its worlds contain nothing for the component.
        """

    @hookspec
    def complete_builder(self, builder: newton.ModelBuilder) -> None:
        """Finish the builder of all worlds, after replication and ground, for example colour it. Build; once."""

    @hookspec
    def check_model(
        self, model: newton.Model, collision: CollisionConfig, dt: float, substeps: int, accepted: Collection[str]
    ) -> Iterable[str]:  # pyrefly: ignore[bad-return]
        """Return why the component cannot simulate the finalized model: one fault for each reason, `key: what; cure`
        with the key of its table; none if it can. Build, before `build_solver`; also for `pippin check`. The arguments
        are those of `build_solver`, and the features that a user does without, `simulation.accept_unsupported`, which a
        solver of other solvers needs.
        """

    @hookspec(firstresult=True)
    def build_solver(
        self,
        model: newton.Model,
        collision: CollisionConfig,
        pipeline: newton.CollisionPipeline | None,
        dt: float,
        substeps: int,
    ) -> newton.solvers.SolverBase:  # pyrefly: ignore[bad-return]
        """Return the solver of the finalized model. Build; once; exactly one component answers.

        `collision` is the `[collision]` table. `pipeline` is the pipeline of this table if the component declares
        `runs_pipeline`, else None. Every step of the solver has the length `dt` [s]: it is one of `substeps` in a
        physics step.
        """

    @hookspec(firstresult=True)
    def initialize_contacts(
        self, model: newton.Model, solver: newton.solvers.SolverBase, collision: CollisionConfig
    ) -> ContactSource:  # pyrefly: ignore[bad-return]
        """Return the source of contacts. Build; once. The default is Newton's `CollisionPipeline`."""

    @hookspec
    def bind(self, simulation: Host, binding: Binding) -> None:
        """Allocate arrays and resolve labels: model, state, control and contacts exist now. Build; once."""

    @hookspec(firstresult=True)
    def notify_model_changed(
        self, solver: newton.solvers.SolverBase, flags: int, changed_worlds: wp.array[bool]
    ) -> None:
        """Let the solver take over a change of the model, in place of `solver.notify_model_changed`. Before a step,
        once for all changes since the last one; and in a reset or a step that changes the model.

        `flags` are those of `newton.ModelFlags`. `changed_worlds`, shape [world_count + 1], are the worlds whose part
        of the model was written. Raise `NotImplementedError` or `ValueError` to refuse the change.
        """

    @hookspec
    def start_step(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Act on the simulation before the first physics step of a control step: set targets. Step; once per control
        step of `dt` [s].
        """

    @hookspec
    def apply_actuators(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Add effort [N, N·m] to `control.joint_f`, which is zero on actuated DOFs. Step; once per physics step of
        `dt` [s], or once per control step for actuators with `is_open_loop`.
        """

    @hookspec
    def before_substep(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Change the input of one substep, for example add to `state.body_f`. Step; once per substep of `dt` [s]."""

    @hookspec(firstresult=True)
    def step_solver(
        self,
        solver: newton.solvers.SolverBase,
        state_in: newton.State,
        state_out: newton.State,
        control: newton.Control,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
        substep_count: int,
        written_worlds: wp.array[bool],
    ) -> None:
        """Advance `state_in` by `dt` [s] into `state_out`, in place of `solver.step`. Step; once per substep.

        A component that asks for `substep_count` takes that number of substeps of `dt` in the call: all substeps of a
        control step or of a physics step if nothing happens between them, else one.

        A component with coordinates of its own asks for `written_worlds`, shape [world_count + 1]: the worlds whose
        joints and bodies something else wrote since its last call, such as a reset, a user or an event. In the first
        call these are all worlds. It may continue from its own coordinates in the others.
        """

    @hookspec
    def after_substep(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Complete the output of one substep, for example write what the solver leaves alone. Step; once per substep of
        `dt` [s].
        """

    @hookspec
    def update_sensors(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Measure the state after the last substep. Step; once per control step, or per `period`: `dt` [s]."""

    @hookspec
    def end_step(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Judge the state after all sensors, and write `ended_worlds`, which the host then resets. Step; once per
        control step of `dt` [s].
        """

    @hookspec
    def observe(self, state: newton.State, dt: float) -> None:
        """Read the state from which the next control step starts, after the reset of ended worlds. Step; once per
        control step of `dt` [s].
        """

    @hookspec
    def after_step(self, simulation: Host) -> None:
        """Act on the host after a control step, or once per `period`: record, check, print. Never recorded; may read
        arrays.
        """

    @hookspec
    def frame(self, simulation: Host, time: float) -> None:
        """Show the state at `time` [s], between control steps. First called when all components are bound. Never
        recorded; may read arrays, and may do what a user may: write targets, reset worlds. A viewer that raises is
        switched off, and the simulation continues.
        """

    @hookspec
    def initialize_worlds(self, state: newton.State, world_mask: wp.array[bool]) -> None:
        """Write joint coordinates and velocities of the masked worlds, which have their initial state again; the host
        then computes the bodies. Reset; in the step if episodes end there. Shape of the mask: [world_count + 1].
        """

    @hookspec
    def reset_worlds(self, state: newton.State, world_mask: wp.array[bool]) -> None:
        """Reset the memory of the masked worlds. Shape of the mask: [world_count + 1], the last entry for no world."""

    @hookspec
    def close(self) -> None:
        """Release resources other than memory: files, threads. Once, in reverse order, even if another one raises."""
