"""The protocol of servos STS and SMS: packets, and registers that answer them. The standard library alone.

FF FF ID LENGTH INSTRUCTION PARAMETERS SUM, with LENGTH = parameters + 2, and SUM the inverted low byte of what is
between. An answer has an error byte in the place of the instruction. Numbers are little endian, with a sign bit.
"""

import struct
import time

PING, READ, WRITE, REGISTER, ACTION, SYNC_READ, SYNC_WRITE = 1, 2, 3, 4, 5, 0x82, 0x83

EVERYONE = 0xFE

ID, BAUD, STATUS_LEVEL, LOWEST, HIGHEST, OFFSET, TORQUE, GOAL, POSITION, ERROR = 5, 6, 8, 9, 11, 31, 40, 42, 56, 65

SPEEDS = (1_000_000, 500_000, 250_000, 128_000, 115_200, 76_800, 57_600, 38_400)
"""Speeds by their code in the register of the baud rate [baud]."""

MIDDLE, TURN = 2048, 4096

SET_MIDDLE = 128
"""What, as torque, makes here the middle."""

ENCODER, HOMINGS = 256, 258
"""Places in a row behind the registers: the encoder's count before the offset, and how often the offset was written."""

MEASURED = range(56, 72)
"""Registers that nobody can write, besides the first five."""

_QUIET = 0.02
"""Pause after which the rest of a packet does not come any more [s]."""


def checksum(body):
    """Return the last byte of a packet, from all between the head and it."""
    return ~sum(body) & 0xFF


def packet(address, instruction, parameters=b""):
    """Return a packet, or an answer if the instruction is an error byte."""
    body = bytes([address, len(parameters) + 2, instruction]) + bytes(parameters)
    return b"\xff\xff" + body + bytes([checksum(body)])


def signed(value, bit):
    """Return the number of a register whose sign is a bit."""
    return -(value & ~(1 << bit)) if value & (1 << bit) else value


def unsigned(number, bit):
    """Return the register of a number whose sign is a bit, cut to what fits."""
    size = min(abs(number), (1 << bit) - 1)
    return size | (1 << bit) if number < 0 else size


def split(data):
    """Return whole packets (address, instruction, parameters), the number of damaged ones, and the bytes left."""
    packets, wrong = [], 0
    while (start := data.find(b"\xff\xff")) >= 0:
        data = data[start:]
        if len(data) >= 3 and data[2] == 0xFF:  # a head of three bytes: the first one is noise
            data = data[1:]
            continue
        if len(data) < 4 or len(data) < 4 + data[3]:
            return packets, wrong, data
        body, data = data[2 : 3 + data[3]], data[3 + data[3] :]
        if data and len(body) >= 3 and data[0] == checksum(body):
            packets.append((body[0], body[2], body[3:]))
            data = data[1:]
        else:
            wrong += 1
            data = body + data  # the head of the next packet may be in it
    return packets, wrong, data[-1:] if data[-1:] == b"\xff" else b""


class FeetechBus:
    """The servos of a bus, whose registers are rows of memory.

    Args:
        rows: A row for each servo, whose first 128 bytes are its registers.
        count: Called with a field of the head and a number to add.
    """

    def __init__(self, rows, count):
        self._rows, self._count, self._rest = rows, count, b""
        self._prepared, self._last = {}, 0.0

    def feed(self, data, speed):
        """Yield the answers to what a client sent at a speed [baud]; None answers at any."""
        now = time.monotonic()
        rest, self._last = self._rest if now < self._last + _QUIET else b"", now
        packets, wrong, self._rest = split(rest + data)
        self._count(1, wrong)
        for address, instruction, parameters in packets:
            self._count(0)
            for row in self._addressed(address, instruction, parameters):
                if speed is None or speed == SPEEDS[row[BAUD] & 7]:
                    yield from self._answers(row, address, instruction, parameters)

    def _addressed(self, address, instruction, parameters):
        if address != EVERYONE:
            return [row for row in self._rows if row[ID] == address]
        if instruction == SYNC_READ:
            return [row for wanted in parameters[2:] for row in self._rows if row[ID] == wanted]
        return sorted(self._rows, key=lambda row: row[ID])

    def _answers(self, row, address, instruction, parameters):
        own, is_told = row[ID], address != EVERYONE and row[STATUS_LEVEL]
        if instruction == PING:
            yield packet(own, row[ERROR])
        elif len(parameters) < 2 and instruction != ACTION:
            return  # nothing to read or write: no servo knows what is meant
        elif instruction in (READ, SYNC_READ):
            yield packet(own, row[ERROR], self._read(row, parameters[0], parameters[1]))
        elif instruction in (WRITE, REGISTER):
            if instruction == REGISTER:
                self._prepared[own] = parameters
            else:
                self._write(row, parameters[0], parameters[1:])
            if is_told:
                yield packet(own, row[ERROR])
        elif instruction == ACTION:
            if own in self._prepared:
                values = self._prepared.pop(own)
                self._write(row, values[0], values[1:])
            if is_told:
                yield packet(own, row[ERROR])
        elif instruction == SYNC_WRITE:
            first, size = parameters[0], parameters[1]
            for start in range(2, len(parameters) - size, size + 1):
                if parameters[start] == own:
                    self._write(row, first, parameters[start + 1 : start + 1 + size])

    @staticmethod
    def _read(row, first, size):
        row[POSITION : POSITION + 2] = struct.pack("<H", present(row))
        return bytes(row[first : min(first + size, ENCODER)])

    @staticmethod
    def _write(row, first, values):
        values = bytearray(values[: max(0, ENCODER - first)])
        end = first + len(values)
        if first <= TORQUE < end and values[TORQUE - first] == SET_MIDDLE:
            (raw,) = struct.unpack_from("@H", row, ENCODER)
            row[OFFSET : OFFSET + 2] = struct.pack("<H", unsigned(raw - MIDDLE, 11))
            row[HOMINGS] = (row[HOMINGS] + 1) & 0xFF
            values[TORQUE - first] = row[TORQUE]
        for place in range(first, end):
            if place < ID or place in MEASURED:
                values[place - first] = row[place]
        row[first:end] = bytes(values)  # at once: the emulator never reads half of a number
        if first <= OFFSET < end:
            row[HOMINGS] = (row[HOMINGS] + 1) & 0xFF


def present(row):
    """Return the position that a servo tells: the count of its encoder less its homing offset, within a turn."""
    (raw,) = struct.unpack_from("@H", row, ENCODER)
    return (raw - offset(row)) % TURN


def offset(row):
    """Return the homing offset of a servo."""
    return signed(struct.unpack_from("<H", row, OFFSET)[0], 11)


BUS = FeetechBus
"""What the program of the bus makes."""
