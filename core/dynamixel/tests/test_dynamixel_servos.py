"""Emulated servos, as the makers' library finds them."""

import time
from pathlib import Path

import numpy as np
import pytest
from pippin_dynamixel import bus
from pippin_robot import RobotFault

from .conftest import POSITIONS, Client, Servos, opened

COUNTS = [round(2048 + 0.5 * 4096 / (2 * np.pi)), round(1000 + 0.25 * 4096 / (2 * np.pi)), round(2048 + 2048 / np.pi)]
"""Counts of the encoders at `POSITIONS`."""

SILENT, DAMAGED = -3001, -3002


def test_every_servo_is_found(client: Client) -> None:
    assert [client.packets.ping(client.port, own) for own in (1, 2, 7)] == [(1060, 0, 0), (1200, 0, 0), (1020, 0, 0)]
    found, result = client.packets.broadcastPing(client.port)
    assert (found, result) == ({1: [1060, 52], 2: [1200, 52], 7: [1020, 52]}, 0)
    assert client.packets.ping(client.port, 3)[1] == SILENT


def test_positions_are_read_in_each_way(client: Client) -> None:
    sync = client.sdk.GroupSyncRead(client.port, client.packets, bus.POSITION, 4)
    bulk = client.sdk.GroupBulkRead(client.port, client.packets)
    for own in (1, 2, 7):
        sync.addParam(own)
        bulk.addParam(own, *((bus.POSITION, 4) if own != 7 else (bus.POSITION + 14, 1)))

    for ask in (sync.txRxPacket, sync.fastSyncRead):
        assert ask() == 0
        assert [sync.getData(own, bus.POSITION, 4) for own in (1, 2, 7)] == COUNTS
    for ask in (bulk.txRxPacket, bulk.fastBulkRead):
        assert ask() == 0
        assert [bulk.getData(own, bus.POSITION, 4) for own in (1, 2)] == COUNTS[:2]
        assert bulk.getData(7, 146, 1) == 30
    assert [client.position(own) for own in (1, 2, 7)] == COUNTS


@pytest.mark.parametrize(("order", "result"), [((1, 3, 2), DAMAGED), ((3, 1), SILENT)])
def test_a_missing_servo_breaks_a_fast_answer(client: Client, order: tuple[int, ...], result: int) -> None:
    sync = client.sdk.GroupSyncRead(client.port, client.packets, bus.POSITION, 4)
    for own in order:
        sync.addParam(own)
    assert sync.fastSyncRead() == result


def test_goals_are_written_in_each_way(servos: Servos, client: Client) -> None:
    sync = client.sdk.GroupSyncWrite(client.port, client.packets, bus.GOAL, 4)
    bulk = client.sdk.GroupBulkWrite(client.port, client.packets)
    for own in (1, 2):
        sync.addParam(own, (2000 + own).to_bytes(4, "little"))
        bulk.addParam(own, bus.GOAL, 4, (3000 + own).to_bytes(4, "little"))

    assert sync.txPacket() == 0
    assert [client.read(own, bus.GOAL, 4)[0] for own in (1, 2, 7)] == [2001, 2002, COUNTS[2]]
    position = servos.exchange().position
    assert position[:2] == pytest.approx([(2001 - 2048) * np.pi / 2048, (1000 - 2002) * np.pi / 2048])
    assert bulk.txPacket() == 0
    assert [client.read(own, bus.GOAL, 4)[0] for own in (1, 2)] == [3001, 3002]


def test_a_prepared_write_waits_for_its_action(client: Client) -> None:
    assert client.packets.regWriteTxRx(client.port, 1, bus.GOAL, 4, list((2222).to_bytes(4, "little"))) == (0, 0)
    assert (client.read(1, bus.PREPARED, 1)[0], client.read(1, bus.GOAL, 4)[0]) == (1, COUNTS[0])
    client.packets.action(client.port, bus.EVERYONE)
    assert (client.read(1, bus.PREPARED, 1)[0], client.read(1, bus.GOAL, 4)[0]) == (0, 2222)


