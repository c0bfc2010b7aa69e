"""Dynamixel's protocol 2.0, and servos of the series X that answer it. The standard library alone.

FF FF FD 00 ID LENGTH(2) INSTRUCTION PARAMETERS CRC(2), with LENGTH = parameters + 3. Behind the length, FF FF FD is
followed by another FD. An answer has the instruction 55, and an error before its parameters. Numbers are little endian,
in two's complement.
"""

import functools
import pathlib
import struct
import time
import tomllib

PING, READ, WRITE, REGISTER, ACTION, RESET, REBOOT, CLEAR, STATUS = 1, 2, 3, 4, 5, 6, 8, 0x10, 0x55
SYNC_READ, SYNC_WRITE, FAST_SYNC_READ, BULK_READ, BULK_WRITE, FAST_BULK_READ = 0x82, 0x83, 0x8A, 0x92, 0x93, 0x9A

FAILED, UNKNOWN, RANGE, LENGTH, LIMIT, ACCESS = 1, 2, 4, 5, 6, 7
"""Errors of answers: it did not work; no such instruction; a value, a size, a limit of a register, its access."""

ALERT, EVERYONE = 0x80, 0xFE
"""Bit of the error of an answer, if the register of hardware errors is not 0; and the address of all."""

ID, BAUD, DELAY, DRIVE, MODE, OFFSET, THRESHOLD, HOT, HIGH_VOLTS, LOW_VOLTS = 7, 8, 9, 10, 11, 20, 24, 31, 32, 34
MOST_PWM, MOST_CURRENT, MOST_SPEED, HIGHEST, LOWEST, SHUTDOWN, TORQUE, LEVEL = 36, 38, 44, 48, 52, 63, 64, 68
PREPARED, ERROR, KD, KI, KP, WATCHDOG, GOAL_PWM, GOAL_CURRENT, GOAL_SPEED = 69, 70, 80, 82, 84, 98, 100, 102, 104
PROFILE, GOAL, TICK, MOVING, CURRENT, SPEED, POSITION = 112, 116, 120, 122, 126, 128, 132
VOLTS, HEAT, INDIRECT = 144, 146, 168

SPEEDS = (9600, 57_600, 115_200, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 4_500_000)
"""Speeds by their code in the register of the baud rate [baud]."""

TURN, FIRMWARE = 4096, 52

ENCODER, BASE, HEARD = 256, 260, 264
"""Places in a row, behind the registers: the count of the encoder, the whole turns that its position leaves out, and
the time of the last packet."""

EXPIRED, WATCH = 255, 0.02
"""What the register of the watchdog reads once it has stopped the servo, and its unit [s]."""

_HEAD, _LONGEST = b"\xff\xff\xfd\x00", 2048
"""How a packet begins, and its most bytes; a longer one is damaged."""

_GOALS = {GOAL_PWM: (MOST_PWM, "<H"), GOAL_CURRENT: (MOST_CURRENT, "<H"), GOAL_SPEED: (MOST_SPEED, "<i")}
"""Goals with the registers of their limits."""


@functools.cache
def tables():
    """Return the registers that a client writes (bytes, lowest, highest and new value), and the models by number."""
    found = tomllib.loads(pathlib.Path(__file__).with_name("registers.toml").read_text(encoding="utf-8"))
    for model in found["models"].values():
        model["fresh"] = {int(place): value for place, value in model["fresh"].items()}
        model["end"] = model["indirect"] + (model["indirect"] - INDIRECT) // 2
    return [{int(number): values for number, values in found[name].items()} for name in ("writable", "models")]


@functools.cache
def _remainders():
    """Return the remainder of each byte to the polynomial 8005."""
    table = []
    for byte in range(256):
        value = byte << 8
        for _ in range(8):
            value = (value << 1) ^ (0x8005 if value & 0x8000 else 0)
        table.append(value & 0xFFFF)
    return table


def checksum(data):
    """Return the CRC of a packet's bytes before it."""
    table, value = _remainders(), 0
    for byte in data:
        value = ((value << 8) & 0xFF00) ^ table[(value >> 8) ^ byte]
    return value


def _closed(data):
    return data + checksum(data).to_bytes(2, "little")


