"""An arm of a simulation whose servos are on a bus."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pippin import ConfigError, Simulation, load
from pippin.arrays import on_host
from pippin_dynamixel import bus
from pippin_robot import Emulator, RobotCommands, RobotReadings
from pippin_robot.emulating import ACTING, plugin_of

from .conftest import Client

pytest.importorskip("serial")

ROOT = Path(__file__).parents[3]

ARM = f"""
extends = ["{ROOT / "docs" / "examples" / "so101.toml"}"]

[actuators.arm]
type = "servo"
joints = ["shoulder_.*", "elbow_flex", "wrist_.*", "gripper"]
model = "xl330"
voltage = 6.0

[robot]
type = "dynamixel"
port = "PORT"

[robot.joints]
shoulder_pan = {{ id = 1, model = "xl330-m288" }}
shoulder_lift = {{ id = 2, sign = -1 }}
elbow_flex = {{ id = 3, zero = 1024 }}
wrist_flex = {{ id = 4 }}
wrist_roll = {{ id = 5 }}
gripper = {{ id = 6 }}
"""

TURN = 4096
COUNT = 2.0 * np.pi / TURN


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    folder = tmp_path_factory.mktemp("arm")
    file = folder / "arm.toml"
    file.write_text(ARM.replace("PORT", str(folder / "bus")), encoding="utf-8")
    config = load(file)
    with Simulation(config.with_tables(**dict.fromkeys(ACTING))) as simulation:
        emulator = Emulator(simulation, plugin_of(config))
        emulator.simulation = simulation
        emulator.server.open(emulator.readings)
        yield emulator
        emulator.close()


def steps(emulator: Emulator, count: int) -> None:
    for _ in range(count):
        emulator.step()


def test_the_driver_measures_and_moves_the_arm(emulator: Emulator) -> None:
    driver = plugin_of(emulator.simulation.config).connect(emulator.plan.joints)
    readings, commands = RobotReadings(6), RobotCommands(6)
    driver.read(readings)
    start = readings.position.copy()
    truth = on_host(emulator.simulation.state.joint_q)[emulator.plan.coordinates]
    assert start == pytest.approx(truth, abs=0.51 * COUNT)

    commands.position[:] = start
    driver.write(commands)
    driver.set_torque(True)
    commands.position[:] = start + np.array([0.4, 0.2, -0.2, 0.3, -0.5, 0.3])
    driver.write(commands)
    assert driver.has_torque()
    steps(emulator, 200)
    driver.read(readings)

    truth = on_host(emulator.simulation.state.joint_q)[emulator.plan.coordinates]
    assert readings.position == pytest.approx(truth, abs=COUNT)
    off = np.abs(readings.position - commands.position)
    assert off[[0, 3, 4, 5]].max() < 0.05  # the others are too weak for this arm, and hang
    assert np.abs(truth - start)[[0, 3, 4, 5]].min() > 0.25
    assert readings.voltage == pytest.approx(np.full(6, 6.0), abs=0.051)
    driver.set_torque(False)
    driver.has_torque()
    driver.close()


def test_the_library_moves_the_arm(emulator: Emulator) -> None:
    client = Client(emulator.server.address)
    own, row = 5, 4  # no weight turns the wrist
    start = client.position(own)
    assert client.write(own, bus.TORQUE, 1, 1) == (0, 0)
    assert client.write(own, bus.GOAL, 4, start + 300) == (0, 0)
    steps(emulator, 200)

    way = client.position(own) - start

    assert way == pytest.approx(300, abs=10)
    truth = on_host(emulator.simulation.state.joint_q)[emulator.plan.coordinates[row]]
    assert client.position(own) == pytest.approx(2048 + truth / COUNT, abs=1.0)
    assert client.write(own, bus.TORQUE, 1, 0) == (0, 0)
    client.port.closePort()


def test_gains_of_a_client_reach_the_motor(emulator: Emulator) -> None:
    client = Client(emulator.server.address)
    assert client.write(1, bus.KP, 2, 123) == (0, 0)
    steps(emulator, 1)
    assert on_host(emulator.simulation.actuators["arm"].get("kp"))[0, 0] == 123.0
    client.port.closePort()


def test_a_voltage_that_shuts_down_is_refused_at_the_start(emulator: Emulator) -> None:
    server = plugin_of(emulator.simulation.config).serve(emulator.plan.joints)
    readings = RobotReadings(6)
    readings.position[:], readings.voltage[:] = 0.0, 7.5
    with pytest.raises(ConfigError, match=r"shoulder_pan: the servo has 7.5 V, and shuts down outside 3.5 to 7 V"):
        server.open(readings)
    server.close()


@pytest.mark.slow
@pytest.mark.skipif("PIPPIN_LEROBOT_PYTHON" not in os.environ, reason="no interpreter with lerobot and dynamixel-sdk")
def test_lerobot_calibrates_and_moves_a_koch_arm(tmp_path: Path) -> None:
    file, port, out = (tmp_path / name for name in ("arm.toml", "bus", "told.json"))
    file.write_text(ARM.replace("PORT", str(port)).replace("{ id = 2, sign = -1 }", '{ id = 2, model = "xl430-w250" }'))
    file.write_text(file.read_text().replace('"xl330-m288"', '"xl430-w250"'))
    script = Path(__file__).with_name("koch_of_lerobot.py")
    with subprocess.Popen([os.environ["PIPPIN_LEROBOT_PYTHON"], script, port, tmp_path, out]) as lerobot:
        command = [Path(sys.executable).with_name("pippin"), "emulate", file, "--duration", "200", "--hand", "sweep"]
        with subprocess.Popen(command) as emulated:
            try:
                assert lerobot.wait(240.0) == 0
            finally:
                lerobot.kill()
                emulated.send_signal(signal.SIGINT)
    told = json.loads(out.read_text())

    assert (told["before"], told["after"]) == (False, True)
    assert told["reached"] == pytest.approx({"0.0": 0.0, "20.0": 20.0}, abs=1.0)
    assert told["failed"] == 0
