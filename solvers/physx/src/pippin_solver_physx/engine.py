"""PhysX's worlds: this file, NumPy, ovphysx and ovstage are all that their environment has.

PhysX's tensor bindings are used in this file alone. Later versions of ovphysx will have sessions in their place.
"""

import tempfile
import warnings
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import ovphysx
import ovstage
from ovphysx.types import GlobalConfigKey, TensorType

CONTRACT = 1
DISTRIBUTION = "ovphysx"

SCHEMAS = ("PhysxSchema", "OmniUsdPhysicsDeformableSchema")
"""PhysX wants both, though nothing here deforms."""

OF_AXES = {
    "armature": "ARMATURE",
    "stiffness": "STIFFNESS",
    "damping": "DAMPING",
    "effort_limit": "MAX_FORCE",
    "friction": "FRICTION_PROPERTIES",
}
"""PhysX's names of what each hinge and slider has."""


class Tensor:
    """A quantity of one tree of bodies in all worlds.

    Args:
        physx: PhysX.
        name: Name of the quantity.
        paths: The root of the tree in each world.
    """

    def __init__(self, physx, name, paths):
        kind = TensorType[name]
        self.binding = physx.create_tensor_binding(prim_paths=paths, tensor_type=kind, raise_if_empty=True)
        rows = {path: row for row, path in enumerate(self.binding.prim_paths)}
        self.rows = np.array([rows[path] for path in paths], np.int32)
        self.buffer = np.zeros(self.binding.shape, np.float32)

    def read(self):
        """Return the numbers of all worlds, [W, ...]."""
        self.binding.read(self.buffer)
        return self.buffer[self.rows]

    def write(self, values, worlds=None):
        """Write the numbers of all worlds, or, of an array of all, those of some."""
        self.buffer[self.rows] = np.reshape(values, self.buffer.shape)
        self.binding.write(self.buffer, indices=None if worlds is None else self.rows[worlds])


class Tree:
    """A tree of bodies in all worlds: an articulation of PhysX, or a free body without joints.

    Args:
        physx: PhysX.
        paths: Its root in each world.
        told: `bodies`; `free`, the columns of coordinates and velocities of its free joint, or nothing; and `axes`, the
            columns of each hinge and slider by its name.
    """

    def __init__(self, physx, paths, told):
        self._physx, self._paths, self._is_loose = physx, paths, told["free"] and len(told["bodies"]) == 1
        self.poses, self.wrench = self._new("LINK_POSE"), self._new("LINK_WRENCH")
        binding, self.state, self.inputs = self.poses.binding, [], []
        links = told["bodies"] if self._is_loose else [int(name[1:]) for name in binding.body_names if name[0] == "b"]
        self.bodies = np.array(links)
        self.slots = slice(None if told["free"] else 1, None)  # behind the base, which holds a tree to the world
        if told["free"]:
            for name, of, columns in zip(("ROOT_POSE", "ROOT_VELOCITY"), "qv", told["free"], strict=True):
                self.state.append((self._new(name), of, np.array(columns)))
        columns = [] if self._is_loose else [told["axes"][name] for name in binding.dof_names]
        self.columns = np.array([column for _, column in columns], int)
        if columns:
            coordinates = np.array([column for column, _ in columns])
            self.state.append((self._new("DOF_POSITION"), "q", coordinates))
            self.state.append((self._new("DOF_VELOCITY"), "v", self.columns))
            self.inputs = [
                (self._new("DOF_ACTUATION_FORCE"), "efforts", self.columns),
                (self._new("DOF_POSITION_TARGET"), "target_q", coordinates),
                (self._new("DOF_VELOCITY_TARGET"), "target_v", self.columns),
            ]

    def _new(self, name):
        own = f"RIGID_BODY_{name.partition('_')[2]}" if self._is_loose else f"ARTICULATION_{name}"
        return Tensor(self._physx, own, self._paths)

    def place(self, arrays, worlds):
        """Take over the coordinates and velocities of some worlds."""
        for tensor, name, columns in self.state:
            tensor.write(arrays[name][:, columns], worlds)

    def tell(self, arrays):
        """Write them."""
        for tensor, name, columns in self.state:
            arrays[name][:, columns] = tensor.read()

    def drive(self, arrays):
        """Take over efforts and targets that are not as before; PhysX keeps them."""
        for tensor, name, columns in self.inputs:
            values = arrays[name][:, columns].astype(np.float32)
            if not np.array_equal(tensor.buffer[tensor.rows], values):
                tensor.write(values)

    def push(self, wrenches, gravity):
        """Put wrenches, and gravity beside that of the scenes, on the bodies for one step, at their centres of mass."""
        worlds = len(self._paths)
        wrench = np.zeros((worlds, *self.wrench.buffer.shape[1:])).reshape(worlds, -1, 9)
        poses = self.poses.read().reshape(worlds, -1, 7)[:, self.slots]
        wrench[:, self.slots, :6] = wrenches[:, self.bodies]
        wrench[:, self.slots, :3] += self.mass[..., None] * gravity[:, None]
        wrench[:, self.slots, 6:] = poses[..., :3] + turned(poses[..., 3:], self.com)
        self.wrench.write(wrench)

    def change(self, numbers):
        """Take over masses, and numbers of hinges and sliders."""
        self.mass, self.com = numbers["mass"][:, self.bodies], numbers["com"][:, self.bodies]
        com = np.concatenate([self.com, np.broadcast_to([0.0, 0.0, 0.0, 1.0], (*self.mass.shape, 4))], axis=-1)
        parts = {"BODY_MASS": self.mass, "BODY_COM_POSE": com, "BODY_INERTIA": numbers["inertia"][:, self.bodies]}
        for name, values in parts.items():
            tensor = self._new(name)
            kept = tensor.read().reshape(len(values), -1, *values.shape[2:])
            kept[:, self.slots] = values
            tensor.write(kept)
        for name, own in OF_AXES.items() if len(self.columns) else ():
            self._new(f"DOF_{own}").write(numbers[name][:, self.columns])


