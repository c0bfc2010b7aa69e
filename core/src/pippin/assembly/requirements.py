"""What a solver declares that it supports, held against what a model contains, before anything is compiled."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import Literal

import newton
from pippin.catalog.entries import Catalog
from pippin.components.declaration import Declaration
from pippin.components.registry import Components
from pippin.errors import ConfigError, FeatureWarning, PluginError
from pippin.features import FEATURES

from .used_features import used_features

__all__ = ["gaps", "listed", "refuse_gaps", "solvers_declaring"]


def gaps(model: newton.Model, solver: Declaration) -> dict[str, Sequence[str]]:
    """Return what of a model a solver does not declare to support, with its users, by feature.

    Args:
        model: The model of all worlds.
        solver: What the solver declares; one that declares no features is held to support everything.
    """
    supported = solver.supported_features
    if supported is None:
        return {}
    return {name: users for name, users in used_features(model).items() if name not in supported}


def refuse_gaps(
    model: newton.Model, solver: Declaration, name: str, accepted: Collection[str], catalog: Catalog
) -> None:
    """Refuse what the solver would leave out of the mechanism, and warn of what it would leave out of its numbers.

    Args:
        model: The model of all worlds.
        solver: What the solver declares.
        name: What the file calls the solver.
        accepted: Features that the user does without.
        catalog: Where solvers that support more are found.

    Raises:
        ConfigError: A structural feature is neither supported nor accepted. One fault per feature.
    """
    faults = []
    for feature, users in gaps(model, solver).items():
        if feature in accepted:
            continue
        text = _fault(feature, users, name, solver, catalog)
        if FEATURES[feature].is_structural:
            faults.append(text)
        else:
            warnings.warn(text, FeatureWarning, stacklevel=4)
    if faults:
        raise ConfigError(*faults)


def solvers_declaring(
    attribute: Literal["supported_features", "supported_observables", "deterministic_on"], what: str, catalog: Catalog
) -> list[str]:
    """Return the installed solvers that declare something; those that cannot be loaded are left out.

    Args:
        attribute: The attribute of `Declaration` that declares it.
        what: What is looked for in it.
        catalog: Where solvers are found.
    """
    found = []
    for name in catalog.names("solver"):
        try:
            declared = Declaration.of(catalog.find("solver", name).load(), name)
        except PluginError:
            continue
        if what in (getattr(declared, attribute) or ()):
            found.append(name)
    return found


def listed(users: Sequence[str], limit: int = 3) -> str:
    """Return the first few of many labels, each once, as worlds repeat them."""
    unique = list(dict.fromkeys(users))
    more = f" and {len(unique) - limit} more" if len(unique) > limit else ""
    return ", ".join(unique[:limit]) + more


def _fault(feature: str, users: Sequence[str], name: str, solver: Declaration, catalog: Catalog) -> str:
    able = ", ".join(repr(other) for other in solvers_declaring("supported_features", feature, catalog))
    meaning = FEATURES[feature].meaning.partition(" [")[0]
    option = solver.optional_features.get(feature)
    switch = f" set solver.{option} = true;" if option else ""
    return (
        f"solver: {name!r} does not support {feature} ({meaning}), used by {listed(users)};{switch}"
        f" solvers that do: {able or 'none that is installed'}; or do without:"
        f' simulation.accept_unsupported = ["{feature}"]'
    )


def refuse_unsupported(
    components: Components, asked: Collection[str], supported: frozenset[str], solver: str, catalog: Catalog
) -> None:
    """Refuse every sensor that needs more than the solver gives, and what the file asks for beyond it.

    Raises:
        ConfigError: Names the sensor, what it needs, the solver, and the installed solvers that give it.
    """
    faults = []
    for place, kind in unmet_needs(components, asked, supported):
        able = ", ".join(repr(other) for other in solvers_declaring("supported_observables", kind, catalog))
        faults.append(
            f"{place}: needs {kind!r}, which solver {solver!r} does not compute;"
            f" solvers that do: {able or 'none that is installed'}"
        )
    if faults:
        raise ConfigError(*faults)


def unmet_needs(components: Components, asked: Collection[str], supported: frozenset[str]) -> list[tuple[str, str]]:
    """Return who needs an observable that the solver does not give, as pairs of place and kind."""
    needs = {name.replace(":", "."): declared.observables for name, declared in components.declarations.items()}
    needs = {"simulation.observables": frozenset(asked)} | needs
    return [(place, kind) for place, kinds in needs.items() for kind in sorted(kinds - supported)]
