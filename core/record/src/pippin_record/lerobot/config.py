"""The settings of datasets of LeRobot."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs.validators import min_len
from pippin.recording import EpisodeRecorderConfig


@attrs.frozen(kw_only=True)
class LeRobotDatasetConfig(EpisodeRecorderConfig):
    """Datasets of LeRobot: episodes with actions, observations and videos."""

    implementation = ".recorder:LeRobotRecorder"
    extra = "lerobot"

    path: str = ""
    """Folder of the dataset. A relative path is in the run folder. By default the label."""

    instruction: str = attrs.field(default="unnamed", validator=min_len(1))
    """What the robot does in all episodes, in words: the task that LeRobot's policies read."""

    robot_type: str = attrs.field(default="pippin", validator=min_len(1))
    """Kind of the robot, as LeRobot names it."""

    codec: Literal["h264", "av1"] = "h264"
    """Codec of videos. `av1` is LeRobot's own choice: smaller files, and more work."""
