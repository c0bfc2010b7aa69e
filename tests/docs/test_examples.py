"""Every example runs as it stands in the file, captured, and ends as its first line says."""

import runpy
from pathlib import Path

import numpy as np
import pippin
import pytest

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = DOCS / "examples"

STANDING = {"ant": 0.45, "quadruped": 0.4, "quadruped_neural": 0.4, "half_cheetah": -0.3}
"""Lowest height of the root [m] after two seconds; the half cheetah measures it from where it starts."""

SHOWN_FIRST = ("ant", "arm_pick", "cartpole", "quadruped", "reach", "so101", "suction")
"""Examples that every run of the tests tries; others run for a few steps in the pages that show them."""


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.stem, marks=() if path.stem in SHOWN_FIRST else pytest.mark.slow)
        for path in sorted(EXAMPLES.glob("*.toml"))
    ],
)
def test_an_example_runs_captured_and_stays_finite(name):
    overrides = {"scene.worlds": 2, "simulation.device": "cpu", "simulation.capture": "require"}
    with pippin.Simulation.from_file(EXAMPLES / f"{name}.toml", overrides) as simulation:
        simulation.step(round(2.0 / simulation.control_dt))
        simulation.raise_errors()
        joint_q = simulation.state.joint_q.numpy().reshape(2, -1)
        readings = [output.data.numpy() for sensor in simulation.sensors.values() for output in sensor.outputs.values()]

    assert simulation.program.is_captured
    assert np.isfinite(joint_q).all()
    assert all(np.isfinite(reading).all() for reading in readings)
    if simulation.task is None or not simulation.config.task.events:
        np.testing.assert_allclose(joint_q[0], joint_q[1], atol=1e-3, err_msg="the two worlds are alike")
    if name in STANDING:
        height = joint_q[0, 1 if name == "half_cheetah" else 2]
        assert height > STANDING[name]


@pytest.mark.slow
def test_the_quadruped_stands_on_knees_of_a_network_as_on_springs_and_dampers():
    """After 5 s, to 1 mm and 0.01 rad: at small errors the network is the PD law to 2 %. The knees carry 2.3 N·m."""
    stands = {}
    for name in ("quadruped", "quadruped_neural"):
        overrides = {"scene.worlds": 1, "simulation.device": "cpu", "simulation.capture": "require"}
        with pippin.Simulation.from_file(EXAMPLES / f"{name}.toml", overrides) as simulation:
            simulation.step(round(5.0 / simulation.control_dt))
            stands[name] = simulation.state.joint_q.numpy()
            group = simulation.actuators["knees" if name == "quadruped_neural" else "legs"]
            knees = [index for index, label in enumerate(group.joint_labels) if label.endswith("KFE")]
            carried = np.abs(group.applied_effort.numpy()[0, knees])

        np.testing.assert_allclose(carried, 2.3, atol=0.1)

    assert stands["quadruped_neural"][2] == pytest.approx(stands["quadruped"][2], abs=1e-3)
    np.testing.assert_allclose(stands["quadruped_neural"][7:], stands["quadruped"][7:], atol=0.01)


def test_the_network_of_the_knees_follows_the_formula_it_is_fitted_to():
    from onnx.reference import ReferenceEvaluator

    script = runpy.run_path(str(DOCS / "write_knee_network.py"))
    grid = np.meshgrid(np.linspace(-1.0, 1.0, 101), np.linspace(-1.0, 1.0, 101))  # finer than that of the fit
    inputs = np.stack([axis.ravel() for axis in grid], axis=1).astype(np.float32)

    (outputs,) = ReferenceEvaluator(str(EXAMPLES / "knee.onnx")).run(None, {"state": inputs})

    wanted = script["motor_effort"](script["ERROR_RANGE"] * inputs[:, 0], script["VELOCITY_RANGE"] * inputs[:, 1])
    error = script["MAX_EFFORT"] * outputs[:, 0] - wanted
    assert np.sqrt(np.mean(error**2)) < 1.2  # [N·m], of 80
    assert np.abs(error).max() < 8.0
