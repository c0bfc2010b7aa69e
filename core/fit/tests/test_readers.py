"""Readers of logs: files that real libraries write have the same numbers when they are read."""

import json
import sys

import numpy as np
import pippin
import pippin.files
import pytest
from pippin.config.loading import structure_choice
from pippin_fit import log as logs
from pippin_fit.config import FitConfig, FitParameterConfig
from pippin_fit.log import RobotJoint

LIMITS = {"low": -3.0, "high": 3.0}
JOINTS = {
    f"arm/{name}": RobotJoint(label=f"arm/{name}", dof=dof, coordinate=dof, is_turning=name != "slide", **LIMITS)
    for dof, name in enumerate(("shoulder", "elbow", "slide"))
}
NAMES = ["elbow", "shoulder"]
TIMES = 0.01 * np.arange(30)
BEGIN = 1_700_000_000_123_456_789
"""A time at which a robot may log [ns]."""


def numbers(kind):
    return np.random.default_rng(len(kind)).normal(size=(len(TIMES), len(NAMES)))


def read(file, reader=None, **keys):
    chosen = None if reader is None else structure_choice("log", reader)
    table = FitConfig(parameters={"gravity": FitParameterConfig(range=(0.0, 1.0))}, reader=chosen, **keys)
    return logs.read_logs([file], table, JOINTS)


def columns():
    found = {"time": TIMES}
    for kind in ("position", "velocity", "command"):
        found |= {f"{kind}.{name}": values for name, values in zip(NAMES, numbers(kind).T, strict=True)}
    return found


def write_csv(folder):
    own = columns()
    np.savetxt(folder / "log.csv", np.stack([*own.values()], 1), delimiter=",", header=",".join(own), comments="")
    return folder / "log.csv"


def write_npz(folder):
    arrays = {kind: numbers(kind) for kind in ("position", "velocity", "command")}
    np.savez(folder / "log.npz", time=TIMES, joints=NAMES, **arrays)
    return folder / "log.npz"


def write_hdf5(folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "log.h5", "w") as file:
        file["time"], file["joints"] = TIMES, NAMES
        for kind in ("position", "velocity", "command"):
            file[kind] = numbers(kind)
    return folder / "log.h5"


def write_parquet(folder):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({**columns(), "note": ["x"] * len(TIMES)}), folder / "log.parquet")
    return folder / "log.parquet"


@pytest.mark.parametrize("write", [write_csv, write_npz, write_hdf5, write_parquet])
def test_a_table_has_the_numbers_that_were_written(write, tmp_path):
    (found,) = read(write(tmp_path))

    assert found.joints == ("arm/elbow", "arm/shoulder")
    np.testing.assert_allclose(found.times, TIMES, rtol=1e-12)
    np.testing.assert_allclose(found.command, numbers("command"), rtol=1e-12)
    for kind in ("position", "velocity"):
        np.testing.assert_allclose(found.signals[kind], numbers(kind), rtol=1e-12)


def test_arrays_and_columns_have_the_names_that_the_table_gives(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "robot.dat", "w") as file:
        file["state/t"], file["state/q"], file["bus/target"] = TIMES, numbers("position"), numbers("command")
    names = {"type": "hdf5", "time": "state/t", "position": "state/q", "command": "bus/target", "joints": NAMES}
    (tmp_path / "log.csv").write_text("t,q:elbow,u:elbow\n0,1,2\n0.1,3,4\n")

    (found,) = read(tmp_path / "robot.dat", names)
    (table,) = read(tmp_path / "log.csv", {"type": "csv", "time": "t", "position": "q:", "command": "u:"})

    np.testing.assert_array_equal(found.signals["position"], numbers("position"))
    assert "velocity" not in found.signals
    np.testing.assert_array_equal(table.command, [[2.0], [4.0]])


