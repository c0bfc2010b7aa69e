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
    "DOF_ARMATURE": ("joint_armature",),
    "DOF_STIFFNESS": ("joint_target_ke",),
    "DOF_DAMPING": ("joint_target_kd",),
    "DOF_MAX_FORCE": ("joint_effort_limit",),
    "DOF_FRICTION_PROPERTIES": ("joint_friction", "joint_friction", "joint_damping"),
}
"""PhysX's properties of hinges and sliders, and Newton's names of what they are: the last has three."""


class Tensor:
    """A quantity of one tree of bodies in all worlds.

    Args:
        physx: PhysX.
        kind: Name of the quantity.
        paths: The root of the tree in each world.
    """

    def __init__(self, physx, kind, paths):
        self.binding = physx.create_tensor_binding(prim_paths=paths, tensor_type=TensorType[kind], raise_if_empty=True)
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
    """A tree of bodies in all worlds: an articulation of PhysX, or a body without joints.

    Args:
        physx: PhysX.
        paths: Its root in each world.
        axes: The columns of coordinates and of velocities of each joint, by its name.
        free: The columns of its free joint, or nothing.
        is_loose: Whether it is a body without joints.
    """

    def __init__(self, physx, paths, axes, free, is_loose):
        self._physx, self._paths, self._is_loose = physx, paths, is_loose
        self._poses, self._wrench = self._new("LINK_POSE"), self._new("LINK_WRENCH")
        self._slots = slice(None if free else 1, None)  # behind a base of ours, which holds a tree to the world
        binding = self._poses.binding
        names = [paths[0].rpartition("/")[2]] if is_loose else binding.body_names[self._slots]
        self.bodies = [int(name[1:]) for name in names]
        columns = [axes[name] for name in (() if is_loose else binding.dof_names)]
        q, self._v = np.array(columns, int).reshape(-1, 2).T
        states = [("q", "ROOT_POSE", free[0]), ("v", "ROOT_VELOCITY", free[1])] if free else []
        states += [("q", "DOF_POSITION", q), ("v", "DOF_VELOCITY", self._v)] if columns else []
        inputs = [("efforts", "DOF_ACTUATION_FORCE", self._v), ("target_q", "DOF_POSITION_TARGET", q)]
        inputs = [*inputs, ("target_v", "DOF_VELOCITY_TARGET", self._v)] if columns else []
        self.outputs = [(name, self._new(kind), which) for name, kind, which in states]
        self._inputs = [(name, self._new(kind), which) for name, kind, which in inputs]

    def _new(self, kind):
        own = f"RIGID_BODY_{kind.partition('_')[2]}" if self._is_loose else f"ARTICULATION_{kind}"
        return Tensor(self._physx, own, self._paths)

    def take(self, arrays, worlds):
        """Take over coordinates of some worlds, and efforts and targets that are not as before: PhysX keeps them."""
        for name, tensor, columns in self.outputs if len(worlds) else ():
            tensor.write(arrays[name][:, columns], worlds)
        for name, tensor, columns in self._inputs:
            values = arrays[name][:, columns].astype(np.float32)
            if not np.array_equal(tensor.buffer[tensor.rows], values):
                tensor.write(values)

    def push(self, wrenches, gravity):
        """Put wrenches, and gravity beside that of the scenes, on the bodies for one step, at their centres of mass."""
        poses = self._poses.read().reshape(len(gravity), -1, 7)
        values, axes = np.zeros((*poses.shape[:2], 9)), poses[:, self._slots, 3:6]
        across = 2.0 * np.cross(axes, self._com)
        arms = self._com + poses[:, self._slots, 6:] * across + np.cross(axes, across)
        values[:, self._slots, :6] = wrenches[:, self.bodies]
        values[:, self._slots, :3] += self._mass[..., None] * gravity[:, None]
        values[:, self._slots, 6:] = poses[:, self._slots, :3] + arms
        self._wrench.write(values)

    def change(self, numbers):
        """Take over masses, and numbers of hinges and sliders."""
        worlds, bodies = len(self._paths), self.bodies
        parts = {name: numbers[f"body_{name}"].reshape(worlds, -1, n) for name, n in (("com", 3), ("inertia", 9))}
        self._mass, self._com = numbers["body_mass"][:, bodies], parts["com"][:, bodies]
        frames = np.concatenate([self._com, np.tile([0.0, 0.0, 0.0, 1.0], (worlds, len(bodies), 1))], axis=-1)
        masses = {
            "BODY_MASS": self._mass[..., None],
            "BODY_COM_POSE": frames,
            "BODY_INERTIA": parts["inertia"][:, bodies],
        }
        for kind, values in masses.items():
            tensor = self._new(kind)
            kept = tensor.read().reshape(worlds, -1, values.shape[-1])
            kept[:, self._slots] = values
            tensor.write(kept)
        for kind, names in OF_AXES.items() if len(self._v) else ():
            self._new(kind).write(np.stack([numbers[name][:, self._v] for name in names], axis=-1))


