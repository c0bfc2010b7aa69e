"""The readers of Pippin's own recordings: each has no settings, and its name is the suffix of its files."""

import attrs


@attrs.frozen
class NpzReaderConfig:
    """Settings of the reader `npz`, for finished files of arrays."""

    implementation = ".npz.file:NpzFile"


@attrs.frozen
class RowsReaderConfig:
    """Settings of the reader `rows`, for the rows of an npz file that was not finished."""

    implementation = ".npz.spool:Spool"


@attrs.frozen
class Hdf5ReaderConfig:
    """Settings of the reader `h5`, for files of the recorder `hdf5`."""

    implementation = ".hdf5.file:Hdf5File"


@attrs.frozen
class McapReaderConfig:
    """Settings of the reader `mcap`, for files of the recorder `mcap`."""

    implementation = ".mcap.file:McapFile"