def test_angles_get_their_unit_and_their_sign_and_lengths_only_the_sign(tmp_path):
    (tmp_path / "log.csv").write_text("time,position.elbow,position.slide,command.elbow,command.slide\n0,90,2,45,3\n")

    (degrees,) = read(tmp_path / "log.csv", units="deg", signs={"slide": -1})
    (counts,) = read(tmp_path / "log.csv", units=2.0 * np.pi / 4096, signs={"elbow": -1})

    np.testing.assert_allclose(degrees.signals["position"], [[np.pi / 2, -2.0]])
    np.testing.assert_allclose(degrees.command, [[np.pi / 4, -3.0]])
    np.testing.assert_allclose(counts.signals["position"], [[-90 * 2.0 * np.pi / 4096, 2.0]])
    with pytest.raises(pippin.ConfigError, match=r"fit\.signs: .* no joint 'elbo'; did you mean 'elbow'"):
        read(tmp_path / "log.csv", signs={"elbo": -1})


def test_each_joint_may_have_a_unit_of_its_own_and_some_are_left_out(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(
        "time,position.elbow,position.grip,position.slide,command.elbow,command.grip,command.slide\n0,90,7,2,45,8,3\n"
    )
    own = {"units": {"elbow": 0.02}, "leave_out": ["grip"]}

    (found,) = read(log, **own)

    assert found.joints == ("arm/elbow", "arm/slide")
    np.testing.assert_allclose(found.signals["position"], [[1.8, 2.0]])
    np.testing.assert_allclose(found.command, [[0.9, 3.0]])
    with pytest.raises(pippin.ConfigError, match=r"fit\.leave_out: .* no joint 'gripp'; did you mean 'grip'"):
        read(log, **own | {"leave_out": ["gripp"]})
    with pytest.raises(pippin.ConfigError, match=r"fit\.units: .* no joint 'elbo'; did you mean 'elbow'"):
        read(log, **own | {"units": {"elbow": 0.02, "elbo": 0.1}})
    with pytest.raises(
        pippin.ConfigError, match=r"fit\.units: there is no unit of 'shoulder' of .*each joint that turns"
    ):
        read(write_csv(tmp_path), units={"elbow": 0.02})


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"units": {"elbow": -0.02}}, "'units' must be"),
        ({"validation": 1.0}, "'validation' must be < 1"),
        ({"validation": ()}, "Length of 'validation' must be >= 1"),
    ],
)
def test_units_and_shares_out_of_range_are_refused(tmp_path, keys, words):
    with pytest.raises(ValueError, match=words):
        read(write_csv(tmp_path), **keys)


STAMP = "int32 sec\nuint32 nanosec\n"
HEADER = f"builtin_interfaces/Time stamp\nstring frame_id\n{'=' * 80}\nMSG: builtin_interfaces/Time\n{STAMP}"
STATE = (
    "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n"
    f"{'=' * 80}\nMSG: std_msgs/Header\n{HEADER}"
)
TRAJECTORY = (
    "std_msgs/Header header\nstring[] joint_names\ntrajectory_msgs/JointTrajectoryPoint[] points\n"
    f"{'=' * 80}\nMSG: std_msgs/Header\n{HEADER}{'=' * 80}\nMSG: trajectory_msgs/JointTrajectoryPoint\n"
    "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\n"
    f"builtin_interfaces/Duration time_from_start\n{'=' * 80}\nMSG: builtin_interfaces/Duration\n{STAMP}"
)
NUMBERS = (
    "std_msgs/MultiArrayLayout layout\nfloat64[] data\n"
    f"{'=' * 80}\nMSG: std_msgs/MultiArrayLayout\nstd_msgs/MultiArrayDimension[] dim\nuint32 data_offset\n"
    f"{'=' * 80}\nMSG: std_msgs/MultiArrayDimension\nstring label\nuint32 size\nuint32 stride\n"
)


def stamp(time):
    return dict(zip(("sec", "nanosec"), divmod(time, 1_000_000_000), strict=True))


def nanoseconds(seconds):
    return BEGIN + round(1e9 * seconds)


