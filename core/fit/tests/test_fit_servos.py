"""A fit of an arm of servos from a log as its bus gives it: 30 Hz, counts of encoders, and a late command."""

from pathlib import Path

import numpy as np
import pippin
import pippin_fit
import pytest
from pippin.config import toml_text

ARM = Path(__file__).parents[3] / "docs/examples/so101.toml"
COUNT = 2.0 * np.pi / 4096  # [rad]
TRUE_STEP, STEP, SAMPLE = 1.0 / 450.0, 0.002, 1.0 / 30.0  # of the robot, the fit and the log [s]
PER_SAMPLE = 15  # steps of the robot; the fit has 16 2/3, so that its delay is no staircase
DELAY = 0.04  # [s]
JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
TRUTH = {
    "armature": (0.022, 0.034, 0.025, 0.031, 0.02, 0.027),
    "friction.kc": (0.045, 0.07, 0.06, 0.04, 0.055, 0.065),
    "offset": (0.02, -0.03, 0.015, -0.01, 0.025, -0.02),
}
"""Rotor inertia [kg·m²], dry friction [N·m], and what the servo's own encoder reads at the zero of the log [rad]."""
SOLVER = "mujoco-native"


def commands(times):
    """Return targets about the start pose [rad], shape [samples, joints]: tones of each joint, with many turns."""
    random = np.random.default_rng(4)
    tones = np.array([0.15, 0.35, 0.6, 0.95]) * random.uniform(0.85, 1.15, (6, 4))
    phases = random.uniform(0.0, 2.0 * np.pi, (6, 4))
    swings = 0.22 * np.sin(2.0 * np.pi * tones * times[:, None, None] + phases).sum(axis=2)
    middle = np.array([0.0, -0.4, 0.5, 0.2, 0.0, 0.6])
    return middle + swings * np.minimum(times, 1.0)[:, None]


def write_log(file, seconds):
    """Write a log of the true arm: each command acts `DELAY` late, and holds until the next one."""
    stated = {f"actuators.arm.{name}": dict(zip(JOINTS, each, strict=True)) for name, each in TRUTH.items()}
    still = {
        "motions": {"extends": False},
        "simulation.device": "cpu",
        "simulation.dt": TRUE_STEP,
        "solver.type": SOLVER,
    }
    times = np.arange(round(seconds / SAMPLE)) * SAMPLE
    told, measured = commands(times), []
    with pippin.Simulation.from_file(ARM, {**still, **stated}) as simulation:
        arm = simulation.actuators["arm"]
        for step in range(len(times) * PER_SAMPLE):
            if step % PER_SAMPLE == 0:
                measured.append(simulation.state.joint_q.numpy().copy())
            sample = max(int((step * TRUE_STEP - DELAY) / SAMPLE + 1e-9), 0)
            arm.position_targets.assign(told[sample][None].astype(np.float32))
            simulation.step()
    counts = np.round(np.array(measured) / COUNT) * COUNT
    np.savez(file, time=times, position=counts, command=told, joints=np.array(JOINTS))


@pytest.mark.slow
def test_friction_armature_offsets_and_delay_of_an_arm_are_found(tmp_path):
    """Within 10 %, a count of the encoder, and a physics step.

    The offset is between the commands and the positions of the log. One that both share shows by gravity alone.
    """
    write_log(tmp_path / "log.npz", 12.0)
    parameters = {
        "actuators.arm.armature": {"range": [0.005, 0.1]},
        "actuators.arm.friction.kc": {"range": [0.005, 0.3]},
        "actuators.arm.offset": {"range": [-0.1, 0.1]},
        "signals.delay": {"range": [0.0, 0.1]},
    }
    file = tmp_path / "arm.toml"
    fit = {"parameters": parameters, "window": 3.0, "burn_in": 0.3}
    table = {"offset": 0.0}
    tables = {"extends": [str(ARM)], "motions": {"extends": False}, "actuators": {"arm": table}, "fit": fit}
    tables |= {"simulation": {"dt": STEP, "device": "cpu"}, "solver": {"type": SOLVER}}
    file.write_text(toml_text(tables), encoding="utf-8")

    result = pippin_fit.fit(file, [tmp_path / "log.npz"], out=tmp_path / "fitted")

    found = {key: np.array(list(result.value(key).values())) for key in parameters}
    for name in ("armature", "friction.kc"):
        np.testing.assert_allclose(found[f"actuators.arm.{name}"], TRUTH[name], rtol=0.1)
    np.testing.assert_allclose(found["actuators.arm.offset"], TRUTH["offset"], atol=COUNT)
    np.testing.assert_allclose(found["signals.delay"], DELAY, atol=STEP)
