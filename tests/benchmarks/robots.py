"""The robots that both sides of a benchmark step."""

from __future__ import annotations

import newton
import pippin
import warp as wp

ANT = {
    "path": "pkg:newton/examples/assets/nv_ant.xml",
    "ignore": ["floor"],
    "joint_positions": {"ankle_[14]": 1.0, "ankle_[23]": -1.0},
}
ANT_GAINS = (5.0, 0.1)
CHAIN_GAINS = (2.0, 0.1)
SENSORS = {
    "mujoco": {"torso": {"type": "imu", "body": "torso"}, "feet": {"type": "contact", "bodies": [".*foot"]}},
    "xpbd": {"feet": {"type": "contact", "bodies": [".*foot"]}},
}
"""What of an IMU and foot contacts each solver can serve on the ant."""


def ant(solver: str, worlds: int, device: str, dt: float, decimation: int) -> pippin.Simulation:
    """Return Newton's ant under PD control, on the ground, with the sensors that the solver can serve."""
    config = pippin.structure(
        {
            "simulation": {"dt": dt, "decimation": decimation, "device": device, "capture": "require"},
            "scene": {"worlds": worlds, "ground": True, "assets": [ANT]},
            "solver": {"type": solver},
            "actuators": {"legs": pd([".*hip.*", ".*ankle.*"], ANT_GAINS)},
            "sensors": SENSORS[solver],
        }
    )
    return pippin.Simulation(config)


def chain(solver: str, worlds: int, device: str, dt: float, decimation: int) -> pippin.Simulation:
    """Return eight links hanging from the world, hinged in turn about x and y, under PD control; no contacts."""
    config = pippin.structure(
        {
            "simulation": {"dt": dt, "decimation": decimation, "device": device, "capture": "require"},
            "scene": {"worlds": worlds},
            "solver": {"type": solver},
            "actuators": {"hinges": pd([".*"], CHAIN_GAINS)},
        }
    )
    return pippin.Simulation(config, prototype=links(8, 0.2))


def links(count: int, length: float) -> newton.ModelBuilder:
    """Return a builder with a chain of links of 1 kg; inertia enough that penalty joints are stable."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    parent, joints = -1, []
    for index in range(count):
        link = builder.add_link(label=f"link_{index}", mass=1.0, inertia=wp.diag(wp.vec3(0.02, 0.02, 0.02)))
        builder.body_com[link] = wp.vec3(0.0, 0.0, -length / 2)
        end = wp.transform(wp.vec3(0.0, 0.0, 0.0 if parent < 0 else -length), wp.quat_identity())
        axis = (1.0, 0.0, 0.0) if index % 2 else (0.0, 1.0, 0.0)
        joint = builder.add_joint_revolute(parent, link, parent_xform=end, axis=axis, armature=0.01)
        joints.append(joint)
        parent = link
    builder.add_articulation(joints, label="chain")
    builder.joint_q[:] = [0.2] * count
    return builder


def pd(joints: list[str], gains: tuple[float, float]) -> dict[str, object]:
    """Return the table of a PD actuator."""
    return {"type": "pd", "joints": joints, "kp": gains[0], "kd": gains[1]}
