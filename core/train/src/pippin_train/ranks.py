"""Processes that learn together, as torchrun starts them: each has some of the worlds, and all the same networks."""

from __future__ import annotations

import logging
import os
import signal
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from io import StringIO
from typing import Any, NoReturn, Self

import attrs
from pippin import ConfigError, PippinError, SimulationConfig, SimulationError
from pippin.studies import RunProgress, progress_shown_by

from .configs import trainer_config

_VARIABLES = {"rank": "RANK", "local_rank": "LOCAL_RANK", "count": "WORLD_SIZE", "local_count": "LOCAL_WORLD_SIZE"}

_STOPPED, _LOST = 130, 75
"""Exit codes of a process that was stopped, and of one that lost the connection with another one."""

_PATIENCE = 5.0
"""Time in which PyTorch's agent ends the processes that are left, and names the one that failed [s]."""

_SHUTDOWN = 600
"""Time that an iteration and a checkpoint may take after Ctrl-C [s]."""


class RankNotes(RunProgress):
    """Remarks of a process without a console, for the first one to tell."""

    def __init__(self) -> None:
        super().__init__()
        #: Lines with what makes them the same line, since the last `taken`.
        self.lines: list[tuple[str, str]] = []

    def note(self, text: str, *, once: str = "") -> None:
        """Keep a line, `text`, that is told `once`; others are those of the first process, too."""
        if once:
            self.lines.append((text, once))

    def taken(self) -> list[tuple[str, str]]:
        """Return the lines since the last call."""
        lines, self.lines = self.lines, []
        return lines


@attrs.frozen(kw_only=True, eq=False)
class Ranks:
    """The processes of a training; by default there is one."""

    rank: int = 0
    """Number of this process."""

    local_rank: int = 0
    """Number of this process on its machine."""

    count: int = 1
    """Number of processes."""

    local_count: int = 1
    """Number of processes on this machine."""

    notes: RankNotes = attrs.field(factory=RankNotes)
    """What the first process tells for this one."""

    _store: Any = None
    _parent: int = attrs.field(factory=os.getppid)

    @classmethod
    def of_environment(cls) -> Self:
        """Return the processes that torchrun states in the environment of this one.

        Raises:
            ConfigError: The environment states some of it.
        """
        if os.environ.get("WORLD_SIZE", "1") == "1":
            return cls()
        try:
            numbers: dict[str, Any] = {key: int(os.environ[name]) for key, name in _VARIABLES.items()}
        except (KeyError, ValueError) as error:
            raise ConfigError(
                f"WORLD_SIZE: is {os.environ['WORLD_SIZE']!r}, so this is one of several processes, but {error} is"
                " missing or no number; start them by torchrun, which sets all, or unset WORLD_SIZE"
            ) from error
        from torch.distributed.rendezvous import rendezvous

        return cls(**numbers, store=next(rendezvous("env://"))[0])

    @property
    def is_left(self) -> bool:
        """Whether what started this process has ended without it."""
        return os.getppid() != self._parent

    def seed(self, seed: int) -> int:
        """Return the seed of this process; the first one has the seed of one process alone."""
        if not self.rank:
            return seed
        from numpy.random import SeedSequence

        return int(SeedSequence([seed, self.rank]).generate_state(1)[0])

    def part(self, config: SimulationConfig) -> SimulationConfig:
        """Return the configuration of the worlds of this process, on its device.

        Raises:
            ConfigError: The trainer learns in one process, or worlds or devices cannot be split evenly.
        """
        if self.count == 1:
            return config
        assert config.trainer is not None, "load_training sees to it"
        if not trainer_config(config.trainer).is_data_parallel:
            raise ConfigError(
                f"trainer.type: {config.trainer.type!r} learns in one process, not in {self.count}; take 'rsl-rl', or"
                " one process, whose environment may have `shards`"
            )
        from pippin.sharding import shards_of

        worlds = config.scene.worlds
        if worlds % self.count:
            raise ConfigError(
                f"scene.worlds: {worlds} worlds do not split evenly over {self.count} processes; take"
                f" {-(-worlds // self.count) * self.count}"
            )
        device = self._device(config.simulation.device)
        on_cpu = attrs.evolve(config, simulation=attrs.evolve(config.simulation, device="cpu"))
        own = shards_of(on_cpu, self.count)[self.rank].config
        return attrs.evolve(own, simulation=attrs.evolve(own.simulation, device=device))

    def _device(self, name: str) -> str:
        """Return the device of this process, as `cuda:1`; the names are those of `simulation.device`."""
        import torch

        gpus = torch.cuda.device_count()
        if name == "cpu" or (name == "auto" and not gpus):
            return "cpu"
        if name not in ("auto", "cuda"):
            raise ConfigError(
                f"simulation.device: {name!r} is one GPU for {self.count} processes; take 'auto' or 'cpu'"
            )
        if gpus < self.local_count:
            raise ConfigError(
                f"simulation.device: {self.local_count} processes of this machine would share {gpus} GPUs; one process"
                " simulates all worlds of a GPU faster: start as many as there are GPUs, or take 'cpu'"
            )
        return f"cuda:{self.local_rank}"

    def join(self, device: str) -> None:
        """Connect this process with the others: by NCCL for what lies on a GPU, by gloo for the rest."""
        if self.count > 1:
            import torch

            backend = "gloo" if device == "cpu" else "cpu:gloo,cuda:nccl"
            if device != "cpu":
                torch.cuda.set_device(device)
            torch.distributed.init_process_group(backend, store=self._store, rank=self.rank, world_size=self.count)

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """Let the first process of each machine do what is in the block before the others, which find its kernels."""
        if self.local_rank:
            self.gathered(None)
        yield
        if not self.local_rank:
            self.gathered(None)

    def gathered(self, value: Any) -> list[Any]:
        """Return what each process gives, by rank; it waits for all."""
        if self.count == 1:
            return [value]
        import torch.distributed as distributed

        found: list[Any] = [None] * self.count
        distributed.all_gather_object(found, value)
        return found

    @contextmanager
    def quiet(self) -> Iterator[RunProgress]:
        """Keep the warnings and remarks of a process without a console; what libraries print, the first one prints."""
        handler, logger = logging.Handler(logging.WARNING), logging.getLogger("pippin")
        handler.emit = lambda record: self.notes.remark(record.getMessage(), "note: ")
        logger.addHandler(handler)
        with progress_shown_by(self.notes), warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.showwarning = lambda message, *_, **__: self.notes.note(f"warning: {message}", once=str(message))
            yield self.notes

    @contextmanager
    def telling_once(self) -> Iterator[None]:
        """Let one process tell an error that ends all, and the first one that all were stopped."""
        try:
            yield
        except KeyboardInterrupt:
            if self.rank:
                raise SystemExit(_STOPPED) from None
            raise
        except Exception as error:
            if self.count == 1:
                raise
            if is_lost(error):
                _wait_for_end(_LOST)
            if isinstance(error, PippinError):
                if self._store.add("told", 1) > 1:
                    _wait_for_end(error.exit_code)
                error.restate(lambda fault: f"rank {self.rank} of {self.count}: {fault}")
            raise

    def close(self) -> None:
        """Leave the others, when all have ended."""
        if self.count > 1:
            import torch.distributed as distributed

            distributed.destroy_process_group()


