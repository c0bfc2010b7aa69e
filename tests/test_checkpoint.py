"""A simulation that was saved and loaded goes on as if it had not been, to the bit."""

import subprocess
import sys
import zipfile

import numpy as np
import orchard
import pytest
import warp as wp

RESUME = """
import sys
import numpy as np
import orchard
with orchard.Simulation.load(sys.argv[1]) as simulation:
    simulation.step(int(sys.argv[2]))
    np.save(sys.argv[3], simulation.state.body_q.numpy())
"""
ROBOT = """
<mujoco>
  <worldbody>
    <body name="torso" pos="0 0 0.4">
      <freejoint/>
      <geom type="box" size="0.2 0.1 0.05" density="500"/>
      <body name="leg" pos="0.15 0 -0.05">
        <joint name="hip" type="hinge" axis="0 1 0" armature="0.05"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.03" density="500"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
PD = {"type": "pd", "joints": ["hip"], "kp": 5.0, "kd": 0.2, "delay": {"steps": 3}}


@pytest.fixture
def config(solver, configure, tmp_path):
    """A robot that falls, lands and rolls, with an actuator that remembers."""
    (tmp_path / "robot.xml").write_text(ROBOT)
    scene = {"worlds": 3, "ground": True, "assets": [{"path": str(tmp_path / "robot.xml")}]}
    return configure(solver, scene=scene, actuators={"hip": PD}, substeps=3)


def state(simulation):
    return {name: array.numpy().copy() for name, array in vars(simulation.state).items() if isinstance(array, wp.array)}


def assert_same_bits(left, right):
    for name in left:
        assert left[name].tobytes() == right[name].tobytes(), name


def test_a_resumed_run_equals_an_uninterrupted_one(config, tmp_path):
    with orchard.Simulation(config) as whole:
        whole.step(120)
        whole.save(tmp_path / "half.npz")
        whole.step(80)
        expected = state(whole)

    with orchard.Simulation.load(tmp_path / "half.npz") as resumed:
        assert resumed.step_count == 120
        resumed.step(80)

        assert resumed.step_count == 200
        assert_same_bits(expected, state(resumed))


def test_another_process_goes_on_as_well(configure, tmp_path):
    (tmp_path / "robot.xml").write_text(ROBOT)
    scene = {"worlds": 2, "ground": True, "assets": [{"path": str(tmp_path / "robot.xml")}]}
    with orchard.Simulation(configure("mujoco", scene=scene, actuators={"hip": PD})) as whole:
        whole.step(150)
        whole.save(tmp_path / "half.npz")
        whole.step(50)
        expected = whole.state.body_q.numpy().copy()

    command = [sys.executable, "-c", RESUME, tmp_path / "half.npz", "50", tmp_path / "end.npy"]
    subprocess.run(command, check=True, capture_output=True)

    assert np.load(tmp_path / "end.npy").tobytes() == expected.tobytes()


class Counter:
    """Counts steps and draws random numbers on the host."""

    def __init__(self):
        self.count = 0
        self.random = np.random.default_rng(3)
        self.drawn = np.zeros(1)

    @orchard.hookimpl
    def after_step(self):
        self.count += 1
        self.drawn[0] = self.random.random()


def test_what_a_plugin_keeps_on_the_host_is_carried_on(configure, chain, tmp_path):
    config, whole, resumed = configure("xpbd"), Counter(), Counter()
    with orchard.Simulation(config, plugins=[whole], prototype=chain()) as simulation:
        simulation.step(7)
        simulation.save(tmp_path / "seven.npz")
        simulation.step(5)

    with orchard.Simulation.load(tmp_path / "seven.npz", plugins=[resumed], prototype=chain()) as simulation:
        assert resumed.count == 7
        simulation.step(5)

    assert resumed.count == 12
    assert resumed.drawn[0] == whole.drawn[0]


def test_a_changed_model_is_carried_on(configure, chain, tmp_path):
    import newton

    with orchard.Simulation(configure("mujoco"), prototype=chain()) as whole:
        whole.model.gravity.assign(np.zeros((2, 3)))
        whole.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)
        whole.step(10)
        whole.save(tmp_path / "weightless.npz")
        whole.step(10)
        expected = state(whole)

    with orchard.Simulation.load(tmp_path / "weightless.npz", prototype=chain()) as resumed:
        resumed.step(10)

        assert_same_bits(expected, state(resumed))


@pytest.fixture
def saved(configure, chain, tmp_path):
    with orchard.Simulation(configure("xpbd"), prototype=chain()) as simulation:
        simulation.step(2)
        simulation.save(tmp_path / "saved.npz")
    return tmp_path / "saved.npz"


def test_a_checkpoint_is_data_only(saved):
    with zipfile.ZipFile(saved) as archive:
        assert {name.rsplit(".", 1)[1] for name in archive.namelist()} == {"npy"}
    with np.load(saved, allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


def test_a_file_that_is_missing_truncated_or_foreign_is_refused(saved, tmp_path):
    whole = saved.read_bytes()
    (tmp_path / "half.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.npz").write_text("dt = 0.1")
    np.savez(tmp_path / "foreign.npz", x=np.zeros(3))

    for name, complaint in (
        ("none.npz", "no such file"),
        ("half.npz", "not a checkpoint, or a truncated one"),
        ("text.npz", "not a checkpoint, or a truncated one"),
        ("foreign.npz", "not a checkpoint, or a truncated one"),
    ):
        with pytest.raises(orchard.ConfigError, match=f"{name}: {complaint}"):
            orchard.Simulation.load(tmp_path / name)


def test_a_checkpoint_of_another_robot_is_refused(saved, chain):
    with pytest.raises(orchard.ConfigError, match="is not the same in the file and in the simulation"):
        orchard.Simulation.load(saved, prototype=chain(3))
