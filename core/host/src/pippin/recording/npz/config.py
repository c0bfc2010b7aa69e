"""The settings of recordings in npz files."""

import attrs
from pippin.recording import RecorderConfig


class NpzConfig(RecorderConfig):
    """Recordings as arrays of NumPy, `.npz`."""

    implementation = ".file:NpzRecorder"


@attrs.frozen
class NpzReaderConfig:
    """Settings of the reader `npz`, for finished files of arrays."""

    implementation = ".file:NpzFile"


@attrs.frozen
class RowsReaderConfig:
    """Settings of the reader `rows`, for the rows of an npz file that was not finished."""

    implementation = ".file:Spool"
