"""The least-squares problem of a fit: logs in windows, the simulation of candidates, and the unknowns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs
import numpy as np
from pippin import ConfigError, Simulation, SimulationConfig

from pippin_fit.config import FitConfig

from .body_parameters import BodyNumbers
from .checks import refuse_faults, say_faults
from .fixed_parameters import refuse_unclear
from .least_squares import DAMPINGS
from .log import Log, read_logs
from .log_playback import FitMaterial
from .parameter_kinds import find_parameters
from .replay_checks import contact_faults
from .robot_joints import robot_joints
from .rollouts import Rollouts
from .unknowns import Unknowns
from .windows import divide


class FitProblem:
    """The residuals of a fit as a function of its unknowns; the table `[fit]` may have other logs than the file.

    Raises:
        ConfigError: The configuration, a log or a parameter is wrong.
    """

    def __init__(
        self,
        config: SimulationConfig,
        table: FitConfig,
        files: Sequence[str],
        processes: int | Literal["auto"] = 1,
    ) -> None:
        if not config.scene.has_equal_worlds:
            raise ConfigError(
                "fit: the worlds of the file differ, and a robot has one log; leave 'worlds' of assets out"
            )
        scene = attrs.evolve(config.scene, worlds=1, first_world=0, total_worlds=None, settable_joints=True)
        # An episode that ends would reset a world in the middle of its window.
        config = attrs.evolve(config.with_tables(task=None, policy=None), scene=scene)
        #: Number of processes that share the candidates.
        self.processes: int | Literal["auto"] = processes
        self.material: FitMaterial
        self.material, count = _read(config, table, files)
        #: Points of an iteration of the least squares: a proposal, its neighbours, and the other dampings.
        self.slot: int = count + len(DAMPINGS)
        states = 2 * len(self.material.logs[0].joints) if table.start == "estimated" else 0
        #: The simulation of the least squares.
        self.rollouts: Rollouts = Rollouts(self.material, self.slot + states, processes)
        self.unknowns: Unknowns = Unknowns(self.rollouts.parameters)

    def close(self) -> None:
        """Close the simulations."""
        self.rollouts.close()

    @property
    def table(self) -> FitConfig:
        """The table `[fit]`."""
        return self.material.table

    @property
    def logs(self) -> Sequence[Log]:
        """The logs."""
        return self.material.logs

    @property
    def sample_rows(self) -> int:
        """Number of residuals of the samples that are fitted."""
        return len(self.rollouts.parts[0].window_of) * self.rollouts.width

    def logs_of_rows(self) -> np.ndarray:
        """Return the index of the log of each residual that is fitted, shape [rows]."""
        part = self.rollouts.parts[0]
        return np.repeat(np.array([window.log for window in part.windows])[part.window_of], self.rollouts.width)


def _read(config: SimulationConfig, table: FitConfig, files: Sequence[str]) -> tuple[FitMaterial, int]:
    """Return the logs in windows, and the number of values that vary, after all checks."""
    with Simulation(config) as simulation:
        joints = robot_joints(simulation.model)
        logs = read_logs(files, table, joints)
        refuse_unclear(table, [log.name for log in logs])
        refuse_faults(logs, table, joints)
        say_faults(list(contact_faults(simulation.model, logs, joints, table)), table)
        _refuse_unequal(logs, table)
        windows, steps = divide(logs, table, simulation.control_dt)
        parameters = find_parameters(table, simulation, logs[0].joints, BodyNumbers(simulation))
        count, dt = len(Unknowns(parameters).start), simulation.control_dt
    return FitMaterial(config=config, table=table, logs=logs, windows=windows, steps=steps, control_dt=dt), count


def _refuse_unequal(logs: Sequence[Log], table: FitConfig) -> None:
    """Refuse logs of different joints, and logs that lack a signal."""
    if any(log.joints != logs[0].joints for log in logs):
        raise ConfigError("fit.logs: the logs have different joints, or in another order; give all the same")
    for log in logs:
        if missing := sorted((table.signals or logs[0].signals).keys() - log.signals.keys()):
            raise ConfigError(f"fit.signals: {log.name} has no {missing[0]}; name signals that all logs have")
