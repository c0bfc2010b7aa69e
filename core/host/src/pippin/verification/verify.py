"""Bitwise comparison of two runs of one file, each in a fresh process, after every control step."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.config import SimulationConfig
from pippin.errors import ConfigError
from pippin.report import Markup, element, heading, section, table
from pippin.studies import RunFolder, RunProgress, Study, kept_overrides, run_study
from pippin.workers import WorkerProcess

from .compared_values import ComparedValues


@attrs.frozen(kw_only=True)
class RunDifference:
    """First difference between two runs."""

    step: int
    """Control steps done; 0 if the runs differ before the first step."""

    time: float
    """Simulated time [s]."""

    name: str
    """The first array that differs, such as `state.joint_q`, or the attribute of a component."""

    world: int | None
    """The first world whose part of the array differs; None if its rows belong to no world."""

    largest: float | None
    """The largest difference between two entries, in the unit of the array; None if it is not a finite number."""

    others: int
    """Number of other arrays and attributes that differ after the same step."""

    def __str__(self) -> str:
        """Return the difference and its cures in one line."""
        place = "" if self.world is None else f" of world {self.world}"
        size = "" if self.largest is None else f" by {self.largest:.3g} at most"
        others = f", and {self.others} more" if self.others else ""
        return (
            f"step {self.step} (t = {self.time:.6g} s): {self.name}{place} differs between two runs{size}{others};"
            " seed what draws random numbers with simulation.seed, let nothing depend on time or on the order of a set,"
            ' and on a GPU set simulation.determinism = "run-to-run"'
        )


@attrs.frozen(kw_only=True)
class Verification:
    """Comparison of two runs."""

    folder: Path
    steps: int
    """Control steps to compare."""

    compared: int
    """Control steps after which they were compared; less than `steps` after a difference or Ctrl-C."""

    names: Sequence[str]
    """The arrays and the attributes of components that were compared."""

    difference: RunDifference | None
    """The first difference; None if there is none."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        difference = None if self.difference is None else attrs.asdict(self.difference)
        return {"is_same": difference is None, "steps": self.steps, "compared": self.compared, "difference": difference}


def verify(
    file: str | os.PathLike[str],
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    *,
    steps: int = 100,
    out: str | os.PathLike[str] | None = None,
) -> RunDifference | None:
    """Run a file twice, side by side in fresh processes, and return the first difference; None if there is none.

    The state, the inputs and the data of actuators, sensors and other plugins are compared bit by bit after every
    control step.

    Args:
        file: A configuration file.
        overrides: Values on top of the file, as for `load`.
        steps: Control steps to compare.
        out: A folder, new or empty, for a summary and a page; by default nothing is written.

    Raises:
        ConfigError: The file is wrong.
        PluginError: A plugin is broken.
        SimulationError: A run fails, or ends in values that are not finite.
    """
    if steps < 1:
        raise ConfigError(f"steps: expected at least 1, got {steps!r}")
    changes = kept_overrides(overrides)
    return run_study(VerificationStudy(Path(file), changes, steps), file, changes, out=out).difference


class VerificationStudy(Study[Verification]):
    """Two runs of a file, bit by bit; the arguments are those of `verify`."""

    kind = "verification"
    needs_newton = False
    has_folder = False
    is_waiting = True

    def __init__(self, file: Path, overrides: Mapping[str, Any] | Sequence[str], steps: int) -> None:
        self._arguments, self._steps = (file, overrides, steps), steps
        self._requires_grad, self._compared = False, 0
        self._names: Sequence[str] = ()
        self._difference: RunDifference | None = None

    def build(self, config: SimulationConfig, folder: RunFolder) -> None:
        """Note what the processes need to know before they import Newton."""
        self._requires_grad = config.simulation.requires_grad

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Compare the runs after each control step."""
        start = partial(WorkerProcess, requires_grad=self._requires_grad)
        with (
            progress.phase("compare"),
            start("first run", _replay, *self._arguments) as first,
            start("second run", _replay, *self._arguments) as second,
        ):
            runs = (first, second)
            for step in range(self._steps + 1):
                left, right = (run.receive() for run in runs)
                self._names, self._compared = list(left | right), step
                odd = [name for name in self._names if left.get(name) != right.get(name)]
                for run in runs:
                    run.send(odd[0] if odd else None)
                if odd:
                    self._difference = _difference(step, odd, *(run.receive() for run in runs))
                    return
                progress.update(f"step {step} of {self._steps}")
            for run in runs:
                run.receive()  # a run that ended in NaN raises here; both runs ended in the same values

    def result(self, folder: Path) -> Verification | None:
        """Return what was compared; None before the first step."""
        return (
            Verification(
                folder=folder,
                steps=self._steps,
                compared=self._compared,
                names=self._names,
                difference=self._difference,
            )
            if self._names
            else None
        )

    def page(self, result: Verification, file: Path) -> Iterator[Markup]:
        """Yield the verdict, and the names of what was compared."""
        verdict = f"{result.compared} control steps with the same bits"
        if result.difference is not None:
            verdict = str(result.difference)
        tiles = {"control steps": f"{result.compared} of {result.steps}", "arrays and attributes": len(result.names)}
        yield heading(
            f"Two runs of {file.name}", shlex.join(["pippin", "verify", str(file), "--steps", str(result.steps)]), tiles
        )
        yield section("Verdict", element("p", verdict))
        yield section("What was compared", table(("name",), [(name,) for name in result.names]))


def _replay(connection: Connection, *arguments: Any) -> None:
    from .digests import replay

    replay(connection, *arguments)


def _difference(step: int, names: Sequence[str], left: ComparedValues, right: ComparedValues) -> RunDifference:
    world, largest = None, None
    if left.array is not None and right.array is not None and left.array.shape == right.array.shape:
        largest = _largest(left.array, right.array)
        world = _first_world(left.array, right.array, left.world_of_row)
    return RunDifference(step=step, time=left.time, name=names[0], world=world, largest=largest, others=len(names) - 1)


def _largest(left: np.ndarray, right: np.ndarray) -> float | None:
    if left.dtype.kind not in "biuf":
        return None
    with np.errstate(invalid="ignore"):
        apart = np.abs(left.astype(np.float64) - right.astype(np.float64)).max(initial=0.0)
    return float(apart) if np.isfinite(apart) else None


def _first_world(left: Any, right: Any, world_of_row: np.ndarray | None) -> int | None:
    if world_of_row is None:
        return None
    odd = [row for row in range(len(left)) if left[row].tobytes() != right[row].tobytes()]
    return int(world_of_row[odd[0]]) if odd and world_of_row[odd[0]] >= 0 else None
