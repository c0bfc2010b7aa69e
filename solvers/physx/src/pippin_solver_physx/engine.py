"""PhysX's worlds: this file, NumPy, ovphysx and ovstage are all that their environment has.

PhysX's tensor bindings are used in this file alone. Later versions of ovphysx will have sessions in their place.
"""

import warnings

import numpy as np
import ovphysx
import ovstage
import warp
from ovphysx.population import PrimBatch
from ovphysx.types import GlobalConfigKey, SimObjectType, TensorType

CONTRACT = 1
DISTRIBUTION = "ovphysx"


JOINTS = {"q": "POSITION", "v": "VELOCITY", "efforts": "ACTUATION_FORCE"}
JOINTS |= {"target_q": "POSITION_TARGET", "target_v": "VELOCITY_TARGET"}
"""PhysX's names of what hinges and sliders have in shared arrays."""

EVENTS = {"SensorSide": "sides", "Collider": "first", "OtherCollider": "second", "PointSeparation": "distances"}
EVENTS |= {"PointCount": "points", "PointPosition": "places", "PointNormal": "normals", "PointImpulse": "impulses"}
EVENTS |= {"AnchorCount": "anchors", "AnchorPosition": "anchor_places", "AnchorImpulse": "anchor_impulses"}
"""PhysX's names of what it tells of pairs that touch, of their points, and of those at which friction acts."""


