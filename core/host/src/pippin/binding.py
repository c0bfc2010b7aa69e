"""A simulation as its components see it: `Host`, the running simulation, and `Binding`, one component's place in it.

Both are protocols. `pippin.Simulation` is the host; `pippin.assembly.built` makes a binding for each
component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from .errors import SimulationError

if TYPE_CHECKING:
    import newton
    import numpy as np
    import warp as wp

    from .catalog.entries import Catalog
    from .config import SimulationConfig
    from .state.double_buffer import Assignable, DoubleBuffer
    from .state.draws import WorldSeeds
    from .state.kinematics import WrittenWorlds
    from .state.model_changes import ModelChanges
    from .state.places import StartPoses
    from .state.world_layout import SceneObjects
    from .support.solver_support import SolverSupport

S = TypeVar("S", bound="Assignable")


class Owners(Protocol):
    """The components that drive degrees of freedom."""

    def owning(self, dofs: np.ndarray) -> tuple[str, ...]:
        """Return the names of the components that drive one of some degrees of freedom; -1 stands for none."""

    def taken(self, array: str, dofs: np.ndarray) -> np.ndarray:
        """Tell for each of some degrees of freedom whether its driver takes an array over that a user sets."""

    def fault(self, array: str, names: Sequence[str]) -> str | None:
        """Return why an array may not be set for what some components drive; None if it may."""


class Services(Protocol):
    """Services of a simulation for its components within a step."""

    @property
    def support(self) -> SolverSupport:
        """For the core: the features that the solver has, and the joints at which it has them."""

    @property
    def scene_objects(self) -> SceneObjects:
        """For the core: where the objects of the scene lie in the model, and what selections of them mean."""

    @property
    def places(self) -> StartPoses | None:
        """For the core: where worlds start on the terrain; None without one."""

    @property
    def owners(self) -> Owners | None:
        """For the core: the components that drive degrees of freedom; None until all components are bound."""

    @property
    def written(self) -> WrittenWorlds:
        """For the core: the articulations that were written, until joints and bodies are consistent again."""

    @property
    def model_changes(self) -> ModelChanges:
        """For the core: the changes of the model that the solver has not taken over yet."""

    def update_from_joints(self, world_mask: wp.array[wp.bool]) -> None:
        """Let bodies and solver follow the joints of `state` that a component wrote within a step, in the masked
        worlds, [world_count + 1]. May be recorded.
        """

    def mark_diverged(self, worlds: wp.array[wp.bool]) -> None:
        """Write for each world whether its state diverged since its reset, shape [world_count]. May be recorded.

        Args:
            worlds: The array to write, shape [world_count], on the device.
        """

    def model_change_fault(self, flags: int) -> str | None:
        """Return why the solver cannot take over changes of the model while it runs; None if it can.

        Args:
            flags: Flags of `newton.ModelFlags`.
        """

    def notify_solver(self, flags: int, world_mask: wp.array[wp.bool] | None = None) -> None:
        """Notify the solver at once of changes of the model, within a step; recorded, if the solver may be.

        Args:
            flags: Flags of `newton.ModelFlags`.
            world_mask: The changed worlds, shape [world_count + 1]; None means all.
        """

    @property
    def solver_eager_reason(self) -> str | None:
        """The reason why the solver may not be recorded; None if it may be."""

    def call_hook(self, hook: str, **arguments: Any) -> Any:
        """Call a hook that a plugin specifies in its `hookspecs`, and return the answers in calling order.

        In a hook of the step, the answers are a part of the caller's operation, and are recorded with it.

        Args:
            hook: The name of the hook. The hooks of Pippin itself are called by the host alone.
            **arguments: All arguments of the hook, by name; each answer gets those that it asks for.

        Returns:
            A list of the answers that are not None; or the first of them if the hook is marked with `firstresult`.

        Raises:
            PluginError: No plugin of this simulation specifies the hook, or it has other arguments.
            SimulationError: The simulation is closed.
        """


class Host(Protocol):
    """A simulation as its components see it, from `bind` to `close`."""

    config: SimulationConfig
    """The configuration of the simulation."""
    catalog: Catalog
    """The installed plugins that this simulation may choose from."""
    device: wp.Device
    """The device of all arrays."""
    model: newton.Model
    """Newton's model of all worlds."""
    solver: newton.solvers.SolverBase
    """The solver that the plugin built."""
    control: newton.Control
    """The inputs of the solver."""
    services: Services
    """What the simulation does for its components within a step."""
    world_offsets: np.ndarray
    """Position at which each world is drawn [m], shape [world_count, 3]; in physics, all worlds are at the origin."""
    folder: Path | None
    """The folder for the files of the run, which the first file makes; None if the caller gave none."""
    step_count: int
    """Control steps so far."""
    reset_counts: wp.array[int]
    """Number of resets of each world so far, on the device, shape [world_count]."""
    step_counter: wp.array[wp.int64]
    """Control steps so far, on the device, shape [1]; kernels of a recorded step may read it."""
    seeds: WorldSeeds
    """The seeds of the random draws of each world."""

    @property
    def state(self) -> newton.State:
        """The state between steps, with consistent joints and bodies; the same object for the simulation's life."""

    @property
    def stepped_state(self) -> newton.State | None:
        """The state of the hook or callback that runs now; None between steps."""

    @property
    def contacts(self) -> newton.Contacts | None:
        """The contacts of the last detection; None if the solver keeps them to itself."""

    @property
    def observables(self) -> newton.solvers.SolverBase.Observables | None:
        """The solver's reports of the last substep; None if none were requested."""

    @property
    def is_closed(self) -> bool:
        """Whether the simulation was closed: it can be read, but not changed."""

    @property
    def world_count(self) -> int:
        """The number of worlds."""

    @property
    def prototype_of_world(self) -> np.ndarray:
        """The prototype that each world is a copy of, shape [world_count]."""

    @property
    def dt(self) -> float:
        """Length of a physics step [s]."""

    @property
    def control_dt(self) -> float:
        """Length of a control step [s]."""

    @property
    def time(self) -> float:
        """Simulated time [s]."""

    def __getattr__(self, name: str) -> Any:
        """Return the components of a table of the file: by label, as `sensors`; or the one of a table like `task`.

        All of them are bound once the simulation is built.
        """

    def component(self, name: str) -> Any:
        """Return the component of a name such as `sensors:torso` or `task`; None if there is none."""

    def reset(self, worlds: Any = None) -> None:
        """Reset worlds to their initial state; None means all."""

    def notify_model_changed(self, flags: newton.ModelFlags | int, worlds: Any = None) -> None:
        """Tell the solver, before the next step, which part of the model was changed.

        Args:
            flags: Flags of `newton.ModelFlags`.
            worlds: The changed worlds, as for `reset`.
        """

    def set_enabled(self, component: Any, enabled: bool) -> None:
        """Enable or disable an actuator, from the next step on.

        Args:
            component: The actuator.
            enabled: Whether it acts.
        """


