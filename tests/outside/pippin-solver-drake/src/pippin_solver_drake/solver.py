"""Drake's multibody dynamics, as a Pippin solver.

Coordinates stay in Newton's layout, in double precision, in `DrakeWorlds.q` and `.v`. For each step, Drake gets them,
and returns the mass matrix and the bias of each world.
"""

import newton
import numpy as np
import pippin
from newton import JointType, ModelFlags
from pippin.solving import ContactSource
from pydrake.common.eigen_geometry import Quaternion
from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix
from pydrake.multibody.math import SpatialForce
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    MultibodyForces,
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RotationalInertia,
    SpatialInertia,
    UnitInertia,
    WeldJoint,
)

BY_AXIS = (JointType.PRISMATIC, JointType.REVOLUTE, JointType.D6)
FEATURES = (
    *("gravity", "rigid_bodies", "fixed_joints", "free_joints", "revolute_joints", "prismatic_joints", "ball_joints"),
    *("d6_joints", "light_links", "massless_bodies", "carried_sliders", "joint_limits", "limit_stiffness"),
    *("joint_drives", "effort_limits", "armature", "joint_damping", "joint_stiffness", "heterogeneous_worlds"),
)
REBUILD = ModelFlags.BODY_INERTIAL_PROPERTIES | ModelFlags.JOINT_PROPERTIES


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
        return SpatialInertia.Zero()
    about_origin = inertia / mass + (com @ com) * np.eye(3) - np.outer(com, com)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = 0.5 * (about_origin + about_origin.T)
    unit = UnitInertia(RotationalInertia(xx, yy, zz, xy, xz, yz))
    return SpatialInertia(mass, com, unit, skip_validity_check=True)


class World:
    """A plant with the bodies and joints of one world (-1: of none)."""

    def __init__(self, model, index):
        def read(name):
            return getattr(model, name).numpy()

        self.index = index
        self.plant = plant = MultibodyPlant(0.0)
        plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
        self.body_rows = np.flatnonzero(read("body_world") == index)
        mass, com, inertia = (read(f"body_{name}").astype(float) for name in ("mass", "com", "inertia"))
        links = {
            b: plant.AddRigidBody(f"body{b}", spatial_inertia(mass[b], com[b], inertia[b])) for b in self.body_rows
        }
        links[-1] = plant.world_body()
        self.bodies = [links[b] for b in self.body_rows]
        self.mass, self.com = mass[self.body_rows], com[self.body_rows]

        drake_joints, self.axes, self.balls, self.frees = [], [], [], []
        kinds, parents, children, dims = (read(f"joint_{name}") for name in ("type", "parent", "child", "dof_dim"))
        axes, frames_p, frames_c = (read(f"joint_{name}").astype(float) for name in ("axis", "X_p", "X_c"))
        for j in np.flatnonzero(read("joint_world") == index):
            kind, child, q, v = kinds[j], children[j], read("joint_q_start")[j], read("joint_qd_start")[j]
            inner = plant.AddFrame(FixedOffsetFrame(f"p{j}", links[parents[j]].body_frame(), pose(frames_p[j])))
            at_child = pose(frames_c[j])
            arm = at_child.rotation().inverse() @ (com[child] - at_child.translation())
            if kind == JointType.FREE:  # Drake's frame has its origin at the centre of mass, as the velocity of Newton
                at_child = RigidTransform(at_child.rotation(), com[child])
            outer = plant.AddFrame(FixedOffsetFrame(f"c{j}", links[child].body_frame(), at_child))
            if kind == JointType.FREE:
                joint = plant.AddJoint(QuaternionFloatingJoint(f"j{j}", inner, outer))
                self.frees.append((q, v, arm, inner))
                drake_joints.append((joint, [*range(v + 3, v + 6), *range(v, v + 3)]))
            elif kind == JointType.BALL:
                joint = plant.AddJoint(BallRpyJoint(f"j{j}", inner, outer))
                self.balls.append((q, v))
                drake_joints.append((joint, [*range(v, v + 3)]))
            elif kind in BY_AXIS and dims[j].sum():
                count = dims[j].sum()
                for i in range(count):  # links without a mass between the axes
                    last = i == count - 1
                    frame = outer if last else plant.AddRigidBody(f"l{j}_{i}").body_frame()
                    make = PrismaticJoint if i < dims[j, 0] else RevoluteJoint
                    joint = plant.AddJoint(make(f"j{j}_{i}", inner, frame, axes[v + i]))
                    self.axes.append((q + i, v + i))
                    drake_joints.append((joint, [v + i]))
                    inner = frame
            else:
                plant.AddJoint(WeldJoint(f"j{j}", inner, outer, RigidTransform()))
        plant.Finalize()
        self.context = plant.CreateDefaultContext()
        self.forces = MultibodyForces(plant)
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
        if not (np.abs(x) < 1e30).all():  # Drake would abort the process, and other worlds with it
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

    def __init__(self, model, control, q, v, rows, dt):
        def of(name, source=model):
            return getattr(source, f"joint_{name}").numpy().astype(float)

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
        target, rate = of("target_q", control)[q_rows], of("target_qd", control)[rows]
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


