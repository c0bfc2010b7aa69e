"""The optimisation of a file: its loop, its live line, its folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
from pippin.config import SimulationConfig, dump_toml, load
from pippin.config.merging import merge
from pippin.config.overrides import apply, parse
from pippin.config.toml_text import toml_text
from pippin.config.tree import Node
from pippin.errors import ConfigError, SimulationError
from pippin.extras import installation, missing_libraries
from pippin.runs.decisions import import_newton
from pippin.runs.folder import RunFolder
from pippin.runs.progress import current_progress
from pippin.simulation import Simulation

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
    overrides = list(overrides) if overrides is not None and not isinstance(overrides, Mapping) else overrides or {}
    source = Path(file)
    config = _for_gradients(load(source, overrides), str(source))
    folder = RunFolder.named_after(source) if out is None else RunFolder(Path(out))
    progress = current_progress()
    import_newton(config, progress)
    from .descent import Descent
    from .objective import Objective

    with progress.phase("build"):
        simulation = Simulation(config)
        objective = Objective(simulation)
    with simulation:
        course = Descent(objective, progress)
        try:
            course.run()
        except (KeyboardInterrupt, SimulationError) as error:
            if not course.losses:
                raise
            result = course.result(folder.path)
            _write(folder, source, overrides, config, result)
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(result) from error
            raise SimulationError(
                *(f"{each}; the best values are in {result.file}" for each in error.faults)
            ) from error
        result = course.result(folder.path)
        _write(folder, source, overrides, config, result)
    return result


def _write(
    folder: RunFolder, source: Path, overrides: Any, config: SimulationConfig, result: OptimisationResult
) -> None:
    """Write the files of an optimisation."""
    folder.write_config(config)
    folder.write_arrays(VALUES, result.values)
    first = "iteration" if result.moves is None else "move"
    losses = [",".join([first, *(f"world_{world}" for world in range(result.losses.shape[1]))])]
    losses += [",".join([str(number), *(f"{each:.9g}" for each in row)]) for number, row in enumerate(result.losses)]
    folder.write_text("losses.csv", "\n".join(losses) + "\n")
    folder.write_summary(result.summary())
    base = Path(os.path.relpath(source, folder.path)).as_posix()
    lower = apply(Node.build({"extends": [base]}), parse(overrides))
    played = {"simulation": {"requires_grad": False}, "plugins": {PLUGIN: {"type": PLUGIN, "path": VALUES}}}
    folder.write_text(result.file.name, toml_text(merge(lower, Node.build(played)).plain()))
    folder.write_text("report.html", optimisation_page(str(source), result, dump_toml(config)))


def _for_gradients(config: SimulationConfig, where: str) -> SimulationConfig:
    """Return a configuration with gradients, and without viewers and recorders."""
    if config.optimise is None:
        raise ConfigError(f"{where}: has no [optimise] table; add one, with variables and a loss")
    if config.optimise.optimiser == "l-bfgs" and (missing := missing_libraries("optimise")):
        raise ConfigError(
            f"optimise.optimiser: 'l-bfgs' needs {' and '.join(missing)}; install it by `{installation('optimise')}`,"
            " or use 'adam'"
        )
    return attrs.evolve(config.unobserved(), simulation=attrs.evolve(config.simulation, requires_grad=True))
