"""The settings of the loggers that Pippin brings."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs.validators import in_, min_len


@attrs.frozen(kw_only=True)
class TensorBoardConfig:
    """Files of TensorBoard: numbers, videos as moving images, and the settings as a text."""

    implementation = ".tensorboard:TensorBoardLogger"
    extra = "tensorboard"

    folder: str = attrs.field(default="tensorboard", validator=min_len(1))
    """Folder of the files, in the run folder."""


@attrs.frozen(kw_only=True)
class WandbConfig:
    """A run of Weights & Biases: numbers, settings, videos, pages and files. The library asks for an account."""

    implementation = ".wandb:WandbLogger"
    extra = "wandb"

    project: str = attrs.field(default="pippin", validator=min_len(1))
    """Name of the project."""

    entity: str | None = None
    """User or team, by default that of the account."""

    mode: Literal["online", "offline"] = attrs.field(default="online", validator=in_(("online", "offline")))
    """"offline" keeps all in the folder `wandb` of the run, until `wandb sync` sends it."""


@attrs.frozen(kw_only=True)
class MlflowConfig:
    """A run of MLflow: numbers, settings as parameters, and files as artifacts."""

    implementation = ".mlflow:MlflowLogger"
    extra = "mlflow"

    experiment: str = attrs.field(default="pippin", validator=min_len(1))
    """Name of the experiment, which is made if there is none."""

    uri: str | None = None
    """Address of a server or of a database: `http://127.0.0.1:5000`, `sqlite:///mlflow.db`. By default what the
    variable MLFLOW_TRACKING_URI of the library says, or else this database."""
