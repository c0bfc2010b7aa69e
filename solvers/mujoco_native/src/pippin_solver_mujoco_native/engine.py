"""MuJoCo's C engine behind Newton's solver interface."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import mujoco
import newton
import numpy as np
import pippin
import warp as wp
from mujoco.batch import Batch
from mujoco.batch import SimulationError as BatchError

from .inputs import Inputs, field
from .joints import TURNING, by_world, joints_of
from .kernels import BALL, read_coordinates, write_coordinates
from .launching import host_views, launcher
from .parameters import Parameters, is_uniform
from .plain import PlainJoints

__all__ = ["MuJoCoBatch"]

_mujoco: Any = mujoco
"""MuJoCo, most of which is in an extension without stubs."""
_FULL = slice(int(_mujoco.mjtWarning.mjWARN_CONTACTFULL), int(_mujoco.mjtWarning.mjWARN_CNSTRFULL) + 1)
"""Warnings that contacts or constraints were left out."""


class MuJoCoBatch(newton.solvers.SolverBase):
    """All worlds of a Newton model in MuJoCo, stepped side by side on several threads.

    MuJoCo computes in double precision and Newton's state is single. So a world goes on from MuJoCo's own coordinates
    as long as the state it is given is the one it returned; one that was written to in between is read again.
    A step writes joint coordinates and velocities, no bodies: `newton.eval_fk` does.

    Args:
        model: Newton's model, on the CPU.
        options: Arguments of `newton.solvers.SolverMuJoCo`, which converts the model.
        thread_count: Threads to step on; 0 for all cores.
    """

    SUPPORTED_OBSERVABLES = frozenset({"body_qdd"})

    def __init__(self, model: newton.Model, options: Mapping[str, Any], thread_count: int = 0) -> None:
        super().__init__(model)
        separate = model.world_count > 1
        converted = newton.solvers.SolverMuJoCo(model, use_mujoco_cpu=True, separate_worlds=separate, **options)
        self.mj_model = converted.mj_model
        """MuJoCo's model of a world; what worlds differ in is kept apart."""
        # MuJoCo would put a world that diverges back to the start of the asset, and say nothing in the state.
        self.mj_model.opt.disableflags |= _mujoco.mjtDisableBit.mjDSBL_AUTORESET
        self.batch = Batch(self.mj_model, model.world_count, thread_count)
        """MuJoCo's worlds."""
        self._options = {**options, "save_to_mjcf": None}
        self._converted = converted
        self._has_balls = bool(len(joints_of(model, converted, (int(BALL),)).kind))
        self._inputs = Inputs(model, converted, self.batch)
        self._parameters = None if is_uniform(converted) else Parameters(model, self._options, self.batch)
        # What the last step returned; NaN equals nothing, so that the first state is read.
        self._q, self._qd = (
            wp.full(count, np.nan, dtype=float, device="cpu")
            for count in (model.joint_coord_count, model.joint_dof_count)
        )
        self._view = host_views(model.world_count)
        self._follow_model()
        self._qpos, self._qvel = self.batch.bind("qpos"), self.batch.bind("qvel")
        self._timestep: np.ndarray = self.batch.expand("opt.timestep")
        self._full: np.ndarray = self.batch.warning[:, _FULL]
        self._initial = self.batch.state.copy()

    def state_arrays(self) -> dict[str, wp.array]:
        """Return what is carried from step to step, one row per world: views, of which some share memory with MuJoCo.

        `integration` is MuJoCo's own state in double precision, with the warm start; `joint_q` and `joint_qd` are
        what the last step returned for it.
        """
        views = {
            "integration": self.batch.state,
            "joint_q": self._by_world(self._q),
            "joint_qd": self._by_world(self._qd),
        }
        return {name: wp.array(view, device="cpu", copy=False) for name, view in views.items()}

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
    ) -> None:
        """Advance every world by some substeps of `dt` [s], under the same controls and forces.

        Args:
            state_in: The state to start from; `joint_q`, `joint_qd` and `body_f` are read.
            state_out: Where `joint_q` and `joint_qd` are written.
            control: Efforts and targets; the model's where it is None.
            contacts: Not used: MuJoCo detects contacts itself.
            dt: Length of a substep [s].
            observables: Where `body_qdd` is written: the mean acceleration over the substeps [m/s², rad/s²].
            substep_count: The number of substeps.

        Raises:
            SimulationError: MuJoCo gave up on a world, or had no memory left for its contacts.
        """
        if self._timestep[0] != dt:
            self._timestep[:] = dt
        control = self.model.control() if control is None else control
        self._read(state_in)
        # Newton's torques on ball joints keep their axes where MuJoCo's turn with the body: they are written anew.
        calls = substep_count if self._has_balls else 1
        for _ in range(calls):
            self._inputs.write(state_in.body_f, control)
            self._advance(substep_count // calls)
        self._write(state_out)
        if observables is not None and observables.is_requested("body_qdd"):
            self._measure(state_in, state_out, observables.body_qdd, dt * substep_count)

    def reset(self, state: newton.State, world_mask: wp.array[wp.bool] | None = None, flags: Any | None = None) -> None:
        """Forget the warm start, and what else is carried, of the masked worlds; `state` is read by the next step.

        Args:
            state: Put back to the model's joint coordinates and velocities where `flags` asks for it.
            world_mask: The worlds, shape [world_count + 1]; all where it is None.
            flags: Which arrays of `state` to put back; all where it is None.
        """
        worlds: Any = slice(None) if world_mask is None else world_mask.numpy()[:-1]
        self.batch.state[worlds] = self._initial[worlds]
        self._by_world(self._q)[worlds] = np.nan
        if self._parameters is not None:
            self._parameters.pose_roots()
        chosen = newton.StateFlags.ALL if flags is None else flags
        for name, flag in (("joint_q", newton.StateFlags.JOINT_Q), ("joint_qd", newton.StateFlags.JOINT_QD)):
            if int(chosen) & flag:
                self._by_world(getattr(state, name))[worlds] = self._by_world(getattr(self.model, name))[worlds]

    def notify_model_changed(self, flags: newton.ModelFlags | int) -> None:
        """Take over what changed in the model; from then on, each world has its own parameters."""
        if self._parameters is None:
            self._parameters = Parameters(self.model, self._options, self.batch)
        else:
            self._parameters.update(int(flags))
        self._follow_model()
        self._q.fill_(np.nan)

    def _follow_model(self) -> None:
        """Take over anchors, centres of mass and references."""
        joints, turning = joints_of(self.model, self._converted), joints_of(self.model, self._converted, TURNING)
        worlds, fields = self.model.world_count, (field(self.batch, "qpos"), field(self.batch, "qvel"))
        self._read_coordinates = launcher(read_coordinates, worlds, joints, *fields, self._q, self._qd)
        self._turning_count = len(turning.kind)
        self._write_turning = launcher(write_coordinates, worlds, turning, *fields)
        self._plain = PlainJoints(joints)
        self._inputs.follow(turning, self._plain)

    def _read(self, state: Any) -> None:
        """Take over the coordinates of worlds that are not where the last step left them."""
        view = self._view
        # Comparing bytes is faster than comparing numbers, and a NaN is where it was left, too.
        is_left = view(state.joint_q).tobytes() == view(self._q).tobytes()
        if not is_left or view(state.joint_qd).tobytes() != view(self._qd).tobytes():
            self._read_coordinates(state.joint_q, state.joint_qd)

    def _write(self, state: Any) -> None:
        if self._turning_count:
            self._write_turning(state.joint_q, state.joint_qd)
        q, qd = self._view(state.joint_q), self._view(state.joint_qd)
        with np.errstate(over="ignore"):  # beyond the range of a float is infinity, which `Simulation.check` finds
            self._plain.write(self._qpos, self._qvel, q, qd)
        self._view(self._q)[:] = q
        self._view(self._qd)[:] = qd

    def _by_world(self, array: Any) -> np.ndarray:
        return by_world(self.model, array)

    def _advance(self, substep_count: int) -> None:
        said: list[str] = []
        # Without a handler MuJoCo prints, and writes a file where the process runs. There is one for the process.
        theirs = _mujoco.get_mju_user_warning()
        if theirs is None:
            _mujoco.set_mju_user_warning(said.append)
        try:
            self.batch.step(nstep=substep_count)
        except BatchError as error:
            raise pippin.SimulationError(f"solver: {error}") from error
        finally:
            _mujoco.set_mju_user_warning(theirs)
        for text in said:
            warnings.warn(f"solver: MuJoCo: {text}", RuntimeWarning, stacklevel=2)
        if self._full.any():
            world = int(self._full.reshape(len(self._full), -1).any(axis=1).argmax())
            raise pippin.SimulationError(
                f"solver: the memory of MuJoCo ({self.mj_model.narena} bytes) has no room for the contacts of world"
                f" {world}; let fewer shapes touch"
            )

    def _measure(self, before: Any, after: Any, body_qdd: Any, dt: float) -> None:
        """Write how fast the bodies' velocities changed; both states' bodies are brought up to date first."""
        for state in (before, after):
            newton.eval_fk(self.model, state.joint_q, state.joint_qd, state)
        body_qdd.numpy()[:] = (after.body_qd.numpy() - before.body_qd.numpy()) / np.float32(dt)
