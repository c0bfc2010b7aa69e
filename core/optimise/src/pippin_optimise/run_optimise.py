"""The optimisation of a file, as a study: its simulation, and what it leaves in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
from pippin import ConfigError, Simulation, SimulationConfig
from pippin.extras import import_library
from pippin.report import Markup
from pippin.studies import Overlay, RunFolder, RunProgress, Study, current_progress, run_study

from .report import optimisation_page
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
        return _for_gradients(config, str(file))

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
        """Return the loss before each iteration, the values, and the check of the gradient."""
        return optimisation_page(result, file)

    def close(self) -> None:
        """Close the simulation."""
        if self._simulation is not None:
            self._simulation.close()


def _for_gradients(config: SimulationConfig, where: str) -> SimulationConfig:
    """Return a configuration with gradients, and without viewers and recorders."""
    if config.optimise is None:
        raise ConfigError(f"{where}: has no [optimise] table; add one, with variables and a loss")
    if config.optimise.optimiser == "l-bfgs":
        import_library("scipy.optimize", "optimise")  # before minutes of compilation
    return attrs.evolve(config.unobserved(), simulation=attrs.evolve(config.simulation, requires_grad=True))
