"""The settings of the recorders and readers: HDF5, MCAP, datasets of LeRobot and demonstrations of robomimic."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs.validators import min_len
from pippin.recording import EpisodeRecorderConfig, RecorderConfig


@attrs.frozen(kw_only=True)
class Hdf5Config(RecorderConfig):
    """Recordings in HDF5, which most programs for analysis and learning read."""

    implementation = ".hdf5.recorder:Hdf5Recorder"
    extra = "hdf5"

    compression: Literal["gzip"] | None = None
    """Compression of the datasets, by default none; `gzip` makes files smaller and writing slower."""


@attrs.frozen
class Hdf5ReaderConfig:
    """Settings of the reader `h5`, for files of the recorder `hdf5`."""

    implementation = ".hdf5.file:Hdf5File"


@attrs.frozen(kw_only=True)
class McapConfig(RecorderConfig):
    """Recordings in MCAP, for Foxglove and other robot tools."""

    implementation = ".mcap.recorder:McapRecorder"
    extra = "mcap"

    scene: bool = True
    """Whether bodies with their shapes, matter and tendons are recorded, which 3-D panels show: the topics `/tf`,
    `/scene`, `/world_K/matter` and `/world_K/points/LABEL`."""

    compression: Literal["zstd", "lz4"] | None = "zstd"
    """Compression of the chunks."""


@attrs.frozen
class McapReaderConfig:
    """Settings of the reader `mcap`, for files of the recorder `mcap`."""

    implementation = ".mcap.file:McapFile"


@attrs.frozen(kw_only=True)
class LeRobotDatasetConfig(EpisodeRecorderConfig):
    """Datasets of LeRobot: episodes with actions, observations and videos."""

    implementation = ".lerobot.recorder:LeRobotRecorder"
    extra = "lerobot"

    path: str = ""
    """Folder of the dataset. A relative path is in the run folder. By default the label."""

    instruction: str = attrs.field(default="unnamed", validator=min_len(1))
    """What the robot does in all episodes, in words: the task that LeRobot's policies read."""

    robot_type: str = attrs.field(default="pippin", validator=min_len(1))
    """Kind of the robot, as LeRobot names it."""

    codec: Literal["h264", "av1"] = "h264"
    """Codec of videos. `av1` is LeRobot's own choice: smaller files, and more work."""


@attrs.frozen(kw_only=True)
class RobomimicConfig(EpisodeRecorderConfig):
    """Demonstrations in the HDF5 of robomimic."""

    implementation = ".robomimic.recorder:RobomimicRecorder"
    extra = "hdf5"

    env_name: str = attrs.field(default="pippin", validator=min_len(1))
    """Name of the environment, which robomimic reads."""

    compression: Literal["gzip"] | None = "gzip"
    """Compression of observations."""
