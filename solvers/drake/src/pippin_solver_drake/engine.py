"""Drake's worlds: this file, NumPy and Drake are all that their environment has.

Coordinates stay in Newton's layout, in double precision, in the arrays of the host. For each step, Drake gets them, and
returns the mass matrix and the bias of each world.
"""

import numpy as np
from pydrake.common.eigen_geometry import Quaternion
from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix
from pydrake.multibody import tree
from pydrake.multibody.math import SpatialForce
from pydrake.multibody.plant import MultibodyPlant

CONTRACT = 1
DISTRIBUTION = "drake"

BY_AXIS = ("PRISMATIC", "REVOLUTE", "D6")
BOUND = 1e30  # beyond it, Drake would end the process, and other worlds with it


def rotation(xyzw):
    """Return Drake's rotation of a quaternion of Newton."""
    x, y, z, w = np.asarray(xyzw, float) / np.linalg.norm(xyzw)
    return RotationMatrix(Quaternion(w, x, y, z))


def pose(row):
    """Return Drake's transform of a transform of Newton."""
    return RigidTransform(rotation(row[3:]), np.asarray(row[:3], float))


def turned(xyzw, w, dt):
    """Turn a quaternion xyzw by the angular velocity `w`, given in the axes of the frame in which it is one."""
    angle = np.linalg.norm(w) * dt
    v, s = 0.5 * dt * np.sinc(0.5 * angle / np.pi) * w, np.cos(0.5 * angle)
    u, c = xyzw[:3], xyzw[3]
    q = np.append(s * u + c * v + np.cross(v, u), s * c - v @ u)
    return q / np.linalg.norm(q)


def spatial_inertia(mass, com, inertia):
    """Return the inertia of a body about its origin, from that about its centre of mass."""
    if mass <= 0.0:
        return tree.SpatialInertia.Zero()
    about_origin = inertia / mass + (com @ com) * np.eye(3) - np.outer(com, com)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = 0.5 * (about_origin + about_origin.T)
    unit = tree.UnitInertia(tree.RotationalInertia(xx, yy, zz, xy, xz, yz))
    return tree.SpatialInertia(mass, com, unit, skip_validity_check=True)


