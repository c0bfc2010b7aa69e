"""Control steps in one call of MuJoCo, and the steps that they stand for."""

import mujoco
import numpy as np
import pytest
from mujoco.batch import Batch
from pippin_solver_mujoco_native.rollouts import Rollouts

CART = """
<mujoco>
  <option timestep="0.01"><flag autoreset="disable"/></option>
  <worldbody><body><joint name="slide" type="slide"/><geom size="0.1" mass="1"/></body></worldbody>
  <actuator><motor joint="slide"/></actuator>
</mujoco>
"""


@pytest.mark.parametrize("push", [1.0, 1e12])
def test_worlds_go_on_after_a_warning_as_steps_do(push):
    """MuJoCo's own rollout stops a world there, and repeats its last state."""
    model = mujoco.MjModel.from_xml_string(CART)
    inputs = np.outer(np.arange(1.0, 7.0), [1.0, push, -2.0])
    batches = [Batch(model, 3, 1) for _ in range(2)]
    stepped = []
    for values in inputs:
        batches[0].bind("ctrl")[:, 0] = values
        batches[0].step(nstep=2)
        stepped.append(batches[0].bind("qpos").copy())
    rollouts = Rollouts(batches[1], 2, np.arange(len(batches[1].state)), len(inputs))
    for values in inputs:
        batches[1].bind("ctrl")[:, 0] = values
        rollouts.add()

    qpos, qvel = rollouts.take()

    assert batches[1].warning.any() == (push > 1e10)
    np.testing.assert_array_equal(qpos, stepped)
    np.testing.assert_array_equal(qvel[-1], batches[0].bind("qvel"))
    np.testing.assert_array_equal(batches[1].state, batches[0].state)
