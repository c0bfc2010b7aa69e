"""The actuators of one robot in all worlds, with the methods of Isaac Sim's class."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from pippin import ConfigError, SimulationError, hookimpl
from pippin.actuation import DriveActuator
from pippin.arrays import on_host
from pippin.indices import IndexRange

from .errors import ArgumentError
from .feedforward import FeedforwardWrite
from .prebuilt import ActuatorConfig, PrebuiltActuator
from .roots import Roots

if TYPE_CHECKING:
    import newton
    import warp as wp
    from pippin import Binding, Host
    from pippin.views import ArticulationView

__all__ = ["ArticulationActuators"]


class ArticulationActuators:
    """The actuators of one robot in all worlds: pass the object to a `Simulation` as a plugin, then use it.

    It finds the actuators of the stage and the file when the simulation is built; `from_actuators` takes prebuilt ones.
    The simulation steps the actuators, unless auto step is disabled: then they act only in `step_actuators`.

    Args:
        paths: Path of the robot's root as a full-match regular expression, or several; the robot's joints are below it.
        auto_step_pre_physics: Whether the simulation applies the actuators in each physics step.
        device: Device of the simulation, such as "cuda:0"; None for whatever it has. Another one is refused when the
            simulation is built.

    Raises:
        ArgumentError: A path is not a regular expression. A path without joints below it is only found when the
            simulation is built.
    """

    def __init__(
        self, paths: str | Sequence[str], *, auto_step_pre_physics: bool = True, device: str | None = None
    ) -> None:
        self._asked_device = device
        self._roots = Roots([paths] if isinstance(paths, str) else paths)
        self._is_auto = auto_step_pre_physics
        self._prebuilt: list[PrebuiltActuator] = []
        self._found: list[DriveActuator] = []
        self._simulation: Host | None = None
        self._is_closed = False

    @classmethod
    def from_actuators(
        cls,
        paths: str | Sequence[str],
        actuators: Sequence[tuple[ActuatorConfig, str]],
        *,
        auto_step_pre_physics: bool = True,
    ) -> Self:
        """Return the actuators of a robot, made of Newton's components with arrays of one value per world.

        Args:
            paths: As for the class.
            actuators: Pairs of an actuator and the name of its axis, in most cases that of its joint, in any order.
            auto_step_pre_physics: As for the class.

        Raises:
            ArgumentError: A joint occurs twice. An unknown joint is only found when the simulation is built.
        """
        names = [name for _, name in actuators]
        if len(set(names)) < len(names):
            raise ArgumentError(f"actuators: each joint takes one actuator, got {names}")
        made = cls(paths, auto_step_pre_physics=auto_step_pre_physics)
        made._prebuilt = [PrebuiltActuator(config, name) for config, name in actuators]
        return made

    @hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Resolve the joints of prebuilt actuators, and switch off the asset's drives of these joints."""
        if self._simulation is not None:
            raise ConfigError(
                f"object: this {type(self).__name__} belongs to another simulation; make an object for each simulation"
            )
        for prebuilt in self._prebuilt:
            prebuilt.select(builder, prototype, self._roots)

    @hookimpl
    def bind(self, simulation: Host, binding: Binding) -> None:
        """Build prebuilt actuators; without any, find those of the stage and the file."""
        self._simulation, self._device = simulation, simulation.device
        self._roots.refuse_empty(simulation.model.joint_label)
        if self._asked_device not in (None, str(self._device)):
            raise ArgumentError(
                f"device: {self._asked_device!r}, but the simulation is on {self._device}; leave it out"
            )
        for prebuilt in self._prebuilt:
            prebuilt.bind(binding)
        self._prebuilt.sort(key=_first_dof)
        self._dofs = self._roots.dofs(simulation.model, simulation.world_count)
        groups = [] if self._prebuilt else simulation.actuators.values()
        found = [each for each in groups if isinstance(each, DriveActuator) and self._drives(each)]
        self._found = sorted(found, key=_first_dof)
        if not self._is_auto:
            self._switch(on=False)

    @hookimpl
    def apply_actuators(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Apply prebuilt actuators; the simulation itself applies the actuators of the stage and the file."""
        for prebuilt in self._prebuilt:
            prebuilt.apply_actuators(state, control, dt)

    @hookimpl
    def reset_worlds(self, world_mask: wp.array) -> None:
        """Clear the memory of prebuilt actuators in the masked worlds."""
        for prebuilt in self._prebuilt:
            prebuilt.reset_worlds(world_mask)

    @property
    def is_capturable(self) -> bool:
        """Whether every prebuilt actuator may be recorded into a graph."""
        return all(prebuilt.is_capturable for prebuilt in self._prebuilt)

    @property
    def deterministic_on(self) -> frozenset[str]:
        """Kinds of device on which steps give the same bits in every run; a prebuilt law only on the CPU."""
        return frozenset({"cpu"}) if self._prebuilt else frozenset({"cpu", "cuda"})

    @property
    def actuated_dofs(self) -> wp.array:
        """DOFs of prebuilt actuators in the arrays of the model, shape [DOFs]."""
        import warp as wp

        found = [prebuilt.actuated_dofs.numpy() for prebuilt in self._prebuilt]
        return wp.array(np.concatenate(found) if found else [], dtype=int, device=self._device)

    @property
    def articulation(self) -> ArticulationView:
        """The robot in all worlds: its state, its targets and its parameters.

        Targets that it sets reach the actuators of these DOFs; efforts and gains of them are refused.
        """
        model = self._running.model
        held = [self._roots.holds(label) for label in model.joint_label]
        return self._running.view.articulations(np.unique(on_host(model.joint_articulation)[held]).tolist())

    @property
    def actuators(self) -> list[DriveActuator]:
        """The actuators by their first DOF, each with targets, efforts and parameters over all worlds."""
        return [*self._prebuilt, *self._found]

    @property
    def actuated_dof_indices(self) -> list[int]:
        """The driven DOFs, ascending, counted within the robot and without a free root."""
        own = self._dofs[0].tolist()
        driven = {dof for each in self.actuators for dof in each.actuated_dofs.numpy().tolist()}
        return [index for index, dof in enumerate(own) if dof in driven]

    def set_dof_feedforward_effort_targets(
        self,
        target_feedforward_efforts: Any,
        *,
        indices: Any = None,
        dof_indices: Any = None,
    ) -> None:
        """Set the feedforward effort [N or N·m]; it holds until it is set again, and is delayed and clamped.

        DOFs without an actuator are skipped. Reads and writes the device.

        Args:
            target_feedforward_efforts: Values that NumPy can broadcast to [len(indices), len(dof_indices)].
            indices: Indices or a mask of worlds; by default all.
            dof_indices: Indices or a mask of the DOFs, counted within the robot; by default all.

        Raises:
            ArgumentError: An index is out of range or listed twice, the values do not fit, or a DOF's actuator has no
                feedforward. Then nothing is written.
        """
        _ = self._running  # an error if it is closed
        worlds = IndexRange(len(self._dofs), error=ArgumentError).indices(indices, "indices")
        dofs = IndexRange(self._dofs.shape[1], what="DOF", error=ArgumentError)
        columns = dofs.indices(dof_indices, "dof_indices")
        values = target_feedforward_efforts
        values = np.asarray(values.numpy() if hasattr(values, "numpy") else values, dtype=np.float32)
        try:
            wanted = np.broadcast_to(values, (len(worlds), len(columns)))
        except ValueError as error:
            expected = f"[{len(worlds)}, {len(columns)}]"
            raise ArgumentError(
                f"target_feedforward_efforts: expected what fits {expected}, got shape {list(values.shape)}"
            ) from error
        dofs = self._dofs[np.ix_(worlds, columns)]
        writes = [FeedforwardWrite.of(each, dofs.ravel(), wanted.ravel()) for each in self.actuators]
        for write in writes:
            write.run()

    def step_actuators(self, step_dt: float, context: Any = None) -> None:
        """Apply every actuator once: the efforts are `control.joint_f` of the next step.

        Args:
            step_dt: Length of the physics step that follows [s].
            context: Ignored; Isaac Sim's callbacks pass one.

        Raises:
            SimulationError: The simulation steps the actuators itself, or this object is in no simulation, or closed.
        """
        simulation = self._running
        if self.actuators and self._is_auto:
            raise SimulationError(
                "step_actuators: the simulation steps these actuators; disable_auto_step_pre_physics() first"
            )
        for each in self.actuators:
            each.step(simulation.state, simulation.control, step_dt)

    def enable_auto_step_pre_physics(self) -> None:
        """Let the simulation apply the actuators in each physics step. May be called before `bind`."""
        self._set_auto(True)

    def disable_auto_step_pre_physics(self) -> None:
        """Apply the actuators only in `step_actuators`. May be called before `bind`."""
        self._set_auto(False)

    def reset(self) -> None:
        """Clear the memory of the actuators in all worlds: integrals, delayed targets, states of networks."""
        import warp as wp

        mask = wp.full(len(self._dofs) + 1, value=True, dtype=bool, device=self._running.device)
        for each in self.actuators:
            each.reset_worlds(mask)

    @hookimpl
    def close(self) -> None:
        """Detach the actuators: they act no more. A second call has no effect."""
        if self._simulation is not None and not self._is_closed and self._is_auto:
            self._switch(on=False)
        self._is_closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _running(self) -> Host:
        if self._simulation is None:
            raise SimulationError("actuators: of no simulation yet; pass this object to one as a plugin")
        if self._is_closed:
            raise SimulationError("actuators: closed; make others")
        return self._simulation

    def _set_auto(self, is_auto: bool) -> None:
        if is_auto != self._is_auto and self._simulation is not None:
            assert self._running, "not closed"
            self._switch(on=is_auto)
        self._is_auto = is_auto

    def _switch(self, *, on: bool) -> None:
        assert self._simulation is not None, "only after `bind`"
        for component in (*self._found, *([self] if self._prebuilt else [])):
            self._simulation.set_enabled(component, on)

    def _drives(self, group: DriveActuator) -> bool:
        is_own = [self._roots.holds(label) for label in group.joint_labels]
        if any(is_own) and not all(is_own):
            outside = group.joint_labels[is_own.index(False)]
            raise ArgumentError(
                f"paths: a group drives {outside!r} as well, which is outside; give it a group of its own"
            )
        return any(is_own)


def _first_dof(actuator: DriveActuator) -> int:
    return int(actuator.actuated_dofs.numpy().min())
