"""Parameters that differ between worlds: masses, friction, gains and others, one value per world."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from mujoco import MjModel
from pippin.solving import LoopTies, complete_conversion

from .joints import by_world
from .limits import limit_springs
from .restoring import weigh_sliders
from .slippery import leave_out_friction

if TYPE_CHECKING:
    import newton
    from mujoco.batch import Batch

__all__ = ["Parameters", "is_uniform"]

_FLOAT32_NOISE = 1e-5
"""Relative difference below which a parameter equals the template's: Newton has float32, MuJoCo float64."""

_CONVERTED_ONCE = (
    *("gravity", "joint_limit_ke", "joint_limit_kd", "mujoco.solreflimit", "mujoco.solreflimit_mode"),
    *(f"mujoco.pair_{name}" for name in ("friction", "gap", "margin", "solimp", "solref", "solreffriction")),
)
"""Arrays of Newton's model that a conversion for the CPU reads for the first world only."""

_POSES_AT_REST = ("body_q", "joint_X_c", "joint_X_p")
"""Arrays of Newton's model that give the poses of bodies fixed to the world, which are part of MuJoCo's state."""


_WEIGHTS = ("body_invweight0", "dof_invweight0", "tendon_invweight0")

_DERIVED = {*_WEIGHTS, "jnt_solref", "jnt_solimp"}
"""Parameters that are computed here from others, in double precision."""

_WEIGHED_BY = frozenset(MjModel._setconst_inputs)
"""Parameters that the inverse weights depend on."""

_ALL = slice(None)
"""The index of all worlds."""


