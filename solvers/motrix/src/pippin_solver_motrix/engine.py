"""MotrixSim's worlds: this file, NumPy and MotrixSim are all that their environment has."""

import motrixsim
import numpy as np

CONTRACT = 1
DISTRIBUTION = "motrixsim-core"

TOLERANCE = 1e-6
"""Change at which the iterations for contacts and limits stop; 1e-4 by default."""

NAMES = {"com": "center_of_mass", "friction": "frictionloss", "target_ke": "stiffness", "target_kd": "damping"}
"""MotrixSim's names of what each world may have of its own, where Newton's are others."""


class Engine:
    """All worlds in one batch. Coordinates and velocities are all that steps carry on, with the Newton solver.

    Args:
        arrays: `q`, `target_q` [W, nq] and `v`, `target_v`, `efforts` [W, nv], in the order of `joints`; `wrenches`
            [W, bodies, 6], at the centres of mass, in the axes of the world; `gravity` [W, 3].
        mjcf: The scene, in which a body is `b0`, its free joint `j0`, the first axis of another joint
            `j0_0`, and the drive of this axis `d0_0`.
        joints: The kind, the body and the number of axes of each joint.
        carriers: The body that each body is fixed to or is; -1 for the world.
        anchors: The point of each body that its joint holds, [bodies, 3].
        **numbers: Arrays of each world: masses [W, bodies], centres of mass [W, bodies, 3], inertias about them
            [W, bodies, 6]; armatures, frictions, and stiffness and damping of the drives of axes [W, n].
    """

    def __init__(self, arrays, *, mjcf, joints, carriers, anchors, **numbers):
        self.arrays, self.carriers, self.anchors = arrays, carriers, anchors
        world = motrixsim.msd.from_str(mjcf)
        options = world.simulate_option
        options.solver_type = motrixsim.msd.SolverType.Newton  # the others start from the forces of the last step
        options.constraint_solver_tolerance = TOLERANCE
        world.simulate_option = options
        self.model = model = world.build()
        self.data = motrixsim.SceneData(model, batch=(len(arrays["q"]),))
        self.links = [model.get_link(f"b{body}") for body in range(len(carriers))]
        bases = {base.name: base for base in model.floating_bases}
        self.joints, self.q, self.v = [], [], []  # columns of MotrixSim, in the order of the host
        columns = []
        for kind, body, count in joints:
            if kind == "FREE":
                base = bases[f"j{body}"]
                self.q += base.dof_pos_indices
                self.v += base.dof_vel_indices
            for index in range(count):
                joint = model.get_joint(f"j{body}_{index}")
                self.joints.append((joint, model.get_actuator(f"d{body}_{index}")))
                columns.append((len(self.q), len(self.v)))
                self.q.append(joint.dof_pos_index)
                self.v.append(joint.dof_vel_index)
        self.columns = np.array(columns, int).reshape(-1, 2).T  # of axes, in the arrays of the host
        self.change(**numbers)

    def change(self, *, mass, com, inertia, **of_joints):
        """Give the worlds other numbers."""
        self.com, self.gains = com.astype(np.float32), (of_joints["target_ke"], of_joints["target_kd"])
        for body, carrier in enumerate(self.carriers):
            if carrier >= 0:  # MotrixSim takes no numbers of what is fixed to the world
                for name, values in (("mass", mass), ("com", com), ("inertia", inertia)):
                    self._override(self.links[body], name, values[:, body])
        for name, values in of_joints.items():
            for (joint, drive), own in zip(self.joints, values.T, strict=True):
                self._override(joint if name in ("armature", "friction") else drive, name, own)

    def _override(self, owner, name, values):
        name, values = NAMES.get(name, name), np.ascontiguousarray(values, np.float32)
        getattr(owner, f"set_{name}_override")(self.data, values)
        found = getattr(owner, f"get_{name}_override")(self.data)
        wrong = ~np.isclose(found, values, rtol=1e-3, atol=1e-7).reshape(len(values), -1).all(1)
        if wrong.any():  # MotrixSim ignores them, and says nothing
            raise ValueError(f"{name} of {owner.name} in world {wrong.argmax()}: MotrixSim refuses {values[wrong][0]}")

    def step(self, count):
        """Take substeps, from the arrays where they are not what the worlds have."""
        model, data = self.model, self.data
        q, v = data.dof_pos, data.dof_vel
        given_q, given_v = np.empty_like(q), np.empty_like(v)
        given_q[:, self.q], given_v[:, self.v] = self.arrays["q"], self.arrays["v"]
        is_lost = ~np.isfinite(np.hstack([given_q, given_v])).all(1)  # MotrixSim would raise, and stop the others
        written = ((given_q != q).any(1) | (given_v != v).any(1)) & ~is_lost
        if written.any():
            data[written].reset(model, given_q[written], given_v[written], reset_overrides=False)
        inputs = ("efforts", "target_q", "target_v", "wrenches", "gravity")
        efforts, target_q, target_v, wrenches, gravity = (self.arrays[name].astype(np.float32) for name in inputs)
        model.set_gravity_override(data, gravity)
        if self.joints:
            (ke, kd), (at_q, at_v) = self.gains, self.columns
            drives = ke * target_q[:, at_q] + kd * target_v[:, at_v]
            controls = np.hstack([efforts[:, at_v], drives])
            data.actuator_ctrls = np.ascontiguousarray(controls, np.float32)  # MotrixSim takes no other order for this
        pushed = [body for body in np.flatnonzero(wrenches.any((0, 2))) if self.carriers[body] >= 0]
        for _ in range(count):
            if pushed:
                self._push(pushed, wrenches)
            model.step(data)
        self.arrays["q"][:], self.arrays["v"][:] = data.dof_pos[:, self.q], data.dof_vel[:, self.v]
        self.arrays["v"][is_lost] = np.nan

    def _push(self, bodies, wrenches):
        """Put wrenches on bodies for one step.

        Without a point, MotrixSim puts a force at the anchor of a link's joint, not at its centre of mass; a link that
        is fixed to another one takes forces in frames of that one; and poses are renewed when they are asked for.
        """
        self.model.forward_kinematic(self.data)
        poses = self.model.get_link_poses(self.data)
        for body in bodies:
            carrier = self.links[self.carriers[body]]
            com = moved(poses[:, self.links[body].index], self.com[:, body])
            lever = com - moved(poses[:, carrier.index], self.anchors[self.carriers[body]])
            force = np.ascontiguousarray(wrenches[:, body, :3])
            torque = (wrenches[:, body, 3:] + np.cross(lever, force)).astype(np.float32)
            carrier.add_external_force(self.data, force, local=False)
            carrier.add_external_torque(self.data, torque, local=False)


def moved(poses, points):
    """Return points in the world, [W, 3]: poses are a position and a quaternion xyzw."""
    across = 2.0 * np.cross(poses[:, 3:6], points)
    return poses[:, :3] + points + poses[:, 6:] * across + np.cross(poses[:, 3:6], across)