def test_what_looks_like_a_head_comes_back(client: Client) -> None:
    for number in (0x00FDFFFF, 0xFDFFFF00):  # in the indirect data, which are memory until they are pointed elsewhere
        assert client.packets.write4ByteTxRx(client.port, 2, 208, number) == (0, 0)
        assert client.packets.read4ByteTxRx(client.port, 2, 208) == (number, 0, 0)


ERRORS = {
    "EEPROM under torque": (1, bus.ID, 1, 9, bus.ACCESS),
    "read only": (1, bus.POSITION, 4, 9, bus.ACCESS),
    "no register": (1, 66, 1, 0, bus.ACCESS),
    "a current without a sensor": (1, bus.GOAL_CURRENT, 2, 9, bus.ACCESS),
    "half a register": (1, bus.GOAL, 2, 9, bus.LENGTH),
    "a value out of range": (1, bus.LEVEL, 1, 3, bus.RANGE),
    "a goal beyond the limits": (1, bus.GOAL, 4, 4096, bus.LIMIT),
    "a current beyond the limit": (7, bus.GOAL_CURRENT, 2, 1194, bus.LIMIT),
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_wrong_write_is_told_and_not_done(client: Client, name: str) -> None:
    own, register, size, value, error = ERRORS[name]
    client.write(own, bus.TORQUE, 1, 1)
    before = client.read(own, register, size)

    assert client.write(own, register, size, value) == (0, error)

    assert client.read(own, register, size) == before


def test_a_wrong_read_or_instruction_is_told(client: Client) -> None:
    assert client.read(2, 228, 1)[1:] == (0, bus.ACCESS)
    assert client.read(1, 251, 1)[1:] == (0, 0)  # the table of the XL430 is longer
    assert client.packets.factoryReset(client.port, 1, 3) == (0, bus.RANGE)
    client.port.clearPort()
    client.port.writePort(bus.packet(1, bus.ACTION))
    assert client.packets.rxPacket(client.port, False)[0][8] == bus.UNKNOWN


def test_the_level_chooses_what_is_answered(client: Client) -> None:
    assert client.write(1, bus.LEVEL, 1, 1) == (0, 0)
    assert client.write(1, bus.GOAL, 4, 2000)[0] == SILENT
    assert client.read(1, bus.GOAL, 4)[0] == 2000
    client.write(1, bus.LEVEL, 1, 0)
    assert client.read(1, bus.GOAL, 4)[1] == SILENT
    assert client.packets.ping(client.port, 1)[1] == 0


def test_a_wrong_speed_is_met_with_silence(servos: Servos) -> None:
    client = Client(servos.config.port, 57_600)
    assert client.packets.ping(client.port, 1)[1] == SILENT
    client.port.setBaudRate(1_000_000)
    assert client.write(1, bus.BAUD, 1, 1) == (0, 0)
    assert client.packets.ping(client.port, 1)[1] == SILENT
    client.port.setBaudRate(57_600)
    assert [client.packets.ping(client.port, own)[1] for own in (1, 2)] == [0, SILENT]
    client.port.closePort()


def test_a_new_address_holds_from_the_next_packet_on(client: Client) -> None:
    assert client.write(1, bus.ID, 1, 42) == (0, 0)
    assert client.packets.ping(client.port, 42)[:2] == (1060, 0)
    assert client.packets.ping(client.port, 1)[1] == SILENT


@pytest.mark.parametrize(("register", "value"), [(12, 5), (60, 3), (bus.DRIVE, 2), (bus.MODE, 2), (bus.BAUD, 7)])
def test_what_is_not_emulated_is_refused(client: Client, register: int, value: int) -> None:
    assert client.write(2, register, 1, value) == (0, bus.RANGE)


@pytest.mark.parametrize(("share", "field", "result"), [((0.3, 0.0), "dropped", SILENT), ((0.0, 0.3), "damaged", None)])
def test_lost_and_damaged_answers_are_noticed(
    servos: Servos, client: Client, share: tuple[float, float], field: str, result: int | None
) -> None:
    servos.server.memory.set_faults(False, *share)

    results = [client.read(1, bus.POSITION, 4)[1] for _ in range(30)]

    bad = [each for each in results if each]
    assert len(bad) == servos.server.counts()[field] > 3
    assert set(bad) <= ({result} if result else {SILENT, DAMAGED})


def test_a_silent_bus_answers_again(servos: Servos, client: Client) -> None:
    servos.server.memory.set_faults(True, 0.0, 0.0)
    assert client.packets.ping(client.port, 1)[1] == SILENT
    servos.server.memory.set_faults(False, 0.0, 0.0)
    assert client.packets.ping(client.port, 1)[1] == 0


def test_present_is_actual_and_offset(servos: Servos, client: Client) -> None:
    client.write(1, bus.OFFSET, 4, -300)
    assert client.position(1) == COUNTS[0] - 300
    client.write(1, bus.TORQUE, 1, 1)
    assert client.read(1, bus.GOAL, 4)[0] == COUNTS[0] - 300
    assert servos.exchange().position[0] == pytest.approx(POSITIONS[0], abs=np.pi / 4096)


def test_the_drive_mode_reverses(servos: Servos, client: Client) -> None:
    servos.readings.velocity[:] = 1.0
    client.write(1, bus.MODE, 1, 4)
    before = client.position(1)
    assert client.write(1, bus.DRIVE, 1, 1) == (0, 0)
    client.write(1, bus.TORQUE, 1, 1)
    servos.readings.position[0] += 0.1
    servos.exchange()

    assert client.position(1) == -before - round(0.1 * 2048 / np.pi)
    assert client.read(1, bus.CURRENT + 2, 4)[0] == -round(1.0 / 0.229 * 60 / (2 * np.pi))
    client.write(1, bus.GOAL, 4, -before)
    assert servos.exchange().position[0] == pytest.approx(POSITIONS[0], abs=np.pi / 4096)


def test_positions_go_beyond_a_turn_in_mode_4_alone(servos: Servos, client: Client) -> None:
    client.write(1, bus.MODE, 1, 4)
    client.write(1, bus.TORQUE, 1, 1)
    servos.readings.position[0] -= 4.0 * np.pi
    servos.exchange()
    assert client.position(1) == COUNTS[0] - 2 * 4096
    assert client.write(1, bus.GOAL, 4, -9000) == (0, 0)
    assert servos.exchange().position[0] == pytest.approx((-9000 - 2048) * np.pi / 2048)
    assert client.packets.clearMultiTurn(client.port, 1) == (0, 0)
    assert client.position(1) == client.read(1, bus.GOAL, 4)[0] == COUNTS[0]
    assert servos.exchange().position[0] == pytest.approx(POSITIONS[0] - 4.0 * np.pi, abs=np.pi / 4096)


def test_a_moving_servo_keeps_its_turns(servos: Servos, client: Client) -> None:
    servos.readings.velocity[0] = 1.0
    servos.exchange()
    assert client.packets.clearMultiTurn(client.port, 1) == (0, bus.FAILED)


@pytest.mark.parametrize("mode", [0, 1, 16])
def test_other_modes_are_refused_by_name(servos: Servos, client: Client, mode: int) -> None:
    assert client.write(7, bus.MODE, 1, mode) == (0, 0)
    with pytest.raises(RobotFault, match=f"grip: register 11 asks for mode {mode}; emulated are 3, 4 and 5"):
        servos.exchange()


def test_torque_gains_and_shares_reach_the_simulation(servos: Servos, client: Client) -> None:
    assert not servos.exchange().enabled.any()
    client.write(7, bus.MODE, 1, 5)
    for own, register, size, value in (
        (1, bus.TORQUE, 1, 1),
        (2, bus.KP, 2, 250),
        (2, bus.GOAL_PWM, 2, 443),
        (7, bus.GOAL_CURRENT, 2, 298),
    ):
        assert client.write(own, register, size, value) == (0, 0)

    commands = servos.exchange()

    assert commands.enabled.tolist() == [True, False, False]
    assert np.nan_to_num(commands.kp).tolist() == [0.0, 250.0, 0.0]
    assert commands.effort_share == pytest.approx([1.0, 443 / 885, 298 / 1193])
    assert np.isnan(servos.exchange().kp).all()


def test_measurements_are_registers(servos: Servos, client: Client) -> None:
    servos.readings.current[:], servos.readings.effort[:] = 0.5, 1.0
    servos.readings.velocity[:] = 2.0
    servos.exchange()

    currents = [client.read(own, bus.CURRENT, 2)[0] for own in (1, 2, 7)]
    speeds = [client.read(own, bus.CURRENT + 2, 4)[0] for own in (1, 2)]

    assert currents == [500, -500, round(0.5 / 0.00269)]  # the first one tells a load: half of its effort
    assert speeds == [83, -83]
    assert [client.read(own, 144, 2)[0] for own in (1, 2)] == [120, 50]
    assert client.read(1, bus.MOVING, 1)[0] == 1


def test_a_profile_limits_the_speed_of_targets(servos: Servos, client: Client) -> None:
    client.write(1, bus.TORQUE, 1, 1)
    client.write(1, bus.PROFILE, 4, 20)
    start = servos.exchange().position[0]
    client.write(1, bus.GOAL, 4, 4000)
    begin = time.monotonic()
    servos.exchange()
    time.sleep(0.2)

    way = servos.exchange().position[0] - start

    assert way == pytest.approx(20 * 0.229 * 2 * np.pi / 60 * (time.monotonic() - begin), rel=0.2)


def test_a_profile_by_time_reaches_its_goal_in_time(servos: Servos, client: Client) -> None:
    client.write(1, bus.DRIVE, 1, 4)
    client.write(1, bus.TORQUE, 1, 1)
    client.write(1, bus.PROFILE, 4, 200)
    start, goal = servos.exchange().position[0], (4000 - 2048) * np.pi / 2048
    client.write(1, bus.GOAL, 4, 4000)
    servos.exchange()
    time.sleep(0.1)
    assert start + 0.4 * (goal - start) < servos.exchange().position[0] < goal
    time.sleep(0.15)
    assert servos.exchange().position[0] == pytest.approx(goal)


def test_a_profile_begins_where_torque_finds_the_servo(servos: Servos, client: Client) -> None:
    client.write(1, bus.PROFILE, 4, 5)
    servos.exchange()
    servos.readings.position[0] = -1.0  # by hand
    servos.exchange()
    client.write(1, bus.TORQUE, 1, 1)
    assert servos.exchange().position[0] == pytest.approx(-1.0, abs=np.pi / 4096)


def test_a_goal_is_reached_at_once_without_a_profile(servos: Servos, client: Client) -> None:
    client.write(1, bus.TORQUE, 1, 1)
    servos.exchange()
    client.write(1, bus.GOAL, 4, 4000)
    assert servos.exchange().position[0] == pytest.approx((4000 - 2048) * np.pi / 2048)


def test_the_watchdog_stops_a_servo_that_hears_nothing(servos: Servos, client: Client) -> None:
    client.write(1, bus.TORQUE, 1, 1)
    client.write(1, bus.GOAL, 4, 3000)
    assert client.write(1, bus.WATCHDOG, 1, 2) == (0, 0)
    assert servos.exchange().position[0] == pytest.approx((3000 - 2048) * np.pi / 2048)
    time.sleep(0.06)

    held = servos.exchange().position[0]

    assert held == pytest.approx(POSITIONS[0], abs=np.pi / 4096)
    assert client.read(1, bus.WATCHDOG, 1)[0] == -1
    assert client.write(1, bus.GOAL, 4, 3000) == (0, bus.RANGE)
    assert client.write(1, bus.WATCHDOG, 1, 0) == (0, 0)
    assert servos.exchange().position[0] == held
    assert client.write(1, bus.GOAL, 4, 3000) == (0, 0)


def test_packets_keep_the_watchdog_quiet(servos: Servos, client: Client) -> None:
    client.write(1, bus.TORQUE, 1, 1)
    client.write(1, bus.WATCHDOG, 1, 10)
    for _ in range(6):
        time.sleep(0.05)
        client.packets.ping(client.port, 2)
    assert client.read(1, bus.WATCHDOG, 1)[0] == 10


@pytest.mark.parametrize(("kind", "bit"), [("heat", 4), ("sag", 1), ("overload", 32)])
def test_a_hardware_error_takes_the_torque_until_a_restart(servos: Servos, client: Client, kind: str, bit: int) -> None:
    client.write(2, bus.TORQUE, 1, 1)
    if kind == "heat":
        servos.readings.temperature[1] = 71.0
    elif kind == "sag":
        servos.readings.voltage[1] = 3.0
    else:
        servos.server.set_overload(np.array([False, True, False]))
    assert not servos.exchange().enabled[1]
    servos.readings.temperature[1], servos.readings.voltage[1] = 30.0, 5.0
    servos.server.set_overload(np.zeros(3, dtype=bool))
    servos.exchange()

    assert client.read(2, bus.ERROR, 1) == (bit, 0, bus.ALERT)
    assert client.write(2, bus.TORQUE, 1, 1) == (0, bus.ALERT | bus.FAILED)
    assert client.packets.reboot(client.port, 2) == (0, 0)
    assert client.read(2, bus.ERROR, 1) == (0, 0, 0)
    assert client.write(2, bus.TORQUE, 1, 1) == (0, 0)
    assert servos.exchange().enabled[1]


def test_a_restart_keeps_the_eeprom_alone(client: Client) -> None:
    client.write(1, bus.OFFSET, 4, 100)
    client.write(1, bus.KP, 2, 99)
    client.write(1, bus.TORQUE, 1, 1)
    assert client.packets.reboot(client.port, 1) == (0, 0)
    found = [client.read(1, *each)[0] for each in ((bus.OFFSET, 4), (bus.KP, 2), (bus.TORQUE, 1))]
    assert found == [100, 640, 0]


def test_a_reset_makes_a_new_servo(client: Client) -> None:
    client.write(7, bus.OFFSET, 4, 100)
    assert client.packets.factoryReset(client.port, 7, 2) == (0, 0)
    assert client.read(7, bus.OFFSET, 4)[0] == 0
    assert client.packets.factoryReset(client.port, 7, 1) == (0, 0)
    assert client.packets.ping(client.port, 7)[1] == SILENT
    client.port.setBaudRate(57_600)
    assert client.packets.ping(client.port, 7)[:2] == (1020, 0)


def test_indirect_data_are_other_registers(client: Client) -> None:
    for number in range(4):
        assert client.write(2, bus.INDIRECT + 2 * number, 2, bus.GOAL + number) == (0, 0)
    client.write(2, bus.INDIRECT + 8, 2, 146)
    assert client.write(2, 208, 4, 1111) == (0, 0)
    assert client.read(2, bus.GOAL, 4)[0] == 1111
    assert client.read(2, 212, 1)[0] == 30
    assert client.write(2, 208, 2, 5) == (0, bus.LENGTH)
    assert client.write(2, bus.INDIRECT, 2, 11) == (0, bus.RANGE)  # the EEPROM cannot be pointed at


def test_torque_can_come_with_a_goal(servos: Servos, client: Client) -> None:
    client.write(1, bus.DRIVE, 1, 8)
    client.write(1, bus.GOAL, 4, 2100)
    assert servos.exchange().enabled.tolist() == [True, False, False]


def test_the_wire_and_the_delay_take_their_time(tmp_path: Path) -> None:
    wire = (14 + 15) * 10 / 57_600  # the bytes of question and answer [s]
    with opened(tmp_path, wire=True, baud=57_600) as servos:
        client = Client(servos.config.port, 57_600)
        for ticks, least in ((0, wire), (254, wire + 254 * 2e-6)):
            client.write(1, bus.DELAY, 1, ticks)
            times = []
            for _ in range(20):
                begin = time.monotonic()
                assert client.read(1, bus.POSITION, 4)[1] == 0
                times.append(time.monotonic() - begin)
            assert min(times) > least
        client.port.closePort()
