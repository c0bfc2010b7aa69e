"""Emulated servos under Feetech's own library, over a real pseudo terminal."""

import os
import random
import time

import pytest
import scservo_sdk as sdk
from pippin.errors import ConfigError
from pippin_feetech import FeetechConfig, FeetechJointConfig, bus
from pippin_feetech.robot import Feetech

from .client import Client, at, servos


@pytest.fixture
def open_bus(tmp_path):
    """Return a function that opens servos and a client: (server, readings, client)."""
    opened = []

    def build(count=3, baud=1_000_000, emulated_baud="strict", **emulate):
        server, readings = servos(tmp_path / "bus", count, baud, baud_rule=emulated_baud, **emulate)
        server.open(readings)
        client = Client(tmp_path / "bus", baud)
        opened.extend([client, server])
        return server, readings, client

    yield build
    for each in opened:
        each.close()


def test_each_servo_answers_a_ping_with_its_model(open_bus):
    _, _, client = open_bus()
    assert [client.ping(number) for number in (1, 2, 3)] == [(777, 0)] * 3


def test_an_unknown_address_is_silent(open_bus):
    _, _, client = open_bus()
    assert client.is_silent(4)


def test_all_servos_answer_one_ping_in_turn(open_bus):
    _, _, client = open_bus(count=6)
    assert _everyone(client) == 6


def _everyone(client):
    """Return how many servos answer a ping of all, each by a whole packet, in the order of their addresses."""
    client.port.writePort(list(bus.packet(bus.EVERYONE, bus.PING)))
    data, end = b"", time.monotonic() + 0.5
    while time.monotonic() < end:
        data += bytes(client.port.readPort(64))
    packets, wrong, rest = bus.split(data)
    assert (wrong, rest) == (0, b"")
    assert [address for address, _, _ in packets] == sorted(address for address, _, _ in packets)
    return len(packets)


@pytest.mark.parametrize("own", [500_000, 115_200, 250_000])
def test_another_speed_is_silent(open_bus, own):
    _, _, client = open_bus(baud=own)
    assert client.ping(1) == (777, 0)
    client.set_speed(1_000_000)
    assert client.is_silent(1)
    client.set_speed(own)
    assert client.ping(1) == (777, 0)


def test_any_speed_is_answered_if_the_file_says_so(open_bus):
    _, _, client = open_bus(baud=500_000, emulated_baud="any")
    client.set_speed(1_000_000)
    assert client.ping(1) == (777, 0)


def test_registers_are_read_and_written(open_bus):
    _, _, client = open_bus()
    assert client.read(2, bus.GOAL) == 2048
    assert client.write(2, bus.GOAL, 2300) == 0
    assert client.read(2, bus.GOAL) == 2300
    assert client.read(1, bus.GOAL) == 2048
    assert client.read(1, 62, 1) == 120  # [0.1 V]
    assert client.read(1, 63, 1) == 25  # [°C]


def test_what_is_measured_cannot_be_written(open_bus):
    _, _, client = open_bus()
    for place, size in ((3, 2), (bus.POSITION, 2), (63, 1)):
        before = client.read(1, place, size)
        client.write(1, place, 7, size)
        assert client.read(1, place, size) == before


def test_a_prepared_write_waits_for_the_action(open_bus):
    _, _, client = open_bus()
    for number in (1, 2):
        result, error = client.packets.regWriteTxRx(client.port, number, bus.GOAL, 2, [0xD0, 0x07])
        assert (result, error) == (sdk.COMM_SUCCESS, 0)
    assert [client.read(number, bus.GOAL) for number in (1, 2)] == [2048, 2048]
    assert client.packets.action(client.port, bus.EVERYONE) == sdk.COMM_SUCCESS
    assert [client.read(number, bus.GOAL) for number in (1, 2, 3)] == [2000, 2000, 2048]


def test_one_packet_reads_and_writes_all_servos(open_bus):
    server, readings, client = open_bus()
    at(readings, 100, -200, 300)
    server.publish(readings)
    assert client.sync_read([1, 2, 3], bus.POSITION) == [2148, 1848, 2348]
    client.sync_write({1: 2000, 3: 2100}, bus.GOAL)
    assert client.sync_read([3, 2, 1], bus.GOAL) == [2100, 2048, 2000]


