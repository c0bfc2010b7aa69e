"""The settings of recordings in npz files."""

import attrs
from pippin.recording import RecorderConfig


@attrs.frozen(kw_only=True)
class NpzConfig(RecorderConfig):
    """Recordings as arrays of NumPy, `.npz`."""

    implementation = ".recorder:NpzRecorder"
