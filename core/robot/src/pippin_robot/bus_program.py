"""A bus of motors at a pseudo terminal: a program of its own, of Python's standard library alone.

`BusServer` starts it, by its path, as `python -I bus_program.py SETTINGS`, with the settings as JSON. It shares memory
with the emulator: a head, and a row of registers for each motor. A protocol, a file with a class `BUS`, turns bytes
into answers; the port exists once the program says so on its standard output, and the rows are filled before.
"""

import contextlib
import importlib.util
import json
import mmap
import os
import random
import select
import signal
import socket
import struct
import sys
import time

HEAD = struct.Struct("<7Qdd")
"""Packets, packets with a wrong checksum, answers, dropped, damaged, [unused], silence, share lost, share damaged."""

HEAD_SIZE, ROW_SIZE = 128, 512
"""Bytes of the head, and of a motor: 256 of registers, and 256 of what only the two programs know."""

PACKETS, WRONG, ANSWERS, DROPPED, DAMAGED, _, SILENT = range(7)

TCGETS2, SPEEDS, INPUT_SPEED = 0x802C542A, 44, 36  # what Linux tells about a terminal, as termios cannot


class Memory:
    """The memory that the program and the emulator share."""

    def __init__(self, descriptor: int, count: int):
        self.data = mmap.mmap(descriptor, HEAD_SIZE + count * ROW_SIZE)
        self.count = count

    def row(self, index: int) -> memoryview:
        """Return the row of a motor, which both sides read and write."""
        start = HEAD_SIZE + index * ROW_SIZE
        return memoryview(self.data)[start : start + ROW_SIZE]

    def add(self, field: int, count: int = 1) -> None:
        """Add to a number of the head that only this side writes."""
        (value,) = struct.unpack_from("<Q", self.data, 8 * field)
        struct.pack_into("<Q", self.data, 8 * field, value + count)

    def head(self) -> tuple:
        """Return the numbers of the head."""
        return HEAD.unpack_from(self.data)

    def set_faults(self, is_silent: bool, lost: float, damaged: float) -> None:
        """Set what goes wrong; the emulator calls it."""
        struct.pack_into("<Qdd", self.data, 8 * SILENT, is_silent, lost, damaged)


def speed_of(master: int):
    """Return the speed that the client set [baud]; None if the system does not tell."""
    import fcntl

    try:
        told = fcntl.ioctl(master, TCGETS2, bytes(SPEEDS))
    except OSError:
        return None
    return struct.unpack_from("<I", told, INPUT_SPEED)[0]


class BusLine:
    """The pseudo terminal, as slow as a wire if it shall be."""

    def __init__(self, link, is_timed: bool):
        import tty

        self.master, slave = os.openpty()
        tty.setraw(slave)
        self._slave = slave  # kept open: without it the master fails when a client leaves
        self.link, self.port = link, os.ttyname(slave)
        self._is_timed, self._free = is_timed, 0.0
        os.set_blocking(self.master, False)

    def publish(self) -> str:
        """Make the link, and return the name of the port."""
        if not self.link:
            return self.port
        if sys.platform == "linux":
            self._lock = socket.socket(socket.AF_UNIX)  # its name goes with this program, however it ends
            try:
                folder = os.path.realpath(os.path.dirname(self.link))
                self._lock.bind(f"\0pippin-bus:{folder}/{os.path.basename(self.link)}"[:107])
            except OSError:
                raise OSError("another program of Pippin is a robot there; end it, or choose another port") from None
        if os.path.islink(self.link):
            os.unlink(self.link)
        os.symlink(self.port, self.link)
        return self.link

    def write(self, answer: bytes, asked: int, speed, delay: float) -> None:
        """Send an answer, once question and answer have had their time on the wire, and the motor its delay [s]."""
        if self._is_timed and speed:
            now = time.monotonic()
            self._free = max(self._free, now) + delay + 10.0 * (asked + len(answer)) / speed
            while (left := self._free - time.monotonic()) > 0.0:
                if left > 2e-4:
                    time.sleep(left - 1e-4)
        with contextlib.suppress(BlockingIOError):
            os.write(self.master, answer)

    def close(self) -> None:
        """Take the link away, if it is still ours."""
        with contextlib.suppress(OSError):
            if self.link and os.readlink(self.link) == self.port:
                os.unlink(self.link)


def serve(bus, memory: Memory, line: BusLine, is_strict: bool, seed: int) -> None:
    """Answer until the emulator closes our standard input."""
    chance = random.Random(seed)
    while True:
        ready, _, _ = select.select([line.master, sys.stdin], [], [])
        if sys.stdin in ready and not os.read(0, 64):
            return
        if line.master not in ready:
            continue
        try:
            data = os.read(line.master, 4096)
        except (BlockingIOError, OSError):
            time.sleep(1e-3)
            continue
        speed = speed_of(line.master)
        *_, silent, lost, damaged = memory.head()
        for answer in bus.feed(data, speed if is_strict else None):
            if silent or chance.random() < lost:
                memory.add(DROPPED)
                continue
            if chance.random() < damaged:
                memory.add(DAMAGED)
                place = chance.randrange(len(answer))
                answer = answer[:place] + bytes([answer[place] ^ (1 << chance.randrange(8))]) + answer[place + 1 :]
            memory.add(ANSWERS)
            line.write(answer, len(data), speed, getattr(bus, "delay", 0.0))
            data = b""


def urgent() -> None:
    """Come before the emulator, if that comes before other programs: its scheduler is ours."""
    with contextlib.suppress(OSError, AttributeError):
        if os.sched_getscheduler(0) == os.SCHED_FIFO:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(12))


def main(text: str) -> None:
    """Serve with settings in JSON: protocol, memory, count, link, wire, strict, seed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the emulator, whose end is ours
    settings = json.loads(text)
    spec = importlib.util.spec_from_file_location("protocol", settings["protocol"])
    assert spec is not None
    assert spec.loader is not None
    protocol = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(protocol)
    memory = Memory(settings["memory"], settings["count"])
    bus = protocol.BUS([memory.row(index) for index in range(memory.count)], memory.add)
    line = BusLine(settings["link"], settings["wire"])
    urgent()
    try:
        print(line.publish(), flush=True)
        serve(bus, memory, line, settings["strict"], settings["seed"])
    finally:
        line.close()


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except OSError as error:
        print(f"error: {error}", flush=True)