def test_the_answer_to_a_new_address_has_the_old_one(open_bus):
    """The library waits for the address that it asked, as the servo answers before it changes."""
    _, _, client = open_bus()
    assert client.write(3, bus.ID, 9, 1) == 0
    assert client.is_silent(3)
    assert client.ping(9) == (777, 0)


def test_a_new_speed_holds_from_the_next_packet_on(open_bus):
    _, _, client = open_bus()
    assert client.write(1, bus.BAUD, bus.SPEEDS.index(500_000), 1) == 0
    assert client.is_silent(1)
    client.set_speed(500_000)
    assert client.ping(1) == (777, 0)
    assert client.is_silent(2)


def test_without_status_level_only_reads_are_answered(open_bus):
    _, _, client = open_bus()
    assert client.packets.writeTxOnly(client.port, 1, bus.STATUS_LEVEL, 1, [0]) == sdk.COMM_SUCCESS
    time.sleep(0.02)
    client.port.ser.reset_input_buffer()
    client.set_patience(0.1)
    result, _ = client.packets.writeTxRx(client.port, 1, bus.GOAL, 2, [0xD0, 0x07])
    client.set_patience(1.0)
    assert "no status packet" in client.packets.getTxRxResult(result)
    assert client.read(1, bus.GOAL) == 2000


def test_torque_128_makes_here_the_middle(open_bus):
    server, readings, client = open_bus()
    at(readings, 500, -700)
    server.publish(readings)
    assert client.sync_read([1, 2], bus.POSITION) == [2548, 1348]
    assert client.write(2, bus.TORQUE, bus.SET_MIDDLE, 1) == 0
    assert client.sync_read([1, 2], bus.POSITION) == [2548, 2048]
    assert client.read(2, bus.TORQUE, 1) == 0


@pytest.mark.parametrize(("offset", "told"), [(300, 2048 + 100 - 300), (0x800 | 300, 2048 + 100 + 300)])
def test_the_homing_offset_is_taken_off_with_its_sign(open_bus, offset, told):
    """Present = actual - offset, with the sign in bit 11; and a goal is meant after it, too."""
    server, readings, client = open_bus()
    at(readings, 100)
    server.publish(readings)
    client.write(1, bus.OFFSET, offset)
    assert client.read(1, bus.POSITION) == told
    client.write(1, bus.GOAL, told)
    assert server.commands(readings).position[0] == pytest.approx(readings.position[0], abs=1e-9)


def test_position_limits_hold_goals(open_bus):
    server, readings, client = open_bus()
    client.write(1, bus.LOWEST, 1900)
    client.write(1, bus.HIGHEST, 2200)
    for goal, held in ((3000, 2200), (100, 1900), (2100, 2100)):
        client.sync_write({1: goal, 2: goal}, bus.GOAL)
        assert client.read(1, bus.GOAL) == goal
        targets = server.commands(readings).position[:2] * 4096 / (2.0 * 3.141592653589793) + 2048
        assert targets == pytest.approx([held, goal], abs=1e-6)


def test_heat_and_voltage_are_told_in_each_answer(open_bus):
    server, readings, client = open_bus()
    readings.temperature[1], readings.voltage[2] = 71.0, 3.0
    server.publish(readings)
    assert client.ping(1) == (777, 0)
    assert client.ping(2)[1] == 4
    assert client.write(3, bus.GOAL, 2048) == 1
    assert "Overheat" in client.packets.getRxPacketError(4)
    client.write(2, 13, 80, 1)
    server.publish(readings)
    assert client.ping(2) == (777, 0)


def test_another_mode_than_positions_ends_the_robot_by_name(open_bus):
    server, readings, client = open_bus()
    client.write(2, 33, 1, 1)
    with pytest.raises(Exception, match="joint_2: register 33 asks for mode 1"):
        server.commands(readings)


