"""Unitree's own SDK, unmodified, as the program of others: it reads the state, stands the robot up, and reads again.

Usage: sdk_peer.py FOLDER_OF_THE_SDK DOMAIN SECONDS. It prints lines of JSON.
"""

import json
import sys
import time

sys.path.insert(0, sys.argv[1])

from unitree_sdk2py.comm.motion_switcher.motion_switcher_client import MotionSwitcherClient
from unitree_sdk2py.core.channel import ChannelFactoryInitialize, ChannelPublisher, ChannelSubscriber
from unitree_sdk2py.idl.default import unitree_go_msg_dds__LowCmd_
from unitree_sdk2py.idl.unitree_go.msg.dds_ import LowCmd_, LowState_
from unitree_sdk2py.utils.crc import CRC

CROUCH = [0.0, 1.1, -2.0] * 4
STAND = [0.0, 0.4, -0.6] * 4
"""The motors of a leg: hip, thigh and calf [rad]."""


def main(domain, seconds):
    ChannelFactoryInitialize(domain, "lo")
    crc, states = CRC(), []
    subscriber = ChannelSubscriber("rt/lowstate", LowState_)
    subscriber.Init(states.append, 10)
    publisher = ChannelPublisher("rt/lowcmd", LowCmd_)
    publisher.Init()
    switcher = MotionSwitcherClient()
    switcher.SetTimeout(5.0)
    switcher.Init()
    print(json.dumps(switcher.CheckMode()), flush=True)
    while not states:
        time.sleep(0.01)
    first = states[-1]
    print(
        json.dumps(
            {
                "crc": first.crc == crc.Crc(first),
                "q": [each.q for each in first.motor_state],
                "mode": [each.mode for each in first.motor_state],
                "quaternion": list(first.imu_state.quaternion),
                "rpy": list(first.imu_state.rpy),
                "power": first.power_v,
                "temperature": first.motor_state[0].temperature,
            }
        ),
        flush=True,
    )
    command = unitree_go_msg_dds__LowCmd_()
    command.head[:] = 0xFE, 0xEF
    command.level_flag = 0xFF
    start, count, begin = [each.q for each in first.motor_state], len(states), time.monotonic()
    while (now := time.monotonic() - begin) < seconds:
        phase = 3.0 * now / seconds  # to the crouch, to the stand, and there it stays
        for number in range(12):
            motor = command.motor_cmd[number]
            motor.mode, motor.dq, motor.kp, motor.kd, motor.tau = 0x01, 0.0, 100.0, 3.0, 0.0
            ways = (start[number], CROUCH[number]), (CROUCH[number], STAND[number]), (STAND[number], STAND[number])
            first, second = ways[int(phase)]
            motor.q = first + (second - first) * (phase % 1.0)
        command.crc = crc.Crc(command)
        publisher.Write(command)
        time.sleep(0.002)
    last = states[-1]
    print(
        json.dumps(
            {
                "rate": (len(states) - count) / seconds,
                "q": [each.q for each in last.motor_state[:12]],
                "mode": [each.mode for each in last.motor_state],
                "accelerometer": list(last.imu_state.accelerometer),
                "rpy": list(last.imu_state.rpy),
                "tau": [each.tau_est for each in last.motor_state[:12]],
            }
        ),
        flush=True,
    )


if __name__ == "__main__":
    main(int(sys.argv[2]), float(sys.argv[3]))
