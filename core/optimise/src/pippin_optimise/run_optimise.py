"""The optimisation of a file, as a study: its simulation, what it leaves in a folder, and its page."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError, Simulation, SimulationConfig
from pippin.extras import import_library
from pippin.report import Axis, Chart, Line, Markup, element, heading, section, table
from pippin.studies import Overlay, RunFolder, RunProgress, Study, current_progress, run_study

from .result import OptimisationResult

PLUGIN, VALUES = "optimised", "optimised.npz"
"""The plugin that plays what was found, and the file of the values."""

Overrides = Mapping[str, Any] | Iterable[str] | None


def optimise(
    file: str | os.PathLike[str], overrides: Overrides = None, *, out: str | os.PathLike[str] | None = None
) -> OptimisationResult:
    """Lower the loss of a file by gradients, as its table `[optimise]` says, and write what was found.

    The folder has the values (`optimised.npz`), a configuration that extends the file and plays them
    (`optimised.toml`), every value of the optimisation (`config.toml`), the losses of each world before each iteration
    (`losses.csv`), a summary and a page. All of it is also written if Ctrl-C ends the optimisation.

    Args:
        file: The configuration file.
        overrides: Values on top of the file, as for `pippin.load`.
        out: The folder, new or empty; by default `runs/NAME-DATE-TIME`.

    Raises:
        ConfigError: The file is wrong, its solver or a part has no gradients, or a gradient is wrong or zero.
        PluginError: A plugin cannot be loaded, or breaks its contract.
        SimulationError: A loss is not finite.
        KeyboardInterrupt: Ctrl-C ended it; `args[0]` is the result so far, if there is one.
    """
    return run_study(OptimisationStudy(), file, overrides, out=out)


class OptimisationStudy(Study[OptimisationResult]):
    """The optimisation of a file by gradients."""

    kind = "optimisation"

    def __init__(self) -> None:
        self._simulation: Simulation | None = None
        self._course: Any = None

    def prepare(self, config: SimulationConfig, file: Path) -> SimulationConfig:
        """Return a configuration with gradients, and without viewers and recorders."""
        if config.optimise is None:
            raise ConfigError(f"{file}: has no [optimise] table; add one, with variables and a loss")
        if config.optimise.optimiser == "l-bfgs":
            import_library("scipy.optimize", "optimise")  # before minutes of compilation
        return attrs.evolve(config.unobserved(), simulation=attrs.evolve(config.simulation, requires_grad=True))

    def build(self, config: SimulationConfig, folder: RunFolder) -> None:
        """Build the simulation, and the loss with its gradient."""
        from .descent import Descent
        from .objective import Objective

        self._simulation = Simulation(config)
        self._course = Descent(Objective(self._simulation), current_progress())

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Lower the loss."""
        self._course.run(stop_if_asked)

    def result(self, folder: Path) -> OptimisationResult | None:
        """Return the best values so far; None before the first iteration."""
        return self._course.result(folder) if self._course.losses else None

    def write(self, result: OptimisationResult, folder: RunFolder) -> None:
        """Write the values, and the losses of each world before each iteration."""
        folder.write_arrays(VALUES, result.values)
        first = "iteration" if result.moves is None else "move"
        losses = [",".join([first, *(f"world_{world}" for world in range(result.losses.shape[1]))])]
        losses += [
            ",".join([str(number), *(f"{each:.9g}" for each in row)]) for number, row in enumerate(result.losses)
        ]
        folder.write_text("losses.csv", "\n".join(losses) + "\n")

    def overlay(self, result: OptimisationResult) -> Overlay:
        """Return the file that plays what was found."""
        played = {"simulation": {"requires_grad": False}, "plugins": {PLUGIN: {"type": PLUGIN, "path": VALUES}}}
        return Overlay(name=result.file.name, tables=played)

    def page(self, result: OptimisationResult, file: Path) -> Iterator[Markup]:
        """Yield the loss before each iteration, the values, and the check of the gradient."""
        tiles = {
            "loss": f"{result.loss:.4g}",
            "first loss": f"{result.losses[0].min():.4g}" if len(result.losses) else "none",
            **({"iterations": str(result.iterations)} if result.moves is None else {"moves": str(result.moves)}),
            "rollouts": str(result.rollouts),
            "wall time": f"{result.seconds:.1f} s",
        }
        yield heading(f"Optimisation of {file.name}", play_command(result), tiles)
        yield section("Loss", [*_charts(result)], element("p", f"{result.ended}."))
        whose = "the moves, one after the other" if result.moves is not None else f"world {result.world}"
        values = table(("variable", "point", "values"), _rows(result))
        yield section("Values", element("p", f"Those of {whose}."), values)
        found = result.comparisons
        checks = [(each.variable, each.world, f"{each.derivative:.6g}", f"{each.difference:.6g}") for each in found]
        heads = ("variable", "world", "by the gradient", "by two rollouts")
        yield section("Gradient at the start", table(heads, checks, numeric=2) if checks else None)

    def close(self) -> None:
        """Close the simulation."""
        if self._simulation is not None:
            self._simulation.close()


_WORLDS, _VALUES = 8, 24
"""Most worlds with a line of their own, and values of a variable that are listed."""


def play_command(result: OptimisationResult) -> str:
    """Return the command that plays what was found."""
    return shlex.join(["pippin", "run", str(result.file)])


def _charts(result: OptimisationResult) -> Iterator[Chart]:
    count, worlds = result.losses.shape
    if not count:
        return
    shown = min(worlds, _WORLDS)
    best = np.argsort(result.losses[-1], kind="stable")[:shown]
    values = result.losses[:, best].T
    looks = [Line(name="loss" if shown == 1 else f"world {world}", color=k) for k, world in enumerate(best)]
    yield Chart.of(
        "Loss before each iteration" if result.moves is None else "Loss of the plan of each move",
        dict(zip(looks, values, strict=True)),
        Axis.of([str(number) for number in range(count)]),
        is_logarithmic=bool((values > 0.0).all()),
        note="" if shown == worlds else f"the best {shown} of {worlds} worlds",
    )


def _rows(result: OptimisationResult) -> Iterator[tuple[Any, ...]]:
    for name, points in result.values.items():
        for number, row in enumerate(points):
            listed = ", ".join(f"{each:.5g}" for each in row[:_VALUES])
            more = f", and {len(row) - _VALUES} more" if len(row) > _VALUES else ""
            yield name, number, f"{listed}{more}"
