"""MuJoCo's worlds in an environment of their own, perhaps of another version of MuJoCo."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mujoco as _mujoco
import numpy as np
from mujoco.batch import Batch
from pippin_engines import start_engine

from . import MuJoCoNativeConfig
from .batch_engine import CONTACT, INPUTS, told_model
from .contacts import ContactExport

__all__ = ["RemoteBatch", "RemoteContacts", "left_out", "saved_text"]

mujoco: Any = _mujoco
"""MuJoCo; most of it is an extension without type stubs."""


class RemoteBatch:
    """Worlds that another process steps, with the interface of `mujoco.batch.Batch`; parameters are held here, too.

    Args:
        config: The settings, which name the environment.
        model: MuJoCo's model of this environment.
        mjcf: A function that returns its file as text, which another version needs.
        worlds: Number of worlds.
        threads: Threads to step on; 0 for all cores.
        room: Number of contacts to read after steps; 0 if none are read.
    """

    def __init__(
        self,
        config: MuJoCoNativeConfig,
        model: Any,
        mjcf: Callable[[], str],
        worlds: int,
        threads: int,
        *,
        room: int,
    ) -> None:
        self._held = Batch(model, worlds, 1)
        arrays = {name: (field.shape, field.dtype) for name in INPUTS if (field := self._held.bind(name)).size}
        arrays |= {"full": ((worlds,), bool), "wanted": ((1,), bool), "count": ((1,), int)}
        for name in ("xpos", "xmat") if room else ():
            arrays[name] = self._held.bind(name).shape, float
        arrays |= {name: ((room, *shape), float) for name, shape in CONTACT.items()}

        def told(hello: Mapping[str, Any]) -> dict[str, Any]:
            text = None if hello["version"] == mujoco.__version__ else mjcf()
            return {"model": told_model(model, text), "worlds": worlds, "threads": threads, "persistent": room > 0}

        #: The engine.
        self.engine = start_engine(config, told, arrays)
        #: The memory of the worlds, for checkpoints.
        self.memory = self.engine.memory()
        self._expanded: dict[str, np.ndarray] = {}
        self._sent: dict[str, np.ndarray] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._held, name)

    def bind(self, name: str) -> np.ndarray:
        """Return a field of all worlds: what the other process reads and writes in a step is shared with it."""
        return self.engine.arrays[name] if name in self.engine.arrays else self._held.bind(name)

    @property
    def full(self) -> np.ndarray:
        """Whether each world had no room for its contacts, shape [worlds]."""
        return self.engine.arrays["full"]

    def expand(self, name: str) -> np.ndarray:
        """Return a parameter with a value for each world; `flush` sends what is written there."""
        self._expanded[name] = array = self._held.expand(name)
        return array

    def flush(self) -> None:
        """Send the parameters that have changed."""
        changed = {
            name: array
            for name, array in self._expanded.items()
            if name not in self._sent or not np.array_equal(self._sent[name], array)
        }
        if changed:
            self.engine.call("expand", values=changed)
            self._sent |= {name: array.copy() for name, array in changed.items()}

    def forget(self, worlds: np.ndarray) -> None:
        """Set the memory of some worlds back."""
        self.engine.call("forget", worlds=worlds)

    def step(self, *, nstep: int) -> None:
        """Take substeps in all worlds."""
        self.engine.step(nstep)

    def want_contacts(self, *, are_wanted: bool) -> None:
        """Say whether the next steps leave their contacts."""
        self.engine.arrays["wanted"][0] = are_wanted


class RemoteContacts(ContactExport):
    """A copy of the contacts that the last substep left in the other process.

    Args:
        batch: Its worlds.
        shapes: As for `ContactExport`.
    """

    def __init__(self, batch: RemoteBatch, shapes: np.ndarray) -> None:
        super().__init__(batch, shapes)
        self._engine = batch.engine

    def _read(self, room: int) -> tuple[np.ndarray, ...]:
        arrays = self._engine.arrays
        count = int(arrays["count"][0])
        self._refuse_more(count, min(room, len(arrays["worlds"])))
        found = {name: arrays[name][:count] for name in CONTACT}
        return tuple(each.astype(int) if name in ("worlds", "geoms") else each for name, each in found.items())


def saved_text(convert: Callable[..., Any]) -> str:
    """Return the MJCF that Newton's conversion of a model saves.

    Args:
        convert: Converts it, given the name of the file.
    """
    logger = logging.getLogger("newton")
    level = logger.level
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.xml"
        logger.setLevel(logging.WARNING)  # it would name a file that nobody has asked for
        try:
            convert(save_to_mjcf=str(file))
        finally:
            logger.setLevel(level)
        return file.read_text(encoding="utf-8")


def left_out(batch: RemoteBatch) -> list[str]:
    """Return a note for what the other version of MuJoCo does not have."""
    facts = batch.engine.facts
    if not facts["left"]:
        return []
    return [f"solver.environment: MuJoCo {facts['mujoco']} has other arrays than this one: {', '.join(facts['left'])}"]
