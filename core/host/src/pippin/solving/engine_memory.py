"""Memory of an engine that the host cannot see: in a library of another language, or in another process."""

from __future__ import annotations

import abc


class EngineMemory(abc.ABC):
    """Memory that an engine carries from step to step outside of arrays and numbers of Python, as bytes.

    An instance that the component or its solver holds, in any attribute, is saved with the simulation and put back with
    it, bit for bit. A solver whose memory is all in arrays and in such objects declares `engine_memory = "shared"`.
    """

    @abc.abstractmethod
    def save(self) -> bytes:
        """Return the memory; the number of bytes may change from call to call. It waits for the engine."""

    @abc.abstractmethod
    def load(self, data: bytes) -> None:
        """Put memory back that `save` returned, in this process or in another one.

        Args:
            data: What `save` returned.
        """
