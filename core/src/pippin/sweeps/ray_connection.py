"""The connection with Ray: a process that alone imports it, with messages in both directions."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pippin.errors import ConfigError, PluginError, SimulationError
from pippin.workers.process import end_session

__all__ = ["RayConnection"]

_ERRORS = {"ConfigError": ConfigError, "PluginError": PluginError}
"""Errors that the driver names; others are a `SimulationError`."""

_SHORT = "/tmp" if os.name == "posix" else None
"""Place for the folder of a cluster: names of sockets have 107 letters at most."""

_END_LIMIT = 30.0
"""Longest time for the driver to end its jobs and the cluster [s]; then it is killed."""


class RayConnection:
    """The process that alone knows Ray, in a group of its own, which Ctrl-C does not reach.

    Args:
        settings: Those of the executor.

    Raises:
        PippinError: It has no cluster.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._folder = tempfile.mkdtemp(prefix="pippin-ray-", dir=os.environ.get("RAY_TMPDIR", _SHORT))
        self._log = Path(self._folder, "driver.log")
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        with self._log.open("w", encoding="utf-8") as log:
            command = [sys.executable, "-m", "pippin.sweeps.ray_driver"]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": log}
            self._process = subprocess.Popen(command, **pipes, encoding="utf-8", start_new_session=True)
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self.send({**settings, "folder": self._folder, "path": sys.path})
            #: Number of jobs at once.
            self.slots: int = self._first()["slots"]
        except BaseException:
            self.close()
            raise

    @property
    def last_words(self) -> str:
        """The last line that the process printed."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing")

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message.

        Raises:
            SimulationError: The process has ended.
        """
        stream = self._process.stdin
        assert stream is not None  # it is a pipe
        try:
            stream.write(f"{json.dumps(message)}\n")
            stream.flush()
        except BrokenPipeError as error:
            raise SimulationError(
                f"executor ray: the connection with the cluster is lost ({self.last_words}); give the same command"
                " again to go on"
            ) from error

    def receive(self, timeout: float | None) -> dict[str, Any] | None:
        """Return the next message; None if the process has ended.

        Raises:
            Empty: There is none in time.
        """
        return self._messages.get(timeout=timeout) if timeout != 0.0 else self._messages.get_nowait()

    def close(self) -> None:
        """End the process and what it started."""
        process = self._process
        with suppress(BrokenPipeError):
            assert process.stdin is not None  # it is a pipe
            process.stdin.close()
        try:
            process.wait(_END_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if os.name == "posix":
            end_session(process.pid)  # Ray's processes, if the driver was killed; its workers have groups of their own
        shutil.rmtree(self._folder, ignore_errors=True)

    def _listen(self) -> None:
        """Put each message into the queue, and None at the end of the process."""
        assert self._process.stdout is not None  # it is a pipe
        with self._process.stdout as stream:
            for line in stream:
                self._messages.put(json.loads(line))
        self._messages.put(None)

    def _first(self) -> dict[str, Any]:
        message = self.receive(None)
        if message is None:
            raise SimulationError(f"executor ray: its driver ended at once ({self.last_words}); see that Ray starts")
        if "error" in message:
            raise _ERRORS.get(message["error"], SimulationError)(message["text"])
        return message
