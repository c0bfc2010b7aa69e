"""The program of others: it reads the state of a Go2, lets it crouch and stand up, and reads again.

Usage: unitree_peer.py DOMAIN SECONDS [FOLDER], where FOLDER has Unitree's own SDK, unmodified; without it, `own_sdk` is
in its place. It prints lines of JSON.
"""

import json
import sys
import time
from pathlib import Path

CROUCH, STAND = [0.0, 1.1, -2.0] * 4, [0.0, 0.4, -0.6] * 4
"""The motors of a leg: hip, thigh and calf [rad]."""


class Unitree:
    """The same names by Unitree's SDK."""

    def __init__(self, domain):
        from unitree_sdk2py.comm.motion_switcher.motion_switcher_client import MotionSwitcherClient
        from unitree_sdk2py.core.channel import ChannelFactoryInitialize, ChannelPublisher, ChannelSubscriber
        from unitree_sdk2py.idl.default import unitree_go_msg_dds__LowCmd_
        from unitree_sdk2py.idl.unitree_go.msg.dds_ import LowCmd_, LowState_
        from unitree_sdk2py.utils.crc import CRC

        ChannelFactoryInitialize(domain, "lo")
        self.states, self.crc, self.command = [], CRC().Crc, unitree_go_msg_dds__LowCmd_
        self._subscriber = ChannelSubscriber("rt/lowstate", LowState_)
        self._subscriber.Init(self.states.append, 10)
        publisher = ChannelPublisher("rt/lowcmd", LowCmd_)
        publisher.Init()
        switcher = MotionSwitcherClient()
        switcher.SetTimeout(5.0)
        switcher.Init()
        self.write, self.check_mode = publisher.Write, switcher.CheckMode

    def receive(self):
        """Return what has come."""
        return self.states


def told(sdk, state):
    return {
        "crc": state.crc == sdk.crc(state),
        "q": [each.q for each in state.motor_state],
        "mode": [each.mode for each in state.motor_state],
        "tau": [each.tau_est for each in state.motor_state],
        "quaternion": list(state.imu_state.quaternion),
        "rpy": list(state.imu_state.rpy),
        "accelerometer": list(state.imu_state.accelerometer),
        "power": state.power_v,
        "temperature": state.motor_state[0].temperature,
        "tick": state.tick,
    }


def main(domain, seconds, folder=None):
    sys.path.insert(0, folder or str(Path(__file__).parent))
    if folder:
        sdk = Unitree(domain)
    else:
        from own_sdk import Sdk

        sdk = Sdk(domain)
    print(json.dumps(sdk.check_mode()), flush=True)
    while not sdk.receive():
        time.sleep(0.01)
    first = sdk.receive()[-1]
    print(json.dumps(told(sdk, first)), flush=True)
    command, is_own = sdk.command(), folder is None
    command.head[:] = [0xFE, 0xEF]
    command.level_flag = 0xFF
    start, count, begin = [each.q for each in first.motor_state], len(sdk.receive()), time.monotonic()
    while (now := time.monotonic() - begin) < seconds:
        phase = 3.0 * now / seconds  # to the crouch, to the stand, and there it stays
        for number in range(12):
            ways = (start[number], CROUCH[number]), (CROUCH[number], STAND[number]), (STAND[number], STAND[number])
            motor, (low, high) = command.motor_cmd[number], ways[int(phase)]
            motor.mode, motor.q, motor.dq, motor.kp, motor.kd = (
                0x01,
                low + (high - low) * (phase % 1.0),
                0.0,
                100.0,
                3.0,
            )
        command.crc = sdk.crc(command)
        sdk.write(command)
        sdk.receive()
        time.sleep(0.02 if is_own else 0.002)  # the checksum bit by bit takes its time
    print(json.dumps({"rate": (len(sdk.receive()) - count) / seconds, **told(sdk, sdk.receive()[-1])}), flush=True)
    command.crc ^= 1
    for number in range(12):
        command.motor_cmd[number].mode = 0
    sdk.write(command)  # a wrong checksum: nothing follows


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), *sys.argv[3:])
