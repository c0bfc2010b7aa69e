"""Solvers of engines on the host, which share the joints of all worlds with them: what they have in common."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from pippin.arrays import on_host
from pippin.devices import kind_of
from pippin.solving import ContactSource, EngineFrames, JointMap

from .contacts import EngineContacts
from .engines import RunningEngine, start_engine


class EngineWorlds(newton.solvers.SolverBase):
    """All worlds of a model in an engine; its steps carry on nothing but shared arrays, which the host puts back."""

    SUPPORTED_OBSERVABLES = frozenset({"contact_f"})
    """What any engine may tell; the plugin says whether this one does."""

    engine: RunningEngine
    """The engine, made by the constructor."""

    @abc.abstractmethod
    def advance(
        self, state_in: newton.State, state_out: newton.State, control: newton.Control, worlds: np.ndarray, count: int
    ) -> None:
        """Read the worlds that something else wrote, take substeps, and write the joints.

        Args:
            state_in: The state before, with the wrenches on bodies.
            state_out: The state after.
            control: Efforts and targets of joints.
            worlds: True for each world to read, shape [W + 1].
            count: Number of substeps.
        """

    def tell(self, contacts: EngineContacts, forces: wp.array) -> None:
        """Write the contacts of the last substep: by default what the engine's method `contacts` returns.

        Args:
            contacts: Newton's buffer.
            forces: The observable `contact_f`, one row per contact.
        """
        contacts.write(self.engine.call("contacts"), forces)

    def take_over(self, flags: int, worlds: np.ndarray) -> None:
        """Take over changes of the model; by default there are none, as no feature but gravity is live.

        Args:
            flags: What changed, of `newton.ModelFlags`.
            worlds: True for each world of which it did, shape [W + 1].
        """


class TreeWorlds(EngineWorlds):
    """Worlds that hold the same trees, of one row each in the arrays that the engine shares.

    These are `q` [W, nq] and `v` [W, nv] in the engine's frames; `efforts` [W, nv] of joints that are not free, and
    their `target_q` [W, nq] and `target_v` [W, nv], as in Newton's control; `wrenches` [W, bodies, 6] at the centres of
    mass in the axes of the world, with the efforts of free joints; and `gravity` [W, 3].

    Args:
        model: Newton's model, on the CPU.
        config: The settings.
        frames: How the engine writes free and ball joints.
        arguments: The arguments of the engine.
        numbers: What each world has of its own, as the model says now: further arguments of the engine, and those of
            its method `change` after each change of the model.
    """

    def __init__(
        self,
        model: newton.Model,
        config: Any,
        frames: EngineFrames,
        arguments: Mapping[str, Any],
        numbers: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init__(model)
        count = model.world_count
        self._joints, self._numbers = JointMap(model, frames), numbers
        children = on_host(model.joint_child)[: model.joint_count // count]
        is_free = on_host(model.joint_type)[: len(children)] == newton.JointType.FREE
        self._free = children[is_free], np.array(self._joints.qd_start)[:-1][is_free, None] + np.arange(6)
        nq, nv = self._joints.q_start[-1], self._joints.qd_start[-1]
        shapes = {"q": (nq,), "v": (nv,), "efforts": (nv,), "target_q": (nq,), "target_v": (nv,)}
        shapes |= {"wrenches": (model.body_count // count, 6), "gravity": (3,)}
        own = {} if numbers is None else numbers()
        self.engine = start_engine(
            config, {**arguments, **own}, {name: ((count, *shape), float) for name, shape in shapes.items()}
        )

    def advance(
        self, state_in: newton.State, state_out: newton.State, control: newton.Control, worlds: np.ndarray, count: int
    ) -> None:
        """Read the `worlds` of `state_in` that something wrote, take `count` substeps, and write `state_out`."""
        arrays, model, (bodies, columns) = self.engine.arrays, self.model, self._free
        self._joints.read(state_in, worlds, arrays["q"], arrays["v"])
        inputs = {"efforts": control.joint_f, "target_q": control.joint_target_q, "target_v": control.joint_target_qd}
        for name, array in {**inputs, "wrenches": state_in.body_f}.items():
            arrays[name][:] = on_host(array).reshape(arrays[name].shape)
        arrays["wrenches"][:, bodies] += arrays["efforts"][:, columns]
        arrays["efforts"][:, columns] = 0.0
        arrays["gravity"][:] = on_host(model.gravity)[: model.world_count]
        self.engine.step(count)
        self._joints.write(arrays["q"], arrays["v"], state_out)

    def take_over(self, flags: int, worlds: np.ndarray) -> None:
        """Give the engine all numbers of the model, whatever the `flags` and `worlds`: the others did not change."""
        if self._numbers is not None:
            self.engine.call("change", **self._numbers())


class EngineSolver(abc.ABC):
    """A solver of `EngineWorlds`: a subclass states `supported_features`, and makes the worlds.

    Args:
        config: The settings.
    """

    coordinates = "joint"
    supported_observables: frozenset[str] = frozenset()
    """None, or `contact_f` if the engine tells its contacts."""

    engine_memory = "shared"
    is_capturable = False
    eager_reason = "the engine runs on the host"
    detects_contacts = True

    arrays_alike: Sequence[str] = ()
    """Names of the arrays of the model that the engine has once for all worlds."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self._worlds: EngineWorlds | None = None
        self._contacts: EngineContacts | None = None

    @abc.abstractmethod
    def make_worlds(self, model: newton.Model, dt: float) -> EngineWorlds:
        """Return the worlds of a model, made for substeps of `dt` [s]."""

    def faults(self, model: newton.Model) -> Iterator[str]:
        """Yield further reasons why the engine cannot simulate a model, as `check_model` does; by default none."""
        yield from ()

    @pippin.hookimpl
    def check_model(self, model: newton.Model) -> Iterator[str]:
        """Refuse a model on a GPU, bodies without a joint, and worlds that differ in what the engine has once."""
        if kind_of(model.device) != "cpu":
            yield f'type: its engine runs on the CPU, the model is on {model.device}; set simulation.device = "cpu"'
        loose = np.setdiff1d(np.arange(model.body_count), on_host(model.joint_child))
        if len(loose):
            yield f"type: body {model.body_label[loose[0]]!r} has no joint; give it a free one"
        if self.arrays_alike and (on_host(model.body_world) < 0).any():
            yield "type: a body belongs to no world, and its engine has bodies of worlds alone; put it into each world"
        for name in self.arrays_alike if model.world_count > 1 else ():
            array = on_host(getattr(model, name)) if getattr(model, name) is not None else np.zeros(0)
            rows = array[on_host(model.shape_world) >= 0] if name.startswith("shape_") and len(array) else array
            if (rows.reshape(model.world_count, -1) != rows.reshape(model.world_count, -1)[:1]).any():
                yield f"type: {name} differs between worlds, and its engine has one for all; let it be equal"
        yield from self.faults(model)

    @pippin.hookimpl
    def build_solver(self, model: newton.Model, dt: float) -> EngineWorlds:
        """Return the worlds of a model."""
        self._worlds = self.make_worlds(model, dt)
        return self._worlds

    @pippin.hookimpl
    def initialize_contacts(self, model: newton.Model) -> ContactSource:
        """Return the buffer for contacts of a `model` whose engine tells them; others have none, or their own."""
        if "contact_f" not in self.supported_observables:
            return ContactSource()
        self._contacts = EngineContacts(model)
        return ContactSource(contacts=self._contacts.buffer, filled_with="contact_f")

    @pippin.hookimpl
    def notify_model_changed(self, solver: EngineWorlds, flags: int, changed_worlds: wp.array[wp.bool]) -> None:
        """Let `solver` take over what changed, by its `flags`, in the `changed_worlds`."""
        solver.take_over(flags, changed_worlds.numpy())

    @pippin.hookimpl
    def step_solver(
        self,
        solver: EngineWorlds,
        state_in: newton.State,
        state_out: newton.State,
        control: newton.Control,
        observables: newton.solvers.SolverBase.Observables | None,
        substep_count: int,
        written_worlds: wp.array[wp.bool],
    ) -> None:
        """Let `solver` take `substep_count` substeps from `state_in` to `state_out`, and read the `written_worlds`.

        The contacts of the last substep are told if the `observables` have their forces.
        """
        solver.advance(state_in, state_out, control, written_worlds.numpy(), substep_count)
        if self._contacts is not None and observables is not None and observables.contact_f is not None:
            solver.tell(self._contacts, observables.contact_f)

    @pippin.hookimpl
    def close(self) -> None:
        """End the engine."""
        if self._worlds is not None:
            self._worlds.engine.close()