class Engine:
    """All worlds, each a scene of PhysX, so that none touches another, and all are equal.

    Args:
        arrays: `q`, `target_q` [W, nq], `v`, `target_v`, `efforts` [W, nv]; `wrenches` [W, bodies, 6], at the centres
            of mass, in the world's axes; `gravity` [W, 3].
        usd: The worlds as the text of a USD stage, `/env0` and so on.
        roots: The root of each tree within a world, and what `Tree` is told of it.
        axes: The columns of coordinates and of velocities of each joint, by its name.
        gravity: That of the scenes, [W, 3].
        dt: The substep [s].
        threads: Threads beside the one that steps.
        **numbers: What each world has of its own: arrays of Newton's model by their names, [W, n].
    """

    def __init__(self, arrays, usd, roots, axes, gravity, dt, threads, **numbers):
        warnings.simplefilter("ignore", DeprecationWarning)  # of tensor bindings
        self._arrays, self._gravity, self._dt = arrays, gravity, dt
        self._told = {name: np.full_like(arrays[name], np.nan) for name in "qv"}
        ovphysx.PhysX.set_cpu_mode(True)
        ovphysx.set_global_config(GlobalConfigKey.NUM_THREADS, threads)
        self._physx, self._stage = ovphysx.PhysX(), ovstage.Stage("pippin")
        provider = distribution("physx-usd-schemas")
        schemas = [provider.locate_file(f"physx_usd_schemas/{name}/resources") for name in SCHEMAS]
        ovstage.population.register_usd_schemas([str(each) for each in schemas])
        with tempfile.TemporaryDirectory(prefix="pippin-physx-") as folder:
            file = Path(folder) / "worlds.usda"
            file.write_text(usd, encoding="utf-8")
            ovstage.population.open_usd(self._stage, str(file), ordinal=1, domains=ovstage.PopulationDomain.ALL)
            self._stage.advance_write_floor(ordinal=1).wait()
            self._physx.wait_task(self._physx.attach_ovstage(self._stage, read_ordinal=1))
        self._physx.warmup()
        paths = {root: [f"/env{world}/{root}" for world in range(len(gravity))] for root in roots}
        self._trees = [Tree(self._physx, paths[root], axes, **told) for root, told in roots.items()]
        self.change(**numbers)

    def change(self, **numbers):
        """Take over what each world has of its own."""
        for tree in self._trees:
            tree.change(numbers)

    def step(self, count):
        """Take substeps, from the arrays where they are not what PhysX has."""
        arrays = self._arrays
        worlds = np.flatnonzero(np.any([(arrays[name] != self._told[name]).any(1) for name in "qv"], axis=0))
        wrenches, gravity = arrays["wrenches"], arrays["gravity"] - self._gravity
        for tree in self._trees:
            tree.take(arrays, worlds)
        is_pushed = wrenches.any() or gravity.any()
        for _ in range(count):
            for tree in self._trees if is_pushed else ():
                tree.push(wrenches, gravity)
            self._physx.step_sync(self._dt)
        for tree in self._trees:
            for name, tensor, columns in tree.outputs:
                arrays[name][:, columns] = self._told[name][:, columns] = tensor.read()
