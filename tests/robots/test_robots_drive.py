"""A whole drive: targets of motions, a recording and a policy; what is recorded, and who reads it."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pippin
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper
from pippin.cli import main
from pippin.errors import ConfigError
from pippin_judge import judge
from pippin_robot import DrivenJoint, DriveSource, RobotFault, drive
from pippin_robot.drive_loop import DriveLoop
from pippin_robot.drive_plan import plan_drive
from pippin_robot.limits import TargetLimits
from pippin_robot.pace import Deadlines
from pippin_robot.sources import HoldSource, LeaderSource, TargetSource
from pippin_task import passport_of, write_passport

from tests.pages import until_ctrl_c

from .conftest import FILE
from .mirror import Mirror, MirrorDriver

NAMES = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]

TASK = """
extends = ["robot.toml"]

[task.actions]
arm = { type = "joint-targets", actuator = "arm", scale = 0.3 }

[task.observations.policy]
positions = { of = { type = "joint-positions", relative = true }, history = 2 }
velocities = { of = "joint-velocities", scale = 0.1 }
action = { of = "last-action" }
"""


@pytest.fixture
def file(tmp_path):
    """A file of an arm whose robot is a mirror."""
    joints = "".join(f"{name} = {{ sign = 1 }}\n" for name in NAMES)
    text = f"""
extends = [{json.dumps(str(FILE.parent / "so101.toml"))}]

[simulation]
device = "cpu"

[robot]
type = "tests.robots.mirror:MirrorConfig"
rate = 50.0
safety = {{ soft_start = 0.1 }}

[robot.joints]
{joints}"""
    (tmp_path / "robot.toml").write_text(text)
    return tmp_path / "robot.toml"


def by_simulation(config, count, steps):
    """Return the targets of motions that a simulation has, shape [count, joints]."""
    rows = []
    with pippin.Simulation(config.with_tables(robot=None)) as simulation:
        for _ in range(count):
            simulation.step(steps)
            rows.append(simulation.actuators["arm"].position_targets.numpy()[0].copy())
    return np.array(rows)


def test_motions_are_sent_and_recorded(file, tmp_path):
    config = pippin.load(file)
    found = drive(config, duration=0.6, out=tmp_path / "run")
    wanted = by_simulation(config, 30, 4)

    assert found.fault is None
    assert np.abs(np.array(Mirror.last.told)[-30:] - wanted).max() < 1e-6
    run = pippin.Run(tmp_path / "run")
    sent = run["actuators/arm/position_targets"].values[:, 0]
    assert np.abs(sent[1:] - wanted[:-1]).max() < 1e-6  # a row has the targets that led to its state
    assert np.abs(run["joint_q"].values[:, 0] - sent).max() < 1e-6
    assert np.diff(run.time) == pytest.approx(0.02, abs=0.01)
    assert "the motions of the file" in (tmp_path / "run" / "report.html").read_text()
    assert run.summary["robot"]["rate"] == pytest.approx(50.0, rel=0.05)
    assert not Mirror.last.is_on  # as it was found


def test_a_recording_is_replayed(file, tmp_path):
    config = pippin.load(file)
    drive(config, duration=0.6, out=tmp_path / "run")
    first = np.array(Mirror.last.told)[-30:]
    drive(config, DriveSource(replay=tmp_path / "run" / "series.npz"), is_recorded=False)
    again = np.array(Mirror.last.told)

    # Times of a real loop are not exact: a row may come one period earlier or later.
    apart = [np.abs(again[-28:] - first[shift : 28 + shift]).max(axis=1) for shift in (0, 1, 2)]
    assert np.min(apart, axis=0).max() < 1e-6
    assert np.abs(again[-28:] - first[1:29]).max() < 0.2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:fit.logs")  # a mirror moves as no arm does
def test_judge_and_the_page_read_a_drive(file, tmp_path):
    """What a drive records are the channels of a run: a judgement has the joints and the targets, a page the poses."""
    pytest.importorskip("viser")
    drive(pippin.load(file), duration=3.0, out=tmp_path / "run")
    fit = tmp_path / "fit.toml"
    fit.write_text(
        'extends = ["robot.toml"]\n[fit]\naccept = ["clock", "commands", "stale", "lag"]\nvalidation = 0.3\n'
        'iterations = 2\n[fit.parameters."signals.delay"]\nrange = [-0.02, 0.05]\nscale = "linear"\n'
    )
    found = judge(fit, [tmp_path / "run" / "series.npz"], laws=["file"], noise=1e-3, out=tmp_path / "judged")
    served, shown = until_ctrl_c(["view", str(tmp_path / "run"), "--no-browser"], after=0.5)

    assert [each.solver for each in found.fitted] == ["mujoco"]
    assert served == [200], shown.output
    assert shown.exit_code == 0, shown.output


def test_a_shadow_expects_what_a_simulation_does(file, tmp_path):
    config = pippin.load(file)
    drive(config, duration=0.6, shadow=True, resync=10.0, out=tmp_path / "run")
    run = pippin.Run(tmp_path / "run")
    expected = run["shadow/position"].values[:, 0]
    summary = run.summary["robot"]["residual"]

    # The mirror has no gravity: the shadow's lift sags by its servo's gain, and its roll does not.
    assert np.abs(expected[-1] - run["joint_q"].values[-1, 0])[1] > 0.005
    assert summary["shoulder_lift"] > 10 * summary["wrist_roll"]
    assert f"<td>{summary['shoulder_lift']:.4g} rad</td>" in (tmp_path / "run" / "report.html").read_text()


def network(folder, bias, more=""):
    """Write a policy of the task whose action is a bias and a share of its first six observations."""
    (folder / "task.toml").write_text(TASK + more)
    passport = passport_of(pippin.load(folder / "task.toml", {"simulation.decimation": 4}), "policy")
    width = len(passport["record"]["observations"][0])
    weights = np.zeros((width, 6), dtype=np.float32)
    weights[:6, :6] = 0.2 * np.eye(6)
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"])],
        "policy",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, width])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 6])],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(np.full(6, bias, dtype=np.float32), "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.save(model, folder / "policy.onnx")
    write_passport(folder / "policy.onnx", passport)
    return folder / "policy.onnx"


def test_a_policy_drives_as_its_task_says(file, tmp_path):
    policy = network(tmp_path, 0.5)
    drive(pippin.load(file), DriveSource(policy=policy), duration=0.1, is_recorded=False)
    told = np.array(Mirror.last.told)
    start = np.array([0.0, -0.6, 0.6, 0.4, 0.0, 0.0])

    assert told[-5] == pytest.approx(start + 0.3 * 0.5, abs=1e-5)
    # The mirror follows within the period; the network reads the older of two readings.
    assert told[-3] == pytest.approx(start + 0.3 * (0.5 + 0.2 * 0.15), abs=1e-5)


PLACE = """
place = { of = { type = "command", command = "place" } }

