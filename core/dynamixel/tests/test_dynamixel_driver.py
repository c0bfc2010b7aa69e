"""The driver, at emulated servos."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import numpy as np
import pytest
from pippin import ConfigError
from pippin_dynamixel import DynamixelConfig, DynamixelJointConfig, bus
from pippin_dynamixel.robot import Dynamixel, DynamixelDriver
from pippin_robot import RobotCommands, RobotFault, RobotReadings

from .conftest import JOINTS, POSITIONS, Client, Servos, opened

pytest.importorskip("serial")

COUNT = 2.0 * np.pi / 4096


@pytest.fixture
def driver(servos: Servos) -> Iterator[DynamixelDriver]:
    found = servos.robot.connect(servos.joints)
    yield found
    found.close()


def reads(driver: DynamixelDriver) -> RobotReadings:
    readings = RobotReadings(3)
    driver.read(readings)
    return readings


@pytest.mark.parametrize("is_fast", [False, True])
def test_measurements_are_those_of_the_robot(tmp_path: Path, is_fast: bool) -> None:
    with opened(tmp_path, fast=is_fast) as servos:
        servos.readings.velocity[:] = 0.5, -1.0, 2.0
        servos.readings.current[:] = 0.1, -0.2, 0.3
        servos.exchange()
        driver = servos.robot.connect(servos.joints)

        found = reads(driver)

        driver.close()
    assert found.position == pytest.approx(POSITIONS, abs=0.51 * COUNT)
    assert found.velocity == pytest.approx([0.5, -1.0, 2.0], abs=0.012)
    assert found.current == pytest.approx([np.nan, -0.2, 0.3], abs=0.0014, nan_ok=True)
    assert found.voltage.tolist() == [12.0, 5.0, 12.0]
    assert found.temperature.tolist() == [30.0, 30.0, 30.0]
    assert np.isnan(found.effort).all()


def test_one_packet_asks_for_all_and_one_answers_if_it_is_fast(tmp_path: Path) -> None:
    counts = []
    for is_fast in (False, True):
        with opened(tmp_path, fast=is_fast) as servos:
            driver = servos.robot.connect(servos.joints)
            before = servos.server.counts()
            reads(driver)
            after = servos.server.counts()
            counts.append([after[name] - before[name] for name in ("packets", "answers")])
            driver.close()
    assert counts == [[1, 3], [1, 1]]


@pytest.mark.parametrize("mode", [3, 4, 5])
@pytest.mark.parametrize("drive", [0, 1])
def test_goals_arrive_whatever_a_servo_remembers(servos: Servos, client: Client, mode: int, drive: int) -> None:
    for own in (2, 7):
        for register, size, value in ((bus.MODE, 1, mode), (bus.DRIVE, 1, drive), (bus.OFFSET, 4, 100 * own)):
            assert client.write(own, register, size, value) == (0, 0)
    driver = servos.robot.connect(servos.joints)
    targets = POSITIONS + np.array([0.1, -0.2, -0.3])

    before = reads(driver).position
    commands = RobotCommands(3)
    commands.position[:] = before
    driver.write(commands)
    driver.set_torque(True)
    commands.position[:] = targets
    driver.write(commands)
    assert driver.has_torque()

    driver.close()
    assert before == pytest.approx(POSITIONS, abs=0.51 * COUNT)
    assert servos.exchange().position == pytest.approx(targets, abs=0.51 * COUNT)


def test_turns_that_torque_makes_a_servo_forget_are_not_lost(servos: Servos, driver: DynamixelDriver) -> None:
    servos.readings.position[0] = 3.5  # by hand, past the end of the turn at 3.14
    servos.exchange()
    assert reads(driver).position[0] == pytest.approx(3.5, abs=COUNT)

    driver.set_torque(True)

    assert servos.exchange().position[0] == pytest.approx(3.5, abs=COUNT)
    assert reads(driver).position[0] == pytest.approx(3.5, abs=COUNT)


def test_positions_begin_within_half_a_turn_of_zero(servos: Servos) -> None:
    servos.readings.position[2] = -3.0  # 93 counts: the joint's zero is at 2048
    servos.exchange()
    driver = servos.robot.connect(servos.joints)
    assert reads(driver).position[2] == pytest.approx(-3.0, abs=COUNT)
    driver.close()


def test_goals_stay_within_the_limits_of_a_servo(servos: Servos, client: Client) -> None:
    client.write(1, bus.HIGHEST, 4, 2400)
    client.write(2, bus.LOWEST, 4, 1500)
    with pytest.raises(
        RobotFault, match="lift: it stands at 1163, and takes no goal outside of its limits, 1500 to 4095"
    ) as fault:
        servos.robot.connect(servos.joints)
    assert fault.value.kind == "limit"
    client.write(2, bus.LOWEST, 4, 0)
    driver = servos.robot.connect(servos.joints)
    commands = RobotCommands(3)
    commands.position[:] = 1.0
    driver.write(commands)
    driver.has_torque()
    assert client.read(1, bus.GOAL, 4)[0] == 2400
    driver.close()


def test_settings_are_written_once(servos: Servos, client: Client, driver: DynamixelDriver) -> None:
    commands = RobotCommands(3)
    commands.position[:], commands.kp[:2], commands.kd[2], commands.effort_share[1] = POSITIONS, 300.0, 7.0, 0.5
    driver.write(commands)
    before = driver.counts()["packets"]

    driver.write(commands)

    assert driver.counts()["packets"] - before == 1  # the goals alone
    assert [client.read(own, bus.KP, 2)[0] for own in (1, 2, 7)] == [300, 300, 800]
    assert client.read(7, bus.KD, 2)[0] == 7
    assert client.read(2, bus.GOAL_PWM, 2)[0] == 442
    assert servos.exchange().effort_share == pytest.approx([1.0, 442 / 885, 1.0])


def test_targets_that_are_no_numbers_are_left_out(servos: Servos, driver: DynamixelDriver) -> None:
    commands = RobotCommands(3)
    commands.position[1] = 0.2
    driver.write(commands)
    driver.has_torque()  # an answer: the packet before it is done
    assert servos.exchange().position == pytest.approx([POSITIONS[0], 0.2, POSITIONS[2]], abs=0.51 * COUNT)


def test_a_robot_is_left_as_asked(servos: Servos, client: Client, driver: DynamixelDriver) -> None:
    driver.set_torque(True)
    driver.stop("hold", POSITIONS + 0.1)
    assert driver.has_torque()
    assert servos.exchange().position == pytest.approx(POSITIONS + 0.1, abs=0.51 * COUNT)
    client.write(2, bus.KI, 2, 50)
    driver.stop("damp", POSITIONS)
    assert driver.has_torque()
    assert [client.read(own, place, 2)[0] for own in (1, 2, 7) for place in (bus.KP, bus.KI)] == [0] * 6
    driver.stop("limp", POSITIONS)
    assert not driver.has_torque()


def test_a_hardware_error_is_a_fault_by_its_kind(servos: Servos, client: Client, driver: DynamixelDriver) -> None:
    driver.set_torque(True)
    servos.server.set_overload(np.array([False, True, False]))
    servos.exchange()
    with pytest.raises(RobotFault, match=r"lift: a hardware error, overload: register 70 reads 32") as fault:
        reads(driver)
    assert fault.value.kind == "overload"
    driver.stop("limp", POSITIONS)
    assert client.packets.ping(client.port, 1)[1] == 0  # an answer: the packets before it are done
    assert not servos.exchange().enabled.any()


def test_lost_and_damaged_answers_are_asked_for_again(tmp_path: Path) -> None:
    with opened(tmp_path, retries=4, seed=3) as servos:
        driver = servos.robot.connect(servos.joints)
        servos.server.memory.set_faults(False, 0.05, 0.05)
        found = [reads(driver).position for _ in range(100)]
        counts = driver.counts()
        driver.close()
    assert found == pytest.approx(np.tile(POSITIONS, (100, 1)), abs=0.51 * COUNT)
    assert counts["retries"] == counts["wrong"] + counts["silent"] > 10
    assert min(counts["wrong"], counts["silent"]) > 0


def test_silence_is_a_fault_within_the_tries(servos: Servos, driver: DynamixelDriver) -> None:
    servos.server.memory.set_faults(True, 0.0, 0.0)
    begin = time.monotonic()
    with pytest.raises(RobotFault, match=r"no answer to a question for register 126 .* in 3 tries") as fault:
        reads(driver)
    assert fault.value.kind == "silence"
    assert time.monotonic() - begin < 0.5


def refused(servos: Servos, **settings: object) -> Dynamixel:
    return Dynamixel(attrs.evolve(servos.config, **settings))


def test_another_robot_is_refused_by_name(servos: Servos, client: Client) -> None:
    model = {**JOINTS, "lift": attrs.evolve(JOINTS["lift"], model="xl330-m077")}
    with pytest.raises(RobotFault, match="lift: id 2 is xl330-m288, and not xl330-m077"):
        refused(servos, joints=model).connect(servos.joints)
    missing = {**JOINTS, "lift": attrs.evolve(JOINTS["lift"], id=9)}
    with pytest.raises(RobotFault, match=r"no answer to a question for register 0 of \[1, 9, 7\]"):
        refused(servos, joints=missing).connect(servos.joints)
    client.write(7, bus.MODE, 1, 1)
    with pytest.raises(RobotFault, match="grip: register 11 of id 7 has mode 1, not 3, 4 or 5"):
        servos.robot.connect(servos.joints)


def test_settings_that_do_not_fit_are_refused(servos: Servos) -> None:
    twice = {"a": DynamixelJointConfig(id=1), "b": DynamixelJointConfig(id=1)}
    with pytest.raises(ConfigError, match=r"robot.joints.b.id: a has 1 already"):
        Dynamixel(DynamixelConfig(port="x", joints=twice))
    with pytest.raises(ConfigError, match=r"robot.baud: servos know 9600, .*, got 500000"):
        refused(servos, baud=500_000)
    with pytest.raises(ConfigError, match=r"robot.rate: 142 bytes a period take 247% of it .* at most 28 Hz"):
        refused(servos, baud=57_600, rate=100.0).connect(servos.joints)
    slide = [attrs.evolve(servos.joints[0], is_angle=False), *servos.joints[1:]]
    with pytest.raises(ConfigError, match=r"robot.joints.pan: it slides"):
        servos.robot.serve(slide)


def test_a_calibration_is_written_and_compared(tmp_path: Path) -> None:
    file = tmp_path / "arm.json"
    servos = Servos(tmp_path, calibration=file)
    table = servos.server.calibrate(file)
    servos.server.open(servos.readings)
    client = Client(servos.config.port)

    middle = 2048 + round(-0.25 / COUNT)  # of -1.5 and 1.0
    assert table["pan"] == {
        "id": 1,
        "drive_mode": 0,
        "homing_offset": 2047 - middle,
        "range_min": 2047 - round(1.25 / COUNT),
        "range_max": 2047 + round(1.25 / COUNT),
    }
    assert json.loads(file.read_text()) == table
    assert client.position(1) == table["pan"]["homing_offset"] + 2048 + round(0.5 / COUNT)
    driver = servos.robot.connect(servos.joints)
    assert reads(driver).position == pytest.approx(POSITIONS, abs=0.51 * COUNT)
    driver.close()
    client.write(2, bus.OFFSET, 4, 5)
    with pytest.raises(ConfigError, match=r"robot.calibration: .* for lift, and the motor \[5, "):
        servos.robot.connect(servos.joints)
    client.port.closePort()
    servos.server.close()


def test_a_port_that_is_gone_is_a_fault(servos: Servos, driver: DynamixelDriver) -> None:
    servos.server.close()
    with pytest.raises(RobotFault, match="the port is lost") as fault:
        reads(driver)
    assert fault.value.kind == "port"
    with pytest.raises(RobotFault, match="the port is lost"):
        driver.set_torque(False)
