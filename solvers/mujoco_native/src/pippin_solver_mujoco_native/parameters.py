"""Parameters that differ between worlds: masses, friction, gains and others, one value per world."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from pippin.solving import LoopTies

from .joints import by_world
from .limits import limit_springs
from .restoring import weigh_worlds

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
        for name in ("geom_sameframe", "opt.disableflags", *dict(_fields(self._solver))):
            self._own[name] = self._batch.expand(name)
        self._write(worlds)

    def _write(self, worlds: Any = _ALL) -> None:
        own: Any = self._solver.mjw_model
        weigh_worlds(self._solver)
        self._ties.write(self._solver)
        limit_springs(
            self._solver, np.asarray(own.jnt_solref), np.asarray(own.jnt_solimp), own.dof_invweight0.numpy(), self._dt
        )
        for name, values in _fields(self._solver):
            template = np.asarray(_attribute(self._batch.model, name))
            values = values.reshape(len(values), *template.shape)[worlds]
            present = self._own[name][worlds] if name in self._own else template
            if np.allclose(values, present, rtol=_FLOAT32_NOISE, atol=0.0):
                continue
            self._own[name] = self._batch.expand(name)
            self._own[name][worlds] = values
            if name in ("body_ipos", "body_iquat"):
                self._leave_out_midphase(worlds)
            if name in ("geom_pos", "geom_quat"):
                self._batch.expand("geom_sameframe")[worlds] = 0  # MuJoCo passes over poses that it marked as equal
        self.pose_roots()

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
