"""MuJoCo's C engine behind Newton's solver interface."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from typing import Any

import mujoco
import newton
import numpy as np
import pippin
import warp as wp
from mujoco.batch import Batch
from mujoco.batch import SimulationError as BatchError
from pippin.arrays import present

from . import MuJoCoNativeConfig
from .batch_engine import FULL
from .built_numbers import keep_numbers
from .columns import host_views
from .contacts import ContactExport, room_for
from .inputs import Inputs
from .joints import joint_map, moving_joints, on_host
from .limits import limit_springs
from .parameters import Parameters, is_uniform
from .remote import RemoteBatch, RemoteContacts, saved_text
from .restoring import compensating, restore
from .rollouts import Rollouts
from .slippery import leave_out_friction

__all__ = ["MuJoCoBatch"]

_mujoco: Any = mujoco
"""MuJoCo; most of it is an extension without type stubs."""
_NUMBERS = 2**22
"""Numbers of the states of all worlds and substeps of a call."""


def _converted(model: newton.Model, **options: Any) -> newton.solvers.SolverMuJoCo:
    """Return Newton's conversion of a model, which steps nothing."""
    with warnings.catch_warnings(), compensating(model):
        warnings.filterwarnings("ignore", ".*< MJ_MINMU")  # for MuJoCo Warp; see `leave_out_friction`
        warnings.filterwarnings("ignore", "Geom .*: authored margin")  # `restore` writes the margins again
        separate = model.world_count > 1
        return newton.solvers.SolverMuJoCo(model, use_mujoco_cpu=True, separate_worlds=separate, **options)