def packet(address, instruction, parameters=b""):
    """Return a packet."""
    body = (bytes([instruction]) + bytes(parameters)).replace(b"\xff\xff\xfd", b"\xff\xff\xfd\xfd")
    return _closed(_HEAD + struct.pack("<BH", address, len(body) + 2) + body)


def split(data):
    """Return the whole packets (address, instruction, parameters), how many were damaged, and the bytes left over.

    The one answer of several servos has EVERYONE as its address; nothing is stuffed there.
    """
    packets, wrong = [], 0
    while (start := data.find(_HEAD)) >= 0:
        data = data[start:]
        size = 7 + int.from_bytes(data[5:7], "little")
        if len(data) < 7 or (10 <= size <= _LONGEST and len(data) < size):
            return packets, wrong, data
        if not 10 <= size <= _LONGEST or _closed(data[: size - 2]) != data[:size]:
            wrong, data = wrong + 1, data[4:]  # the head of the next packet may be in it
            continue
        body = data[8 : size - 2]
        if (data[4], data[7]) != (EVERYONE, STATUS):
            body = body.replace(b"\xff\xff\xfd\xfd", b"\xff\xff\xfd")
        packets.append((data[4], data[7], body))
        data = data[size:]
    return packets, wrong, data[-3:]


def fast_answer(parts, count):
    """Return the one answer of several servos, each of which adds error, address, data and the CRC so far.

    `count` are the bytes that all would add: where a servo is missing, those behind it stay silent.
    """
    data = _HEAD + struct.pack("<BHB", EVERYONE, count + 1, STATUS)
    for error, own, values in parts:
        data = _closed(data + bytes([error, own]) + values)
    return data


def model_of(row):
    """Return what the model of a servo has of its own."""
    return tables()[1][struct.unpack_from("<H", row)[0]]


def fresh(number):
    """Return the registers of a new servo of a model, 256 bytes."""
    row, (writable, models) = bytearray(256), tables()
    model = models[number]
    struct.pack_into("<HIB", row, 0, number, 0, FIRMWARE)
    for place, (size, low, _, value) in writable.items():
        if place not in model["missing"]:
            row[place : place + size] = model["fresh"].get(place, value).to_bytes(size, "little", signed=low < 0)
    for place in range(model["indirect"], model["end"]):
        struct.pack_into("<H", row, INDIRECT + 2 * (place - model["indirect"]), place)
    return bytes(row)


def _turned(row):
    (encoder,) = struct.unpack_from("<i", row, ENCODER)
    return -encoder if row[DRIVE] & 1 else encoder


def present(row):
    """Return the position that a servo tells: the count of its encoder in its direction, and the homing offset."""
    return _turned(row) - struct.unpack_from("<i", row, BASE)[0] + struct.unpack_from("<i", row, OFFSET)[0]


