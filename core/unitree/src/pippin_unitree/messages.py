"""The low-level messages of Unitree's robots, and the order of their motors."""

from __future__ import annotations

import itertools

MESSAGES = {
    "unitree_go/IMUState": (
        "float32[4] quaternion, float32[3] gyroscope, float32[3] accelerometer, float32[3] rpy, uint8 temperature"
    ),
    "unitree_go/MotorState": (
        "uint8 mode, float32 q, float32 dq, float32 ddq, float32 tau_est, float32 q_raw, float32 dq_raw,"
        " float32 ddq_raw, uint8 temperature, uint32 lost, uint32[2] reserve"
    ),
    "unitree_go/BmsState": (
        "uint8 version_high, uint8 version_low, uint8 status, uint8 soc, int32 current, uint16 cycle, uint8[2] bq_ntc,"
        " uint8[2] mcu_ntc, uint16[15] cell_vol"
    ),
    "unitree_go/LowState": (
        "uint8[2] head, uint8 level_flag, uint8 frame_reserve, uint32[2] sn, uint32[2] version, uint16 bandwidth,"
        " unitree_go/IMUState imu_state, unitree_go/MotorState[20] motor_state, unitree_go/BmsState bms_state,"
        " int16[4] foot_force, int16[4] foot_force_est, uint32 tick, uint8[40] wireless_remote, uint8 bit_flag,"
        " float32 adc_reel, uint8 temperature_ntc1, uint8 temperature_ntc2, float32 power_v, float32 power_a,"
        " uint16[4] fan_frequency, uint32 reserve, uint32 crc"
    ),
    "unitree_go/MotorCmd": (
        "uint8 mode, float32 q, float32 dq, float32 tau, float32 kp, float32 kd, uint32[3] reserve"
    ),
    "unitree_go/BmsCmd": "uint8 off, uint8[3] reserve",
    "unitree_go/LowCmd": (
        "uint8[2] head, uint8 level_flag, uint8 frame_reserve, uint32[2] sn, uint32[2] version, uint16 bandwidth,"
        " unitree_go/MotorCmd[20] motor_cmd, unitree_go/BmsCmd bms_cmd, uint8[40] wireless_remote, uint8[12] led,"
        " uint8[2] fan, uint8 gpio, uint32 reserve, uint32 crc"
    ),
    "unitree_hg/IMUState": (
        "float32[4] quaternion, float32[3] gyroscope, float32[3] accelerometer, float32[3] rpy, int16 temperature"
    ),
    "unitree_hg/MotorState": (
        "uint8 mode, float32 q, float32 dq, float32 ddq, float32 tau_est, int16[2] temperature, float32 vol,"
        " uint32[2] sensor, uint32 motorstate, uint32[4] reserve"
    ),
    "unitree_hg/LowState": (
        "uint32[2] version, uint8 mode_pr, uint8 mode_machine, uint32 tick, unitree_hg/IMUState imu_state,"
        " unitree_hg/MotorState[35] motor_state, uint8[40] wireless_remote, uint32[4] reserve, uint32 crc"
    ),
    "unitree_hg/MotorCmd": "uint8 mode, float32 q, float32 dq, float32 tau, float32 kp, float32 kd, uint32 reserve",
    "unitree_hg/LowCmd": (
        "uint8 mode_pr, uint8 mode_machine, unitree_hg/MotorCmd[35] motor_cmd, uint32[4] reserve, uint32 crc"
    ),
    "unitree_api/RequestIdentity": "int64 id, int64 api_id",
    "unitree_api/RequestLease": "int64 id",
    "unitree_api/RequestPolicy": "int32 priority, bool noreply",
    "unitree_api/RequestHeader": (
        "unitree_api/RequestIdentity identity, unitree_api/RequestLease lease, unitree_api/RequestPolicy policy"
    ),
    "unitree_api/Request": "unitree_api/RequestHeader header, string parameter, uint8[] binary",
    "unitree_api/ResponseStatus": "int32 code",
    "unitree_api/ResponseHeader": "unitree_api/RequestIdentity identity, unitree_api/ResponseStatus status",
    "unitree_api/Response": "unitree_api/ResponseHeader header, string data, uint8[] binary",
}
"""Fields of the messages."""


def _sides(parts: str) -> list[str]:
    return [f"{side}_{part}" for side, part in itertools.product(("left", "right"), parts.split())]


MOTORS = {
    "go2": [f"{leg}_{part}" for leg in ("FR", "FL", "RR", "RL") for part in ("hip", "thigh", "calf")],
    "g1": [
        *_sides("hip_pitch hip_roll hip_yaw knee ankle_pitch ankle_roll"),
        *("waist_yaw", "waist_roll", "waist_pitch"),
        *_sides("shoulder_pitch shoulder_roll shoulder_yaw elbow wrist_roll wrist_pitch wrist_yaw"),
    ],
    "h1_2": [
        *_sides("hip_yaw hip_pitch hip_roll knee ankle_pitch ankle_roll"),
        "waist_yaw",
        *_sides("shoulder_pitch shoulder_roll shoulder_yaw elbow wrist_roll wrist_pitch wrist_yaw"),
    ],
}
"""Names of the motors in the order of the messages, by robot."""

FAMILY = {"go2": "unitree_go", "g1": "unitree_hg", "h1_2": "unitree_hg"}
"""Package of the messages, by robot."""
