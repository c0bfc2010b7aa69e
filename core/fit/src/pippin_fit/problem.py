"""The least-squares problem of a fit: logs in windows, the simulation of candidates, and the unknowns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs
import numpy as np
from pippin import ConfigError, Simulation, SimulationConfig

from pippin_fit.config import FitConfig

from .body_parameters import BodyNumbers
from .candidates import FitMaterial
from .checks import refuse_faults, say_faults
from .least_squares import DAMPINGS
from .log import Log, divide, read_logs, robot_joints
from .parameter_kinds import find_parameters, refuse_unclear
from .parameters import Unknowns
from .replay_checks import contact_faults
from .rollouts import Rollouts


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
        #: The table `[fit]`, and the logs.
        self.table, self.logs = table, logs
        #: What all worlds are made of.
        self.material: FitMaterial = FitMaterial(
            config=config, table=table, logs=logs, windows=windows, steps=steps, control_dt=dt, processes=processes
        )
        #: Points of an iteration of the least squares: a proposal, its neighbours, and the other dampings.
        self.slot: int = count + len(DAMPINGS)
        states = 2 * len(logs[0].joints) if table.start == "estimated" else 0
        #: The simulation of the least squares.
        self.rollouts: Rollouts = Rollouts(self.material, self.slot + states)
        self.unknowns: Unknowns = Unknowns(self.rollouts.parameters)

    def close(self) -> None:
        """Close the simulations."""
        self.rollouts.close()

    @property
    def sample_rows(self) -> int:
        """Number of residuals of the samples that are fitted."""
        return len(self.rollouts.parts[0].window_of) * self.rollouts.width

    def logs_of_rows(self) -> np.ndarray:
        """Return the index of the log of each residual that is fitted, shape [rows]."""
        part = self.rollouts.parts[0]
        return np.repeat(np.array([window.log for window in part.windows])[part.window_of], self.rollouts.width)


def _refuse_unequal(logs: Sequence[Log], table: FitConfig) -> None:
    """Refuse logs of different joints, and logs that lack a signal."""
    if any(log.joints != logs[0].joints for log in logs):
        raise ConfigError("fit.logs: the logs have different joints, or in another order; give all the same")
    for log in logs:
        if missing := sorted((table.signals or logs[0].signals).keys() - log.signals.keys()):
            raise ConfigError(f"fit.signals: {log.name} has no {missing[0]}; name signals that all logs have")
