"""The service that tells which program of a robot moves it, and that a client asks before it commands motors."""

from __future__ import annotations

import json
import time

from pippin_robot import RobotFault
from pippin_ros2.cdr import decode, encode
from pippin_ros2.dds import DdsWire

from .messages import messages

REQUESTS, RESPONSES = (f"rt/api/motion_switcher/{each}" for each in ("request", "response"))
REQUEST, RESPONSE = "unitree_api/Request", "unitree_api/Response"

CHECK = 1001
"""Number of the question which program moves the robot."""


def refuse_program(wire: DdsWire, longest: float) -> bool:
    """Return whether the service answers within a time [s].

    Raises:
        RobotFault: A program of the robot moves it.
    """
    ask, take = wire.writer(REQUESTS, REQUEST), wire.reader(RESPONSES, RESPONSE)
    number, end = time.monotonic_ns(), time.monotonic() + longest
    question = {"header": {"identity": {"id": number, "api_id": CHECK}}, "parameter": "{}"}
    while time.monotonic() < end:
        ask(encode(messages(), REQUEST, question))
        for _ in range(20):
            time.sleep(0.005)
            for answer in (decode(messages(), RESPONSE, data) for data in take()):
                if answer["header"]["identity"]["id"] == number:
                    _refuse(answer["header"]["status"]["code"], answer["data"])
                    return True
    return False


def _refuse(code: int, data: str) -> None:
    try:
        name = json.loads(data)["name"] if code == 0 else f"code {code}"
    except (ValueError, LookupError, TypeError) as error:
        raise RobotFault(f"the motion switcher tells {data!r}, which cannot be read: {error!r}", "mode") from error
    if name:
        cure = "lay the robot down, and release the mode by the app or by MotionSwitcherClient.ReleaseMode"
        raise RobotFault(f"the robot's own program {name!r} moves it; {cure}", "mode")
