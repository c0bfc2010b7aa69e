"""Sweeps: variants of one file are planned, submitted to an executor, and listed in one table of results."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
from pippin import ConfigError
from pippin.config import inline_text
from pippin.extras import import_library
from pippin.report import Markup
from pippin.studies import RunFolder, RunProgress, Study, current_progress, run_study
from pippin.validators import whole_number

from .executor import Executor, Job, JobResult, make_executor
from .results_page import results_page
from .sweep_folder import SweepFolder, publish, unwatched, unwritable, write_parquet
from .variants import Variant, axis_of, plan, preload_of

OUTCOMES = ("ok", "diverged", "failed", "refused", "timed-out", "crashed", "incomplete", "stopped", "waiting")
"""Outcomes of a variant. The last three are not final: the next run of the sweep begins with them."""

_OUTCOME_OF = {"raised": "failed", "lost": "crashed", "timed-out": "timed-out"}

RETRIES = 3
"""How often a variant begins again by default whose node was lost."""

_LOOK_PERIODS = 0.25, 0.02
"""Longest times between two looks at running variants, and while others wait for the first one to compile [s]."""

_TABLE_PERIOD = 1.0
"""Shortest time between two writings of the table [s]: it is written whole."""


@attrs.frozen(kw_only=True, eq=False)
class _Running:
    variant: Variant
    folder: Path
    started: float


@attrs.frozen(kw_only=True, eq=False)
class SweepResult:
    """Results of a sweep."""

    rows: Sequence[Mapping[str, Any]]
    """A row for each variant: `id`, the swept keys, `outcome`, `reason`, `notes`, `ignores`, `seconds`, `host`,
    `shared`, and its figures as in `results.csv`."""

    outcomes: Mapping[str, int]
    """The number of variants with each outcome: "ok", "diverged", "failed", "refused", "timed-out", "crashed" or
    "incomplete"; of a sweep that was stopped, also "stopped" and "waiting"."""

    folder: Path
    """The folder, with `results.csv` and a folder for each variant."""

    def summary(self) -> dict[str, Any]:
        """Return the folder, and the number of variants, as plain data."""
        return {"folder": str(self.folder), "variants": len(self.rows), "outcomes": dict(self.outcomes)}


class Sweep(Study[SweepResult]):
    """The variants of a file with a name, and their results so far. Those that finished before are not run again."""

    files = "summary.json", "results.html"
    needs_newton = False
    is_waiting = True

    def __init__(
        self,
        variants: Sequence[Variant],
        folder: SweepFolder,
        executor: Executor,
        timeout: float | None = None,
        *,
        name: str = "sweep",
        is_parquet: bool = False,
        retries: int = RETRIES,
    ) -> None:
        self._variants, self._folder, self._executor, self._timeout = variants, folder, executor, timeout
        self._name, self._is_parquet, self._retries = name, is_parquet, retries
        self._losses: Counter[str] = Counter()
        self.kind = f"{Path(name).stem}: sweep"
        self._preload = preload_of([each.config for each in variants])
        self._requires_grad = self._preload is None
        self._rows = {each.id: self._row(each, folder.final_summary(each)) for each in variants}
        self._waiting = [each for each in variants if self._rows[each.id]["outcome"] == "waiting"]
        self._running: dict[str, _Running] = {}
        self._compiled: set[str] = set()
        self._shown: dict[str, int] = {}
        self._written = 0.0

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each variant: id, swept values, outcome, what to know about it, and its figures."""
        return [self._rows[variant.id] for variant in self._variants]

    @property
    def counts(self) -> dict[str, int]:
        """Number of variants of each outcome that occurs; of those that wait, without the running ones."""
        found = [row["outcome"] for row in self._rows.values()]
        counts = {name: found.count(name) for name in OUTCOMES}
        running = {"running": len(self._running)}
        counts["waiting"] -= len(self._running)
        return {name: count for name, count in (counts | running).items() if count}

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Run the variants that are not finished, with a live line."""
        start, before = time.monotonic(), len(self._rows) - len(self._waiting)
        progress.note(f"{len(self._rows)} variants, {self._executor.slots} at a time, in {self._folder.path}")
        if before:
            progress.note(f"{before} variants are finished already")
        try:
            with progress.phase("run"):
                self._prepare_processes()
                while self._waiting or self._running:
                    self._submit()
                    self._show(progress, before, time.monotonic() - start)
                    has_room = self._waiting and len(self._running) < self._executor.slots
                    for ended in self._executor.wait(_LOOK_PERIODS[bool(has_room)]):
                        self._settle(ended)
                    if time.monotonic() - self._written > _TABLE_PERIOD:
                        self._written = time.monotonic()
                        self._folder.write_table(self.rows)
        except OSError as error:
            raise unwritable(self._folder.path, error) from error
        finally:
            self._executor.close()
            self._stop_running()

    def result(self, folder: Path) -> SweepResult:
        """Return the rows so far."""
        return SweepResult(rows=self.rows, outcomes=self.counts, folder=folder)

    def write(self, result: SweepResult, folder: RunFolder) -> None:
        """Write the tables."""
        self._folder.write_table(result.rows)
        if self._is_parquet:
            with folder.written("results.parquet") as file:
                write_parquet(file, result.rows)

    def page(self, result: SweepResult, file: Path) -> list[Markup]:
        """Return charts of each swept key, the videos and the table."""
        keys = list(dict.fromkeys(key for each in self._variants for key in each.settings))
        return results_page(self._name, result.rows, keys, self._folder.variants)

    def close(self) -> None:
        """Let other processes run the sweep."""
        self._folder.close()

    def _prepare_processes(self) -> None:
        count = min(self._executor.slots, len(self._waiting)) if self._executor.keeps_processes else 0
        own: dict[str, Any] = {"function": "pippin_sweep.variant_job:prepare", "preload": self._preload}
        own |= {"arguments": {"requires_grad": self._requires_grad}, "folder": self._folder.path}
        for number in range(count):
            self._executor.submit(Job(key=f"prepare-{number}", **own))

    def _submit(self) -> None:
        for variant in list(self._waiting):
            if len(self._running) >= self._executor.slots:
                return
            if self._is_compiled(variant.kernels):
                self._waiting.remove(variant)
                self._start(variant)

    def _is_compiled(self, kernels: str) -> bool:
        others = [each for each in self._running.values() if each.variant.kernels == kernels]
        if any((each.folder / "begun").exists() for each in others):
            self._compiled.add(kernels)
        return kernels in self._compiled or not others

    def _start(self, variant: Variant) -> None:
        folder = self._folder.begin(variant, self._losses[variant.id])
        arguments = {
            "folder": str(folder),
            "final": str(self._folder.final(variant)),
            "steps": variant.steps,
            "kernels": variant.kernels,
            "requires_grad": self._requires_grad,
            "settings": dict(variant.settings),
            "is_shared": self._executor.slots > 1,
        }
        self._running[variant.id] = _Running(variant=variant, folder=folder, started=time.monotonic())
        own: dict[str, Any] = {"folder": folder, "timeout": self._timeout, "preload": self._preload}
        self._executor.submit(Job(key=variant.id, function="pippin_sweep.variant_job:run", arguments=arguments, **own))

    def _settle(self, ended: JobResult) -> None:
        running = self._running.pop(ended.key, None)
        if running is None:
            return  # it prepared a process
        variant = running.variant
        if ended.status == "returned":
            self._compiled.add(variant.kernels)
        if self._folder.summary(variant) is None and ended.status == "node-lost":
            self._set_back(running, ended.text)
            return
        if self._folder.summary(variant) is None:
            summary = {
                "outcome": _OUTCOME_OF.get(ended.status, "failed"),
                "reason": f"{ended.text or 'it left no summary'}; see {self._folder.final(variant) / 'log.txt'}",
                "seconds": time.monotonic() - running.started,
                "settings": dict(variant.settings),
                "is_shared": self._executor.slots > 1,
            }
            publish(running.folder, self._folder.final(variant), summary)
        self._rows[variant.id] = self._row(variant, self._folder.summary(variant))

    def _set_back(self, running: _Running, reason: str) -> None:
        """Let a variant whose node was lost begin again, before those that wait; or stop it after too many losses."""
        shutil.rmtree(running.folder, ignore_errors=True)
        variant = running.variant
        self._losses[variant.id] += 1
        count = self._losses[variant.id]
        if count > self._retries:
            text = f"{reason} {count} times; the same command runs it again"
            self._rows[variant.id] = self._row(variant, {"outcome": "stopped", "reason": text})
            return
        current_progress().note(f"{variant.id}: {reason}; it begins again, retry {count} of {self._retries}")
        self._waiting.insert(0, variant)

    def _stop_running(self) -> None:
        for each in self._running.values():
            shutil.rmtree(each.folder, ignore_errors=True)
            summary = self._folder.summary(each.variant) or {"outcome": "stopped"}  # it may have ended just now
            self._rows[each.variant.id] = self._row(each.variant, summary)
        self._running.clear()

    def _row(self, variant: Variant, summary: dict[str, Any] | None) -> dict[str, Any]:
        found: dict[str, Any] = {"outcome": "waiting"} if summary is None else summary
        reason, notes = found.get("reason"), found.get("notes", {})
        of_recorders = [f"{name}: {text}" for name in notes if name.startswith("recorders:") for text in notes[name]]
        return {
            "id": variant.id,
            **variant.values,
            "outcome": found["outcome"],
            "reason": None if reason is None else " ".join(reason.split()),
            "notes": "; ".join(of_recorders) or None,
            "ignores": ", ".join(found.get("ignored", ())) or None,
            "seconds": found.get("seconds"),
            "host": found.get("host"),
            "shared": found.get("is_shared"),
            **found.get("figures", {}),
        }

    def _show(self, progress: RunProgress, before: int, elapsed: float) -> None:
        if (counts := self.counts) == self._shown:
            return
        self._shown, total = counts, len(self._rows)
        left = counts.get("waiting", 0) + counts.get("running", 0)
        line, done = f"{total - left} of {total} done: {counted(counts)}", total - left - before
        progress.update(f"{line}, {timedelta(seconds=round(elapsed * left / done))} to go" if done else line)


def counted(counts: Mapping[str, int]) -> str:
    """Return outcomes with their numbers, in words."""
    return ", ".join(f"{count} {name}" for name, count in counts.items())


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
    retries: int = RETRIES,
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
        retries: How often a variant begins again whose node of a cluster was lost.
        out: The folder of the sweep; by default `sweeps/NAME-ID`.

    Raises:
        ConfigError: The file, a variant or an argument is wrong. Nothing was run then.
        PluginError: A plugin or the executor cannot be loaded.
        SimulationError: The folder cannot be written.
        KeyboardInterrupt: Ctrl-C ended it; `args[0]` is the result so far.
    """
    if isinstance(over, Mapping):
        axes = [[{key: inline_text(value)} for value in values] for key, values in over.items()]
    else:
        axes = [axis_of(text) for text in over]
    variants = plan(Path(file), axes, overrides, steps, duration, is_local=executor == "local")
    own: dict[str, Any] = {"timeout": timeout, "retries": retries, "out": out}
    return run_variants(Path(file), variants, make_executor(executor, settings), **own)