def write_bag(file, write_commands, commanded):
    """Write a bag of ROS 2: states that arrive 20 to 30 ms late, and commands between them."""
    writer_of = pytest.importorskip("mcap_ros2.writer").Writer
    with file.open("wb") as stream:
        writer = writer_of(stream)
        state = writer.register_msgdef("sensor_msgs/msg/JointState", STATE)
        for number, (time, q, qd) in enumerate(zip(TIMES, numbers("position"), numbers("velocity"), strict=True)):
            message = {"header": {"stamp": stamp(nanoseconds(time)), "frame_id": ""}, "name": NAMES}
            message |= {"position": q.tolist(), "velocity": qd.tolist(), "effort": []}
            late = 20_000_000 if number % 2 else 30_000_000
            writer.write_message("/joint_states", state, message, log_time=nanoseconds(time) + late)
        schema = writer.register_msgdef(*commanded)
        write_commands(lambda time, message: writer.write_message("/told", schema, message, log_time=nanoseconds(time)))
        writer.finish()
    return file


def plain_numbers(write):
    for time, command in zip(TIMES, numbers("command"), strict=True):
        write(time + 0.004, {"layout": {"dim": [], "data_offset": 0}, "data": command.tolist()})


def states(write):
    for time, command in zip(TIMES, numbers("command"), strict=True):
        message = {"header": {"stamp": stamp(nanoseconds(time + 0.004)), "frame_id": ""}, "name": NAMES[::-1]}
        write(time + 0.1, {**message, "position": command[::-1].tolist(), "velocity": [], "effort": []})


def trajectory(write):
    points = [
        {"positions": command.tolist(), "velocities": [], "accelerations": [], "effort": []}
        | {"time_from_start": stamp(round(1e9 * time))}
        for time, command in zip(TIMES, numbers("command"), strict=True)
    ]
    header = {"stamp": stamp(nanoseconds(0.004)), "frame_id": ""}
    write(0.0, {"header": header, "joint_names": NAMES, "points": points})


@pytest.mark.parametrize(
    ("write_commands", "commanded"),
    [
        (plain_numbers, ("std_msgs/msg/Float64MultiArray", NUMBERS)),
        (states, ("sensor_msgs/msg/JointState", STATE)),
        (trajectory, ("trajectory_msgs/msg/JointTrajectory", TRAJECTORY)),
    ],
)
def test_a_bag_of_ros_has_the_stamps_of_its_messages_and_commands_at_their_own_times(
    write_commands, commanded, tmp_path
):
    file = write_bag(tmp_path / "robot.mcap", write_commands, commanded)
    topics = {"type": "mcap", "measured": "/joint_states", "commanded": "/told"}

    (found,) = read(file, topics)
    (received,) = read(file, {**topics, "stamps": "receive"})

    # The first sample came before the first command: nobody knows what the robot was told then.
    np.testing.assert_allclose(found.times, TIMES[1:], atol=1e-9)
    np.testing.assert_allclose(found.command_times, TIMES + 0.004, atol=1e-9)
    np.testing.assert_array_equal(found.command, numbers("command"))
    np.testing.assert_array_equal(found.commanded, numbers("command")[:-1])
    for kind in ("position", "velocity"):
        np.testing.assert_array_equal(found.signals[kind], numbers(kind)[1:])
    assert not np.allclose(np.diff(received.times), 0.01)
    assert any("came 0.025 s after their stamps" in note for note in found.notes)
    assert "1 samples before the first command are left out" in found.notes


def test_a_later_trajectory_replaces_what_is_left_of_an_earlier_one(tmp_path):
    def twice(write):
        for begin, targets in ((0.0, (1.0, 2.0, 3.0)), (0.15, (7.0, 8.0))):
            points = [
                {"positions": [target, target], "velocities": [], "accelerations": [], "effort": []}
                | {"time_from_start": stamp(100_000_000 * number)}
                for number, target in enumerate(targets)
            ]
            header = {"stamp": stamp(nanoseconds(begin)), "frame_id": ""}
            write(begin, {"header": header, "joint_names": NAMES, "points": points})

    (found,) = read(write_bag(tmp_path / "a.mcap", twice, ("trajectory_msgs/msg/JointTrajectory", TRAJECTORY)))

    np.testing.assert_array_equal(found.command[:, 0], [1.0, 2.0, 7.0, 8.0])
    np.testing.assert_allclose(found.command_times, [0.0, 0.1, 0.15, 0.25], atol=1e-9)