class World:
    """A plant with the bodies and joints of one world (-1: of none)."""

    def __init__(self, model, index):
        self.index = index
        self.plant = plant = MultibodyPlant(0.0)
        plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
        self.body_rows = np.flatnonzero(model["body_world"] == index)
        mass, com, inertia = (model[f"body_{name}"] for name in ("mass", "com", "inertia"))
        links = {-1: plant.world_body()}
        for b in self.body_rows.tolist():
            links[b] = plant.AddRigidBody(f"body{b}", spatial_inertia(mass[b], com[b], inertia[b]))
        self.bodies = [links[b] for b in self.body_rows.tolist()]
        self.mass, self.com = mass[self.body_rows], com[self.body_rows]

        drake_joints, self.axes, self.balls, self.frees = [], [], [], []
        kinds, parents, children, dims = (model[f"joint_{name}"] for name in ("type", "parent", "child", "dof_dim"))
        axes, frames_p, frames_c = (model[f"joint_{name}"] for name in ("axis", "X_p", "X_c"))
        for j in np.flatnonzero(model["joint_world"] == index):
            kind, child, q, v = kinds[j], children[j], model["joint_q_start"][j], model["joint_qd_start"][j]
            inner = plant.AddFrame(tree.FixedOffsetFrame(f"p{j}", links[parents[j]].body_frame(), pose(frames_p[j])))
            at_child = pose(frames_c[j])
            arm = at_child.rotation().inverse() @ (com[child] - at_child.translation())
            if kind == "FREE":  # Drake's frame has its origin at the centre of mass, as the velocity of Newton
                at_child = RigidTransform(at_child.rotation(), com[child])
            outer = plant.AddFrame(tree.FixedOffsetFrame(f"c{j}", links[child].body_frame(), at_child))
            if kind == "FREE":
                joint = plant.AddJoint(tree.QuaternionFloatingJoint(f"j{j}", inner, outer))
                self.frees.append((q, v, arm, inner))
                drake_joints.append((joint, [*range(v + 3, v + 6), *range(v, v + 3)]))
            elif kind == "BALL":
                joint = plant.AddJoint(tree.BallRpyJoint(f"j{j}", inner, outer))
                self.balls.append((q, v))
                drake_joints.append((joint, [*range(v, v + 3)]))
            elif kind in BY_AXIS and dims[j].sum():
                count = dims[j].sum()
                for i in range(count):  # links without a mass between the axes
                    last = i == count - 1
                    frame = outer if last else plant.AddRigidBody(f"l{j}_{i}").body_frame()
                    make = tree.PrismaticJoint if i < dims[j, 0] else tree.RevoluteJoint
                    joint = plant.AddJoint(make(f"j{j}_{i}", inner, frame, axes[v + i]))
                    self.axes.append((q + i, v + i))
                    drake_joints.append((joint, [v + i]))
                    inner = frame
            else:
                plant.AddJoint(tree.WeldJoint(f"j{j}", inner, outer, RigidTransform()))
        plant.Finalize()
        self.context = plant.CreateDefaultContext()
        self.forces = tree.MultibodyForces(plant)
        self.dofs = np.array([v for _, rows in drake_joints for v in rows], dtype=int)  # rows of Newton ...
        places = [joint.velocity_start() + i for joint, rows in drake_joints for i in range(len(rows))]
        self.places = np.array(places, dtype=int)  # ... and of Drake
        self.row = {v: i for i, v in enumerate(self.dofs)}
        self.starts = {rows[0]: joint.position_start() for joint, rows in drake_joints}
        self.axis_q, self.axis_v = np.array(self.axes, dtype=int).reshape(-1, 2).T
        self.axis_places = np.array([self.starts[v] for v in self.axis_v], dtype=int)

    def coordinates(self, q, v):
        """Return the coordinates and velocities of Drake."""
        plant = self.plant
        x = np.zeros(plant.num_positions() + plant.num_velocities())
        x[self.axis_places] = q[self.axis_q]
        for a, b in self.balls:
            i = self.starts[b]
            x[i : i + 3] = RollPitchYaw(rotation(q[a : a + 4])).vector()
        for a, b, arm, _ in self.frees:
            i, turn = self.starts[b + 3], rotation(q[a + 3 : a + 7])
            x[i : i + 7] = [q[a + 6], *q[a + 3 : a + 6], *(q[a : a + 3] + turn @ arm)]
        x[plant.num_positions() + self.places] = v[self.dofs]
        return x

    def step(self, q, v, body_f, control_f, gravity, law, dt):
        """Advance `q` and `v`, rows of all worlds, by `dt` under wrenches on bodies, efforts and the laws of joints."""
        plant, context, dofs, places = self.plant, self.context, self.dofs, self.places
        x = self.coordinates(q, v)
        if not (np.abs(x) < BOUND).all():
            v[dofs] = np.nan
            return
        plant.SetPositionsAndVelocities(context, x)
        self.forces.SetZero()
        for body, row, mass, com in zip(self.bodies, self.body_rows, self.mass, self.com, strict=True):
            force = SpatialForce(tau=body_f[row, 3:], f=body_f[row, :3] + mass * gravity)
            lever = plant.EvalBodyPoseInWorld(context, body).rotation() @ com
            body.AddInForce(context, lever, force, plant.world_frame(), self.forces)
        effort = control_f[dofs]
        for _, b, _, frame in self.frees:  # efforts of free joints have the axes of the world
            turn = frame.CalcPoseInWorld(context).rotation().inverse().matrix()
            for part in (b, b + 3):
                effort[self.row[part] : self.row[part] + 3] = turn @ control_f[part : part + 3]
        if len(dofs):
            effort -= plant.CalcInverseDynamics(context, np.zeros(plant.num_velocities()), self.forces)[places]
            matrix = plant.CalcMassMatrix(context)[np.ix_(places, places)] + np.diag(law.armature[dofs])
            v[dofs] += dt * law.solve(matrix, effort, v[dofs], dofs, dt)
        q[self.axis_q] += dt * v[self.axis_v]
        for a, b in self.balls:
            q[a : a + 4] = turned(q[a : a + 4], v[b : b + 3], dt)
        for a, b, arm, _ in self.frees:
            centre = q[a : a + 3] + rotation(q[a + 3 : a + 7]) @ arm + dt * v[b : b + 3]
            q[a + 3 : a + 7] = turned(q[a + 3 : a + 7], v[b + 3 : b + 6], dt)
            q[a : a + 3] = centre - rotation(q[a + 3 : a + 7]) @ arm


