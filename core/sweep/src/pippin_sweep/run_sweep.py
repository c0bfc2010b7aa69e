"""`pippin_sweep.sweep`: variants of one file, planned, run and listed in one table."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
from pippin import ConfigError
from pippin.config import inline_text
from pippin.studies import current_progress

from .driver import Sweep
from .executor import Executor, make_executor
from .sweep_folder import SweepFolder, unwatched
from .table import write_parquet
from .values import Axis, axis_of
from .variants import Variant, plan


@attrs.frozen(kw_only=True, eq=False)
class SweepResult:
    """Results of a sweep."""

    rows: Sequence[Mapping[str, Any]]
    """A row for each variant: `id`, the swept keys, `outcome`, `reason`, `notes`, `ignores`, `seconds`, `host`,
    `shared`, and its figures as in `results.csv`."""

    outcomes: Mapping[str, int]
    """The number of variants with each outcome: "ok", "diverged", "failed", "refused", "timed-out", "crashed" or
    "incomplete"."""

    folder: Path
    """The folder, with `results.csv` and a folder for each variant."""


def sweep(
    file: str | os.PathLike[str],
    over: Mapping[str, Iterable[Any]] | Iterable[str],
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    *,
    steps: int | None = None,
    duration: float | None = None,
    executor: str = "local",
    settings: Iterable[str] = (),
    timeout: float = 3600.0,
    out: str | os.PathLike[str] | None = None,
) -> SweepResult:
    """Simulate variants of a file: every combination of the values of some keys, the last key fastest.

    A variant that goes wrong is a row with its reason. The same call resumes a sweep that was stopped.

    Args:
        file: A configuration file.
        over: The values of each key: `{"solver.iterations": [4, 8]}`, or as on the command line:
            `["solver.iterations=4,8"]`.
        overrides: Values on top of the file in every variant, as for `load`.
        steps: Control steps to simulate.
        duration: Time to simulate [s], in place of `steps`; by default 5 s.
        executor: What runs the variants: a plugin in the group `pippin.executors`.
        settings: Keys of the executor, each `"key=value"`: `["processes=2"]`.
        timeout: Longest time for a variant [s].
        out: The folder of the sweep; by default `sweeps/NAME-ID`.

    Raises:
        ConfigError: The file, a variant or an argument is wrong. Nothing was run then.
        PluginError: A plugin or the executor cannot be loaded.
        SimulationError: The folder cannot be written.
    """
    variants = plan(Path(file), list(_axes(over)), overrides, steps, duration, is_local=executor == "local")
    return run_variants(Path(file), variants, make_executor(executor, settings), timeout=timeout, out=out)


def run_variants(
    file: Path,
    variants: Sequence[Variant],
    executor: Executor,
    *,
    timeout: float,
    out: str | os.PathLike[str] | None,
    command: Sequence[str] = (),
    is_parquet: bool = False,
) -> SweepResult:
    """Run the variants of a file that are not finished, and return the results of all. `command` resumes the sweep, for
    the reader of the folder.
    """
    if not timeout > 0.0:
        raise ConfigError(f"timeout: expected a positive time in seconds, got {timeout!r}")
    progress = current_progress()
    labels = dict.fromkeys(
        label for each in variants for label in each.config.viewers.keys() - unwatched(each.config).viewers.keys()
    )
    if labels:
        progress.note(f"viewers are not shown: {', '.join(labels)}; show a variant by pippin run on its config.toml")
    path = Path("sweeps") / f"{file.stem}-{_id(variants)}" if out is None else Path(out)
    with closing(SweepFolder(path, variants, command, file.name)) as folder:
        driver = Sweep(variants, folder, executor, timeout)
        progress.note(f"{len(variants)} variants, {executor.slots} at a time, in {path}")
        try:
            _run(driver)
        finally:
            if is_parquet:
                write_parquet(path / "results.parquet", driver.rows)
        progress.note(f"{_counted(driver.counts)}; table: {path / 'results.csv'}, page: {path / 'results.html'}")
        if "incomplete" in driver.counts:
            progress.note("recordings lack rows, as a disk was full: make room, and run the same command again")
        return SweepResult(rows=driver.rows, outcomes=driver.counts, folder=path)


def _axes(over: Mapping[str, Iterable[Any]] | Iterable[str]) -> Iterable[Axis]:
    if isinstance(over, Mapping):
        return ([{key: inline_text(value)} for value in values] for key, values in over.items())
    return map(axis_of, over)


def _id(variants: Sequence[Variant]) -> str:
    return hashlib.blake2b("".join(variant.id for variant in variants).encode(), digest_size=3).hexdigest()


def _run(driver: Sweep) -> None:
    """Run the sweep with a live line."""
    progress = current_progress()
    before = sum(count for name, count in driver.counts.items() if name not in ("waiting", "running"))
    if before:
        progress.note(f"{before} variants are finished already")
    start, shown = time.monotonic(), dict[str, int]()
    with progress.phase("run"), closing(driver.run()) as moments:
        for _ in moments:
            if driver.counts != shown:
                shown = driver.counts
                progress.update(_line(shown, before, time.monotonic() - start))


def _line(counts: Mapping[str, int], before: int, elapsed: float) -> str:
    left = counts.get("waiting", 0) + counts.get("running", 0)
    done = sum(counts.values()) - left
    line = f"{done} of {sum(counts.values())} done: {_counted(counts)}"
    if done == before:
        return line
    return f"{line}, {timedelta(seconds=round(elapsed * left / (done - before)))} to go"


def _counted(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())
