"""`pippin_sweep.sweep`: variants of one file, planned, run and listed in one table."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pippin import ConfigError
from pippin.config import inline_text
from pippin.extras import import_library
from pippin.studies import current_progress, run_study

from .driver import Sweep, SweepResult, counted
from .executor import Executor, make_executor
from .sweep_folder import SweepFolder, unwatched
from .values import Axis, axis_of
from .variants import Variant, plan


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
        KeyboardInterrupt: Ctrl-C ended it; `args[0]` is the result so far.
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
    if is_parquet:
        import_library("pyarrow", "parquet")  # or it would be missed at the end
    progress = current_progress()
    labels = dict.fromkeys(
        label for each in variants for label in each.config.viewers.keys() - unwatched(each.config).viewers.keys()
    )
    if labels:
        progress.note(f"viewers are not shown: {', '.join(labels)}; show a variant by pippin run on its config.toml")
    path = Path("sweeps") / f"{file.stem}-{_id(variants)}" if out is None else Path(out)
    folder = SweepFolder(path, variants, command)
    study = Sweep(variants, folder, executor, timeout, name=file.name, is_parquet=is_parquet)
    found = run_study(study, None, out=folder)
    progress.note(f"{counted(found.outcomes)}; table: {path / 'results.csv'}, page: {path / 'results.html'}")
    if "incomplete" in found.outcomes:
        progress.note("recordings lack rows, as a disk was full: make room, and run the same command again")
    return found


def _axes(over: Mapping[str, Iterable[Any]] | Iterable[str]) -> Iterable[Axis]:
    if isinstance(over, Mapping):
        return ([{key: inline_text(value)} for value in values] for key, values in over.items())
    return map(axis_of, over)


def _id(variants: Sequence[Variant]) -> str:
    return hashlib.blake2b("".join(variant.id for variant in variants).encode(), digest_size=3).hexdigest()