def run_variants(
    file: Path,
    variants: Sequence[Variant],
    executor: Executor,
    *,
    timeout: float,
    retries: int = RETRIES,
    out: str | os.PathLike[str] | None,
    command: Sequence[str] = (),
    is_parquet: bool = False,
) -> SweepResult:
    """Run the variants of a file that are not finished, and return the results of all. `command` resumes the sweep, for
    the reader of the folder.
    """
    if not timeout > 0.0:
        raise ConfigError(f"timeout: expected a positive time in seconds, got {timeout!r}")
    if whole_number(retries, "retries") < 0:
        raise ConfigError(f"retries: expected 0 or more, got {retries!r}; 0 lets a lost variant wait for the next run")
    if is_parquet:
        import_library("pyarrow", "parquet")  # or it would be missed at the end
    progress = current_progress()
    labels = dict.fromkeys(
        label for each in variants for label in each.config.viewers.keys() - unwatched(each.config).viewers.keys()
    )
    if labels:
        progress.note(f"viewers are not shown: {', '.join(labels)}; show a variant by pippin run on its config.toml")
    digest = hashlib.blake2b("".join(variant.id for variant in variants).encode(), digest_size=3).hexdigest()
    path = Path("sweeps") / f"{file.stem}-{digest}" if out is None else Path(out)
    folder = SweepFolder(path, variants, command)
    study = Sweep(variants, folder, executor, timeout, name=file.name, is_parquet=is_parquet, retries=retries)
    found = run_study(study, None, out=folder)
    progress.note(f"{counted(found.outcomes)}; table: {path / 'results.csv'}, page: {path / 'results.html'}")
    if "incomplete" in found.outcomes:
        progress.note("recordings lack rows, as a disk was full: make room, and run the same command again")
    return found
