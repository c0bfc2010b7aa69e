"""What sensors ask of the solver: refused before anything is built, allocated once before anything is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import ConfigError

if TYPE_CHECKING:
    import newton

    from .catalog import Catalog
    from .components import Components

__all__ = ["allocate_observables", "refuse_unsupported"]

OVERFLOW = "overflow"
"""The kind that reports a solver's full buffers, one integer per world; read wherever it is offered."""


def refuse_unsupported(components: Components, supported: frozenset[str], solver: str, catalog: Catalog) -> None:
    """Refuse every sensor that needs more than the solver gives.

    Raises:
        ConfigError: Names the sensor, what it needs, the solver, and the installed solvers that give it.
    """
    faults = []
    for name in components:
        for kind in sorted(_needs(components[name]) - supported):
            able = ", ".join(repr(other) for other in _solvers_with(kind, catalog)) or "none that is installed"
            faults.append(
                f"{name.replace(':', '.')}: needs {kind!r}, which solver {solver!r} does not compute;"
                f" solvers that do: {able}"
            )
    if faults:
        raise ConfigError(*faults)


def allocate_observables(
    components: Components, solver: newton.solvers.SolverBase, contacts: newton.Contacts | None
) -> newton.solvers.SolverBase.Observables | None:
    """Return arrays for what the sensors need and for overflow reports; None where nothing is needed."""
    offered = getattr(solver, "supported_observables", frozenset())
    kinds = frozenset[str]().union(*(_needs(component) for component in components.values()))
    kinds |= offered & {OVERFLOW}
    return solver.observables(kinds, contacts=contacts) if kinds else None


def _needs(component: object) -> frozenset[str]:
    return frozenset(getattr(component, "observables", ()))


def _solvers_with(kind: str, catalog: Catalog) -> list[str]:
    """Return the installed solvers that declare an observable; those that cannot be loaded are left out."""
    from .errors import PluginError

    found = []
    for name in catalog.names("solver"):
        try:
            plugin = catalog.find("solver", name).load()
        except PluginError:
            continue
        if kind in getattr(plugin, "supported_observables", ()):
            found.append(name)
    return found