def is_uniform(solver: newton.solvers.SolverMuJoCo) -> bool:
    """Tell whether all worlds can share one MuJoCo model: no parameter differs, nor the pose of a body at rest."""
    once = (*_CONVERTED_ONCE, *(_POSES_AT_REST if solver.mj_model.nmocap else ()))
    arrays = (_attribute(solver.model, name) for name in once)
    read = [array for array in arrays if array is not None and array.size]  # Warp cannot slice an empty array
    worlds = solver.model.world_count
    values = [values for name, values in _fields(solver) if name != "jnt_solref"]  # the limits decide
    values += [by_world(solver.model, array[: len(array) // worlds * worlds]) for array in read]  # gravity: a row more
    return all((each == each[:1]).all() for each in values)


class Parameters:
    """Copies of the differing parameters, from Newton's conversion of the model to MuJoCo's worlds.

    Newton computes MuJoCo's parameters for each world on Warp: inverse weights, limits, gains. The kernels are compiled
    at the first use; a simulation of equal worlds never needs them.

    Args:
        model: Newton's model.
        options: Arguments of `SolverMuJoCo`.
        batch: MuJoCo's worlds.
        dt: Length of a step [s].
    """

    def __init__(self, model: newton.Model, options: Mapping[str, Any], batch: Batch, dt: float) -> None:
        import newton

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*< MJ_MINMU")  # for MuJoCo Warp; see `leave_out_friction`
            warnings.filterwarnings("ignore", "Geom .*: authored margin")  # `_fields` gives the true margins
            self._solver = newton.solvers.SolverMuJoCo(model, **options)
        self._batch, self._dt, self._ties = batch, dt, LoopTies(self._solver)
        self._own: dict[str, np.ndarray] = {}  # arrays of the batch
        self._write()

    def move(self, batch: Batch) -> None:
        """Write the differing parameters into worlds that replace the others."""
        self._batch, self._own = batch, {}
        self._write()

    def update(self, flags: int, worlds: Any = _ALL) -> None:
        """Apply changes of the model in some worlds. From then on, every parameter has a value for each world.

        A checkpoint has the same arrays then, whatever was changed and set back before.

        Args:
            flags: Flags of `newton.ModelFlags`.
            worlds: The changed worlds, an index of arrays.
        """
        self._solver.notify_model_changed(flags)
        for name in ("geom_sameframe", "geom_condim", "pair_dim", "opt.disableflags", *dict(_fields(self._solver))):
            self._own[name] = self._batch.expand(name)
        self._write(worlds)

    def _write(self, worlds: Any = _ALL) -> None:
        self._ties.write(self._solver)
        fields = {name: self._exact(name, values) for name, values in _fields(self._solver)}
        fields |= leave_out_friction(self._solver.mj_model, fields)
        written = {name for name in fields.keys() - _DERIVED if self._put(name, fields[name], worlds, _FLOAT32_NOISE)}
        if written & _WEIGHED_BY:
            for name, values in self._weights(np.arange(self._batch.nsim)[worlds]).items():
                if values.size:
                    self._put(name, values, worlds)
        if "jnt_solref" in fields:
            solref, solimp = (fields[name] for name in ("jnt_solref", "jnt_solimp"))
            limit_springs(self._solver, solref, solimp, self._present("dof_invweight0"), self._dt)
            self._put("jnt_solref", solref[worlds], worlds)
            self._put("jnt_solimp", solimp[worlds], worlds)
        self.pose_roots()

    def _put(self, name: str, values: np.ndarray, worlds: Any, noise: float = 0.0) -> bool:
        """Write a parameter of some worlds, and tell whether it was another one by more than relative noise."""
        present = self._present(name)[worlds]
        values = values[worlds] if len(values) != len(present) else values
        if np.allclose(values, present, rtol=noise, atol=0.0):
            return False
        self._own[name] = self._batch.expand(name)
        self._own[name][worlds] = values
        if name in ("body_ipos", "body_iquat"):
            self._leave_out_midphase(worlds)
        if name in ("geom_pos", "geom_quat"):
            self._batch.expand("geom_sameframe")[worlds] = 0  # MuJoCo passes over poses that it marked as equal
        return True

    def _exact(self, name: str, values: np.ndarray) -> np.ndarray:
        """Return a parameter in double precision: what is the template's in single precision is the template's."""
        template = np.asarray(_attribute(self._batch.model, name))
        values = values.reshape(len(values), *template.shape)
        is_same = values == template.astype(np.float32)
        if name in ("body_mass", "body_inertia"):
            is_same |= template == 0.0  # links between joints of one body, on which a medium does not act
        return np.where(is_same, template, values)

    def _present(self, name: str) -> np.ndarray:
        """Return a parameter of all worlds."""
        if name in self._own:
            return self._own[name]
        template = np.asarray(_attribute(self._batch.model, name))
        return np.broadcast_to(template, (self._batch.nsim, *template.shape))

    def _weights(self, worlds: np.ndarray) -> dict[str, np.ndarray]:
        """Return the inverse weights of some worlds, as MuJoCo's compiler computes them: those of Newton's conversion
        have single precision, so that a file with the same numbers would not repeat the last digits.
        """
        import mujoco as _mujoco

        mujoco: Any = _mujoco
        sliders = complete_conversion(self._solver)[1]
        model = self._batch.get_model(0)
        data, found = mujoco.MjData(model), {name: [] for name in _WEIGHTS}
        for world in worlds.tolist():
            self._batch.get_model(world, model)
            model.body_gravcomp[:] = np.arange(model.nbody) < model.ngravcomp  # it counts them, and the count is a size
            mujoco.mj_setConst(model, data)
            weigh_sliders(model, sliders)
            for name, rows in found.items():
                rows.append(getattr(model, name).copy())
        return {name: np.array(rows) for name, rows in found.items()}

    def pose_roots(self) -> None:
        """Set the poses, in each world, of bodies fixed to the world; in MuJoCo, these poses are part of the state."""
        if self._batch.model.nmocap:
            data: Any = self._solver.mjw_data
            self._batch.bind("mocap_pos")[:] = data.mocap_pos.numpy()
            self._batch.bind("mocap_quat")[:] = data.mocap_quat.numpy()

    def _leave_out_midphase(self, worlds: Any) -> None:
        """Test all pairs of geoms: MuJoCo keeps their bounding boxes in the inertial frame, which has just moved."""
        from mujoco import mjtDisableBit

        self._batch.expand("opt.disableflags")[worlds] |= int(mjtDisableBit.mjDSBL_MIDPHASE)


def _fields(solver: newton.solvers.SolverMuJoCo) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the parameters that Newton keeps for each world, shape [world_count, ...]."""
    import warp as wp
    from mujoco.batch import MODEL_FIELDS

    from .restoring import margins_of

    for name in sorted(field for field in MODEL_FIELDS if "." not in field or field == "opt.gravity"):
        array = _attribute(solver.mjw_model, name)
        if isinstance(array, wp.array) and array.shape[0] == solver.model.world_count and array.size:
            values = margins_of(solver) if name == "geom_margin" else array.numpy()
            if values.dtype.kind == "f" and values[0].size == np.size(_attribute(solver.mj_model, name)):
                yield name, values


def _attribute(owner: Any, name: str) -> Any:
    """Return an attribute by its dotted name; None if it does not exist."""
    return reduce(lambda part, key: getattr(part, key, None), name.split("."), owner)
