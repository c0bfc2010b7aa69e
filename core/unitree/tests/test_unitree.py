"""Robots of Unitree: programs of others, in processes of their own, read and command them."""

import os
import time
from pathlib import Path

import numpy as np
import pytest
from pippin import ConfigError
from pippin_robot import RobotCommands, RobotFault, RobotReadings, RobotSafetyConfig

from tests.serving import DOMAIN, joints_of, peer, served, within

pytest.importorskip("cyclonedds")
from pippin_ros2.cdr import encode
from pippin_unitree import UnitreeConfig, UnitreeJointConfig
from pippin_unitree.messages import messages, motors
from pippin_unitree.motors import POSITION_STOP, VELOCITY_STOP, Motors
from pippin_unitree.robot import Unitree

PEER = Path(__file__).with_name("unitree_peer.py")

GO2 = {f"{motor}_joint": UnitreeJointConfig() for motor in reversed(motors("go2"))}


def robot(kind="go2", joints=GO2, **keys):
    return Unitree(UnitreeConfig(robot=kind, joints=joints, domain=DOMAIN, **keys))


@pytest.mark.parametrize("sdk", ["", os.environ.get("PIPPIN_UNITREE_SDK", "-")], ids=["own", "unitree"])
def test_a_program_of_others_reads_states_and_commands_motors_by_name(sdk):
    if sdk == "-":
        pytest.skip("PIPPIN_UNITREE_SDK names no folder with Unitree's SDK")
    with served(robot()) as found:
        found.readings.voltage[:], found.readings.temperature[:] = 28.0, 40.0
        mode, first, last = peer(PEER, DOMAIN, 1.5, *filter(None, [sdk]))
        time.sleep(0.1)
        commands, counts = found.commands, found.server.counts()

    assert mode == [0, {"form": "0", "name": ""}]
    assert (first["crc"], last["crc"]) == (True, True)
    np.testing.assert_allclose(first["q"][:12], 0.1 * np.arange(12)[::-1], atol=1e-6)
    assert (first["mode"], last["mode"]) == ([0] * 20, [1] * 12 + [0] * 8)
    np.testing.assert_allclose(first["quaternion"], [0.8, 0.0, 0.0, 0.6], atol=1e-6)
    np.testing.assert_allclose(first["rpy"], [0.0, 0.0, 2.0 * np.arctan2(0.6, 0.8)], atol=1e-6)
    assert (first["power"], first["temperature"]) == (28.0, 40)
    assert 5.0 < last["rate"] < 250.0
    np.testing.assert_allclose(last["q"][:12], [0.0, 0.4, -0.6] * 4, atol=1e-6)
    np.testing.assert_allclose(commands.position, ([0.0, 0.4, -0.6] * 4)[::-1], atol=1e-6)
    assert (commands.kp.tolist(), commands.kd.tolist()) == ([100.0] * 12, [3.0] * 12)
    assert commands.enabled.all()
    assert counts["refused"] == 1


def followed(**fields):
    """Return what a command commands; other fields are as of a motor that is on and free."""
    motors, commands = Motors(robot().config, []), RobotCommands(12)
    record = motors.command()
    for path, value in {"mode": 1, **fields}.items():
        record[f"motor_cmd.{path}"] = value
    motors.follow(record, commands)
    return commands


def test_numbers_that_stand_for_none_command_nothing():
    free = followed()
    held = followed(q=0.5, kp=20.0, tau=2.0)

    assert np.isnan([*free.position, *free.velocity, *held.velocity]).all()
    assert free.kp.tolist() == [0.0] * 12
    assert (held.position.tolist(), held.effort.tolist()) == ([0.5] * 12, [2.0] * 12)
    assert not followed(mode=0).enabled.any()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kp": 1.0, "q": POSITION_STOP}, "give a target, or kp = 0"),
        ({"kd": 1.0, "dq": VELOCITY_STOP}, "give a target, or kd = 0"),
        ({"tau": np.nan}, "tau of RL_calf_joint is nan"),
        ({"mode": 10}, "mode of RL_calf_joint is 10"),
    ],
)
def test_a_wrong_command_is_refused(fields, words):
    with pytest.raises(ValueError, match=words):
        followed(**fields)


