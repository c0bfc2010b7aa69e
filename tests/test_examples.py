"""Every example runs as it stands in the file, captured, and ends as its first line says."""

from pathlib import Path

import numpy as np
import orchard
import pytest

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"

STANDING = {"ant": 0.45, "quadruped": 0.4, "half_cheetah": -0.3}
"""Lowest height of the root [m] after two seconds; the half cheetah measures it from where it starts."""


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.toml")))
def test_an_example_runs_captured_and_stays_finite(name):
    overrides = {"scene.worlds": 2, "simulation.device": "cpu", "simulation.capture": "require"}
    with orchard.Simulation.from_file(EXAMPLES / f"{name}.toml", overrides) as simulation:
        simulation.step(round(2.0 / simulation.control_dt))
        simulation.check()
        joint_q = simulation.state.joint_q.numpy().reshape(2, -1)
        readings = [output.data.numpy() for sensor in simulation.sensors.values() for output in sensor.outputs.values()]

    assert simulation.program.is_captured
    assert np.isfinite(joint_q).all()
    assert all(np.isfinite(reading).all() for reading in readings)
    np.testing.assert_allclose(joint_q[0], joint_q[1], atol=1e-3, err_msg="the two worlds are alike")
    if name in STANDING:
        height = joint_q[0, 1 if name == "half_cheetah" else 2]
        assert height > STANDING[name]
