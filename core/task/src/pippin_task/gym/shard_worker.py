"""The worker of a shard of an environment: worlds that step at signals of their owner."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pippin import Simulation, SimulationConfig

from .local_worlds import LocalWorlds, WorldFacts
from .sharing import FAILED, STEP, SharedArrays, SharedLayout, receive_signal


class EnvShardWorker(LocalWorlds):
    """The worlds of a shard, and the memory that they share with the environment.

    Args:
        checkpoint: A file to continue from; None starts at the beginning.
        source: The file of the environment, for errors.
        signals: The socket for step signals.
    """

    def __init__(self, config: SimulationConfig, checkpoint: Path | None, source: str, signals: socket.socket) -> None:
        simulation = Simulation(config) if checkpoint is None else Simulation.load(checkpoint)
        super().__init__(simulation, source)
        from pippin.state import HostMirror

        self._signals = signals
        arrays = self.arrays()
        self._read = {name: HostMirror(array, is_read=True).read for name, array in arrays.items()}
        self._act = HostMirror(arrays["action"]).assign
        self._copies: list[tuple[np.ndarray, Callable[[], np.ndarray]]] = []
        self._action: Any = None

    def describe(self) -> tuple[WorldFacts, SharedLayout, str]:
        """Return facts of the worlds, the arrays to be shared, and the device."""
        rows = {name: (read().shape[1:], read().dtype.str) for name, read in self._read.items()}
        return self.facts, SharedLayout(self.count, rows), self.device

    def attach(self, layout: SharedLayout, worlds: range) -> None:
        """Share the memory of all worlds, whose descriptor comes by the socket; `worlds` are those of this shard."""
        _, (file, *_), _, _ = socket.recv_fds(self._signals, 1, 1)
        shared = SharedArrays(layout, file)
        os.close(file)
        own = {name: array[worlds.start : worlds.stop] for name, array in shared.arrays.items()}
        self._action = own.pop("action")
        self._copies = [(target, self._read[name]) for name, target in own.items()]
        self._publish()

    def follow(self) -> None:
        """Take a step at each signal, until the signal to leave."""
        signals = self._signals
        while receive_signal(signals) == STEP:
            self._act(self._action)
            try:
                self.step(reads_flags=True)
            except BaseException:
                self._publish()
                signals.send(FAILED)
                raise
            self._publish()
            signals.send(STEP)

    def reset(self, seeds: tuple[np.ndarray, np.ndarray] | None, mask: np.ndarray | None) -> None:
        """Begin episodes; see `LocalWorlds.reset`."""
        super().reset(seeds, mask)
        self._publish()

    def step_count(self) -> int:
        """Return the control steps so far."""
        return self.simulation.step_count

    def _publish(self) -> None:
        for target, read in self._copies:
            np.copyto(target, read())
