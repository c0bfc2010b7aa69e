"""A solver that writes the states and the contacts that another library has computed, and computes nothing itself."""

from __future__ import annotations

import attrs
import newton
import numpy as np
import pippin
from pippin.labels import name_of
from pippin.solving import EngineFrames, JointMap
from pippin_engines.contacts import EngineContacts
from pippin_engines.solver import EngineSolver, EngineWorlds
from pippin_solver_mujoco.solver import SolverMuJoCo

FRAMES = EngineFrames(quaternion="wxyz", pose="body", ball="body", point="origin", angular_axes="inner")
"""Conventions of MuJoCo."""


TOUCH = 1e-9
"""Force of a contact that has none [N]: mjlab counts what touches, and a sensor of Pippin what presses."""


@attrs.frozen(kw_only=True)
class ReplayedConfig:
    """States of a file."""

    implementation = "Replayed"

    path: pippin.FilePath
    """The file that `mjlab_states.py` has written."""


class ReplayedWorlds(EngineWorlds):
    """The worlds, whose states are read."""

    def __init__(self, model: newton.Model, path: str, dt: float) -> None:
        super().__init__(model)
        told = np.load(path)
        self.frame, self._dt, self._joints = 0, dt, JointMap(model, FRAMES)
        self._q, self._v = (told[name].astype(float) for name in ("qpos", "qvel"))
        if self._joints.turning_count:
            self._q[:, :, :2] -= told["origins"][None, :, :2]
        self._contacts = {name: told[f"contacts/{name}"] for name in ("world", "geoms", "place", "normal", "force")}
        self._contacts["distance"] = told["contacts/distance"]
        self._contacts["place"][:, :2] -= told["origins"][self._contacts["world"], :2]
        self._ends = np.cumsum(told["contact_count"])
        is_first = model.shape_world.numpy() < 1  # of the first world, or of all
        rows = {name_of(label): row for row, label in enumerate(model.shape_label) if is_first[row]}
        rows["terrain"] = rows.get("ground_plane", -1)
        self._rows = np.array([rows.get(name.partition("/")[2] or name, -1) for name in told["geoms"].tolist()])

    def show(self, state: newton.State) -> None:
        """Write the joints of the present frame."""
        self._joints.write(np.ascontiguousarray(self._q[self.frame]), np.ascontiguousarray(self._v[self.frame]), state)

    def advance(self, state_in, state_out, control, worlds, count) -> None:
        self.frame += count
        self.show(state_out)

    def tell(self, contacts: EngineContacts, forces) -> None:
        first = self._ends[self.frame - 1] if self.frame else 0
        own = {name: values[first : self._ends[self.frame]] for name, values in self._contacts.items()}
        count, worlds = len(own["world"]), self.model.world_count
        found = {
            "worlds": own["world"],
            "shapes": self._rows[own["geoms"][:, ::-1]],  # the force is that on the second geom
            "sides": np.zeros(count, int),
            "points": np.ones(count, int),
            "anchors": np.zeros(count, int),
            "places": own["place"],
            "normals": own["normal"],
            "distances": own["distance"],
            "impulses": (own["force"] + TOUCH * own["normal"]) * self._dt,
            "poses": np.tile(np.eye(7)[6], (worlds, self.model.body_count // worlds, 1)),  # no term reads the points
            "dt": self._dt,
        }
        assert (found["shapes"] >= 0).all()
        contacts.write(found, forces)


class Replayed(EngineSolver):
    """The component."""

    supported_observables = frozenset({"contact_f"})
    supported_features = SolverMuJoCo.supported_features

    def make_worlds(self, model: newton.Model, dt: float) -> ReplayedWorlds:
        self.worlds = ReplayedWorlds(model, self.config.path, dt)
        return self.worlds

    @pippin.hookimpl
    def close(self) -> None:
        """Nothing runs."""
