"""Deterministic steps, the same bits in every run on one machine: options to set, and a check of the components.

The CPU needs no option: Warp runs the threads of a kernel one after the other, so sums have a fixed order. On a GPU,
atomic additions run in any order unless Newton's solvers and its collision pipeline sort them.
"""

from __future__ import annotations

import attrs
from pippin.catalog.entries import Catalog
from pippin.components.registry import Components
from pippin.config import SimulationConfig
from pippin.config.fields import has_deterministic
from pippin.errors import ConfigError
from pippin.support.requirements import solvers_declaring

_STEP_HOOKS = ("apply_actuators", "before_substep", "step_solver", "after_substep", "update_sensors")


def with_determinism(config: SimulationConfig, kind: str) -> SimulationConfig:
    """Return the configuration with the options that `simulation.determinism` needs on "cpu" or "cuda"."""
    if config.simulation.determinism is None or kind == "cpu":
        return config
    collision = attrs.evolve(config.collision, deterministic=True)
    solver = config.solver
    if solver is not None and has_deterministic(solver.config):
        if solver.config.deterministic is False:
            raise ConfigError(
                "solver.deterministic: false, but simulation.determinism is 'run-to-run'; leave one of the two out"
            )
        solver = attrs.evolve(solver, config=attrs.evolve(solver.config, deterministic=True))
    return attrs.evolve(config, collision=collision).with_tables(solver=solver)


def refuse_undeterministic(components: Components, config: SimulationConfig, kind: str, catalog: Catalog) -> None:
    """If the file asks for determinism, refuse components that do not declare it for this kind of device."""
    if config.simulation.determinism is None:
        return
    hooks = (*_STEP_HOOKS, "build_solver")
    owners = dict.fromkeys(answer.owner for hook in hooks for answer in components.implementations(hook))
    silent = [name for name in owners if kind not in components.declarations[name].deterministic_on]
    if silent:
        raise ConfigError(*(_fault(name, config, kind, catalog) for name in silent))


def _fault(owner: str, config: SimulationConfig, kind: str, catalog: Catalog) -> str:
    who, cures = owner.replace(":", "."), []
    if kind != "cpu":
        cures.append('set simulation.device = "cpu"')
    if owner == "solver" and config.solver is not None:
        who = f"solver {config.solver.type!r}"
        able = ", ".join(repr(name) for name in solvers_declaring("deterministic_on", kind, catalog))
        cures.append(f"use one that does: {able or 'none that is installed'}")
    cures = cures or ["leave one of the two out"]
    return f"simulation.determinism: 'run-to-run', but {who} does not promise it on {kind}; {', or '.join(cures)}"