class Engine:
    """All worlds, each a scene of PhysX, so that none touches another, and all are equal.

    Args:
        arrays: `q`, `target_q` [W, nq], `v`, `target_v`, `efforts` [W, nv]; `wrenches` [W, bodies, 6], at the centres
            of mass, in the world's axes; `gravity` [W, 3].
        prims: The prims of the first world, with its bodies `b0` and so on: path, type, what it has of the type, and
            its schemas with what it has of each, which may name an axis behind a colon; a list holds paths.
        free: The columns of coordinates and of velocities of free bodies, by their names.
        roots: The root of each tree with joints.
        axes: The columns of the coordinate and of the velocity of each joint, by its name.
        gravity: That of the scenes, [3].
        dt: The substep [s].
        threads: Threads beside the one that steps.
        **numbers: What each world has of its own, of all bodies or velocities, by PhysX's names, [W, n, ...].
    """

    def __init__(self, arrays, prims, free, roots, axes, gravity, dt, threads, **numbers):
        warnings.simplefilter("ignore")  # of tensor bindings, and of a Warp that could use a GPU
        warp.config.log_level = warp.LOG_ERROR
        self._arrays, self._gravity, self._dt, (count, bodies) = arrays, gravity, dt, arrays["wrenches"].shape[:2]
        self._told = {name: np.full_like(arrays[name], np.nan) for name in JOINTS}
        ovphysx.PhysX.set_cpu_mode(True)
        ovphysx.set_global_config(GlobalConfigKey.NUM_THREADS, threads)
        self._physx, self._stage = ovphysx.PhysX(), ovstage.Stage("pippin")
        self._worlds, self._bodies = [f"/env{world}" for world in range(count)], [f"b{body}" for body in range(bodies)]
        self._write(prims)
        self._physx.wait_task(self._physx.attach_ovstage(self._stage, read_ordinal=2))
        self._physx.warmup()
        self._poses, self._wrench = (self._tensor(f"RIGID_BODY_{kind}", self._bodies) for kind in ("POSE", "WRENCH"))
        self._parts, self._axes = [], []
        for name, kind, columns in zip("qv", ("POSE", "VELOCITY"), zip(*free.values(), strict=True), strict=False):
            self._parts.append((name, np.ravel(columns), self._tensor(f"RIGID_BODY_{kind}", [*free])))
        for root in roots:
            names = self._tensor("ARTICULATION_LINK_POSE", [root]).dof_names
            q, v = np.array([axes[name] for name in names], int).reshape(-1, 2).T
            for name, kind in JOINTS.items() if names else ():
                tensor = self._tensor(f"ARTICULATION_DOF_{kind}", [root])
                self._parts.append((name, q if name.endswith("q") else v, tensor))
            self._axes += [(root, v)] if names else []
        self.change(**numbers)

    def _write(self, prims):
        """Write prims into the first world, and copy it: references within a world stay in it."""
        with ovstage.PathDictionary(self._stage) as known:
            for path, kind, values, schemas in prims:
                batch = PrimBatch(known, [path])
                getattr(batch, f"define_{kind}")(**{name: [value] for name, value in values.items()})
                for schema, own in schemas.items():
                    name, *axis = schema.split(":")
                    getattr(batch, f"apply_{name}_api")(*axis, **{name: [value] for name, value in own.items()})
                batch.write(self._stage, ordinal=1)
        self._stage.advance_write_floor(ordinal=1).wait()
        self._stage.clone(self._worlds[0], self._worlds[1:], ordinal=2)
        self._stage.advance_write_floor(ordinal=2).wait()

    def _tensor(self, kind, names):
        """Return PhysX's numbers of bodies, or of the tree of a root, in all worlds."""
        paths = [f"{world}/{name}" for world in self._worlds for name in names]
        return self._physx.create_tensor_binding(prim_paths=paths, tensor_type=TensorType[kind], raise_if_empty=True)

    def change(self, **numbers):
        """Take over what each world has of its own."""
        self._mass, self._com = numbers["BODY_MASS"], numbers["BODY_COM_POSE"][..., :3]
        for kind, values in numbers.items():
            if kind.startswith("BODY"):
                write(self._tensor(f"RIGID_{kind}", self._bodies), values)
            for root, columns in self._axes if kind.startswith("DOF") else ():
                write(self._tensor(f"ARTICULATION_{kind}", [root]), values[:, columns])

    def step(self, count):
        """Take substeps, from the arrays where they are not what PhysX has; it keeps efforts and targets."""
        arrays, told = self._arrays, self._told
        for name, columns, tensor in self._parts:
            is_new = (arrays[name] != told[name]).any(1)
            if is_new.any():
                write(tensor, arrays[name][:, columns], is_new)
        told |= {name: arrays[name].copy() for name in JOINTS}
        wrenches, gravity = arrays["wrenches"], arrays["gravity"] - self._gravity
        is_pushed = wrenches.any() or gravity.any()
        for _ in range(count):
            self._frames = read(self._poses).reshape(*wrenches.shape[:2], 7)
            if is_pushed:
                self._push(wrenches, gravity)
            self._physx.step_sync(self._dt)
        for name, columns, tensor in (part for part in self._parts if part[0] in "qv"):
            arrays[name][:, columns] = told[name][:, columns] = read(tensor).reshape(len(gravity), -1)

    def contacts(self):
        """Return what PhysX tells of the pairs that touched in the last substep, by the names of `EVENTS`.

        A pair of bodies is told from each. Friction is at other points, a few for each pair.
        """
        found = {name: [] for name in EVENTS.values()}
        with self._physx.read_sync(SimObjectType.CONTACT_SENSOR, [f"contactEvent{name}" for name in EVENTS]) as told:
            for group in told.groups:
                name = EVENTS[told.dictionary.token_to_string(group.attribute).removeprefix("contactEvent")]
                found[name] += [each.numpy() for each in group.tensors]
            found = {name: np.concatenate(arrays) for name, arrays in found.items() if arrays}
            ends = np.array([found.pop(end, ()) for end in ("first", "second")], np.uint64)
            handles, places = np.unique(ends, return_inverse=True)
            paths = [told.dictionary.path_to_string(int(handle)).split("/") for handle in handles]
        names = np.array([[path[1][3:], path[-1][1:]] for path in paths], int).reshape(-1, 2)[
            places.reshape(ends.shape)
        ]
        return found | {"worlds": names[0, :, 0], "shapes": names[:, :, 1].T, "poses": self._frames, "dt": self._dt}

    def _push(self, wrenches, gravity):
        """Put wrenches, and gravity beside that of the scenes, on the bodies for one step, at their centres of mass."""
        poses, forces = self._frames, wrenches.copy()
        axes, forces[..., :3] = poses[..., 3:6], forces[..., :3] + self._mass * gravity[:, None]
        across = 2.0 * np.cross(axes, self._com)
        arms = self._com + poses[..., 6:] * across + np.cross(axes, across)
        write(self._wrench, np.concatenate([forces, poses[..., :3] + arms], axis=-1))


def read(tensor):
    """Return the numbers of a tensor."""
    found = np.zeros(tensor.shape, np.float32)
    tensor.read(found)
    return found


def write(tensor, values, which=None):
    """Write the numbers of all worlds, or, of an array of all, those of which it is true."""
    values = np.ascontiguousarray(np.reshape(values, tensor.shape), np.float32)
    rows = None if which is None else np.flatnonzero(np.repeat(which, len(values) // len(which))).astype(np.int32)
    tensor.write(values, indices=rows)