def test_states_of_foxglove_are_read(tmp_path):
    foxglove, messages = pytest.importorskip("foxglove"), pytest.importorskip("foxglove.messages")
    with foxglove.open_mcap(tmp_path / "log.mcap"):
        for topic, kinds in (("/measured", ("position", "velocity")), ("/told", ("command",))):
            channel = foxglove.channels.JointStatesChannel(topic)
            for row, time in enumerate(TIMES):
                values = [dict(zip(kinds, (numbers(kind)[row, at] for kind in kinds), strict=True)) for at in range(2)]
                states = [
                    messages.JointState(
                        name=name, position=own.get("position", own.get("command")), velocity=own.get("velocity")
                    )
                    for name, own in zip(NAMES, values, strict=True)
                ]
                when = messages.Timestamp(**dict(zip(("sec", "nsec"), divmod(nanoseconds(time), 10**9), strict=True)))
                channel.log(messages.JointStates(timestamp=when, joints=states))

    (found,) = read(tmp_path / "log.mcap", {"type": "mcap", "measured": "/measured", "commanded": "/told"})

    np.testing.assert_allclose(found.times, TIMES, atol=1e-9)
    np.testing.assert_array_equal(found.command, numbers("command"))
    np.testing.assert_array_equal(found.signals["velocity"], numbers("velocity"))


def test_what_a_bag_lacks_is_named_with_its_topics(tmp_path):
    bag = write_bag(tmp_path / "a.mcap", plain_numbers, ("std_msgs/msg/Float64MultiArray", NUMBERS))
    silent = write_bag(tmp_path / "b.mcap", lambda write: None, ("std_msgs/msg/Float64MultiArray", NUMBERS))

    with pytest.raises(pippin.ConfigError, match=r"no topic '/jont' of a known kind; topics: .*/joint_states"):
        read(bag, {"type": "mcap", "measured": "/jont"})
    with pytest.raises(pippin.ConfigError, match=r"no topic with commands; name one by fit\.reader\.commanded"):
        read(silent)
    with pytest.raises(pippin.ConfigError, match="is what was measured; name what the robot was told"):
        read(bag, {"type": "mcap", "commanded": "/joint_states"})


def dataset(folder, version="v3.0", action=True):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    names = {"names": [f"{name}.pos" for name in NAMES]}
    features = {"observation.state": names, **({"action": names} if action else {})}
    (folder / "meta").mkdir(parents=True)
    info = {"codebase_version": version, "fps": 100, "features": features}
    (folder / "meta" / "info.json").write_text(json.dumps(info))
    for chunk, episodes in enumerate(((0, 1), (2,))):
        data = folder / "data" / f"chunk-{chunk:03d}"
        data.mkdir(parents=True)
        rows = [(episode, row) for episode in episodes for row in range(len(TIMES))]
        table = {
            "episode_index": [episode for episode, _ in rows],
            "frame_index": [row for _, row in rows],
            "timestamp": pyarrow.array([TIMES[row] for _, row in rows], pyarrow.float32()),
        }
        for feature, kind in (("observation.state", "position"), ("action", "command")):
            values = [(numbers(kind)[row] + episode).astype(np.float32) for episode, row in rows]
            table[feature] = pyarrow.array(values, pyarrow.list_(pyarrow.float32(), len(NAMES)))
        parquet.write_table(pyarrow.table(table), data / "file-000.parquet")
    return folder


def test_each_episode_of_a_dataset_of_lerobot_is_a_log(tmp_path):
    folder = dataset(tmp_path / "set")

    found = read(folder, units="deg")
    (last,) = read(folder, {"type": "lerobot", "episodes": [2]})

    assert [each.name for each in found] == [f"{folder}, episode {index}" for index in range(3)]
    np.testing.assert_allclose(found[1].command, np.radians(numbers("command") + 1), rtol=1e-6)
    np.testing.assert_allclose(last.signals["position"], numbers("position") + 2, rtol=1e-6)
    np.testing.assert_allclose(last.times, TIMES, atol=1e-7)


