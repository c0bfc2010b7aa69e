"""MuJoCo's worlds behind the contract of an engine process: any MuJoCo that has `mujoco.batch`, in any environment.

This file imports MuJoCo, NumPy and the standard library alone.
"""

import sys
import tempfile
from pathlib import Path

import mujoco
import numpy as np
from mujoco.batch import Batch

CONTRACT = 1
DISTRIBUTION = "mujoco"

INPUTS = ("qpos", "qvel", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")
"""Fields of MuJoCo's data that the host writes before a step."""

OUTPUTS = ("qpos", "qvel")
"""Fields that it reads after a step."""

FULL = slice(int(mujoco.mjtWarning.mjWARN_CONTACTFULL), int(mujoco.mjtWarning.mjWARN_CNSTRFULL) + 1)
"""Warnings that contacts or constraints were left out."""

CONTACT = {"worlds": (), "geoms": (2,), "frames": (3, 3), "places": (3,), "depths": (), "wrenches": (2, 3)}
"""Numbers of a contact, by the names of shared arrays; whole ones are doubles, too."""

_FLAGS = {"disableflags": mujoco.mjtDisableBit, "enableflags": mujoco.mjtEnableBit}


def told_model(model, mjcf=None):
    """Return what an engine has to know to make a model again.

    Args:
        model: MuJoCo's model.
        mjcf: Its file as text, for another version of MuJoCo; None for the same version.
    """
    if mjcf is None:
        binary = np.empty(mujoco.mj_sizeModel(model), np.uint8)
        mujoco.mj_saveModel(model, None, binary)
        return {"binary": binary}
    compiled = _spec(mjcf).compile()
    arrays = {name: value for name in dir(model) if _is_sent(name, value := getattr(model, name, None), compiled)}
    parts = {part: _numbers(getattr(model, part)) for part in ("opt", "stat")}
    flags = {
        name: [bit for bit, value in kind.__members__.items() if getattr(model.opt, name) & int(value)]
        for name, kind in _FLAGS.items()
    }
    return {
        "mjcf": mjcf,
        "ngravcomp": model.ngravcomp,
        "arrays": arrays,
        "parts": parts,
        "flags": flags,
    }


def _spec(mjcf):
    """Return what a text says; inertias that it rounds to nothing are those of the arrays afterwards."""
    spec = mujoco.MjSpec.from_string(mjcf)
    spec.compiler.boundmass, spec.compiler.boundinertia, spec.compiler.balanceinertia = 1e-12, 1e-12, True
    return spec


def _is_sent(name, value, compiled):
    """Tell whether the text does not say a value: numbers it rounds, and whole ones that were set after it was made."""
    if name.startswith("_") or not isinstance(value, (bool, np.ndarray)) or not np.size(value):
        return False
    return np.asarray(value).dtype.kind == "f" or not np.array_equal(value, getattr(compiled, name))


def _numbers(part):
    names = [name for name in dir(part) if not name.startswith("_") and name not in _FLAGS]
    return {name: getattr(part, name) for name in names if isinstance(getattr(part, name), (float, np.ndarray))}


def made_model(told):
    """Return a model as `told_model` says, and the names of what this MuJoCo does not have."""
    if "binary" in told:
        with tempfile.TemporaryDirectory(prefix="pippin-mujoco-") as folder:
            file = Path(folder) / "model.mjb"
            file.write_bytes(told["binary"].tobytes())
            return mujoco.MjModel.from_binary_path(str(file)), []
    spec, left = _spec(told["mjcf"]), []
    for body in spec.bodies[1 : 1 + told["ngravcomp"]]:
        body.gravcomp = 1.0  # it counts them when it compiles
    model = spec.compile()
    for owner, values in (
        (model, told["arrays"]),
        *((getattr(model, name), told["parts"][name]) for name in told["parts"]),
    ):
        for name, value in values.items():
            own = getattr(owner, name, None)
            if isinstance(own, np.ndarray) and own.shape == np.shape(value):
                own[...] = value
            elif isinstance(own, (bool, float)):
                setattr(owner, name, value)
            else:
                left.append(name)
    for name, bits in told["flags"].items():
        known = _FLAGS[name].__members__
        left += [bit for bit in bits if bit not in known]
        setattr(model.opt, name, sum(int(known[bit]) for bit in bits if bit in known))
    return model, left


def contacts_of(batch, data):
    """Return world, geoms, frames, places, distances and wrenches of the contacts of all worlds.

    Args:
        batch: MuJoCo's worlds, which keep their memory from one call to the next.
        data: Data of their model, which is overwritten.
    """
    counts, found = batch.bind("ncon"), []
    for world in np.flatnonzero(counts).tolist():
        batch.get_data(world, data)
        contact, wrenches = data.contact, np.zeros((data.ncon, 6))
        for index in range(data.ncon):
            mujoco.mj_contactForce(batch.model, data, index, wrenches[index])
        frames = contact.frame.reshape(-1, 3, 3)
        parts = contact.geom, frames, contact.pos, contact.dist, wrenches.reshape(-1, 2, 3)
        found.append([part.copy() for part in parts])
    if not found:
        found = [(np.zeros((0, 2), int), np.zeros((0, 3, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 2, 3)))]
    return np.repeat(np.arange(len(counts)), counts), *map(np.concatenate, zip(*found, strict=True))


class Engine:
    """MuJoCo's worlds, from a model that was compiled elsewhere."""

    def __init__(self, arrays, model, worlds, threads, persistent):
        # Without a handler, MuJoCo writes a file into the working folder.
        mujoco.set_mju_user_warning(lambda text: print(text, file=sys.stderr))
        own, left = made_model(model)
        self.batch = Batch(own, worlds, threads, persistent=persistent)
        self._data = mujoco.MjData(own)
        self._inputs = [(self.batch.bind(name), arrays[name]) for name in INPUTS if name in arrays]
        self._outputs = [(arrays[name], self.batch.bind(name)) for name in OUTPUTS]
        self._full, self._warned = arrays["full"], self.batch.warning[:, FULL]
        for own, theirs in self._inputs:
            theirs[...] = own
        self._initial, self._arrays = self.batch.state.copy(), arrays
        self.facts = {"left": left, "mujoco": mujoco.__version__}

    def step(self, count):
        """Take substeps from the host's numbers."""
        for own, theirs in self._inputs:
            own[...] = theirs
        self.batch.step(nstep=count)
        for theirs, own in self._outputs:
            theirs[...] = own
        if self._warned.any():
            self._full[:] = self._warned.reshape(len(self._full), -1).any(axis=1)
        if self._arrays["wanted"][0]:
            self._export()

    def expand(self, values):
        """Take over parameters that have a value for each world."""
        for name, array in values.items():
            self.batch.expand(name)[...] = array

    def forget(self, worlds):
        """Set the memory of some worlds back."""
        self.batch.state[worlds] = self._initial[worlds]

    def _export(self):
        """Write the contacts of all worlds after the last substep, as many as there is room for, and their number."""
        arrays, found = self._arrays, contacts_of(self.batch, self._data)
        arrays["count"][0] = count = len(found[0])
        for name, values in zip(CONTACT, found, strict=True):
            room = len(arrays[name])
            arrays[name][: min(count, room)] = values[:room]
        for name in ("xpos", "xmat"):
            arrays[name][...] = self.batch.bind(name)

    def save(self):
        """Return the memory of all worlds."""
        return np.frombuffer(np.ascontiguousarray(self.batch.state).tobytes(), np.uint8)

    def load(self, data):
        """Put back what `save` returned."""
        self.batch.state[...] = np.frombuffer(data.tobytes(), self.batch.state.dtype).reshape(self.batch.state.shape)
