"""A cluster of Ray, as its driver sees it: one at an address, or one of our own, which ends with us."""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pippin.errors import ConfigError, SimulationError
from pippin.extras import import_library
from pippin.workers import free_cores, usable_cores

__all__ = ["RayCluster", "line"]

_STORE = 100 * 2**20
"""Memory for objects in a cluster of ours [bytes]: jobs leave files, and no objects."""

_QUIET: Mapping[str, Any] = {"log_to_driver": False, "configure_logging": False}


class RayCluster:
    """A connection with a cluster.

    Args:
        address: Its address; by default RAY_ADDRESS, else a cluster of this machine is started.
        folder: Folder for the files of a cluster that is started.

    Raises:
        ConfigError: No cluster answers at the address.
        PluginError: The extra `ray` is not installed.
        SimulationError: Ray cannot start on this machine.
    """

    def __init__(self, address: str | None, folder: str) -> None:
        address = address or os.environ.get("RAY_ADDRESS")
        _authenticate(is_ours=address is None)
        #: The module `ray`.
        self.ray: Any = import_library("ray", "ray")
        if address is None:
            self._begin(folder)
        else:
            self._join(address)

    def slots(self, cpus: float, gpus: float) -> int:
        """Return the number of jobs that run at once.

        Args:
            cpus: Cores of a job.
            gpus: GPUs of a job.

        Raises:
            ConfigError: The cluster has no room for a single one.
        """
        found, fits = self.ray.cluster_resources(), list[float]()
        for key, name, count in (("cpus", "CPU", cpus), ("gpus", "GPU", gpus)):
            there = found.get(name, 0.0)
            if count > there:
                raise ConfigError(
                    f"executor.{key}: a job takes {count:g}, and the cluster has {there:g}; take fewer, or give"
                    " 'processes' if nodes are still to come"
                )
            fits += [there / count] if count else []
        return math.floor(min(fits, default=free_cores()))

    def _join(self, address: str) -> None:
        try:
            self.ray.init(address=address, **_QUIET)
        except Exception as error:  # Ray raises many kinds
            raise ConfigError(
                f"executor.address: cannot connect with a Ray cluster at {address!r} ({line(error)}); start it, and"
                " give this process its token, as the page about Ray says"
            ) from error

    def _begin(self, folder: str) -> None:
        own = {"num_cpus": usable_cores("executor ray"), "object_store_memory": _STORE, "include_dashboard": False}
        try:
            self.ray.init(address="local", _temp_dir=folder, **own, **_QUIET)
        except Exception as error:
            load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
            raise SimulationError(
                f"executor ray: Ray cannot start on this machine, whose load is {load} on {free_cores()} cores"
                f" ({line(error)}); try again when less runs here, or use `--executor local`"
            ) from error


def line(error: BaseException) -> str:
    """Return the beginning of an error's text as one line."""
    text = " ".join(f"{error}".split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:300]}…"


def _authenticate(*, is_ours: bool) -> None:
    """Let Ray use tokens; a cluster of ours has one of its own unless the user has one."""
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    given = {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & os.environ.keys()
    if is_ours and not given and not Path("~/.ray/auth_token").expanduser().exists():
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
