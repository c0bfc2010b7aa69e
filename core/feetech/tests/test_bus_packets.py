"""Packets of the bus, without the library of the makers."""

import pytest
from pippin_feetech import bus


@pytest.mark.alone
def test_a_packet_is_that_of_the_manual():
    """The ping of servo 1 and its answer, as every manual of the series prints them."""
    assert bus.packet(1, bus.PING) == bytes([0xFF, 0xFF, 0x01, 0x02, 0x01, 0xFB])
    assert bus.packet(1, 0) == bytes([0xFF, 0xFF, 0x01, 0x02, 0x00, 0xFC])
    assert bus.split(b"\x00" + bus.packet(1, 0) + b"\xff") == ([(1, 0, b"")], 0, b"\xff")