def is_lost(error: BaseException | None) -> bool:
    """Tell whether an error says that another process does not answer any more."""
    if error is None or "torch" not in sys.modules:
        return False
    import torch.distributed as distributed

    is_own = isinstance(error, distributed.DistError) or (isinstance(error, RuntimeError) and "gloo/" in str(error))
    return is_own or is_lost(error.__cause__)


def _wait_for_end(code: int) -> NoReturn:
    with suppress(KeyboardInterrupt):  # SIGTERM of the agent, when the process that failed has ended
        time.sleep(_PATIENCE)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Python would collect its garbage first, for seconds


def launch(count: int, command: Sequence[str]) -> None:
    """Run a command in several processes of this machine by PyTorch's elastic agent, as `torchrun --standalone` does.

    Args:
        count: Number of processes.
        command: The command, for this interpreter.

    Raises:
        SimulationError: A process was killed.
        SystemExit: The processes failed or were stopped, and have told why.
    """
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    logging.getLogger("torch.distributed").setLevel(logging.CRITICAL)  # it tells of each signal that it sends
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        config = LaunchConfig(
            min_nodes=1,
            max_nodes=1,
            nproc_per_node=count,
            run_id=uuid.uuid4().hex,
            rdzv_backend="c10d",
            rdzv_endpoint="localhost:0",
            max_restarts=0,
            local_addr="127.0.0.1",
            logs_specs=DefaultLogsSpecs(log_dir=folder),
            shutdown_timeout=_SHUTDOWN,
        )
        try:
            elastic_launch(config, sys.executable)(*command)
            return
        except SignalException:
            raise SystemExit(_STOPPED) from None
        except ChildFailedError as error:
            ends = {rank: (each.exitcode, each.pid) for rank, each in error.failures.items()}
    told = [code for code, _ in ends.values() if code > 0 and code not in (_LOST, _STOPPED)]
    killed = {rank: end for rank, end in ends.items() if end[0] < 0 and end[0] != -signal.SIGTERM}
    if told or not killed:
        raise SystemExit(min(told, default=_STOPPED))
    raise SimulationError(
        *(
            f"rank {rank} of {count}: its process {pid} was killed by {signal.Signals(-code).name}; a lack of memory is"
            " often the cause: take fewer worlds or processes"
            for rank, (code, pid) in killed.items()
        )
    )