def turned(turns, vectors):
    """Return vectors turned by quaternions xyzw."""
    axis = turns[..., :3]
    across = 2.0 * np.cross(axis, vectors)
    return vectors + turns[..., 3:] * across + np.cross(axis, across)


class Engine:
    """All worlds, each a scene of PhysX, so that none touches another, and all are equal.

    Args:
        arrays: `q` [W, nq] and `v` [W, nv] of all joints; `written` [W], where the host wrote them; `efforts`,
            `target_q` and `target_v` [W, nv]; `wrenches` [W, bodies, 6], at the centres of mass, in the axes of the
            world; `gravity` [W, 3].
        usd: The worlds as the text of a USD stage, `/env0` and so on.
        trees: The root of each tree within a world, and what `Tree` is told.
        numbers: Masses and numbers of joints, as `change` takes them.
        gravity: That of the scenes, [W, 3].
        dt: The substep [s].
        threads: Threads beside the one that steps.
    """

    def __init__(self, arrays, usd, trees, numbers, gravity, dt, threads):
        warnings.simplefilter("ignore", DeprecationWarning)  # of tensor bindings
        self.arrays, self.gravity, self.dt, worlds = arrays, gravity, dt, range(len(arrays["q"]))
        ovphysx.PhysX.set_cpu_mode(True)
        ovphysx.set_global_config(GlobalConfigKey.NUM_THREADS, threads)
        self.physx = ovphysx.PhysX()
        provider = distribution("physx-usd-schemas")
        schemas = [provider.locate_file(f"physx_usd_schemas/{name}/resources") for name in SCHEMAS]
        ovstage.population.register_usd_schemas([str(each) for each in schemas])
        self.stage = ovstage.Stage("pippin")
        with tempfile.TemporaryDirectory(prefix="pippin-physx-") as folder:
            file = Path(folder) / "worlds.usda"
            file.write_text(usd, encoding="utf-8")
            ovstage.population.open_usd(self.stage, str(file), ordinal=1, domains=ovstage.PopulationDomain.ALL)
            self.stage.advance_write_floor(ordinal=1).wait()
            self.physx.wait_task(self.physx.attach_ovstage(self.stage, read_ordinal=1))
        self.physx.warmup()
        self.trees = [Tree(self.physx, [f"/env{w}/{told['root']}" for w in worlds], told) for told in trees]
        self.change(**numbers)

    def change(self, **numbers):
        """Take over numbers of all worlds.

        Args:
            **numbers: `mass` [W, bodies], `com` [W, bodies, 3], the principal `moments` of inertia [W, bodies, 3] and
                their `principal_axes` [W, bodies, 4]; `armature`, `stiffness`, `damping`, `effort_limit` [W, nv], and
                `friction` [W, nv, 3].
        """
        for tree in self.trees:
            tree.change(numbers)

    def step(self, count):
        """Take substeps."""
        worlds = np.flatnonzero(self.arrays["written"])
        for tree in self.trees:
            if len(worlds):
                tree.place(self.arrays, worlds)
            tree.drive(self.arrays)
        wrenches, gravity = self.arrays["wrenches"], self.arrays["gravity"] - self.gravity
        is_pushed = wrenches.any() or gravity.any()
        for _ in range(count):
            for tree in self.trees if is_pushed else ():
                tree.push(wrenches, gravity)
            self.physx.step_sync(self.dt)
        for tree in self.trees:
            tree.tell(self.arrays)
