"""The other end of an engine's process: one file, NumPy and the standard library, run by its path.

It runs in the Python of the engine's environment, where neither Pippin nor its libraries are. Nothing is pickled: what
crosses is JSON and bytes of arrays, so that two versions of NumPy meet, and nothing from the other side is run.
"""

import importlib.metadata
import importlib.util
import json
import mmap
import os
import select
import signal
import socket
import struct
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

CONTRACT = 1
"""Version of what both ends say to each other."""

HEAD = 64
"""Bytes before the shared arrays: four whole numbers, of substeps of a step, and of steps wanted, taken and done."""

HOST_LOOKS, ENGINE_LOOKS = 2e-4, 3e-3
"""Times for which an end looks at these numbers before it sleeps [s]: to be woken takes a virtual machine 0.1 ms.

The host's is short, as an engine may compute on all cores; while the host works, an engine has nothing else to do.
"""

ONE = struct.pack("=Q", 1)


_give_way = getattr(os, "sched_yield", int)


def send(channel, kind, content):
    """Send a message: two lengths, its kind and content as JSON, and the bytes of its arrays."""
    blobs, places = [], [0]

    def stored(value):
        if isinstance(value, np.generic):
            return value.item()
        array = np.asarray(value)
        if not isinstance(value, np.ndarray) or array.dtype.hasobject:
            raise TypeError(f"{type(value).__name__} is neither JSON nor an array of numbers, got {value!r}")
        blobs.append(array.tobytes())
        places.append(places[-1] + len(blobs[-1]))
        return {"array": [array.dtype.str, array.shape, places[-2]]}

    text = json.dumps([kind, content], default=stored).encode()
    channel.sendall(struct.pack("=QQ", len(text), places[-1]) + text + b"".join(blobs))


def receive(channel):
    """Return kind and content of the next message; raise `EOFError` if the other end is gone."""

    def exactly(count):
        data = bytearray()
        while len(data) < count:
            part = channel.recv(min(count - len(data), 1 << 20))
            if not part:
                raise EOFError
            data += part
        return data

    size, rest = struct.unpack("=QQ", exactly(16))
    text, blob = exactly(size), exactly(rest)

    def found(values):
        if list(values) != ["array"]:
            return values
        dtype, shape, place = values["array"]
        count = int(np.prod(shape, dtype=int))
        return np.frombuffer(blob, dtype, count, place).reshape(shape) if count else np.zeros(shape, dtype)

    return json.loads(text.decode(), object_hook=found)


def shared(memory, layout):
    """Return the arrays of a memory: `layout` has their names, types, shapes and places."""
    return {
        name: np.frombuffer(memory, dtype, int(np.prod(shape, dtype=int)), place).reshape(shape)
        for name, dtype, shape, place in layout
    }


def look(is_there, duration):
    """Look for a while whether something is there, and tell; whatever else wants the core gets it."""
    end = time.perf_counter() + duration
    while not is_there():
        if time.perf_counter() > end:
            return False
        _give_way()
    return True


def engine_module(file):
    """Return the module of an engine, by its path."""
    spec: Any = importlib.util.spec_from_file_location("pippin_engine", file)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def version_of(distribution):
    """Return the installed version of a distribution, or None."""
    return next((found.version for found in importlib.metadata.distributions(name=distribution)), None)


def fault(error):
    """Return what the host has to know of an exception."""
    names = [each.__name__ for each in type(error).__mro__]
    return {"names": names, "text": str(error), "trace": "".join(traceback.format_exception(error))}


class Ends:
    """Ends of what the host has opened: the channel of messages, the signals of a step, a line that ends with it."""

    def __init__(self, told):
        if "address" in told:
            self.channel, self.pulse, life = (_connected(told["address"], token) for token in told["tokens"])
            self.wanted = self.pulse.fileno()
            threading.Thread(target=lambda: (life.recv(1), os._exit(1)), daemon=True).start()
        else:
            self.channel, self.pulse = socket.socket(fileno=told["channel"]), None
            self.wanted, self._done = told["go"], told["done"]
            _end_by_kernel(told["life"])

    def wait(self):
        """Wait for a step or a message, and tell whether it is a step."""
        return self.wanted in select.select([self.wanted, self.channel], [], [])[0]

    def take(self):
        """Take the signal that a step is wanted; it names no method."""
        if self.pulse is None:
            os.read(self.wanted, 8)
        elif not self.pulse.recv(1):
            raise EOFError
        return "step", {}

    def done(self):
        """Tell that the step is done."""
        if self.pulse is None:
            os.write(self._done, ONE)
        else:
            self.pulse.sendall(b".")


def _connected(address, token):
    line = socket.create_connection(tuple(address))
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    line.sendall(token.encode())
    return line


def _end_by_kernel(life):
    """Let Linux kill this process as soon as the host's end of a pipe is closed, whatever it computes."""
    import fcntl

    fcntl.fcntl(life, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([life], [], [], 0)[0]:  # it has ended before
        os._exit(1)


def serve(ends, file):
    """Answer the host until it closes the channel."""
    module = engine_module(file)
    engine = {"name": module.DISTRIBUTION, "version": version_of(module.DISTRIBUTION)}
    versions = {"contract": module.CONTRACT, "python": sys.version.split()[0], "numpy": np.__version__}
    send(ends.channel, "hello", versions | engine)
    _, told = receive(ends.channel)
    with Path(told["memory"]).open("r+b") as memory:
        block = mmap.mmap(memory.fileno(), 0)
    head = memoryview(block)[:HEAD].cast("q")
    engine = module.Engine(shared(block, told["layout"]), **told["arguments"])
    send(ends.channel, "built", getattr(engine, "facts", {}))
    while True:
        is_step = look(lambda: head[1] != head[2], ENGINE_LOOKS) or ends.wait()
        method, arguments = ends.take() if is_step else receive(ends.channel)
        try:
            if is_step:
                head[2] = head[1]
                engine.step(head[0])
                ends.done()
                head[3] = head[2]  # who sees it finds the signal
            else:
                send(ends.channel, "answer", getattr(engine, method)(**arguments))
        except Exception as error:
            send(ends.channel, "error", fault(error))


def main():
    """Serve the engine that the first argument names, as JSON."""
    told = json.loads(sys.argv[1])
    os.dup2(2, 1)  # what an engine prints is not the host's output
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the host's
    if os.name == "posix":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    ends = Ends(told)
    try:
        serve(ends, told["file"])
    except (EOFError, ConnectionError):
        os._exit(0)
    except Exception as error:
        send(ends.channel, "error", fault(error))
        os._exit(1)


if __name__ == "__main__":
    main()
