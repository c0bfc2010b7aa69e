"""MotrixSim's worlds: this file, NumPy and MotrixSim are all that their environment has."""

import motrixsim
import numpy as np

CONTRACT = 1
DISTRIBUTION = "motrixsim-core"

OF_LINKS = {"mass": "mass", "com": "center_of_mass", "inertia": "inertia"}
OF_JOINTS = {"armature": "armature", "friction": "frictionloss"}
OF_DRIVES = {"stiffness": "stiffness", "damping": "damping"}
"""MotrixSim's names of what each world may have of its own."""


class Engine:
    """All worlds in one batch. Coordinates and velocities are all that steps carry on, with the Newton solver.

    Args:
        arrays: `q` [W, nq] and `v` [W, nv], in the order of `joints`; `controls` [W, 2 n], the efforts of all hinges
            and sliders, and then the sums of gains times targets of their drives; `wrenches` [W, bodies, 6], at the
            centres of mass, in the axes of the world; `gravity` [W, 3].
        mjcf: The scene, in which a body is `b0`, its joint `j0`, and the drive of this joint `d0`.
        joints: The name and the kind of each joint.
        carriers: The body that each body is fixed to or is; -1 for the world.
        anchors: The point of each body that its joint holds, [bodies, 3].
        numbers: Arrays of each world: masses [W, bodies], centres of mass [W, bodies, 3], inertias about them
            [W, bodies, 6]; armatures, frictions, gains and damping of hinges and sliders [W, n].
        iterations: Most iterations of the solver of constraints.
        tolerance: Change at which it stops.
    """

    def __init__(self, arrays, *, mjcf, joints, carriers, anchors, numbers, iterations, tolerance):
        self.arrays, self.carriers, self.anchors = arrays, carriers, anchors
        world = motrixsim.msd.from_str(mjcf)
        options = world.simulate_option
        options.solver_type = motrixsim.msd.SolverType.Newton  # the others start from the forces of the last step
        world.simulate_option = options
        self.model = world.build()
        self.model.options.max_iterations, self.model.options.solver_tolerance = iterations, tolerance
        self.data = motrixsim.SceneData(self.model, batch=(len(arrays["q"]),))
        self.links = [self.model.get_link(f"b{body}") for body in range(len(carriers))]
        self.rows = [link and link.index for link in self.links]
        named = [name for name, kind in joints if kind in ("REVOLUTE", "PRISMATIC")]
        self.joints = [self.model.get_joint(name) for name in named]
        self.drives = [self.model.get_actuator(f"d{name[1:]}") for name in named]
        bases = {base.name: base for base in self.model.floating_bases}
        places = {name: (base.dof_pos_indices, base.dof_vel_indices) for name, base in bases.items()}
        places |= {each.name: ([each.dof_pos_index], [each.dof_vel_index]) for each in self.joints}
        self.columns = [np.array([c for name, _ in joints for c in places.get(name, ((), ()))[i]], int) for i in (0, 1)]
        self.change(**numbers)

    def change(self, **numbers):
        """Give the worlds other numbers."""
        moving = [body for body, carrier in enumerate(self.carriers) if carrier >= 0]  # it takes none of others
        for name, values in numbers.items():
            if name in OF_LINKS:
                rows = [(self.links[body], values[:, body]) for body in moving]
            else:
                rows = zip(self.joints if name in OF_JOINTS else self.drives, values.T, strict=True)
            for owner, own in rows:
                self._override(owner, (OF_LINKS | OF_JOINTS | OF_DRIVES)[name], np.ascontiguousarray(own, np.float32))
        self.com = numbers["com"].astype(np.float32)

    def _override(self, owner, name, own):
        getattr(owner, f"set_{name}_override")(self.data, own)
        found = getattr(owner, f"get_{name}_override")(self.data)
        wrong = ~np.isclose(found, own, rtol=1e-3, atol=1e-7).reshape(len(own), -1).all(1)
        if wrong.any():  # MotrixSim ignores them, and says nothing
            raise ValueError(f"{name} of {owner.name} in world {wrong.argmax()}: MotrixSim refuses {own[wrong][0]}")

    def step(self, count):
        """Take substeps, from the arrays where they are not what the worlds have."""
        q, v, controls, wrenches, gravity = (
            self.arrays[name].astype(np.float32) for name in ("q", "v", "controls", "wrenches", "gravity")
        )
        own_q, own_v = self.data.dof_pos, self.data.dof_vel
        now_q, now_v = np.empty_like(own_q), np.empty_like(own_v)
        now_q[:, self.columns[0]], now_v[:, self.columns[1]] = q, v
        written = (now_q != own_q).any(1) | (now_v != own_v).any(1)
        if written.any():
            self.data[written].reset(self.model, now_q[written], now_v[written], reset_overrides=False)
        self.model.set_gravity_override(self.data, gravity)
        if controls.size:
            self.data.actuator_ctrls = controls
        pushed = [body for body in np.flatnonzero(wrenches.any((0, 2))) if self.carriers[body] >= 0]
        if not pushed:
            self.model.step_n(self.data, count)
        for _ in range(count if pushed else 0):
            self._push(pushed, wrenches)
            self.model.step(self.data)
        self.arrays["q"][:] = self.data.dof_pos[:, self.columns[0]]
        self.arrays["v"][:] = self.data.dof_vel[:, self.columns[1]]

    def _push(self, bodies, wrenches):
        """Put wrenches on bodies for one step.

        Without a point, MotrixSim puts a force at the anchor of a link's joint, not at its centre of mass; a link that
        is fixed to another one takes forces in frames of that one; and poses are renewed when they are asked for.
        """
        self.model.forward_kinematic(self.data)
        poses = self.model.get_link_poses(self.data)
        for body in bodies:
            carrier, force = self.carriers[body], np.ascontiguousarray(wrenches[:, body, :3])
            com = moved(poses[:, self.rows[body]], self.com[:, body])
            lever = com - moved(poses[:, self.rows[carrier]], self.anchors[carrier])
            torque = (wrenches[:, body, 3:] + np.cross(lever, force)).astype(np.float32)
            self.links[carrier].add_external_force(self.data, force, local=False)
            self.links[carrier].add_external_torque(self.data, torque, local=False)


def moved(poses, points):
    """Return points in the world, [W, 3]: poses are a position and a quaternion xyzw."""
    axis = poses[:, 3:6]
    across = 2.0 * np.cross(axis, points)
    return poses[:, :3] + points + poses[:, 6:] * across + np.cross(axis, across)
