"""The packets of protocol 2.0, against those of the makers' manual and library."""

import random
from typing import Any

import pytest
from pippin_dynamixel import bus

DOCUMENTED = {
    "ping": ("fffffd00 01 0300 01 194e", (1, bus.PING, b"")),
    "ping of all": ("fffffd00 fe 0300 01 3142", (254, bus.PING, b"")),
    "read": ("fffffd00 01 0700 02 84000400 1d15", (1, bus.READ, bytes([132, 0, 4, 0]))),
    "answer": ("fffffd00 01 0800 55 00a6000000 8cc0", (1, bus.STATUS, bytes([0, 166, 0, 0, 0]))),
    "write": ("fffffd00 01 0900 03 740000020000 ca89", (1, bus.WRITE, bytes([116, 0, 0, 2, 0, 0]))),
    "sync read": ("fffffd00 fe 0900 82 840004000102 cefa", (254, bus.SYNC_READ, bytes([132, 0, 4, 0, 1, 2]))),
    "clear": ("fffffd00 01 0800 10 0144584c22 b1dc", (1, bus.CLEAR, bytes.fromhex("0144584c22"))),
}
"""Packets of the manual's examples."""

STUFFED = [b"\xff\xff\xfd", b"\x00\xff\xff\xfd\x00", b"\xff\xff\xff\xfd\xfd", b"\xff\xff\xfd\xff\xff\xfd", b"\xff\xff"]


@pytest.fixture
def library() -> Any:
    return pytest.importorskip("dynamixel_sdk").Protocol2PacketHandler()


@pytest.mark.alone
@pytest.mark.parametrize("name", DOCUMENTED)
def test_packets_are_those_of_the_manual(name: str) -> None:
    text, parts = DOCUMENTED[name]

    made = bus.packet(*parts)

    assert made == bytes.fromhex(text)
    assert bus.split(made) == ([parts], 0, b"")


def test_checksums_are_those_of_the_library(library: Any) -> None:
    chance = random.Random(0)
    for size in range(1, 200):
        data = chance.randbytes(size)
        assert bus.checksum(data) == library.updateCRC(0, data, size)


@pytest.mark.parametrize("data", STUFFED, ids=bytes.hex)
def test_stuffing_is_that_of_the_library(library: Any, data: bytes) -> None:
    bare = [0xFF, 0xFF, 0xFD, 0, 5, *(len(data) + 3).to_bytes(2, "little"), bus.WRITE, *data, 0, 0]

    theirs = library.addStuffing(bare)[:-2]

    ours = bus.packet(5, bus.WRITE, data)
    assert list(ours[:-2]) == list(theirs)
    assert bus.split(ours)[0] == [(5, bus.WRITE, data)]


def test_packets_are_found_in_noise_and_in_pieces() -> None:
    chance = random.Random(1)
    packets = [(chance.randrange(253), bus.WRITE, chance.randbytes(chance.randrange(2, 40))) for _ in range(50)]
    stream = b"".join(b"\x00\xff\xff" + bus.packet(*each) for each in packets)

    found, rest = [], b""
    while stream:
        size = chance.randrange(1, 20)
        new, wrong, rest = bus.split(rest + stream[:size])
        found, stream = found + new, stream[size:]
        assert wrong == 0

    assert found == packets


def test_a_damaged_packet_costs_itself_alone() -> None:
    good = bus.packet(3, bus.PING)
    for bit in range(8 * len(good)):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        longest = bus.packet(4, bus.WRITE, bytes(2000))  # a damaged length asks for more bytes

        packets, *_ = bus.split(bytes(bad) + good + longest + longest)

        assert packets[:1] != [(3, bus.PING, b"")] or len(packets) == 3
        assert (4, bus.WRITE, bytes(2000)) in packets
