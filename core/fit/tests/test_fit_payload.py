"""A payload: the ten numbers of a body at the end of an arm, from the torques of its joints."""

import numpy as np
import pippin
import pippin_fit
import pytest
from pippin.config import toml_text

from . import arms

LINK = """<body name="{name}" pos="0 0 {up}">
<inertial pos="0.01 0 0.1" mass="{mass}" diaginertia="{moments}"/><joint name="{joint}" axis="{axis}"/>"""
AXES = {"yaw": "0 0 1", "lift": "0 1 0", "bend": "0 1 0", "roll": "0 0 1", "tilt": "1 0 0"}
LOAD = {
    "mass": 0.9,
    "com": [0.03, -0.02, 0.13],
    "inertia": [0.0062, 0.0055, 0.0034, 0.0006, -0.0005, 0.0004],
}
"""Mass [kg], centre of mass [m] and inertia about it (xx, yy, zz, xy, xz, yz) [kg·m²] of the hand with its load."""
GAINS = {"kp": 80.0, "kd": 6.0}
RANGES = {"mass": [0.2, 3.0], "com": [-0.3, 0.3], "spread": [1e-5, 0.1], "shear": [-2.0, 2.0]}


DRIVE = {"armature": 0.02, "damping": 0.3}


def tables(folder, drive, mass=0.4, **bodies):
    """Return the tables of an arm of five hinges, of which the last one moves a hand."""
    links = []
    for joint, axis in AXES.items():
        name, own = ("hand", 0.4) if joint == "tilt" else (f"{joint}_link", mass)
        moments = " ".join(f"{own * each}" for each in (0.010, 0.012, 0.015))
        links.append(LINK.format(name=name, up=0.2, mass=own, moments=moments, joint=joint, axis=axis))
    text = f'<mujoco model="arm"><worldbody>{"".join(links)}{"</body>" * len(links)}</worldbody></mujoco>'
    (folder / "arm.xml").write_text(text, encoding="utf-8")
    return {
        "simulation": {"dt": 0.005, "device": "cpu"},
        "scene": {"assets": [{"path": str(folder / "arm.xml")}], "bodies": bodies},
        "solver": {"type": "mujoco-native"},
        "actuators": {"arm": {"type": "pd", "joints": [".*"], **DRIVE, **drive}},
    }


def log(folder, kind, drive=GAINS, seconds=5.0, noise=1e-5, **links):
    """Write a log of the arm with its load, which has the torques of its joints as commands, or their targets."""
    random, rows = np.random.default_rng(3), []
    with pippin.Simulation(tables(folder, drive, **links, hand=LOAD)) as robot:
        arm = robot.actuators["arm"]
        times = np.arange(round(seconds / robot.control_dt)) * robot.control_dt
        told = 2.0 * arms.commands(times, 7, len(AXES)) + np.array([0.0, 0.5, 0.8, 0.0, 0.6])
        for target in told:
            motion = robot.state.joint_q.numpy().copy(), robot.state.joint_qd.numpy().copy()
            arm.position_targets.assign(target[None].astype(np.float32))
            robot.step()
            rows.append((*motion, arm.applied_effort.numpy()[0].copy() if kind == "torque" else target))
    position, velocity, command = (np.array(each, dtype=float) for each in zip(*rows, strict=True))
    position += noise * random.normal(size=position.shape)
    velocity += 10.0 * noise * random.normal(size=velocity.shape)
    arrays = {"position": position, "velocity": velocity, "command": command}
    np.savez(folder / "log.npz", time=times, joints=np.array(list(AXES)), **arrays)


def write(folder, drive, parameters, mass=0.4, **fit):
    bodies = {f"bodies.hand.{name}": {"range": ends} for name, ends in RANGES.items()}
    file = folder / "arm.toml"
    table = {"logs": ["log.npz"], "parameters": {**bodies, **parameters}, **fit}
    file.write_text(toml_text({**tables(folder, drive, mass), "fit": table}), encoding="utf-8")
    return file


@pytest.mark.slow
def test_ten_numbers_of_a_load_are_found_from_torques(tmp_path):
    log(tmp_path, "torque")
    free = {"kp": 0.0, "kd": 0.0}
    file = write(tmp_path, free, {}, command="feedforward", window=0.5)

    result = pippin_fit.fit(file, out=tmp_path / "out")

    assert len(result.verdicts) == 10
    assert result.is_identified, [each for each in result.verdicts if not each.is_identified]
    with pippin.Simulation(result.file) as simulation:
        model = simulation.model
        body = [label.rpartition("/")[2] for label in model.body_label].index("hand")
        mass, com, inertia = (array.numpy()[body] for array in (model.body_mass, model.body_com, model.body_inertia))
    assert mass == pytest.approx(LOAD["mass"], rel=0.02)
    np.testing.assert_allclose(com, LOAD["com"], atol=0.02 * np.linalg.norm(LOAD["com"]))
    xx, yy, zz, xy, xz, yz = LOAD["inertia"]
    np.testing.assert_allclose(inertia, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], atol=0.05 * xx)


@pytest.mark.slow
def test_without_torques_a_load_is_refused_and_the_direction_is_named(tmp_path):
    """If links weigh nothing beside the hand, the motion of an unknown drive tells the ratios of gains and mass."""
    drive = {**GAINS, "damping": 0.0}
    log(tmp_path, "target", drive, noise=1e-4, mass=1e-5)
    unknown = {
        f"actuators.arm.{name}": {"range": [0.1 * value, 10.0 * value], "each": "group"}
        for name, value in {**GAINS, "armature": DRIVE["armature"]}.items()
    }
    file = write(tmp_path, drive, unknown, mass=1e-5, window=0.5)

    result = pippin_fit.fit(file, out=tmp_path / "out")

    lost = {each.key for each in result.verdicts if not each.is_identified}
    assert {"bodies.hand.mass", "bodies.hand.spread", "actuators.arm.kp"} <= lost
    assert "bodies.hand.com" not in lost
    assert "bodies.hand.mass" in result.directions[0]
    assert "actuators.arm.kp" in result.directions[0]
