"""The checks of `test_engines_killed.py` see whatever an engine may leave: each kind is left on purpose here."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pippin
import pytest
from pippin_engines import EngineProcess
from pippin_engines import engines as module
from pippin_task.gym.sharing import SharedArrays, SharedLayout

from core.engines.tests import springs

from .leftovers import Leftovers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")

ARRAYS = dict.fromkeys(("q", "v", "efforts"), ((1, 1), float))


def started(signals="events"):
    settings = springs.SpringsConfig(environment=sys.prefix, timeout=0.5)
    return EngineProcess(settings, {"dt": 0.1, "fails": ""}, ARRAYS, signals)


def an_ended_engine(keep, signals="events"):
    with started(signals) as engine:
        engine.step()
    keep(engine)


def a_worker(monkeypatch, keep, clean):
    engine = started()
    clean.callback(engine.close)
    keep(engine)


def a_dead_worker(monkeypatch, keep, clean):
    """It was killed, and nobody has waited for its end."""
    with monkeypatch.context() as patched:
        patched.setattr(subprocess.Popen, "wait", lambda self, timeout=None: 0)
        engine = started()
        engine.close()
    clean.callback(engine._connection().process.wait)
    keep(engine)


def an_orphan(monkeypatch, keep, clean):
    """Who started it has ended."""
    text = f"{sys.executable} -c 'import time; time.sleep(60)' pippin_engines/shim.py >/dev/null 2>&1 & echo $!"
    pid = int(subprocess.run(["sh", "-c", text], capture_output=True, check=True).stdout)
    clean.callback(os.kill, pid, signal.SIGKILL)
    time.sleep(0.1)  # until the shell has become Python


def a_descriptor(name):
    def leave(monkeypatch, keep, clean):
        """What is never closed is as open as a copy of it."""
        close = module._Events.close

        def closed(self):
            number = getattr(self, name)
            clean.callback(os.close, os.dup(number if isinstance(number, int) else number.fileno()))
            close(self)

        monkeypatch.setattr(module._Events, "close", closed)
        an_ended_engine(keep)

    leave.__qualname__ = f"a_descriptor {name}"
    return leave


def the_other_end(monkeypatch, keep, clean):
    start = module._Events.start

    def begun(self, *arguments):
        clean.callback(os.close, os.dup(self._theirs.fileno()))
        return start(self, *arguments)

    monkeypatch.setattr(module._Events, "start", begun)
    an_ended_engine(keep)


def a_mapping(monkeypatch, keep, clean):
    """Somebody keeps an array of an engine."""
    an_ended_engine(lambda engine: keep(engine.arrays["q"]))


def a_thread(monkeypatch, keep, clean):
    end = threading.Event()
    relay = module._relay
    monkeypatch.setattr(module, "_STOP", 0.1)
    monkeypatch.setattr(module, "_relay", lambda *told: (relay(*told), end.wait()))
    clean.callback(end.set)
    an_ended_engine(keep)


def a_file(monkeypatch, keep, clean):
    """Systems without eventfd have the memory in a file."""
    close = module._Sockets.close

    def closed(self):
        clean.callback(Path(self._path).unlink)
        self._path = ""
        close(self)

    monkeypatch.setattr(module._Sockets, "close", closed)
    an_ended_engine(keep, "sockets")


def a_named_memory(monkeypatch, keep, clean):
    path = Path(f"/dev/shm/pippin-test-{os.getpid()}")
    path.write_bytes(b"0")
    clean.callback(path.unlink)


def memory_of_an_environment(monkeypatch, keep, clean):
    shared = SharedArrays(SharedLayout(1, {"x": ((1,), "<f4")}))
    clean.callback(os.close, shared.file)


PLANTED = {
    a_worker: "pippin_engines/shim.py",
    a_dead_worker: "state Z",
    an_orphan: "pippin_engines/shim.py",
    a_descriptor("_go"): "anon_inode:[eventfd]",
    a_descriptor("_done"): "anon_inode:[eventfd]",
    a_descriptor("_life_of_host"): "pipe:",
    a_descriptor("_file"): "/memfd:pippin",
    a_descriptor("channel"): "socket:",
    the_other_end: "socket:",
    a_mapping: "mapping ",
    a_thread: "thread ",
    a_file: "file ",
    a_named_memory: "file /dev/shm/pippin-test-",
    memory_of_an_environment: "/dev/shm/",
}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__qualname__)
def test_a_planted_one_is_found(plant, monkeypatch, tmp_path):
    leftovers, kept = Leftovers(monkeypatch, tmp_path), []
    with contextlib.ExitStack() as clean:
        plant(monkeypatch, kept.append, clean)
        found = leftovers.after(0.3)
    kept.clear()

    assert any(PLANTED[plant] in text for text in found), found
    assert leftovers.after() == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=lambda number: number.name)
@pytest.mark.parametrize("signals", ["events", "sockets"])
def test_a_killed_engine_leaves_none(signals, number, monkeypatch, tmp_path):
    leftovers = Leftovers(monkeypatch, tmp_path)
    with started(signals) as engine:
        engine.step()
        os.kill(engine.pid, number)
        with pytest.raises(pippin.SimulationError):
            engine.step()
        assert leftovers.found()
    del engine

    assert leftovers.after() == []
