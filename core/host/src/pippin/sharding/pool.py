"""The worker pool of shards: a process for each, named after its worlds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pippin.catalog.implementation import modules_of
from pippin.workers.pool import WorkerPool
from pippin.workers.process import CallResult
from pippin.workers.start import free_cores

from .shard import Shard, renumber_worlds


def shard_pool(
    shards: Sequence[Shard],
    make: Callable[..., Any],
    arguments: Sequence[tuple[Any, ...]],
    cure: str,
    heal: Callable[[int], CallResult] | None = None,
    on_event: Callable[[int, Any], None] | None = None,
) -> WorkerPool:
    """Return a worker for each shard; the cores are divided among them, and errors name the worlds of the run.

    Args:
        shards: The shards, of one simulation.
        make: Returns the object of a worker; importable by its name from its module.
        arguments: The arguments of `make` for each shard; plain data.
        cure: What a user can do if a worker is lost, for the error.
        heal: As for `WorkerPool`.
        on_event: As for `WorkerPool`.

    Raises:
        PippinError: An object cannot be made.
    """
    requires_grad = shards[0].config.simulation.requires_grad
    return WorkerPool(
        [str(shard) for shard in shards],
        make,
        arguments,
        cure=cure,
        requires_grad=requires_grad,
        preload=None if requires_grad else modules_of(getattr(shards[0].config.solver, "config", None)),
        threads=max(1, free_cores() // len(shards)),
        restate=lambda index, fault: renumber_worlds(fault, shards[index].worlds.start),
        heal=heal,
        on_event=on_event,
    )