def test_motors_are_found_by_name_or_refused():
    with pytest.raises(ConfigError, match="no motor 'FR_hipp'; did you mean 'FR_hip'"):
        Motors(robot(joints={"a": UnitreeJointConfig(motor="FR_hipp")}).config, [])
    joints = {"a": UnitreeJointConfig(motor="FR_hip"), "FR_hip": UnitreeJointConfig()}
    with pytest.raises(ConfigError, match="a has 'FR_hip', too"):
        Motors(robot(joints=joints).config, [])


@pytest.mark.parametrize(
    ("kind", "joints"),
    [
        ("go2", {"hip": UnitreeJointConfig(motor="FL_hip", sign=-1, zero=0.3), "FR_hip": UnitreeJointConfig()}),
        ("g1", {"left_knee_joint": UnitreeJointConfig(), "waist_yaw_joint": UnitreeJointConfig(sign=-1, zero=0.3)}),
    ],
)
def test_the_driver_switches_motors_on_and_brakes_by_itself(kind, joints):
    """Both sides share the domain of this process; the loop of the driver is silent after its first commands."""
    safety = RobotSafetyConfig(watchdog=0.2)
    with served(robot(kind, joints)) as found:
        found.readings.temperature[:] = 35.0
        driver = robot(kind, joints, safety=safety).connect(joints_of(joints))
        readings, commands = RobotReadings(2), RobotCommands(2)
        try:
            assert not driver.has_torque()
            driver.read(readings)
            np.testing.assert_allclose(readings.position, [0.0, 0.1], atol=1e-6)
            np.testing.assert_allclose(readings.orientation, [0.0, 0.0, 0.6, 0.8], atol=1e-6)
            assert readings.temperature.tolist() == [35.0, 35.0]
            with pytest.raises(RobotFault, match="nobody gave kp"):
                driver.write(commands)
            commands.position[:], commands.kp[:], commands.kd[:] = readings.position, 50.0, 2.0
            driver.write(commands)
            driver.set_torque(True)
            assert driver.has_torque()
            commands.position[:], commands.kp[:] = (0.25, -0.5), np.nan
            driver.write(commands)
            assert within(1.0, lambda: abs(found.commands.position[1] + 0.5) < 1e-6)
            followed = found.commands.kp.tolist(), found.commands.position.tolist()
            assert within(2.0, lambda: found.commands.kp.tolist() == [0.0, 0.0])
            assert found.commands.kd.tolist() == [2.0, 2.0]
            assert driver.counts()["braked"] == 1
            driver.write(commands)
            assert within(1.0, lambda: found.commands.kp.tolist() == [50.0, 50.0])
            driver.stop("limp", readings.position)
            assert within(1.0, lambda: not found.commands.enabled.any())
            found.server.set_faults(True, 0.0, 0.0)
            time.sleep(0.1)
            driver._take()  # the last ones were on their way
            with pytest.raises(RobotFault, match="no rt/lowstate") as fault:
                driver.read(readings)
        finally:
            driver.close()

    assert followed[0] == [50.0, 50.0]
    np.testing.assert_allclose(followed[1], [0.25, -0.5], atol=1e-6)
    assert fault.value.kind == "silence"
    assert found.server.counts()["refused"] == 0
    assert driver.notes[-1].startswith("motors without a table are off: ")


def test_the_driver_refuses_a_robot_that_its_own_program_moves(monkeypatch):
    """The answer is what a Go2 gives while it walks by itself."""
    with served(robot()) as found:
        answer = found.server._answer
        wrong = {"data": '{"form":"0","name":"normal"}'}
        monkeypatch.setattr(
            found.server,
            "_reply",
            lambda asked: answer(
                bytes(
                    encode(
                        messages(),
                        "unitree_api/Response",
                        {"header": {"identity": asked["header"]["identity"], "status": {"code": 0}}, **wrong},
                    )
                )
            ),
        )
        with pytest.raises(RobotFault, match="own program 'normal' moves it") as fault:
            robot().connect(joints_of(GO2))

    assert fault.value.kind == "mode"
