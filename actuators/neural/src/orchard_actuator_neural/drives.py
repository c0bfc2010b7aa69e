"""Newton's neural drives, loaded so that their kernels can run backwards, and with errors that name the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newton.actuators import DriveBase, DriveNeuralGRU, DriveNeuralLSTM, DriveNeuralMLP
from orchard.errors import ConfigError

from .network import Network

if TYPE_CHECKING:
    import warp as wp

__all__ = ["build_drive"]


class _Loaded(DriveBase):
    """A drive whose network Newton compiles, and runs once, when the drive is given its device."""

    model_path: str

    def finalize(self, device: wp.Device, num_actuators: int) -> None:
        """Load the network for a number of lanes.

        Raises:
            ConfigError: Newton cannot run the network: an operator it does not know, or a shape that does not fit.
        """
        with _located(self.model_path), _backward_kernels():
            super().finalize(device, num_actuators)


class MLP(_Loaded, DriveNeuralMLP):
    """A feed-forward network on a window of past states."""


class LSTM(_Loaded, DriveNeuralLSTM):
    """A recurrent network with hidden and cell state."""


class GRU(_Loaded, DriveNeuralGRU):
    """A recurrent network with hidden state."""


def build_drive(network: Network) -> DriveBase:
    """Return the drive for a network that has been checked.

    Raises:
        ConfigError: Newton refuses it.
    """
    drives: dict[str, Any] = {"mlp": MLP, "lstm": LSTM, "gru": GRU}
    with _located(str(network.file)):
        return drives[network.model_type](str(network.file))


@contextmanager
def _located(file: str) -> Iterator[None]:
    try:
        yield
    except (KeyError, NotImplementedError, TypeError, ValueError) as error:
        raise ConfigError(f"model: {Path(file).name!r}: Newton cannot run this network: {error}") from error


@contextmanager
def _backward_kernels() -> Iterator[None]:
    """Compile the network's kernels for both directions.

    Implicit effort differentiates the network, and without backward kernels its slope would be zero, not an error.
    Orchard leaves them out elsewhere. A module keeps what it was made with, so explicit networks are made alike.
    """
    import warp as wp

    before, wp.config.enable_backward = wp.config.enable_backward, True
    try:
        yield
    finally:
        wp.config.enable_backward = before
