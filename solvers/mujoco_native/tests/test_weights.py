"""Inverse weights of worlds whose parameters change: those of MuJoCo's compiler, to the last bit."""

import numpy as np
import pippin

PENDULUM = """
<mujoco>
  <compiler autolimits="true"/>
  <worldbody>
    <body name="upper"><inertial pos="0 0 -0.2" mass="1.2" diaginertia="0.012 0.012 0.001"/>
      <joint name="shoulder" axis="0 1 0" frictionloss="0.02" range="-5 40"/>
      <body name="lower" pos="0 0 -0.4"><inertial pos="0.02 0 -0.15" mass="0.7" diaginertia="0.005 0.005 0.0005"/>
        <joint name="elbow" axis="0 1 0" frictionloss="0.01"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def fallen(folder, built, changed=None):
    """Return the motion of a pendulum that falls against a limit."""
    (folder / "pendulum.xml").write_text(PENDULUM, encoding="utf-8")
    tables = {
        "simulation": {"dt": 0.005, "device": "cpu"},
        "scene": {"assets": [{"path": str(folder / "pendulum.xml")}], "settable_joints": True},
        "solver": {"type": "mujoco-native"},
        "actuators": {"arm": {"type": "pd", "joints": [".*"], "kp": 0.0, "kd": 0.01, "armature": built}},
    }
    with pippin.Simulation(tables) as simulation:
        if changed is not None:
            simulation.actuators["arm"].set("armature", changed)
        simulation.state.joint_q.assign(np.array([0.6, 1.5], dtype=np.float32))
        simulation.invalidate("joints")
        motion = []
        for _ in range(200):
            simulation.step()
            motion.append(simulation.state.joint_q.numpy().copy())
    return np.array(motion)


def test_a_world_whose_armature_was_set_moves_as_one_that_was_built_with_it(tmp_path):
    set_later, built = fallen(tmp_path, 0.03, 0.07), fallen(tmp_path, 0.07)

    assert np.ptp(built, axis=0).min() > 0.5
    assert built[:, 0].min() < np.radians(-4.5)
    assert not np.array_equal(fallen(tmp_path, 0.03), built)
    np.testing.assert_array_equal(set_later, built)