def test_noise_ends_nothing_and_the_next_question_is_answered(open_bus):
    """Random bytes, damaged packets and whole ones of random contents, as a bad cable or a fuzzer sends them."""
    server, _, client = open_bus(emulated_baud="any")
    chance = random.Random(1)
    for number in range(600):
        noise = bytes(chance.randrange(256) for _ in range(chance.randrange(12)))
        if number % 3:
            kind = chance.choice(
                [bus.PING, bus.READ, bus.WRITE, bus.REGISTER, bus.ACTION, bus.SYNC_READ, bus.SYNC_WRITE]
            )
            noise = bus.packet(chance.choice([1, 2, bus.EVERYONE]), kind, noise)
        if number % 3 == 2:
            noise = noise[:-1] + bytes([noise[-1] ^ 1])
        client.port.writePort(list(noise))
        time.sleep(1e-3)
    time.sleep(0.1)
    client.port.ser.reset_input_buffer()
    server.refuse_end()
    assert server.counts()["wrong"] > 100
    assert _everyone(client) == 3


def test_half_a_packet_does_not_swallow_the_next_question(open_bus):
    _, _, client = open_bus()
    client.port.writePort(list(b"\xff\xff\x01\xc8\x03"))  # announces 200 bytes
    time.sleep(0.05)
    assert client.ping(1) == (777, 0)


def test_lost_and_damaged_answers_are_counted_as_the_library_sees_them(open_bus):
    server, _, client = open_bus()
    server.memory.set_faults(False, 0.1, 0.1)
    client.set_patience(0.1)
    seen = {0: 0, sdk.COMM_RX_TIMEOUT: 0, sdk.COMM_RX_CORRUPT: 0}
    for _ in range(300):
        _, result, _ = client.packets.readTxRx(client.port, 1, bus.POSITION, 2)
        seen[result] += 1
        client.port.ser.reset_input_buffer()
    told = server.counts()
    assert told["dropped"] == pytest.approx(30, abs=17)  # 3 standard deviations of a share of 0.1
    failed = seen[sdk.COMM_RX_TIMEOUT] + seen[sdk.COMM_RX_CORRUPT]
    assert 0 <= failed - (told["dropped"] + told["damaged"]) <= 3  # a stall of the machine is a failure, too
    server.memory.set_faults(True, 0.0, 0.0)
    assert client.is_silent(1)


def test_answers_take_their_time_on_the_wire(open_bus):
    """Three answers of 8 bytes and a question of 11, 10 bits each: 350 bits at 38400 baud are 9.1 ms."""
    _, _, client = open_bus(baud=38_400, wire=True)
    client.sync_read([1, 2, 3], bus.POSITION)
    start = time.monotonic()
    client.sync_read([1, 2, 3], bus.POSITION)
    assert time.monotonic() - start > 35 * 10 / 38_400


def test_the_port_goes_with_the_server(open_bus, tmp_path):
    server, _, client = open_bus()
    assert os.path.islink(tmp_path / "bus")
    client.close()
    server.close()
    assert not os.path.lexists(tmp_path / "bus")


def test_two_robots_cannot_be_at_one_port(open_bus, tmp_path):
    """The first one keeps its clients, and what a killed one left behind is no obstacle."""
    server, _, client = open_bus()
    other, readings = servos(tmp_path / "bus")
    with pytest.raises(ConfigError, match=r"robot.port: .* another program of Pippin is a robot there"):
        other.open(readings)
    assert client.ping(1) == (777, 0)
    server._program.kill()
    server._program.wait()
    again, readings = servos(tmp_path / "bus")
    again.open(readings)
    again.close()


def test_addresses_and_speeds_that_no_servo_has_are_refused():
    joints = {"a": FeetechJointConfig(id=1), "b": FeetechJointConfig(id=1)}
    with pytest.raises(ConfigError, match=r"robot.joints.b.id: a has 1 already"):
        Feetech(FeetechConfig(port="x", joints=joints))
    with pytest.raises(ConfigError, match=r"robot.joints.a.id: an address is 0 to 253, got 254"):
        Feetech(FeetechConfig(port="x", joints={"a": FeetechJointConfig(id=254)}))
    with pytest.raises(ConfigError, match=r"robot.baud: servos know 1000000"):
        Feetech(FeetechConfig(port="x", baud=9600, joints={"a": FeetechJointConfig(id=1)}))
