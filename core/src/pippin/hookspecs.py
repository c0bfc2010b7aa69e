"""The hooks of the plugin contract, in the order the host calls them, and their two markers.

A component answers with methods marked `pippin.hookimpl`. It names only the arguments it uses. Calls follow the
order of the file. The attributes that it may have beside its hooks are in `pippin.components`: those of `Declaration`
are read once, those of `Bound` after `bind`.

A wrapper, `pippin.hookimpl(wrapper=True)`, may stand around what several components answer: the hooks of the
builder, `apply_actuators`, `before_substep` and `update_sensors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import newton
    import warp as wp

    from .binding import Binding, Host
    from .config import CollisionConfig
    from .solving.contact_source import ContactSource

__all__ = ["Hooks", "hookimpl", "hookspec"]

hookspec = pluggy.HookspecMarker("pippin")
"""Marks a hook."""

hookimpl = pluggy.HookimplMarker("pippin")
"""Marks a method as an answer to the hook of its name; `@hookimpl(wrapper=True)` as a wrapper around the answers."""


class Hooks:
    """Every hook of Pippin. "Build" happens once; "step" may be recorded into a graph and replayed without Python."""

    @hookspec
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register custom attributes and defaults, before any asset is added. Build; once per builder."""

    @hookspec
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Add sites, armature or limits to one world's assets, before replication. Build; once for each `prototype`,
        counted from 0, where worlds differ. Raising `NoMatchError` says that its worlds hold nothing for the component.
        """

    @hookspec
    def complete_builder(self, builder: newton.ModelBuilder) -> None:
        """Finish the builder of all worlds, after replication and ground: colouring and the like. Build; once."""

    @hookspec(firstresult=True)
    def build_solver(
        self, model: newton.Model, collision: CollisionConfig, pipeline: newton.CollisionPipeline | None
    ) -> newton.solvers.SolverBase:  # pyright: ignore[reportReturnType]
        """Return the solver of the finalized model. Build; once; exactly one component answers.

        `collision` is the `[collision]` table. `pipeline` is what it describes, for a component with `runs_pipeline`.
        """

    @hookspec(firstresult=True)
    def initialize_contacts(
        self, model: newton.Model, solver: newton.solvers.SolverBase, collision: CollisionConfig
    ) -> ContactSource:  # pyright: ignore[reportReturnType]
        """Return where contacts come from. Build; once; where nobody answers, Newton's `CollisionPipeline`."""

    @hookspec
    def bind(self, simulation: Host, binding: Binding) -> None:
        """Allocate and resolve labels: model, state, control and contacts exist now. Build; once."""

    @hookspec
    def apply_actuators(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Add effort [N, N·m] to `control.joint_f`, which is zero on actuated DOFs. Step; once per physics step."""

    @hookspec
    def before_substep(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Act on the input of one substep: add to `state.body_f`, say. Step; once per substep of `dt` [s]."""

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
    ) -> None:
        """Advance `state_in` by `dt` [s] into `state_out`, in place of `solver.step`. Step; once per substep.

        A component that asks for `substep_count` takes as many substeps of `dt` in the call: all of a control step
        or of a physics step where nothing happens between them, else one.
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
    def after_step(self, simulation: Host) -> None:
        """Act on the host after a control step: record, check, print. Never recorded; may read arrays."""

    @hookspec
    def reset_worlds(self, state: newton.State, world_mask: wp.array[bool]) -> None:
        """Forget the masked worlds; the mask has shape [world_count + 1], the last entry for what no world owns."""

    @hookspec
    def close(self) -> None:
        """Let go of what is not memory: files, threads. Once, in reverse order, even where another one raises."""