class Binding(Protocol):
    """One component's place in a simulation, given to its `bind` hook; valid for the life of the simulation."""

    label: str
    """Name of the component in this simulation, such as `sensors:torso`."""

    worlds: np.ndarray
    """Ascending indices of the worlds in which `extend_prototype` found what is looked for, shape [worlds]."""

    step_period: int
    """Control steps from one `update_sensors` to the next; 1 unless the component declares a `period`."""

    @property
    def simulation(self) -> Host:
        """The simulation; model, state, control and contacts exist."""

    @property
    def services(self) -> Services:
        """What the simulation does for the component within a step: `simulation.services`."""

    def indices(
        self, what: Literal["body", "joint", "shape"], local: Sequence[int] | Mapping[int, Sequence[int]]
    ) -> np.ndarray:
        """Return the model's indices of a prototype's bodies, joints or shapes, shape [len(worlds), len(local)].

        Args:
            what: The kind of element that `local` counts.
            local: Indices in the prototype, as `extend_prototype` saw it; if the worlds differ, a mapping from each
                `prototype` to its indices.

        Raises:
            ConfigError: Some worlds contain more of these elements than others.
            PluginError: The worlds differ, and `local` does not tell which indices belong to which prototype.
        """

    def double_buffer(self, first: S, second: S) -> DoubleBuffer[S]:
        """Return a pair of states that the host settles at the end of each control step.

        Args:
            first: The state that is current first.
            second: The state that the first step writes; of the same kind.
        """


def refuse_closed(host: Host, where: str) -> None:
    """Refuse a call that would change a closed simulation, which would have no effect."""
    if host.is_closed:
        raise SimulationError(closed(where))


def closed(where: str) -> str:
    """Return the fault of a call that comes after the end of a simulation."""
    return f"{where}: the simulation is closed, and so are its components; build another one"
