"""A simulation that was saved and loaded goes on as if it had not been, to the bit."""

import io
import json
import pickle
import subprocess
import sys
import zipfile

import attrs
import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.state.checkpoint import Checkpoint, _handles

RESUME = """
import runpy
import sys
import numpy as np
import pippin
counter = runpy.run_path(sys.argv[1])["Counter"]()
with pippin.Simulation.load(sys.argv[2], plugins=[counter]) as simulation:
    simulation.step(int(sys.argv[3]))
    felt = simulation.sensors["torso"].outputs["linear_acceleration"].data.numpy()
    found = {"body_q": simulation.state.body_q.numpy(), "felt": felt, "drawn": counter.drawn}
    np.savez(sys.argv[4], counts=[simulation.step_count, counter.count], **found)
"""
ROBOT = """
<mujoco>
  <worldbody>
    <body name="torso" pos="0 0 0.3">
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
def robot(configure, tmp_path):
    """Return a function to the configuration of a robot that falls, lands and rolls; its actuator remembers."""
    (tmp_path / "robot.xml").write_text(ROBOT)
    scene = {"ground": True, "assets": [{"path": str(tmp_path / "robot.xml")}]}
    return lambda solver, worlds=3, **tables: configure(
        solver, scene={"worlds": worlds, **scene}, actuators={"hip": PD}, **tables
    )


def state(simulation):
    return {name: array.numpy().copy() for name, array in vars(simulation.state).items() if isinstance(array, wp.array)}


def assert_same_bits(left, right):
    for name in left:
        assert left[name].tobytes() == right[name].tobytes(), name


def assert_goes_on_to_the_bit(config, path, prototype=None, steps=50):
    with pippin.Simulation(config, prototype=prototype) as whole:
        whole.step(steps)
        whole.save(path)
        whole.step(10)
        expected = state(whole)

    with pippin.Simulation.load(path, prototype=prototype) as resumed:
        assert resumed.step_count == steps
        resumed.step(10)

        assert resumed.step_count == steps + 10
        assert_same_bits(expected, state(resumed))


@pytest.mark.first_cases(2)
def test_a_resumed_run_equals_an_uninterrupted_one(solver, robot, tmp_path):
    assert_goes_on_to_the_bit(robot(solver, substeps=3), tmp_path / "half.npz")


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"type": "kamino", "use_collision_detector": True}, {"type": "mujoco-native"}])
def test_a_solver_with_a_detector_of_its_own_resumes_as_well(options, robot, tmp_path):
    assert_goes_on_to_the_bit(robot(options, substeps=3), tmp_path / "half.npz")


@pytest.mark.slow
def test_cloth_continues_to_the_bit(configure, tmp_path):
    """It hangs from its upper edge, and swings."""
    from newton.solvers import SolverStyle3D, style3d

    prototype = newton.ModelBuilder(up_axis=newton.Axis.Z)
    SolverStyle3D.register_custom_attributes(prototype)
    stiffness = {"tri_aniso_ke": wp.vec3(400.0, 400.0, 100.0), "edge_aniso_ke": wp.vec3(1e-4)}
    cells = {"dim_x": 4, "dim_y": 4, "cell_x": 0.05, "cell_y": 0.05, "mass": 0.01}
    pose = {"pos": wp.vec3(0.0, 0.0, 1.0), "rot": wp.quat_identity(), "vel": wp.vec3(0.0)}
    style3d.add_cloth_grid(prototype, fix_top=True, **pose, **cells, **stiffness)
    assert_goes_on_to_the_bit(configure("style3d"), tmp_path / "half.npz", prototype, steps=20)


class Counter:
    """Counts steps and draws random numbers on the host."""

    def __init__(self, bits=np.random.PCG64):
        self.count = 0
        self.single = np.float32(0.0)
        self.random = np.random.Generator(bits(3))
        self.drawn = np.zeros(1)

    @pippin.hookimpl
    def after_step(self):
        self.count += 1
        self.single += np.float32(0.1)
        self.drawn[0] = self.random.random()


@pytest.mark.slow
def test_another_process_continues_as_well(robot, tmp_path):
    """With the state of the solver, a delay of three steps, a sensor, random numbers, and the count of steps."""
    counter = Counter()
    sensors = {"torso": {"type": "imu", "body": "torso"}}
    with pippin.Simulation(robot("mujoco", worlds=2, sensors=sensors), plugins=[counter]) as whole:
        whole.step(50)
        whole.save(tmp_path / "half.npz")
        whole.step(10)
        felt = whole.sensors["torso"].outputs["linear_acceleration"].data.numpy()
        expected = {"body_q": whole.state.body_q.numpy().copy(), "felt": felt.copy(), "drawn": counter.drawn}

    command = [sys.executable, "-c", RESUME, __file__, tmp_path / "half.npz", "10", tmp_path / "end.npz"]
    subprocess.run(command, check=True, capture_output=True)

    with np.load(tmp_path / "end.npz") as end:
        assert end["counts"].tolist() == [60, 60]
        assert_same_bits(expected, end)


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.Philox, np.random.MT19937, np.random.SFC64])
def test_what_a_plugin_keeps_on_the_host_is_carried_on(bits, configure, chain, tmp_path):
    config, whole, resumed = configure("xpbd"), Counter(bits), Counter(bits)
    with pippin.Simulation(config, plugins=[whole], prototype=chain()) as simulation:
        simulation.step(7)
        simulation.save(tmp_path / "seven.npz")
        simulation.step(5)

    with pippin.Simulation.load(tmp_path / "seven.npz", plugins=[resumed], prototype=chain()) as simulation:
        assert resumed.count == 7
        simulation.step(5)

    assert resumed.count == 12
    assert (resumed.single, type(resumed.single)) == (whole.single, np.float32)
    assert resumed.drawn[0] == whole.drawn[0]


def test_a_forged_state_of_a_random_generator_is_refused(configure, chain, tmp_path):
    with pippin.Simulation(configure("xpbd"), plugins=[Counter()], prototype=chain()) as simulation:
        simulation.save(tmp_path / "seven.npz")
    checkpoint, name = Checkpoint.read(tmp_path / "seven.npz"), "plugins:counter.random#generator"
    state = checkpoint.numbers[name]
    for wrong in (state | {"bit_generator": "MT19937"}, state | {"state": "x"}, state | {"state": {}}, {}, 5):
        attrs.evolve(checkpoint, numbers=checkpoint.numbers | {name: wrong}).write(tmp_path / "wrong.npz")

        with pytest.raises(pippin.ConfigError, match=r"wrong\.npz: .*#generator' is no"):
            pippin.Simulation.load(tmp_path / "wrong.npz", plugins=[Counter()], prototype=chain())


@pytest.mark.parametrize("count", [2**31, 2**40, -(2**31)])
def test_a_count_too_large_to_be_told_from_an_address_is_refused(count, configure, chain, tmp_path):
    counter = Counter()
    counter.count = count
    told = rf"^save: plugins:counter\.count is {count}, .* keep a count of that size in a NumPy array"
    with (
        pippin.Simulation(configure("xpbd"), plugins=[counter], prototype=chain()) as simulation,
        pytest.raises(pippin.SimulationError, match=told),
    ):
        simulation.save(tmp_path / "never.npz")

    assert not (tmp_path / "never.npz").exists()


def test_a_large_count_in_an_array_is_carried_on(configure, chain, tmp_path):
    config, whole, resumed = configure("xpbd"), Counter(), Counter()
    whole.many, resumed.many = np.array([2**40]), np.array([0])
    with pippin.Simulation(config, plugins=[whole], prototype=chain()) as simulation:
        simulation.save(tmp_path / "many.npz")

    with pippin.Simulation.load(tmp_path / "many.npz", plugins=[resumed], prototype=chain()):
        assert resumed.many[0] == 2**40


def test_addresses_and_handles_stay_those_of_the_process_that_continues(configure, chain, tmp_path):
    config, whole, resumed = configure("xpbd"), Counter(), Counter()
    for counter in (whole, resumed):
        counter.grid, counter.array = wp.HashGrid(4, 4, 4, device="cpu"), wp.zeros(1000, device="cpu")
        counter.handle, counter.address, counter.identity = counter.grid.id, counter.array.ptr, id(counter)
    kept = (resumed.handle, resumed.address, resumed.identity)
    with pippin.Simulation(config, plugins=[whole], prototype=chain()) as simulation:
        simulation.save(tmp_path / "start.npz")

    with pippin.Simulation.load(tmp_path / "start.npz", plugins=[resumed], prototype=chain()):
        assert kept == (resumed.handle, resumed.address, resumed.identity)


def test_the_handle_of_each_kind_of_warp_object_is_found():
    """They are found among all objects of the process; one that the garbage collector does not list is missed."""
    points = wp.array(np.eye(3), dtype=wp.vec3, device="cpu")
    volume = wp.Volume.load_from_numpy(np.ones((8, 8, 8), dtype=np.float32), device="cpu")
    kept = {
        "mesh": wp.Mesh(points, wp.array([0, 1, 2], dtype=int, device="cpu")),
        "bvh": wp.Bvh(points, points),
        "grid": wp.HashGrid(4, 4, 4, device="cpu"),
        "volume": volume,
    }

    found = set(_handles().tolist())

    assert [name for name, each in kept.items() if each.id not in found] == []


def test_an_array_of_python_objects_is_refused(configure, chain, tmp_path):
    counter = Counter()
    counter.words = np.array([{}])
    with (
        pippin.Simulation(configure("xpbd"), plugins=[counter], prototype=chain()) as simulation,
        pytest.raises(pippin.SimulationError, match=r"^save: plugins:counter\.words is an array of Python objects"),
    ):
        simulation.save(tmp_path / "never.npz")

    assert not (tmp_path / "never.npz").exists()


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(
    ("solver", "is_pending"), [("mujoco", False), ("mujoco-native", False), ("mujoco-native", True)]
)
def test_a_changed_model_is_carried_on(solver, is_pending, configure, chain, tmp_path):
    """Also where the solver takes it over with the next step only."""
    with pippin.Simulation(configure(solver, scene={"worlds": 2}), prototype=chain()) as whole:
        whole.step(5)
        whole.model.gravity.assign(np.diag([1.0, 0.0, 0.0]))
        whole.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)
        whole.step(0 if is_pending else 10)
        whole.save(tmp_path / "sideways.npz")
        whole.step(10)
        expected = state(whole)

    with pippin.Simulation.load(tmp_path / "sideways.npz", prototype=chain()) as resumed:
        resumed.step(10)

        assert_same_bits(expected, state(resumed))


@pytest.mark.slow
def test_what_was_written_just_before_is_carried_on(robot, tmp_path):
    with pippin.Simulation(robot("mujoco")) as whole:
        whole.step(5)
        whole.state.joint_q.fill_(0.5)
        whole.invalidate("joints")
        whole.save(tmp_path / "written.npz")
        whole.step(5)
        expected = state(whole)

    with pippin.Simulation.load(tmp_path / "written.npz") as resumed:
        resumed.step(5)

        assert_same_bits(expected, state(resumed))


def test_another_device_may_go_on(configure, chain, tmp_path):
    """The file names a device that this machine lacks, as one from a machine with more GPUs."""
    with pippin.Simulation(configure("featherstone"), prototype=chain()) as simulation:
        simulation.step(3)
        simulation.save(tmp_path / "here.npz")
        simulation.step(3)
        expected = simulation.state.joint_q.numpy().copy()
    saved = Checkpoint.read(tmp_path / "here.npz")
    there = saved.config.replace('device = "cpu"', 'device = "cuda:99"')
    attrs.evolve(saved, config=there).write(tmp_path / "there.npz")

    with pytest.raises(pippin.ConfigError, match=r"simulation\.device: .*cuda:99"):
        pippin.Simulation.load(tmp_path / "there.npz", prototype=chain())
    with pippin.Simulation.load(tmp_path / "there.npz", prototype=chain(), device="cpu") as resumed:
        resumed.step(3)

        np.testing.assert_array_equal(resumed.state.joint_q.numpy(), expected)


def test_a_simulation_may_be_saved_before_its_first_step(robot, tmp_path):
    with pippin.Simulation(robot("steel", worlds=1)) as whole:
        whole.state.joint_qd.fill_(0.1)
        whole.save(tmp_path / "start.npz")
        whole.step(5)
        expected = state(whole)

    with pippin.Simulation.load(tmp_path / "start.npz") as resumed:
        assert resumed.step_count == 0
        resumed.step(5)

        assert_same_bits(expected, state(resumed))


def test_handles_of_meshes_are_those_of_the_process_that_continues(configure, tmp_path):
    """Restoring an address of another simulation would read its freed memory."""
    half = 0.1
    corners = np.array([[x, y, z] for x in (-half, half) for y in (-half, half) for z in (-half, half)])
    faces = np.array([0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1, 2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4])
    prototype = newton.ModelBuilder(up_axis=newton.Axis.Z)
    body = prototype.add_body(xform=wp.transform((0.0, 0.0, 0.3), wp.quat_identity()))
    prototype.add_shape_mesh(body, mesh=newton.Mesh(corners, np.concatenate([faces, [1, 5, 7, 1, 7, 3]])))
    with pippin.Simulation(configure("xpbd"), prototype=prototype) as whole:
        whole.save(tmp_path / "start.npz")
        handles = whole.model.shape_source_ptr.numpy()

        with pippin.Simulation.load(tmp_path / "start.npz", prototype=prototype) as resumed:
            assert handles.all()
            assert not np.intersect1d(handles, resumed.model.shape_source_ptr.numpy()).size


@pytest.fixture
def saved(configure, chain, tmp_path):
    with pippin.Simulation(configure("xpbd"), prototype=chain()) as simulation:
        simulation.step(2)
        simulation.save(tmp_path / "saved.npz")
    return tmp_path / "saved.npz"


def test_a_checkpoint_is_data_only(saved):
    with zipfile.ZipFile(saved) as archive:
        assert {name.rsplit(".", 1)[1] for name in archive.namelist()} == {"npy"}
    with np.load(saved, allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


def test_two_files_of_one_state_are_equal(configure, chain, tmp_path):
    with pippin.Simulation(configure("xpbd"), prototype=chain()) as simulation:
        for name in ("one.npz", "two.npz"):
            simulation.save(tmp_path / name)

    with zipfile.ZipFile(tmp_path / "one.npz") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_a_file_that_cannot_be_written_is_refused_with_its_path(ball, configure, tmp_path):
    with (
        pippin.Simulation(configure("featherstone"), prototype=ball()) as simulation,
        pytest.raises(pippin.SimulationError, match=r"save: .*half\.npz: cannot be written: No such file"),
    ):
        simulation.save(tmp_path / "none" / "half.npz")


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
        with pytest.raises(pippin.ConfigError, match=f"{name}: {complaint}"):
            pippin.Simulation.load(tmp_path / name)


def forged(saved, change, **options):
    """Return a checkpoint whose first array is changed, and the others are as they were."""
    target = saved.with_name("forged.npz")
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(target, "w", **options) as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name == "a0.npy" else old.read(name))
    return target


def header(shape, dtype="<f4"):
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(text, {"descr": dtype, "fortran_order": False, "shape": shape})
    return text.getvalue()


@pytest.mark.first_cases(2)
@pytest.mark.parametrize(
    ("change", "options", "complaint"),
    [
        (lambda _: header((2**34,)), {}, "does not have the size that it states"),
        (lambda _: header((-1,)), {}, "does not have the size that it states"),
        (lambda _: b"\0" * 10**8, {"compression": zipfile.ZIP_DEFLATED}, "its members are far larger than the file"),
        (lambda _: header((1,), "|O") + pickle.dumps(print), {}, "not a checkpoint"),
        (lambda _: b"no array", {}, "not a checkpoint"),
    ],
)
def test_a_forged_checkpoint_takes_no_memory_and_runs_no_code(saved, change, options, complaint):
    with pytest.raises(pippin.ConfigError, match=complaint):
        Checkpoint.read(forged(saved, change, **options))


WRONG = (None, -1, 10**30, 1.5, "x", "[", [], {}, [None], {"a": None})


@pytest.mark.slow
def test_a_checkpoint_whose_manifest_states_something_else_is_refused(saved, chain):
    """Each of its values of another type, missing, or out of range; also one of the numbers of the solver."""
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(np.load(io.BytesIO(members["manifest.npy"])).tobytes())
    number = next(iter(manifest["numbers"]))
    changes = [{key: wrong} for key in manifest for wrong in WRONG if wrong != manifest[key]]
    changes += [{key: ...} for key in manifest]
    changes += [{"numbers": manifest["numbers"] | {number: wrong}} for wrong in WRONG if wrong not in (1.5, -1)]
    changes += [{"numbers": manifest["numbers"] | {"other": 1}}, {"names": manifest["names"][::-1]}]
    for change in changes:
        text = {key: value for key, value in (manifest | change).items() if value is not ...}
        data = io.BytesIO()
        np.save(data, np.frombuffer(json.dumps(text).encode(), dtype=np.uint8))
        with zipfile.ZipFile(saved, "w") as archive:
            for name, content in (members | {"manifest.npy": data.getvalue()}).items():
                archive.writestr(name, content)

        try:
            pippin.Simulation.load(saved, prototype=chain()).close()
        except pippin.ConfigError:
            continue
        pytest.fail(f"{change} is taken")


def test_a_checkpoint_with_a_nested_manifest_is_refused(saved):
    with zipfile.ZipFile(saved.with_name("nested.npz"), "w") as new:
        text = b"[" * 100_000
        new.writestr("manifest.npy", header((len(text),), "|u1") + text)

    with pytest.raises(pippin.ConfigError, match="not a checkpoint"):
        Checkpoint.read(saved.with_name("nested.npz"))


def test_a_checkpoint_of_another_robot_is_refused(saved, chain):
    with pytest.raises(pippin.ConfigError, match="is not the same in the file and in the simulation"):
        pippin.Simulation.load(saved, prototype=chain(3))


@pytest.mark.parametrize("package", ["pippin", "newton", "warp-lang"])
def test_a_checkpoint_of_another_version_is_refused(package, saved, chain):
    checkpoint = Checkpoint.read(saved)
    attrs.evolve(checkpoint, versions={**checkpoint.versions, package: "0.1.dev7"}).write(saved)

    with pytest.raises(pippin.ConfigError, match=rf"saved\.npz: written with {package} 0\.1\.dev7, and this is "):
        pippin.Simulation.load(saved, prototype=chain())


def test_a_checkpoint_of_another_format_is_refused(saved, chain):
    with np.load(saved) as file:
        contents = dict(file)
    manifest = json.loads(contents["manifest"].tobytes())
    contents["manifest"] = np.frombuffer(json.dumps({**manifest, "format": 1}).encode(), dtype=np.uint8)
    np.savez(saved, **contents)

    with pytest.raises(pippin.ConfigError, match=r"saved\.npz: checkpoint of format 1, this is pippin .* format 2"):
        pippin.Simulation.load(saved, prototype=chain())