class DrakeWorlds(newton.solvers.SolverBase):
    """All worlds, and their coordinates in Newton's layout."""

    def __init__(self, model):
        super().__init__(model)
        self.q, self.v = model.joint_q.numpy().astype(float), model.joint_qd.numpy().astype(float)
        self.joint_world = model.joint_world.numpy()
        self.q_world = np.repeat(self.joint_world, np.diff(model.joint_q_start.numpy()))
        self.v_world = np.repeat(self.joint_world, np.diff(model.joint_qd_start.numpy()))
        self.worlds = [World(model, index) for index in np.unique(model.body_world.numpy())]
        axis_q, axis_v = (np.concatenate([getattr(w, n) for w in self.worlds]) for n in ("axis_q", "axis_v"))
        turning = [np.arange(b, b + 3) for world in self.worlds for _, b in world.balls]
        self.rows = axis_q, axis_v, np.concatenate([axis_v, *turning])

    def advance(self, state, control, written, dt):
        """Take a step of `dt` [s], from `state` where it was written."""
        q_written, v_written = written[self.q_world], written[self.v_world]
        self.q[q_written] = state.joint_q.numpy()[q_written]
        self.v[v_written] = state.joint_qd.numpy()[v_written]
        law = Law(self.model, control, self.q, self.v, self.rows, dt)
        gravity, body_f = self.model.gravity.numpy().astype(float), state.body_f.numpy().astype(float)
        effort = control.joint_f.numpy().astype(float)
        for world in self.worlds:
            world.step(self.q, self.v, body_f, effort, gravity[world.index], law, dt)


class SolverDrake:
    """The plugin: the solver of `[solver]` with `type = "drake"`."""

    coordinates = "joint"
    supported_features = dict.fromkeys(FEATURES, "live")
    supported_observables = frozenset()
    engine_memory = "shared"
    is_capturable = False
    eager_reason = "Drake runs on the host"
    detects_contacts = True

    def __init__(self, config):
        self.config = config

    @pippin.hookimpl
    def check_model(self, model):
        """Refuse what Drake or this wrapper cannot move."""
        if not model.device.is_cpu:
            yield 'type: Drake runs on the CPU; set simulation.device = "cpu"'
        loose = np.setdiff1d(np.arange(model.body_count), model.joint_child.numpy())
        if len(loose):
            yield f"type: body {model.body_label[loose[0]]!r} has no joint; give it a free one"

    @pippin.hookimpl
    def build_solver(self, model):
        """Return the solver of a model."""
        return DrakeWorlds(model)

    @pippin.hookimpl
    def initialize_contacts(self):
        """Nothing touches."""
        return ContactSource()

    @pippin.hookimpl
    def notify_model_changed(self, solver, flags, changed_worlds):
        """Make plants anew whose bodies or frames have changed; all else is read in each step."""
        if flags & REBUILD:
            changed = changed_worlds.numpy()
            solver.worlds = [World(solver.model, w.index) if changed[w.index] else w for w in solver.worlds]

    @pippin.hookimpl
    def step_solver(self, solver, state_in, state_out, control, dt, written_worlds):
        """Take a step, from the solver's own coordinates where nothing else wrote."""
        solver.advance(state_in, control, written_worlds.numpy(), dt)
        with np.errstate(over="ignore"):  # infinite in single precision, which the host finds
            state_out.joint_q.assign(solver.q)
            state_out.joint_qd.assign(solver.v)