def test_logs_that_patterns_name_judge_the_fit(tmp_path):
    folder = dataset(tmp_path / "set")

    found = read(folder, validation=("*, episode 2", "*, episode 0"))

    assert [each.is_unseen for each in found] == [True, False, True]
    with pytest.raises(pippin.ConfigError, match=r"fit\.validation: 'episode 7' matches no log; logs: .*episode 2"):
        read(folder, validation=("episode 7",))
    with pytest.raises(pippin.ConfigError, match=r"also fitted, and proves nothing; .* in fit\.validation"):
        read(folder, validation_logs=(str(folder),))


def test_a_dataset_of_lerobot_that_cannot_serve_is_refused(tmp_path):
    with pytest.raises(pippin.ConfigError, match=r"format v2\.1; convert it to v3\.0"):
        read(dataset(tmp_path / "old", version="v2.1"))
    with pytest.raises(pippin.ConfigError, match=r"no feature 'action'; features: observation\.state"):
        read(dataset(tmp_path / "silent", action=False))
    with pytest.raises(pippin.ConfigError, match="no episode 9; it has 0 to 2"):
        read(dataset(tmp_path / "short"), {"type": "lerobot", "episodes": [9]})
    with pytest.raises(pippin.ConfigError, match=r"is no log .* a dataset of LeRobot is a folder"):
        read(tmp_path)


@pytest.mark.parametrize("write", [write_csv, write_npz, write_hdf5, write_parquet])
def test_a_log_without_commands_is_refused(write, tmp_path):
    file = write(tmp_path)
    reader = {"type": write.__name__.removeprefix("write_"), "command": "told"}

    with pytest.raises(pippin.ConfigError, match=r"is no log .*told.*has the (columns|arrays) 'time'"):
        read(file, reader)


@pytest.mark.parametrize(
    ("reader", "library", "extra"),
    [
        ("hdf5", "h5py", "hdf5"),
        ("parquet", "pyarrow", "parquet"),
        ("lerobot", "pyarrow", "parquet"),
        ("mcap", "mcap", "mcap"),
    ],
)
def test_a_missing_library_is_said_with_its_extra(reader, library, extra, tmp_path, monkeypatch):
    for name in (library, f"{library}.parquet", f"{library}.reader"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "log").touch()

    with pytest.raises(pippin.PluginError, match=rf"cannot be imported.*install it by `uv .*{extra}"):
        read(tmp_path / "log", {"type": reader})


def test_a_missing_library_of_ros_is_said_with_its_extra(tmp_path, monkeypatch):
    bag = write_bag(tmp_path / "a.mcap", plain_numbers, ("std_msgs/msg/Float64MultiArray", NUMBERS))
    monkeypatch.setitem(sys.modules, "mcap_ros2.decoder", None)

    with pytest.raises(pippin.PluginError, match=r"install it by `uv .*ros2"):
        read(bag)


def test_a_reader_of_a_file_is_a_plugin(tmp_path):
    (tmp_path / "reader.py").write_text(
        "import attrs\nimport numpy as np\n\n\n"
        "@attrs.frozen(kw_only=True)\nclass Config:\n    '''Numbers in lines.'''\n\n    implementation = 'Reader'\n\n\n"
        "class Reader:\n    '''Reads numbers.'''\n\n    form = 'lines of numbers'\n\n"
        "    def __init__(self, config):\n        pass\n\n"
        "    def read(self, path, targets):\n        rows = np.loadtxt(path)\n"
        "        yield {'time': rows[:, 0], 'joints': ['elbow'], 'position': rows[:, 1:2], 'command': rows[:, 2:]}\n"
    )
    (tmp_path / "log.txt").write_text("0 1 2\n1 3 4\n")

    (found,) = read(tmp_path / "log.txt", {"type": f"{tmp_path}/reader.py:Config"})

    np.testing.assert_array_equal(found.command, [[2.0], [4.0]])
    with pytest.raises(pippin.ConfigError, match=r"no suffix of a log.*fit\.reader"):
        read(tmp_path / "log.txt")


