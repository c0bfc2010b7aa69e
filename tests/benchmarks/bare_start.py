"""The least that a first step of the ant takes: imports of Newton and MuJoCo Warp, and one control step by hand.

`uv run python tests/benchmarks/bare_start.py` does what `pippin run docs/examples/ant.toml --steps 1` has to do,
without a configuration, a check, a graph or a file at the end. `start_up.py` times it beside the command.
"""

from __future__ import annotations

from importlib import resources

import warp as wp

wp.config.enable_backward = False  # the same kernels as the command
wp.config.log_level = wp.LOG_WARNING

import mujoco_warp  # noqa: E402, F401
import newton  # noqa: E402
import numpy as np  # noqa: E402
from newton.actuators import Actuator, ClampingMaxEffort, Delay, DrivePD  # noqa: E402
from newton.sensors import SensorContact, SensorIMU  # noqa: E402

WORLDS = 64
DT, SUBSTEPS, DECIMATION = 0.005, 2, 4
KP = {"hip": 40.0, "ankle": 25.0}
KD, MAX_EFFORT, DELAY = 1.5, 23.5, 2


def ants() -> newton.Model:
    """Return 64 ants on the ground, their feet down."""
    ant = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(ant)
    ant.add_mjcf(
        str(resources.files(newton) / "examples/assets/nv_ant.xml"), ignore_names=["floor"], enable_self_collisions=True
    )
    for label, start in zip(ant.joint_label, ant.joint_q_start, strict=True):
        name = label.rpartition("/")[2]
        if name.startswith("ankle"):
            ant.joint_q[start] = 1.0 if name[-1] in "14" else -1.0
    torso = next(index for index, label in enumerate(ant.body_label) if label.endswith("/torso"))
    ant.add_site(torso, label="torso/site")
    scene = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(scene)
    scene.add_ground_plane()
    scene.replicate(ant, WORLDS)
    return scene.finalize()


def legs(model: newton.Model, control: newton.Control) -> Actuator:
    """Return the delayed PD drives of all hips and ankles, which hold the positions they start at."""
    joints = [index for index, label in enumerate(model.joint_label) if "hip" in label or "ankle" in label]
    dofs = model.joint_qd_start.numpy()[joints]
    coordinates = model.joint_q_start.numpy()[joints]
    kp = [next(gain for part, gain in KP.items() if part in model.joint_label[joint]) for joint in joints]
    targets = control.joint_target_q.numpy()
    targets[coordinates] = model.joint_q.numpy()[coordinates]
    control.joint_target_q.assign(targets)
    count = len(joints)
    return Actuator(
        wp.array(dofs, dtype=wp.uint32),
        drive=DrivePD(kp=wp.array(np.array(kp), dtype=float), kd=wp.full(count, KD, dtype=float)),
        pos_indices=wp.array(coordinates, dtype=wp.uint32),
        delay=Delay(wp.full(count, DELAY, dtype=int), DELAY),
        clamping=[ClampingMaxEffort(wp.full(count, MAX_EFFORT, dtype=float))],
    )


def main() -> None:
    """Take one control step and print where the first torso is."""
    model = ants()
    imu = SensorIMU(model, [i for i, label in enumerate(model.shape_label) if label.endswith("torso/site")])
    bodies = [index for index, label in enumerate(model.body_label) if label.endswith("_foot")]
    feet = SensorContact(model, sensing_bodies=bodies)
    solver = newton.solvers.SolverMuJoCo(model)
    state, other, control = model.state(), model.state(), model.control()
    newton.eval_fk(model, model.joint_q, model.joint_qd, state)
    contacts = newton.Contacts(
        solver.get_max_contact_count(), 0, requested_attributes=model.get_requested_contact_attributes()
    )
    actuator = legs(model, control)
    now, then = actuator.state(), actuator.state()
    for _ in range(DECIMATION):
        control.joint_f.zero_()
        actuator.step(state, control, now, then, dt=DT)
        now, then = then, now
        for _ in range(SUBSTEPS):
            state.clear_forces()
            solver.step(state, other, control, None, DT / SUBSTEPS)
            state, other = other, state
    solver.update_contacts(contacts, state)
    imu.update(state)
    feet.update(state, contacts)
    print(state.body_q.numpy()[0])


if __name__ == "__main__":
    main()
