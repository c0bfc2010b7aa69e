"""The whole plugin contract: the two markers and every hook, in the order the host calls them.

A component answers with methods marked `pippin.hookimpl`. It names only the arguments it uses. Calls follow the
order of the file. Attributes a component may declare beside its hooks are listed under `Component`.

A wrapper, `pippin.hookimpl(wrapper=True)`, may stand around what several components answer: the hooks of the
builder, `apply_actuators`, `before_substep` and `update_sensors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

import pluggy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import newton
    import numpy as np
    import warp as wp

    from .binding import Binding, Host
    from .config import CollisionConfig
    from .solving.capacities import Capacity
    from .solving.contact_source import ContactSource

__all__ = ["Component", "Hooks", "hookimpl", "hookspec"]

hookspec = pluggy.HookspecMarker("pippin")
hookimpl = pluggy.HookimplMarker("pippin")


class Component(Protocol):
    """What the host reads from a component besides its hooks. Every attribute is optional but `Config`."""

    Config: ClassVar[type]
    """The attrs class that `[solver]`, `[actuators.*]` or `[sensors.*]` is structured into.

    Its class attribute `replaced_keys`, if any, maps keys of an earlier version to what to do instead.
    """

    is_capturable: bool
    """Whether the hooks of a step may be recorded into a graph. True unless declared; the host checks it."""

    eager_reason: str | None
    """Why its step hooks may not be recorded, where `is_capturable` is False; shown with the program."""

    notes: Sequence[str]
    """What a reader of its results should know, a phrase each; `pippin run` prints them and keeps them in the summary.
    """

    unsaved_reason: str | None
    """Why a simulation with it cannot be saved, where it carries what is in no array or number of one size."""

    observables: frozenset[str]
    """Sensors: the solver observables read in `update_sensors`, such as `{"body_qdd"}`."""

    period: float | None
    """Sensors: time from one `update_sensors` to the next [s], a whole number of control steps. None stands for each
    control step."""

    supported_observables: frozenset[str]
    """Solvers: the observables the solver can write, so that a sensor is refused before anything is built."""

    supported_features: frozenset[str]
    """Solvers: the names in `pippin.solving.FEATURES` that the solver takes part in; held against every scene."""

    optional_features: Mapping[str, str]
    """Solvers: features that an option switches on, with the option's name; named where one is missing."""

    supported_model_changes: frozenset[str]
    """Solvers: the names in `newton.ModelFlags` of changes that reach a running program; others are refused."""

    coordinates: str
    """Solvers: "reduced" (writes joints and bodies; assumed), "joint" (joints only: the host runs `newton.eval_fk`)
    or "maximal" (bodies only: the host runs `newton.eval_ik`)."""

    detects_contacts: bool
    """Solvers: whether contacts are the solver's own and `[collision]` has no effect, so that the host refuses it."""

    runs_pipeline: bool
    """Solvers: whether the solver detects contacts within its step, by a pipeline that `build_solver` is given."""

    deterministic_on: frozenset[str]
    """The kinds of device ("cpu", "cuda") where its steps give the same bits in every run, if its configuration has
    `deterministic = true` where it knows that key. {"cpu"} is assumed: there Warp runs kernels in order."""

    is_differentiable: bool
    """Whether a tape may record its hooks of a step in a rollout, where `state.requires_grad` holds: nothing is carried
    from call to call, and no array that was read is overwritten. False unless declared; a solver's feature says it."""

    actuated_dofs: wp.array[int]
    """Who adds effort: the DOFs whose `control.joint_f` the host zeroes before it; known after `bind`."""

    harmless_overflow_bits: int
    """Solvers: bits of the observable `overflow` that do not say that anything was lost."""

    worlds: np.ndarray
    """The worlds that its `state_arrays` belong to, ascending; all unless declared. Known after `bind`."""

    def state_arrays(self) -> Mapping[str, wp.array]:
        """Return what the component carries from step to step, by name; each is restored by world on reset."""
        ...

    def capacities(self) -> Sequence[Capacity]:
        """Solvers: return the buffers of fixed size that a step fills, with their counts; read after `bind`."""
        ...

    def check(self) -> None:
        """Raise `SimulationError` for what went wrong on the device; called by `Simulation.check`, may read arrays."""
        ...


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
