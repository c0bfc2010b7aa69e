"""Settings of the executors that Pippin brings."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs.validators import ge
from pippin.validators import non_negative, positive

from .executor import number_or_auto


@attrs.frozen(kw_only=True)
class LocalExecutorConfig:
    """Processes of this machine."""

    implementation = ".local:LocalExecutor"

    processes: int | Literal["auto"] = attrs.field(default="auto", validator=number_or_auto)
    """Number of processes; `auto` is the number of cores that this process may use, if the memory is enough."""


@attrs.frozen(kw_only=True)
class RayExecutorConfig:
    """Tasks of a Ray cluster."""

    implementation = ".ray:RayExecutor"
    extra = "ray"

    address: str | None = None
    """Address of the cluster, `host:port` or `auto`; by default RAY_ADDRESS."""

    processes: int | Literal["auto"] = attrs.field(default="auto", validator=number_or_auto)
    """Largest number of jobs at once; `auto` is the number for which the cluster has cores and GPUs."""

    cpus: float = attrs.field(default=1.0, validator=non_negative)
    """Cores of a job."""

    gpus: float = attrs.field(default=0.0, validator=non_negative)
    """GPUs of a job; a fraction shares one."""


@attrs.frozen(kw_only=True)
class SlurmExecutorConfig:
    """Jobs of a Slurm cluster."""

    implementation = ".slurm:SlurmExecutor"
    extra = "slurm"

    cluster: Literal["slurm", "local"] = "slurm"
    """`slurm`, or `local`: submitit's own processes of this machine, to try a sweep before."""

    processes: int = attrs.field(default=100, validator=ge(1))
    """Largest number of jobs that are queued or run at once."""

    partition: str | None = None
    """Partition of the cluster; by default that of the cluster."""

    minutes: int = attrs.field(default=60, validator=ge(1))
    """Time limit of a job for the cluster [min]; that of the sweep holds too."""

    cpus: int = attrs.field(default=1, validator=ge(1))
    """Cores of a job."""

    gpus: int = attrs.field(default=0, validator=ge(0))
    """GPUs of a job."""

    folder: str = ".submitit"
    """Folder for the files of submitit, on the shared file system."""

    look_period: float = attrs.field(default=15.0, validator=positive)
    """Time between two questions to the cluster for lost jobs [s]; jobs that end by themselves are seen at once."""
