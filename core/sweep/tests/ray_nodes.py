"""Clusters of Ray on this machine: each node is a group of processes, with token authentication."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

TOKEN = "6d4f0d2a-0b0e-4a8e-9a3c-1f4f5ba0a3f1" * 2
LIMIT = 120.0


def wait_for(condition, limit=LIMIT):
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


class Nodes:
    """A cluster of Ray: a head with a core and a GPU, and nodes with one more core; each is a group of processes."""

    def __init__(self, folder):
        self.folder, self.nodes = folder, []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.start(
            "--head",
            f"--port={self.address.partition(':')[2]}",
            f"--temp-dir={folder}",
            "--include-dashboard=false",
            "--num-gpus=1",
        )

    def start(self, *options):
        """Start a node, and return its group when the cluster knows it."""
        command = [Path(sys.executable).with_name("ray"), "start", *options, "--num-cpus=1", "--block"]
        log = Path(self.folder, f"node-{len(self.nodes)}.log")
        with log.open("w") as out:
            process = subprocess.Popen(
                [*command, "--object-store-memory=80000000"],
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.nodes.append(process)
        wait_for(lambda: "Ray runtime started" in log.read_text() or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        return process

    def kill(self, process):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.nodes.remove(process)

    def close(self):
        for process in list(self.nodes):
            self.kill(process)


def ancestors(pid):
    """Return the processes above a process, the nearest first."""
    found = []
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        found.append(pid)
    return found


@contextmanager
def running_cluster():
    """Give a cluster, whose folder of sockets has a short name: they have 107 letters at most."""
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder,
    ):
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", TOKEN)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        nodes = Nodes(folder)
        try:
            yield nodes
        finally:
            nodes.close()
