"""The order of motors, and the checksum of a command, as Unitree's SDK has them."""

import pytest
from pippin_unitree.layout import Layout, Record
from pippin_unitree.messages import messages, motors


@pytest.mark.alone
def test_motors_have_the_order_of_the_messages():
    assert motors("go2")[:4] == ["FR_hip", "FR_thigh", "FR_calf", "FL_hip"]
    assert [len(motors(name)) for name in ("go2", "g1", "h1_2")] == [12, 29, 27]
    assert [motors("g1")[place] for place in (12, 18)] == ["waist_yaw", "left_elbow"]
    assert [motors("h1_2")[place] for place in (0, 26)] == ["left_hip_yaw", "right_wrist_yaw"]


@pytest.mark.alone
def test_the_checksum_of_an_empty_command_is_that_of_the_sdk():
    """The SDK's own library gives this number for a command of zeros with its head."""
    command = Record(Layout(messages(), "unitree_go/LowCmd"))
    command["head"], command["level_flag"] = (0xFE, 0xEF), 0xFF

    assert command.sealed()[-4:] == (0x322AC991).to_bytes(4, "little")