def write_zeros_hdf5(folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "zeros.h5", "w") as file:
        file["time"], file["joints"] = TIMES, NAMES
        for kind in ("position", "command"):
            file.create_dataset(kind, (100_000, 2), "f8", compression="gzip")
    return folder / "zeros.h5"


def write_zeros_parquet(folder):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        pyarrow.table({name: np.zeros(100_000) for name in ("time", "position.elbow", "command.elbow")}),
        folder / "zeros.parquet",
    )
    return folder / "zeros.parquet"


def write_zeros_mcap(folder):
    writer = pytest.importorskip("mcap.writer")
    with (folder / "zeros.mcap").open("wb") as stream:
        file = writer.Writer(stream)
        file.start()
        schema = file.register_schema("foxglove.JointStates", "protobuf", b"")
        channel = file.register_channel("/zeros", "protobuf", schema)
        for step in range(3):
            file.add_message(channel, step, bytes(1_000_000), step)
        file.finish()
    return folder / "zeros.mcap"


@pytest.mark.parametrize("write", [write_zeros_hdf5, write_zeros_parquet, write_zeros_mcap])
def test_a_small_file_that_unpacks_to_more_than_the_memory_is_refused(write, tmp_path, monkeypatch):
    """Before it is unpacked: a few kilobytes can state many gigabytes."""
    path = write(tmp_path)
    monkeypatch.setattr(pippin.files, "physical_memory", lambda: 3_000_000)

    assert path.stat().st_size < 30_000
    with pytest.raises(
        pippin.ConfigError, match=r"it unpacks to 0\.00\d+ GiB, and this machine has 0\.00279 GiB of memory"
    ):
        read(path)


def smooth(times):
    return np.sin(3.0 * times)[:, None] * [1.0, -0.5]


def write_lost(folder, lost=(), missing=()):
    """Write a log of two seconds with rows that are not finite, and without some rows."""
    times = 0.01 * np.arange(200)
    arrays = {"position": smooth(times - 0.03), "velocity": 3.0 * smooth(times), "command": smooth(times)}
    for values in arrays.values():
        values[list(lost), 0] = np.nan
    rows = np.setdiff1d(np.arange(200), list(missing))
    np.savez(folder / "log.npz", time=times[rows], joints=NAMES, **{name: own[rows] for name, own in arrays.items()})
    return folder / "log.npz"


@pytest.mark.parametrize("kind", ["lost", "missing"])
def test_lost_packets_are_noted_and_their_commands_lie_between_the_others(tmp_path, kind):
    (log,) = read(write_lost(tmp_path, **{kind: (20, 90, 91)}))

    assert len(log.times) == 197
    np.testing.assert_allclose(log.command_times, 0.01 * np.arange(200), atol=1e-9)
    np.testing.assert_allclose(log.command, smooth(log.command_times), atol=1e-3)
    assert "3 samples are missing" in log.notes
    assert ("3 samples that are not finite are left out" in log.notes) == (kind == "lost")


@pytest.mark.parametrize("kind", ["lost", "missing"])
def test_a_gap_divides_a_log(tmp_path, kind):
    first, second = read(write_lost(tmp_path, **{kind: range(50, 60)}))

    assert len(first.times) == 50
    assert second.times[0] == pytest.approx(0.6)
    assert second.name.endswith("log.npz, from 0.6 s")
    assert second.command_times[-1] == pytest.approx(1.99)
    assert "1 gaps without samples divide it, the first at 0.49 s" in first.notes
    np.testing.assert_allclose(second.commanded, smooth(second.times), atol=1e-9)


def test_a_log_that_lost_much_is_refused(tmp_path):
    with pytest.raises(pippin.ConfigError, match="50 of 200 rows are not finite, the first one is row 3"):
        read(write_lost(tmp_path, lost=range(3, 53)))
