"""Calibrate and move a Koch arm by LeRobot: PORT FOLDER OUT. Runs with an interpreter that has lerobot and its SDK."""

from __future__ import annotations

import builtins
import json
import sys
import time
from pathlib import Path
from typing import Any

import lerobot.motors.motors_bus as motors
from lerobot.robots.koch_follower import KochFollower, KochFollowerConfig

RANGES = 9.0
"""Time until the person ends the record of the ranges [s]: a hand's way there and back takes 4."""


def with_patience(port_handler: Any) -> None:
    """Let the library wait longer than 34 ms, which a busy machine may take; LeRobot does so for other servos."""
    known = port_handler.setPacketTimeout

    def set_timeout(size: int) -> None:
        known(size)
        port_handler.packet_timeout += 250.0

    port_handler.setPacketTimeout = set_timeout


def main(port: str, folder: str, out: str) -> None:
    """Write what a person would see who presses ENTER in time."""
    begin: list[float] = []

    def is_pressed() -> bool:
        begin.append(time.monotonic())
        return begin[-1] > begin[0] + RANGES

    builtins.input = lambda text="": ""
    motors.enter_pressed = is_pressed
    told: dict[str, Any] = {}
    robot = KochFollower(KochFollowerConfig(port=port, id="emulated", use_degrees=True, calibration_dir=Path(folder)))
    with_patience(robot.bus.port_handler)
    while not Path(port).exists():
        time.sleep(0.1)
    robot.bus.connect()  # in the first seconds the hand holds the arm in the middle
    told["before"] = robot.is_calibrated
    robot.calibrate()
    told["after"] = robot.is_calibrated
    robot.configure()
    robot.bus.enable_torque()
    told["reached"] = {}
    for goal in (0.0, 20.0):
        robot.send_action({"wrist_roll.pos": goal})
        time.sleep(1.5)
        told["reached"][goal] = robot.bus.sync_read("Present_Position", num_retry=5)["wrist_roll"]
    told["failed"] = 0
    for _ in range(500):
        try:
            robot.get_observation()
        except ConnectionError:
            told["failed"] += 1
    robot.disconnect()
    Path(out).write_text(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
