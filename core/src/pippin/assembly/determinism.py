"""The same bits in every run on one machine: what is set for it, and which component does not promise it.

On the CPU nothing has to be set: Warp runs the threads of a kernel there one after the other, so that sums have one
order. On a GPU, atomic additions come in any order unless Newton's solvers and its collision pipeline are told to sort.
"""

from __future__ import annotations

import attrs
from pippin.catalog.entries import Catalog
from pippin.components.registry import Components
from pippin.config import SimulationConfig
from pippin.config.known_keys import has_deterministic
from pippin.errors import ConfigError

from .requirements import solvers_declaring

__all__ = ["refuse_undeterministic", "with_determinism"]

_STEP_HOOKS = ("apply_actuators", "before_substep", "step_solver", "update_sensors")


def with_determinism(config: SimulationConfig, kind: str) -> SimulationConfig:
    """Return a configuration with what `simulation.determinism` needs on a kind of device.

    Args:
        config: As the file has it.
        kind: "cpu" or "cuda".

    Raises:
        ConfigError: The solver's own configuration says the contrary.
    """
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
    return attrs.evolve(config, collision=collision, solver=solver)


def refuse_undeterministic(components: Components, config: SimulationConfig, kind: str, catalog: Catalog) -> None:
    """Refuse what does not declare that its steps give the same bits in every run, where the file asks for them.

    Args:
        components: All components. Those that answer no hook of a step are not asked.
        config: What they were built from.
        kind: Where they run: "cpu" or "cuda".
        catalog: Where solvers that promise it are found.

    Raises:
        ConfigError: One fault for each component that does not.
    """
    if config.simulation.determinism is None:
        return
    hooks = (*_STEP_HOOKS, "build_solver")
    asked = dict.fromkeys(answer.owner for hook in hooks for answer in components.implementations(hook))
    silent = [name for name in asked if kind not in components.declarations[name].deterministic_on]
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
