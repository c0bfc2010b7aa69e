"""What sensors ask of the solver: refused before anything is built, allocated once before anything is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import ConfigError

if TYPE_CHECKING:
    import newton
    import warp as wp

    from .catalog import Catalog
    from .components import Components

__all__ = ["Reports", "allocate_observables", "refuse_unsupported"]

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
    components: Components, solver: newton.solvers.SolverBase, contacts: newton.Contacts | None, substep_count: int
) -> Reports | None:
    """Return arrays for what the sensors need and for overflow reports; None where nothing is needed."""
    offered = getattr(solver, "supported_observables", frozenset())
    kinds = frozenset[str]().union(*(_needs(component) for component in components.values()))
    kinds |= offered & {OVERFLOW}
    return Reports(solver.observables(kinds, contacts=contacts), substep_count) if kinds else None


class Reports:
    """What the solver reports in each substep of a control step.

    The last substep fills what the sensors read. Overflow is reported by each, into a row of its own: a kernel less
    per substep than noting it at once, and none is overwritten before it is noted.

    Args:
        observables: What is filled by the last substep.
        substep_count: Substeps in a control step.
    """

    def __init__(self, observables: newton.solvers.SolverBase.Observables, substep_count: int) -> None:
        import warp as wp

        self.measured = observables
        """What the sensors read."""
        self.overflow: wp.array | None = None
        """Overflow bits of each substep and world, shape [substep_count, world_count]; None if the solver has none."""
        self._of: list[Any] = [None] * (substep_count - 1)
        if OVERFLOW in observables.kinds:
            bits: wp.array = getattr(observables, OVERFLOW)
            self.overflow = wp.zeros((substep_count, len(bits)), dtype=int, device=bits.device)
            self._of = [observables.select({OVERFLOW}) for _ in self._of]
        self._of.append(observables)
        if self.overflow is not None:
            for substep, report in enumerate(self._of):
                setattr(report, OVERFLOW, self.overflow[substep])

    def of(self, substep: int) -> Any:
        """Return the observables of one substep, or None where it has nothing to report."""
        return self._of[substep]


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