class MuJoCoBatch(newton.solvers.SolverBase):
    """All worlds of a Newton model in MuJoCo, stepped in parallel on several threads.

    MuJoCo computes in double precision, but Newton's state has single precision. So a world continues from MuJoCo's own
    coordinates, unless something else wrote its state: then the input state is read again. A step writes joint
    coordinates and velocities, but no bodies: run `newton.eval_fk`.

    Args:
        model: Newton's model, on the CPU.
        options: Arguments of `newton.solvers.SolverMuJoCo`, which converts the model.
        dt: Length of a step [s].
        thread_count: Threads to step on; 0 for all cores.
        config: The settings, if they name an environment in which MuJoCo steps.
    """

    SUPPORTED_OBSERVABLES = frozenset({"contact_f"})

    remote: RemoteBatch | None = None
    """MuJoCo's worlds, if they are in another environment."""

    def __init__(
        self,
        model: newton.Model,
        options: Mapping[str, Any],
        dt: float,
        thread_count: int = 0,
        config: MuJoCoNativeConfig | None = None,
    ) -> None:
        super().__init__(model)
        convert = partial(_converted, model, **options)
        self._config, self._mjcf = config, cache(partial(saved_text, convert))
        converted = convert()
        chosen = converted.mj_model.opt.solver
        restore(converted)
        if options["solver"] is not None:  # and not that of the file, which may be PGS
            converted.mj_model.opt.solver = chosen
        #: MuJoCo's model of a world; parameters that differ between worlds are stored separately.
        self.mj_model = own = converted.mj_model
        limit_springs(converted, own.jnt_solref[None], own.jnt_solimp[None], own.dof_invweight0[None], dt)
        friction = {"geom_friction": own.geom_friction, "pair_friction": own.pair_friction}
        for name, values in leave_out_friction(own, friction).items():
            getattr(own, name)[:] = values
        # Without this flag, MuJoCo would silently reset a diverged world to the initial state of the asset.
        own.opt.disableflags |= _mujoco.mjtDisableBit.mjDSBL_AUTORESET
        if own.ntree <= 1:  # one tree is one island at most: the same bits, in less time
            own.opt.disableflags |= _mujoco.mjtDisableBit.mjDSBL_ISLAND
        self._options, self._dt = {**options, "save_to_mjcf": None}, dt
        self._converted, self._thread_count = converted, thread_count
        self._has_balls = bool(moving_joints(model, converted, int(newton.JointType.BALL)).size)
        self._is_alike = is_uniform(converted)
        self._parameters: Parameters | None = None
        self._as_built = keep_numbers(model) if self._is_alike else nullcontext
        self._everywhere = wp.full(model.world_count + 1, value=True, dtype=bool, device="cpu")
        self._view, self._flags = host_views(model.world_count), host_views(None)
        self._outdated = wp.zeros(model.world_count + 1, dtype=bool, device="cpu")
        self._open()

    def _open(self, *, keeps_contacts: bool = False) -> None:
        """Make MuJoCo's worlds; each keeps its memory after a call if its contacts are to be read from there."""
        model, converted = self.model, self._converted
        #: MuJoCo's worlds, here or in another environment.
        size, shapes = (model.world_count, self._thread_count), on_host(self.mjc_geom_to_newton_shape)
        if self._config is not None:
            self.close()
            room = room_for(model, self._config.nconmax) if keeps_contacts else 0
            self.remote = RemoteBatch(self._config, self.mj_model, self._mjcf, *size, room=room)
        self.batch: Any = self.remote or Batch(self.mj_model, *size, persistent=keeps_contacts)
        export = RemoteContacts if self.remote else ContactExport
        self._contacts = export(self.batch, shapes) if keeps_contacts else None
        self._inputs = Inputs(model, converted, self.batch)
        if self._parameters is not None:
            self._parameters.move(self.batch)
        elif not self._is_alike:
            self._parameters = Parameters(model, self._options, self.batch, self._dt)
        self._follow_model()
        self._qpos, self._qvel = self.batch.bind("qpos"), self.batch.bind("qvel")
        self._timestep: np.ndarray = self.batch.expand("opt.timestep")
        self._full: np.ndarray = self.remote.full if self.remote else self.batch.warning[:, FULL]
        self._initial = self.batch.state.copy()

    @property
    def mj_data(self) -> Any:
        """MuJoCo's data of the first world in the start pose."""
        kept, data = self.batch.state.copy(), self._converted.mj_data
        self._joints.read(self.model, self._flags(self._everywhere), self._qpos, self._qvel)
        data.qpos[:] = self._qpos[0]
        self.batch.state[:] = kept
        return data

    @property
    def mjc_geom_to_newton_shape(self) -> Any:
        """Newton's shape of each geom, shape [1 or world_count, geoms]; -1 if it has none."""
        return self._converted.mjc_geom_to_newton_shape

    def observables(
        self, kinds: Iterable[str], *, contacts: newton.Contacts | None = None, requires_grad: bool | None = None
    ) -> newton.solvers.SolverBase.Observables:
        """Allocate arrays for observables, before the first step; see Newton's `SolverBase.observables`."""
        wanted = frozenset(kinds)
        if "contact_f" in wanted and self._contacts is None:
            self._open(keeps_contacts=True)
        return super().observables(wanted, contacts=contacts, requires_grad=requires_grad)

    def state_arrays(self) -> dict[str, wp.array]:
        """Return the state that steps carry on, one row per world, in MuJoCo's memory: its own state in double
        precision, with the warm start.
        """
        return {"integration": wp.array(self.batch.state, device="cpu", copy=False)}

    def step(
        self,
        state_in: newton.State,
        state_out: newton.State,
        control: newton.Control | None,
        contacts: newton.Contacts | None,
        dt: float,
        *,
        observables: newton.solvers.SolverBase.Observables | None = None,
        substep_count: int = 1,
        written_worlds: wp.array[wp.bool] | None = None,
    ) -> None:
        """Advance every world by some substeps of `dt` [s] with constant controls and forces.

        Args:
            state_in: The state to start from; `joint_q`, `joint_qd` and `body_f` are read.
            state_out: The output state; `joint_q` and `joint_qd` are written.
            control: Efforts and targets; None means those of the model.
            contacts: The buffer for the contacts of the last substep, which MuJoCo detects itself; written if
                `observables` has `contact_f`.
            dt: Length of a substep [s].
            observables: The forces of the contacts, or None.
            substep_count: The number of substeps.
            written_worlds: The worlds whose joints are read from `state_in`, shape [world_count + 1]; None means all.

        Raises:
            SimulationError: MuJoCo failed in a world, or there is no room for its contacts.
        """
        if self._timestep[0] != dt:
            self._timestep[:] = dt
            self._flush()
        control = self.model.control() if control is None else control
        self._read(state_in, written_worlds)
        exports = self._contacts is not None and contacts is not None and observables is not None
        if self.remote is not None:
            self.remote.want_contacts(are_wanted=exports)
        # Newton's torques on ball joints have fixed axes, MuJoCo's turn with the body: convert them in each substep.
        calls = substep_count if self._has_balls else 1
        for _ in range(calls):
            self._inputs.write(state_in.body_f, control)
            self._advance(substep_count // calls)
        self._write(state_out)
        if self._contacts is not None and contacts is not None and observables is not None:
            self._contacts.write(contacts, present(observables.contact_f))

    def roll_out(
        self,
        state: Any,
        control: Any,
        dt: float,
        substep_count: int,
        count: int,
        set_inputs: Callable[[], None],
        worlds: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Advance worlds by some control steps in one call, to the bits of `step`: each thread takes a world to the
        end.

        Args:
            state: The state to start from, and that of the end: `joint_q` and `joint_qd`.
            control: Targets and efforts.
            dt: Length of a substep [s].
            substep_count: Substeps of a control step.
            count: The number of control steps.
            set_inputs: Writes those of the next control step into `control`.
            worlds: Which worlds, in order, shape [worlds]; the others stay where they are.

        Returns:
            `joint_q` and `joint_qd` of these worlds after each control step, shape [count, worlds, numbers]; None for
            joints that turn bodies in space, and if bodies are pushed or contacts are read.

        Raises:
            SimulationError: As `step`.
        """
        if self.remote or self._joints.turning_count or self._contacts is not None or self._view(state.body_f).any():
            return None
        self._timestep[:] = dt
        self._read(state, None)
        self._inputs.write(state.body_f, control)
        q, qd = (np.stack([self._view(array)[worlds]] * count) for array in (state.joint_q, state.joint_qd))
        stride = min(count, max(1, _NUMBERS // (len(worlds) * substep_count * self.batch.nstate)))
        rollouts = Rollouts(self.batch, substep_count, worlds, stride)
        for first in range(0, count, stride):
            part = range(first, min(first + stride, count))
            for _ in part:
                set_inputs()
                self._inputs.write_plain(control)
                rollouts.add()
            with self._checked():
                qpos, qvel = rollouts.take()
            with np.errstate(over="ignore"):
                for number, own_qpos, own_qvel in zip(part, qpos, qvel, strict=True):
                    self._joints.write_plain(own_qpos, own_qvel, q[number], qd[number])
        self._write(state)
        return q, qd

    def reset(self, state: newton.State, world_mask: wp.array[wp.bool] | None = None, flags: Any | None = None) -> None:
        """Reset the warm start and other memory of the masked worlds.

        Args:
            state: The state; `flags` selects the arrays that are reset to the model's joint coordinates and velocities.
            world_mask: The worlds, shape [world_count + 1]; None means all.
            flags: The arrays of `state` to reset; None means all.
        """
        worlds: Any = slice(None) if world_mask is None else np.flatnonzero(self._flags(world_mask)[:-1])
        self.batch.state[worlds] = self._initial[worlds]
        if self.remote is not None:
            self.remote.forget(np.arange(self.model.world_count)[worlds])
        if self._parameters is not None:
            self._parameters.pose_roots()
        chosen = newton.StateFlags.ALL if flags is None else flags
        for name, flag in (("joint_q", newton.StateFlags.JOINT_Q), ("joint_qd", newton.StateFlags.JOINT_QD)):
            if int(chosen) & flag:
                self._view(getattr(state, name))[worlds] = self._view(getattr(self.model, name))[worlds]

    def notify_model_changed(
        self, flags: newton.ModelFlags | int, changed_worlds: wp.array[wp.bool] | None = None
    ) -> None:
        """Apply changes of the model; from then on, each world has its own parameters.

        Args:
            flags: The kinds of change.
            changed_worlds: The worlds whose part of the model was written, shape [world_count + 1]; None means all.
                The others continue from MuJoCo's own coordinates.
        """
        changed: Any = (self._everywhere if changed_worlds is None else changed_worlds).numpy()
        if not changed.any():
            return
        if self._parameters is None:
            with self._as_built():
                self._parameters = Parameters(self.model, self._options, self.batch, self._dt)
        self._parameters.update(int(flags), slice(None) if changed.all() else changed[:-1])
        self._follow_model()
        np.asarray(self._outdated)[changed] = True

    def _follow_model(self) -> None:
        """Update anchors, centres of mass and references from the model."""
        self._joints = joint_map(self.model, self._converted)
        self._inputs.follow(self._joints)
        self._flush()

    def _flush(self) -> None:
        if self.remote is not None:
            self.remote.flush()

    def close(self) -> None:
        """End the process of another environment, if there is one."""
        if self.remote is not None:
            self.remote.engine.close()

    def _read(self, state: Any, written: Any) -> None:
        """Read the coordinates of written worlds, and of those whose coordinates have another meaning now."""
        outdated = self._flags(self._outdated)
        if written is None:
            written = self._everywhere
        elif outdated.any():
            outdated |= self._flags(written)
            written = self._outdated
        self._joints.read(state, self._flags(written), self._qpos, self._qvel)
        outdated[:] = False

    def _write(self, state: Any) -> None:
        with np.errstate(over="ignore"):  # `Simulation.check` finds values beyond the range of a float: infinity
            self._joints.write(self._qpos, self._qvel, state)

    def _advance(self, substep_count: int) -> None:
        with self._checked():
            self.batch.step(nstep=substep_count)

    @contextmanager
    def _checked(self) -> Iterator[None]:
        """Give what MuJoCo says in a `with` block as warnings, and its errors as ours."""
        said: list[str] = []
        # Without a handler, MuJoCo prints, and writes a file into the working folder. The process has one handler.
        theirs = _mujoco.get_mju_user_warning()
        if theirs is None:
            _mujoco.set_mju_user_warning(said.append)
        try:
            yield
        except BatchError as error:
            raise pippin.SimulationError(f"solver: {error}") from error
        finally:
            _mujoco.set_mju_user_warning(theirs)
        for text in said:
            warnings.warn(f"solver: MuJoCo: {text}", RuntimeWarning, stacklevel=4)
        if self._full.any():
            world = int(self._full.reshape(len(self._full), -1).any(axis=1).argmax())
            raise pippin.SimulationError(
                f"solver: the memory of MuJoCo ({self.mj_model.narena} bytes) has no room for the contacts of world"
                f" {world}; let fewer shapes touch"
            )