def settle(row, is_turned=True):
    """Let the goal be the position, which forgets whole turns if it shall."""
    if is_turned:
        struct.pack_into("<i", row, BASE, _turned(row) // TURN * TURN)
    struct.pack_into("<i", row, GOAL, present(row))


def is_expired(row, now):
    """Return whether the watchdog of a servo has stopped it."""
    ticks = row[WATCHDOG]
    if ticks in (0, EXPIRED):
        return ticks == EXPIRED
    return bool(row[TORQUE]) and now - struct.unpack_from("<d", row, HEARD)[0] > ticks * WATCH


def read(row, first, size):
    """Return the error and the bytes of registers."""
    model = model_of(row)
    if not size or first + size > model["end"]:
        return (ACCESS if size else LENGTH), b""
    struct.pack_into("<i", row, POSITION, present(row))
    struct.pack_into("<H", row, TICK, int(time.monotonic() * 1000.0) % 32_768)
    if first + size <= model["indirect"]:
        return 0, bytes(row[first : first + size])
    return 0, bytes(row[_target(row, place, model)] for place in range(first, first + size))


def _target(row, place, model):
    """Return the register that a place stands for: another one if it is indirect."""
    if not model["indirect"] <= place < model["end"]:
        return place
    return struct.unpack_from("<H", row, INDIRECT + 2 * (place - model["indirect"]))[0]


def _item(place, model):
    """Return first byte, size, lowest and highest value of the register of a byte; None if no client writes it."""
    if INDIRECT <= place < model["end"]:
        is_data = place >= model["indirect"]
        return (place, 1, 0, 255) if is_data else (place & ~1, 2, TORQUE, model["end"] - 1)
    for start in range(place, max(-1, place - 4), -1):
        size, low, high, _ = tables()[0].get(start, (0, 0, 0, 0))
        if place < start + size and start not in model["missing"]:
            return start, size, low, high
    return None


def _fault(row, start, value, model):
    """Return the error of a value in its range for a register; 0 if the servo takes it."""
    allowed = {MODE: model["modes"], BAUD: range(model["baud"] + 1), DRIVE: (0, 1, 4, 5, 8, 9, 12, 13)}
    if value not in allowed.get(start, (value,)) or (start in (*_GOALS, GOAL) and row[WATCHDOG] == EXPIRED):
        return RANGE
    if start == TORQUE and value and row[ERROR] & row[SHUTDOWN]:
        return FAILED
    low, high = -(1 << 31), 1 << 31
    if start in _GOALS:
        (high,) = struct.unpack_from(_GOALS[start][1], row, _GOALS[start][0])
        low = -high
    elif start == GOAL and row[MODE] == 3:
        (low,), (high,) = struct.unpack_from("<i", row, LOWEST), struct.unpack_from("<i", row, HIGHEST)
    return 0 if low <= value <= high else LIMIT


def write(row, first, values, is_checked_alone=False):
    """Write registers, all or none, and return the error; a check alone writes nothing."""
    model, changes = model_of(row), []
    cells = {_target(row, first + number, model): value for number, value in enumerate(values)}
    items = {_item(place, model) for place in cells}
    if None in items or not items:
        return ACCESS if items else LENGTH
    for start, size, low, high in sorted(items):
        if start < TORQUE and row[TORQUE]:
            return ACCESS
        if not all(place in cells for place in range(start, start + size)):
            return LENGTH
        number = bytes(cells[place] for place in range(start, start + size))
        value = int.from_bytes(number, "little", signed=low < 0)
        error = _fault(row, start, value, model) if low <= value <= high else RANGE
        if error:
            return error
        changes.append((start, number))
    for start, number in () if is_checked_alone else changes:
        had_torque = row[TORQUE]
        row[start : start + len(number)] = number
        _follow(row, start, had_torque)
    return 0


def _follow(row, start, had_torque):
    """Do what a servo does once a register is written."""
    if start == TORQUE and row[TORQUE] and not had_torque:
        settle(row, is_turned=row[MODE] == 3)
    elif start == GOAL and row[DRIVE] & 8 and not row[ERROR] & row[SHUTDOWN]:
        row[TORQUE] = 1
    elif start in (DRIVE, MODE):
        if start == MODE:
            new = fresh(struct.unpack_from("<H", row)[0])
            row[KD:92], row[GOAL_PWM:GOAL] = new[KD:92], new[GOAL_PWM:GOAL]
        settle(row, is_turned=row[MODE] == 3)


def reset(row, kept):
    """Make a servo new and without torque, but for registers of `kept`, and what it measures."""
    values = bytearray(fresh(struct.unpack_from("<H", row)[0]))
    for place in (*kept, *range(CURRENT, HEAT + 1)):
        values[place] = row[place]
    row[:256] = values
    settle(row)


class DynamixelBus:
    """The servos of a bus, whose registers are rows of memory.

    Args:
        rows: A row for each servo, whose first 256 bytes are its registers.
        count: Called with a field of the head and a number to add.
    """

    def __init__(self, rows, count):
        self._rows, self._count, self._rest, self._prepared = rows, count, b"", {}
        self.delay = 0.0  # time that the servo of the last answer waits before it [s]

    def feed(self, data, speed):
        """Yield the answers to what a client sent at a speed [baud]; None answers at any."""
        packets, wrong, self._rest = split(self._rest + data)
        self._count(1, wrong)
        for address, instruction, parameters in packets:
            self._count(0)
            rows, now = [row for row in self._rows if speed is None or speed == SPEEDS[row[BAUD]]], time.monotonic()
            for row in rows:
                if is_expired(row, now):
                    row[WATCHDOG] = EXPIRED
                struct.pack_into("<d", row, HEARD, now)
            if address == EVERYONE and instruction & 0x80:
                try:
                    yield from self._group(rows, instruction, parameters)
                except struct.error:  # too short, and nobody is told
                    continue
            elif instruction != STATUS:
                for row in sorted(rows, key=lambda row: row[ID]):
                    if address in (EVERYONE, row[ID]):
                        yield from self._answer(row, address, instruction, parameters)

    def _group(self, rows, instruction, parameters):
        """Yield the answers to an instruction for several servos."""
        parts = []
        if instruction in (SYNC_READ, SYNC_WRITE, FAST_SYNC_READ):
            first, size = struct.unpack_from("<HH", parameters)
            each = size + 1 if instruction == SYNC_WRITE else 1
            for start in range(4, len(parameters) - each + 1, each):
                parts.append((parameters[start], first, size, parameters[start + 1 : start + each]))
        while parameters and instruction in (BULK_READ, BULK_WRITE, FAST_BULK_READ):
            own, first, size = struct.unpack_from("<BHH", parameters)
            end = 5 + size if instruction == BULK_WRITE else 5
            parts.append((own, first, size, parameters[5:end]))
            parameters = parameters[end:]
        if instruction in (SYNC_WRITE, BULK_WRITE):
            for own, first, _, values in parts:
                for row in rows:
                    if own == row[ID]:
                        write(row, first, values)
        else:
            yield from self._reads(rows, parts, instruction in (FAST_SYNC_READ, FAST_BULK_READ))

    def _reads(self, rows, asked, is_fast):
        parts = []
        for own, first, size, _ in asked:
            row = next((row for row in rows if row[ID] == own and row[LEVEL]), None)
            if row is None and is_fast:
                break
            if row is not None:
                error, data = read(row, first, size)
                error |= ALERT if row[ERROR] else 0
                self.delay = 2e-6 * row[DELAY]
                parts.append((error, own, data or bytes(size)))
                if not is_fast:
                    yield packet(own, STATUS, bytes([error]) + data)
        if is_fast and parts:
            yield fast_answer(parts, sum(size + 4 for _, _, size, _ in asked))

    def _answer(self, row, address, instruction, parameters):
        """Yield the answer of one servo, if it gives one."""
        own, level, self.delay = row[ID], row[LEVEL], 2e-6 * row[DELAY]
        try:
            error, data = self._done(row, address, instruction, parameters)
        except struct.error:
            error, data = LENGTH, b""
        if instruction == PING or (address != EVERYONE and level >= (1 if instruction == READ else 2)):
            yield packet(own, STATUS, bytes([error | (ALERT if row[ERROR] else 0)]) + data)

    def _done(self, row, address, instruction, parameters):
        """Do what a servo is told, and return the error and what it answers."""
        own = row[ID]
        if instruction == PING:
            return 0, bytes(row[0:2]) + bytes(row[6:7])
        if instruction == READ:
            return read(row, *struct.unpack("<HH", parameters))
        if instruction in (WRITE, REGISTER):
            (first,) = struct.unpack_from("<H", parameters)
            error = write(row, first, parameters[2:], is_checked_alone=instruction == REGISTER)
            if instruction == REGISTER and not error:
                self._prepared[own], row[PREPARED] = (first, parameters[2:]), 1
            return error, b""
        if instruction == ACTION and own in self._prepared:
            row[PREPARED] = 0
            return write(row, *self._prepared.pop(own)), b""
        kept = {(0xFF,): (), (1,): (ID,), (2,): (ID, BAUD)}.get(tuple(parameters))
        if instruction == REBOOT:
            reset(row, range(TORQUE))
        elif instruction == RESET and (kept or (kept == () and address != EVERYONE)):
            reset(row, kept)
        elif instruction == CLEAR and parameters == b"\x01\x44\x58\x4c\x22":
            if row[MOVING]:
                return FAILED, b""
            settle(row)
        else:
            return (RANGE if instruction in (RESET, CLEAR) else UNKNOWN), b""
        return 0, b""


Bus = DynamixelBus


BUS = DynamixelBus
"""What the program of the bus makes."""
