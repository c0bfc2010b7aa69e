"""What LeRobot's own classes do at a port: MODE PORT FOLDER. Runs with LeRobot's interpreter, and tells JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from lerobot.motors import Motor, MotorNormMode
from lerobot.motors.feetech import FeetechMotorsBus
from lerobot.robots.so_follower import SO101Follower, SO101FollowerConfig


def follower(port: str, folder: str) -> SO101Follower:
    return SO101Follower(SO101FollowerConfig(port=port, id="bus", calibration_dir=Path(folder)))


def act(port: str, folder: str) -> dict:
    """Connect, go to goals, read all the time; disconnect, connect again."""
    arm, seen, goals = follower(port, folder), [], []
    start = time.monotonic()
    arm.connect()
    connected, calibrated = time.monotonic() - start, arm.is_calibrated
    for goal in (20.0, -35.0):
        action = {f"{name}.pos": 0.5 * goal for name in arm.bus.motors}
        action |= {"shoulder_pan.pos": goal, "gripper.pos": 50.0}
        goals.append(action)
        end = time.monotonic() + 2.0
        while time.monotonic() < end:
            arm.send_action(action)
            before = time.monotonic()
            observed = arm.get_observation()
            seen.append((before, time.monotonic(), observed))
            time.sleep(0.01)
    arm.disconnect()
    arm.connect()
    again = arm.is_calibrated
    arm.disconnect()
    return {"connect": connected, "calibrated": [calibrated, again], "seen": seen, "goals": goals}


def packets(port: str, folder: str, count: int, retries: int) -> dict:
    """Read and write, and count what fails by what LeRobot says."""
    arm, failed = follower(port, folder), {"damaged": 0, "silent": 0}
    arm.bus.connect(handshake=False)
    start = time.monotonic()
    for number in range(count // 2):
        try:
            arm.bus.sync_read("Present_Position", num_retry=retries)
            arm.bus.write("Goal_Position", "wrist_roll", 10.0 if number % 200 < 100 else -10.0, num_retry=retries)
        except ConnectionError as error:
            failed["silent" if "no status packet" in str(error) else "damaged"] += 1
    seconds = time.monotonic() - start
    arm.bus.disconnect(disable_torque=False)
    return {"failed": failed, "seconds": seconds}


def speeds(port: str, folder: str) -> dict:
    """Ask at several speeds, and name those with answers; the wrong ones are silent."""
    arm = follower(port, folder)
    arm.bus.connect(handshake=False)
    found = {}
    for speed in (500_000, 115_200, 1_000_000):
        arm.bus.set_baudrate(speed)
        found[speed] = arm.bus.broadcast_ping()
    arm.bus.disconnect(disable_torque=False)
    return {"found": found}


def setup(port: str, folder: str) -> dict:
    """Give a new motor its address, as `lerobot-setup-motors` does."""
    bus = FeetechMotorsBus(port, {"gripper": Motor(6, "sts3215", MotorNormMode.RANGE_0_100)})
    bus.setup_motor("gripper")
    model = bus.ping("gripper")
    bus.disconnect(disable_torque=False)
    return {"model": model}


if __name__ == "__main__":
    mode, port, folder, *numbers = sys.argv[1:]
    told = {"act": act, "packets": packets, "speeds": speeds, "setup": setup}[mode](port, folder, *map(int, numbers))
    (Path(folder) / f"{mode}.told").write_text(json.dumps(told))