class Law:
    """Efforts of joints at the end of a step: `pull - grip * v` of springs, dampers and limits, and of drives."""

    def __init__(self, model, arrays, rows, dt):
        def of(name):
            return model[f"joint_{name}"]

        q, v = arrays["q"], arrays["v"]
        q_rows, rows, turning = rows
        x, zeros = q[q_rows], np.zeros(len(v))
        self.armature, self.grip, self.pull = zeros.copy(), zeros.copy(), zeros.copy()
        self.drive_grip, self.drive_pull, self.most = zeros.copy(), zeros.copy(), of("effort_limit")
        self.armature[turning], self.grip[turning] = of("armature")[turning], of("damping")[turning]
        stiffness, low, high = of("stiffness")[rows], of("limit_lower")[rows], of("limit_upper")[rows]
        stop = np.where((x < low) | (x > high), of("limit_ke")[rows], 0.0)
        self.grip[rows] += dt * (stiffness + stop) + np.where(stop > 0.0, of("limit_kd")[rows], 0.0)
        self.pull[rows] = stiffness * (of("rest_q")[q_rows] - x) + stop * (np.clip(x, low, high) - x)
        ke, kd = of("target_ke")[rows], of("target_kd")[rows]
        self.drive_grip[rows] = kd + dt * ke
        target, rate = arrays["target_q"][q_rows], arrays["target_qd"][rows]
        self.drive_pull[rows] = ke * (target - x) + kd * rate

    def solve(self, matrix, effort, v, dofs, dt):
        """Return accelerations; a drive that would exceed its limit has the limit."""
        pull, grip, most = self.drive_pull[dofs], self.drive_grip[dofs], self.most[dofs]
        while True:
            held = self.grip[dofs] + grip
            a = np.linalg.solve(matrix + np.diag(dt * held), effort + self.pull[dofs] + pull - held * v)
            drive = pull - grip * (v + dt * a)
            over = (np.abs(drive) > most) & (grip > 0.0)
            if not over.any():
                return a
            pull, grip = np.where(over, np.sign(drive) * most, pull), np.where(over, 0.0, grip)


class Engine:
    """All worlds, stepped one after another by semi-implicit Euler steps.

    Args:
        arrays: `q` and `v` in Newton's layout; `efforts`, `target_q` and `target_qd` of joints, and `wrenches` on
            bodies, as in Newton's control and state; `gravity` [worlds + 1, 3].
        model: Arrays of Newton's model by name, with the names of the kinds of joints.
        dt: The step [s].
    """

    def __init__(self, arrays, *, model, dt):
        self.arrays, self.dt = arrays, dt
        self.change(model, np.unique(model["body_world"]).tolist())

    def change(self, model, worlds):
        """Take over another model, whose bodies or frames differ in some worlds; plants of these are made anew."""
        self.model = model
        kept = {world.index: world for world in getattr(self, "worlds", ()) if world.index not in worlds}
        self.worlds = [kept.get(i) or World(model, i) for i in np.unique(model["body_world"])]
        axis_q, axis_v = (np.concatenate([getattr(w, n) for w in self.worlds]) for n in ("axis_q", "axis_v"))
        turning = [np.arange(b, b + 3) for world in self.worlds for _, b in world.balls]
        self.rows = axis_q, axis_v, np.concatenate([axis_v, *turning])

    def step(self, count):
        """Take substeps."""
        q, v, wrenches, efforts, gravity = (self.arrays[n] for n in ("q", "v", "wrenches", "efforts", "gravity"))
        for _ in range(count):
            law = Law(self.model, self.arrays, self.rows, self.dt)
            for world in self.worlds:
                world.step(q, v, wrenches, efforts, gravity[world.index], law, self.dt)
