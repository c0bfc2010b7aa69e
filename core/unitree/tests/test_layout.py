"""Bytes and checksums of messages, beside structures of C and the checksum bit by bit."""

import struct

import numpy as np
import pytest
from pippin_ros2.cdr import decode, encode
from pippin_unitree.layout import Layout, Record, checksum
from pippin_unitree.messages import messages

pytest.importorskip("cyclonedds")
from . import own_sdk

KINDS = ("unitree_go/LowCmd", "unitree_go/LowState", "unitree_hg/LowCmd", "unitree_hg/LowState")


def filled(kind):
    """Return a message with random numbers in each field."""
    record, random = Record(Layout(messages(), kind)), np.random.default_rng(3)
    for path in record._layout.places:
        record[path] = random.integers(0, 100, len(record[path]))
    return record


@pytest.mark.parametrize("length", [1, 2, 3, 8, 202, 522])
def test_the_checksum_is_that_of_bit_by_bit(length):
    data = np.random.default_rng(length).integers(0, 256, 4 * length, dtype=np.uint8).tobytes()

    assert checksum(data) == own_sdk.crc_of_words(data)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_in_place_are_those_of_the_message_and_of_the_structure(kind):
    record = filled(kind)
    data = record.sealed()

    values = decode(messages(), kind, data)
    form = own_sdk.FORMATS[kind.replace("/", ".msg.dds_.") + "_"].replace("b", "B")
    packed = struct.pack(form, *plain(values))

    assert bytes(encode(messages(), kind, values)) == data
    assert values["crc"] == own_sdk.crc_of_words(packed[:-4])
    assert len(packed) == {"LowCmd": (812, 1004), "LowState": (1180, 2092)}[kind.partition("/")[2]]["hg" in kind]


def plain(value):
    """Yield all numbers of a message in order."""
    if isinstance(value, dict):
        for each in value.values():
            yield from plain(each)
    elif isinstance(value, list):
        for each in value:
            yield from plain(each)
    elif isinstance(value, np.ndarray):
        yield from value.tolist()
    else:
        yield value


def test_a_damaged_message_is_refused():
    data = bytearray(filled("unitree_go/LowCmd").sealed())
    record = Record(Layout(messages(), "unitree_go/LowCmd"))
    record.fill(bytes(data))
    data[100] ^= 1

    with pytest.raises(ValueError, match="its checksum is 0x"):
        record.fill(bytes(data))
    with pytest.raises(ValueError, match="no such message"):
        record.fill(bytes(data[:200]))