[task.commands.place]
type = "pose"
period = [1.0, 1.0]
"""


@pytest.mark.parametrize("commands", [{}, {"plaec": [0.0] * 7}, {"place": [0.2, 0.0, 0.1]}, {"place": [np.nan] * 7}])
def test_a_command_that_does_not_fit_is_refused(file, tmp_path, commands):
    policy = network(tmp_path, 0.5, PLACE)
    with pytest.raises(ConfigError, match=r"--command: .*place=x,y,z,qx,qy,qz,qw"):
        drive(pippin.load(file), DriveSource(policy=policy, commands=commands), is_recorded=False)


def test_a_policy_of_another_rate_or_gain_is_refused(file, tmp_path):
    policy = network(tmp_path, 0.5)
    for key, value in {"robot.rate": 100.0, "actuators.arm.kp": 20.0}.items():
        with pytest.raises(ConfigError, match=r"rate|kp of shoulder_pan"):
            drive(pippin.load(file, {key: value}), DriveSource(policy=policy), is_recorded=False)


@pytest.mark.parametrize(
    ("overrides", "match"),
    [
        ({"scene.worlds": 2}, "one world"),
        ({"robot.joints": {"shoulder_pam": {}}}, "did you mean 'shoulder_pan'"),
        ({"robot.rate": 60.0}, "whole number of control steps"),
        ({"robot.limits.position_margin": 1.8}, "no way"),
        ({"actuators.arm.velocity_limit": 2.0, "robot.limits.velocity": 3.0}, "more than the 2 that shoulder_pan"),
        ({"robot.limits.velocity": {"shoulder_.*": 1.0}}, "robot.limits.velocity"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(file, overrides, match):
    with pytest.raises(ConfigError, match=match):
        drive(pippin.load(file, overrides), is_recorded=False)


def test_a_joint_without_a_table_is_refused(file):
    text = file.read_text().replace("gripper = { sign = 1 }\n", "")
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"'gripper' is driven .* add \[robot.joints.gripper\]"):
        drive(pippin.load(file), is_recorded=False)


def test_a_way_to_be_left_that_the_robot_does_not_have_is_refused(file, monkeypatch):
    monkeypatch.setattr(MirrorDriver, "stops", ("hold",))
    with pytest.raises(ConfigError, match=r"on_fault: this robot cannot be left 'limp'; it can: hold"):
        drive(pippin.load(file, {"robot.safety.on_fault": "limp"}), is_recorded=False)
    assert Mirror.last.told == []


def test_a_file_without_a_robot_is_refused():
    with pytest.raises(ConfigError, match=r"add \[robot\]"):
        drive(pippin.load(FILE.parent / "so101.toml"), is_recorded=False)


def test_a_fault_is_in_summary_recording_and_page(file, tmp_path):
    config = pippin.load(file, {"robot.safety.temperature": 50.0})
    read = Mirror.connect

    def connect(self, joints):
        driver = read(self, joints)
        own = driver.read

        def hot(readings):
            own(readings)
            readings.temperature[2] = 55.0 if len(driver.told) > 20 else 30.0

        driver.read = hot
        return driver

    Mirror.connect = connect
    try:
        found = drive(config, duration=2.0, out=tmp_path / "run")
    finally:
        Mirror.connect = read

    assert (found.kind, found.left) == ("heat", "hold")
    run = pippin.Run(tmp_path / "run")
    assert run["robot/fault"].values[-1, 0] == 6
    assert "elbow_flex has 55 °C" in (tmp_path / "run" / "report.html").read_text()
    assert run.summary["robot"]["kind"] == "heat"


class Breaking(TargetSource):
    """Fails after a while, as a program with a mistake does."""

    def first(self, readings):
        return readings.position.copy()

    def targets(self, readings, period):
        if period == 3:
            raise OSError(28, "No space left on device")
        return readings.position.copy()


def looped(file, source, log=None):
    """Return the loop of a mirror, with another source of targets."""
    plan = plan_drive(pippin.load(file), DriveSource(), 0.1, is_shadowed=False, has_page=False, resync=1.0)
    joints = plan.plan.joints
    return DriveLoop(
        robot=plan.robot,
        joints=joints,
        driver=plan.robot.connect(joints),
        source=source,
        limits=TargetLimits(plan.robot.config, joints, 0.02),
        pace=Deadlines(0.02),
        groups={"arm": np.arange(6)},
        gains=plan.gains,
        log=log,
    )


def test_an_error_leaves_the_robot_as_its_safety_says(file):
    file.write_text(file.read_text().replace("soft_start = 0.1", 'soft_start = 0.1, on_fault = "limp"'))
    with pytest.raises(OSError, match="No space left"):
        looped(file, Breaking()).run(1.0)
    assert not Mirror.last.is_on


def test_a_recording_that_fails_does_not_keep_a_robot_from_its_stop(file):
    class Full:
        def add(self, values):
            raise OSError(28, "No space left on device")

    file.write_text(file.read_text().replace("soft_start = 0.1", 'soft_start = 0.1, on_fault = "limp"'))
    loop = looped(file, HoldSource(), log=Full())
    loop.stop_key = lambda: len(loop.pace.late) > 2  # before the first row
    with pytest.raises(OSError, match="No space left"):
        loop.run(1.0)
    assert not Mirror.last.is_on


def test_a_leader_is_followed_and_may_be_silent_for_a_while(file, tmp_path):
    joints = [DrivenJoint(name=name, lower=-2, upper=2, velocity_limit=9, effort_limit=1, start=0) for name in NAMES]
    leader = MirrorDriver(joints)
    leader.position = np.array([0.3, -0.5, 0.5, 0.3, 0.1, 0.2])
    read, calls = leader.read, []

    def sometimes(readings):
        calls.append(len(calls))
        if len(calls) in (6, 7):
            raise RobotFault("no answer", "silence")
        read(readings)

    leader.read = sometimes
    source = LeaderSource(leader, NAMES, joints)
    end = looped(file, source).run(0.4)

    assert end is None
    assert Mirror.last.position == pytest.approx(leader.position)
    with pytest.raises(ConfigError, match="--leader: its robot has no 'gripper'"):
        LeaderSource(leader, NAMES[:-1], joints)


def test_a_silent_robot_is_one_line_and_exit_code_5(file, monkeypatch):
    def connect(self, joints):
        raise RobotFault("no answer to a question", "silence")

    monkeypatch.setattr(Mirror, "connect", connect)
    result = CliRunner().invoke(main, ["drive", str(file), "--yes"])

    assert result.exit_code == 5
    assert "error: no answer to a question" in result.output
    assert "Traceback" not in result.output


def test_a_user_who_says_no_moves_nothing(file):
    Mirror.last = None

    def refuse(what):
        raise RobotFault(what, "no")

    with pytest.raises(RobotFault, match=r"will move shoulder_pan, .*gripper"):
        drive(pippin.load(file), confirm=refuse, is_recorded=False)
    assert Mirror.last is None
