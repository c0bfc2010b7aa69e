"""An exported step beside the simulation it was taken from, replayed without Newton, and what cannot be exported."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pippin
import pytest
from pippin.errors import ConfigError, SimulationError
from pippin.export import export_step
from pippin.export.replay import Replay

STEPS = 20

ALONE = """
import json
import shutil
import sys
from pathlib import Path


class Forbidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in ("newton", "pippin", "mujoco", "mujoco_warp", "attrs", "attr"):
            return None
        raise ImportError(f"{name} is forbidden here")


sys.meta_path.insert(0, Forbidden())
sys.path.insert(0, sys.argv[1])
import numpy as np
import replay
import warp as wp

wp.config.log_level = wp.LOG_WARNING
step = replay.Replay(sys.argv[1])
for number in range(int(sys.argv[2])):
    step["actuators.legs.position_targets"].fill_(0.1 * number)
    step.step()
np.savez(sys.argv[3], **{name: array.numpy() for name, array in step.items()})
"""
"""A process that replays the step with changing targets, and cannot import Newton or Pippin."""


@pytest.fixture(scope="module")
def simulation():
    """Two pendulums with a delayed drive and a noisy sensor, after a reset."""
    import newton
    from pippin_conformance import scenes

    prototype = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_chain(prototype, [0.3, 0.0], length=0.5, armature=0.0)
    drive = {"type": "pd", "joints": [".*"], "kp": 20.0, "kd": 1.0, "delay": {"steps": 3}}
    noise = {"type": "noise", "output": "position", "std": 0.1}
    config = pippin.structure(
        {
            "simulation": {"device": "cpu", "dt": 0.002, "decimation": 2},
            "scene": {"worlds": 2},
            "solver": {"type": "featherstone"},
            "actuators": {"legs": drive},
            "sensors": {"joints": {"type": "joint-state", "joints": [".*"], "stages": [noise]}},
        }
    )
    with pippin.Simulation(config, prototype=prototype) as simulation:
        simulation.step()
        simulation.reset()
        yield simulation


@pytest.fixture(scope="module")
def exported(simulation, tmp_path_factory):
    """The export: its folder, and the entries of its arrays."""
    folder = tmp_path_factory.mktemp("export") / "out"
    return folder, export_step(simulation, folder, "pendulum.toml")


@pytest.fixture(scope="module")
def replayed(exported, tmp_path_factory):
    """The arrays after some steps in a process without Newton, by name."""
    folder, _ = exported
    target = tmp_path_factory.mktemp("replayed") / "arrays.npz"
    subprocess.run([sys.executable, "-B", "-c", ALONE, folder, str(STEPS), target], check=True)
    with np.load(target) as arrays:
        return dict(arrays)


def test_a_replay_without_newton_gives_the_bits_of_the_simulation(simulation, exported, replayed):
    for number in range(STEPS):
        simulation.actuators["legs"].position_targets.fill_(0.1 * number)
        simulation.step()

    state, sensor = simulation.state, simulation.sensors["joints"]
    assert replayed["state.joint_q"].tobytes() == state.joint_q.numpy().tobytes()
    assert replayed["state.joint_qd"].tobytes() == state.joint_qd.numpy().tobytes()
    assert replayed["state.body_q"].tobytes() == state.body_q.numpy().tobytes()
    assert replayed["sensors.joints.position"].tobytes() == sensor["position"].numpy().tobytes()
    # The sensor's noise was drawn on the way, and the drive moved the joints.
    assert not np.array_equal(replayed["sensors.joints.position"].ravel(), replayed["state.joint_q"])
    assert np.abs(replayed["state.joint_q"]).max() > 0.05


def test_the_arrays_are_described(exported):
    folder, entries = exported
    described = {entry["name"]: (entry["role"], entry["dtype"], entry["shape"]) for entry in entries}

    assert described["state.joint_q"] == ("state", "float32", [4])
    assert described["state.body_q"] == ("state", "float32", [4, 7])
    assert described["control.joint_f"] == ("input", "float32", [4])
    assert described["actuators.legs.position_targets"] == ("input", "float32", [2, 2])
    assert described["actuators.legs.applied_effort"] == ("output", "float32", [2, 2])
    assert described["sensors.joints.position"] == ("output", "float32", [2, 2])
    assert json.loads((folder / "step.json").read_text())["arrays"] == entries
    assert {path.name for path in folder.iterdir()} == {
        "README.md",
        "replay.py",
        "step.json",
        "step.wrp",
        "step_modules",
    }
    assert "| `state.joint_q` | state | float32 | [4] |" in (folder / "README.md").read_text()


def test_two_replays_share_nothing_and_count_their_steps(exported):
    folder, _ = exported
    first, second = pippin.Replay(folder), pippin.Replay(folder)

    first.step(5)

    assert (first.step_count, second.step_count) == (5, 0)
    assert first.time == pytest.approx(0.02)
    assert not np.array_equal(first["state.joint_q"].numpy(), second["state.joint_q"].numpy())
    with pytest.raises(ValueError, match=r"no array 'state\.q'; there are state\."):
        first["state.q"]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"format": 0}, "format 0, expected 1; export the step anew"),
        ({"warp": "0.1"}, "made by Warp 0.1, here is "),
        ({"device": "cuda:77"}, "made for device 'cuda:77', which is not here"),
        ({"processor": ["sse9"]}, "made for a processor with sse9, which this one lacks"),
    ],
)
def test_an_export_of_another_machine_is_refused(exported, tmp_path, change, fault):
    folder, _ = exported
    manifest = json.loads((folder / "step.json").read_text())
    (tmp_path / "step.json").write_text(json.dumps({**manifest, **change}))
    (tmp_path / "step.wrp").touch()

    with pytest.raises(ValueError, match=fault):
        pippin.Replay(tmp_path)


@pytest.mark.parametrize("damage", ["a flipped bit", "a shortened file", "a missing file"])
def test_a_damaged_export_is_refused(exported, tmp_path, damage):
    """Warp ends the process if it loads one."""
    folder, _ = exported
    copy = shutil.copytree(folder, tmp_path / "copy")
    file = copy / "step.wrp"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    if damage == "a missing file":
        file.unlink()
    else:
        file.write_bytes(content if damage == "a flipped bit" else content[: len(content) // 2])

    with pytest.raises(pippin.ReplayError, match=r"'step\.wrp' (has changed since the export|is missing);"):
        pippin.Replay(copy)


def enlarge(manifest):
    manifest["arrays"][0]["shape"] = [2**40]
    return manifest


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (enlarge, "has changed since the export"),
        (lambda manifest: {"format": 1, "warp": manifest["warp"], "device": "cpu"}, "has changed since the export"),
        (lambda manifest: {"format": 1}, "made by Warp None"),
        (lambda manifest: [manifest], "cannot be read"),
    ],
)
def test_a_changed_manifest_is_refused(exported, tmp_path, change, fault):
    """A larger shape would let NumPy read beyond the memory of an array."""
    copy = shutil.copytree(exported[0], tmp_path / "copy")
    manifest = json.loads((copy / "step.json").read_text())
    (copy / "step.json").write_text(json.dumps(change(manifest)))

    with pytest.raises(pippin.ReplayError, match=fault):
        pippin.Replay(copy)


def test_a_folder_without_a_step_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"'step\.json' cannot be read"):
        pippin.Replay(tmp_path)


def test_a_folder_that_is_not_empty_is_refused(simulation, exported):
    folder, _ = exported

    with pytest.raises(ConfigError, match="exists and is not empty; choose another folder"):
        export_step(simulation, folder)


@pytest.mark.parametrize("folder", ["/proc/pippin-step", "file/step"])
def test_a_folder_that_cannot_be_written_is_refused(simulation, tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()

    with pytest.raises(ConfigError, match=rf"export: '{folder}' cannot be written \(.*\); choose another folder"):
        export_step(simulation, Path(folder))


def test_what_cannot_be_exported_is_refused_with_the_reason(chain, configure, tmp_path):
    sensors = {"slow": {"type": "joint-state", "joints": [".*"], "period": 0.004}}
    with pippin.Simulation(configure("featherstone", sensors=sensors, capture="off"), prototype=chain()) as simulation:
        with pytest.raises(SimulationError, match="the simulation has taken no step; take one with `step`"):
            export_step(simulation, tmp_path / "out")
        simulation.step()

        with pytest.raises(SimulationError) as caught:
            export_step(simulation, tmp_path / "out")

    assert "export: step_solver(solver) runs eagerly: capture is off" in caught.value.faults
    assert any("update_sensors(sensors:slow) runs every 2 control steps" in fault for fault in caught.value.faults)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_inputs_of_mujocos_own_actuators_are_named_and_act(tmp_path):
    import newton

    prototype = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(prototype)
    prototype.add_mjcf(
        "<mujoco><worldbody><body><joint name='hip'/><geom size='0.1'/></body></worldbody>"
        "<actuator><motor name='grouped' joint='hip'/><motor name='free' joint='hip'/></actuator></mujoco>"
    )
    tables = {
        "simulation": {"device": "cpu"},
        "solver": {"type": "mujoco"},
        "actuators": {"hip": {"type": "control", "actuators": ["grouped"]}},
    }
    with pippin.Simulation(pippin.structure(tables), prototype=prototype) as simulation:
        simulation.step()
        simulation.reset()
        export_step(simulation, tmp_path / "out")
        replay = Replay(tmp_path / "out")
        replay["actuators.hip.ctrl"].fill_(1.0)
        replay["control.mujoco.ctrl"].numpy()[1] = 0.5
        simulation.actuators["hip"].ctrl.fill_(1.0)
        simulation.control.mujoco.ctrl.numpy()[1] = 0.5
        replay.step()
        simulation.step()

        velocity = simulation.state.joint_qd.numpy()
    assert velocity[0] > 0.0
    assert replay["state.joint_qd"].numpy().tobytes() == velocity.tobytes()


def looking(shapes, tmp_path):
    """Return a simulation of a ball above a static object, which one ray sees."""
    vertices = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], dtype=np.float32)
    np.savez(tmp_path / "rock.npz", vertices=vertices, indices=[0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2])
    ball = {"type": "body", "label": "ball", "mass": 1.0, "position": [0.0, 0.0, 2.0]}
    rock = {"type": "body", "label": "rock", "motion": "static", "position": [-0.2, -0.2, 0.0], "shapes": shapes}
    tables = {
        "simulation": {"device": "cpu", "dt": 0.01},
        "scene": {"objects": [{**ball, "shapes": [{"type": "sphere", "radius": 0.1}]}, rock]},
        "solver": {"type": "featherstone"},
        "sensors": {"ray": {"type": "ray-caster", "body": "ball", "grid": {"size": [0.0, 0.0], "resolution": 1.0}}},
    }
    return pippin.Simulation(tables)


@pytest.mark.slow
def test_what_rays_meet_is_exported_with_four_dimensions(tmp_path):
    with looking([{"type": "box", "size": [1.0, 1.0, 1.0]}], tmp_path) as simulation:
        simulation.step()
        export_step(simulation, tmp_path / "out")
        replay = pippin.Replay(tmp_path / "out")
        simulation.step(5)
        replay.step(5)
        expected = simulation.sensors["ray"]["position"].numpy()

    assert expected.shape == (1, 1, 1, 1, 3)
    np.testing.assert_array_equal(replay["sensors.ray.position"].numpy(), expected[0])


@pytest.mark.slow
def test_a_step_that_reads_the_memory_of_its_process_is_refused(tmp_path):
    """Warp's file has no meshes that numbers name: a replay in another process would read at their addresses."""
    with looking([{"type": "mesh", "path": str(tmp_path / "rock.npz")}], tmp_path) as simulation:
        simulation.step()
        with pytest.raises(
            pippin.SimulationError, match=r"a replay in another process failed.* signal .*simpler scene"
        ):
            export_step(simulation, tmp_path / "out")

    assert not (tmp_path / "out").exists()
