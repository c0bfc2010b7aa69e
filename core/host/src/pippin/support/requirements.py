"""Checks of a scene against the solver's declared support, before anything is compiled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, Protocol

import attrs
import newton
from pippin.catalog.entries import Catalog
from pippin.errors import ConfigError, PluginError
from pippin.spelling import listed

from .declaration import Declaration
from .features import FEATURES, MEASURED
from .used_features import particles_touch


class FeaturesOfJoints(Protocol):
    """The features that a component honours itself, and those that its table asks of the solver."""

    @property
    def honoured_features(self) -> Mapping[str, Collection[str]]: ...  # noqa: D102

    @property
    def asked_features(self) -> Mapping[str, Collection[str]]: ...  # noqa: D102


@attrs.frozen
class Gaps:
    """The features of a model that nothing honours, with the users of each."""

    refused: dict[str, Sequence[str]] = attrs.field(factory=dict)
    """Those that the user has to accept."""

    ignored: dict[str, Sequence[str]] = attrs.field(factory=dict)
    """Those that the user accepts to lose, that only a robot file states, or that matter where objects meet."""


def find_gaps(
    used: Mapping[str, Sequence[str]],
    solver: Declaration,
    accepted: Collection[str],
    actuators: Iterable[FeaturesOfJoints],
    *,
    are_stated: bool,
) -> Gaps:
    """Return the features of a model that neither the solver declares nor an actuator honours.

    `are_stated` tells whether robot files state them; otherwise a user has asked for them in Python.
    """
    gaps, parts = Gaps(), list(actuators)
    supported = solver.supported_features
    if supported is None:
        return gaps
    for name in [each for each in used if each not in supported]:
        honoured = {label for part in parts for label in part.honoured_features.get(name, ())}
        asked = {label for part in parts for label in part.asked_features.get(name, ())}
        users = [user for user in used[name] if user not in honoured]
        has_elements = not FEATURES[name].part_of or FEATURES[name].part_of in supported
        if users and has_elements:
            is_noted = FEATURES[name].is_noted and are_stated and asked.isdisjoint(users)
            is_noted |= FEATURES[name].is_possible
            (gaps.ignored if name in accepted or is_noted else gaps.refused)[name] = users
    return gaps


def refuse_gaps(
    gaps: Gaps, solver: Declaration, name: str, accepted: Collection[str], catalog: Catalog
) -> Mapping[str, Sequence[str]]:
    """Refuse features that the solver would ignore, and return those that it may ignore, with their users.

    Raises:
        ConfigError: A feature is refused. One fault per feature; the last one has the cure that accepts all of them.
    """
    refused, found = list(gaps.refused), gaps.refused
    if refused:
        faults = [f"solver: {without(feature, name, solver, catalog, found[feature])}" for feature in refused]
        faults[-1] += f"; {_to_accept([*accepted, *refused], 'them' if len(refused) > 1 else '')}"
        raise ConfigError(*faults)
    return gaps.ignored


def refuse_part(model: newton.Model, solver: Declaration, name: str, run_worlds: int) -> None:
    """Refuse a part of the worlds of a run if they depend on the other worlds."""
    if model.world_count == run_worlds:
        return
    reason = solver.mixed_worlds
    features = solver.supported_features
    if reason is None and particles_touch(model) and features is not None and "particle_worlds" not in features:
        reason = "it does not keep the particles of several worlds apart"
    if reason:
        part = f"{model.world_count} of {run_worlds} worlds"
        raise ConfigError(
            f"solver: {name!r} cannot simulate {part} by themselves: {reason}; simulate all in one process"
        )


def _to_accept(features: Sequence[str], what: str = "") -> str:
    listing = ", ".join(f'"{feature}"' for feature in features)
    return f"or do without{f' {what}' if what else ''}: simulation.accept_unsupported = [{listing}]"


def solvers_declaring(
    attribute: Literal["supported_features", "optional_features", "supported_observables", "deterministic_on"],
    what: str,
    catalog: Catalog,
) -> list[str]:
    """Return the installed solvers whose declaration contains a name; solvers that cannot be loaded are left out."""
    found = []
    for name in catalog.names("solver"):
        try:
            declared = Declaration.of(catalog.find("solver", name).load(), name)
        except PluginError:
            continue
        if what in (getattr(declared, attribute) or ()):
            found.append(name)
    return found


def unsettable(feature: str, name: str, solver: Declaration, catalog: Catalog, accepted: Sequence[str]) -> str:
    """Return that a solver cannot take over what needs a feature, and the cures: the end of a fault after its place."""
    return f"{without(feature, name, solver, catalog)}; {_to_accept([*accepted, feature])}"


def without(feature: str, name: str, solver: Declaration, catalog: Catalog, users: Sequence[str] = ()) -> str:
    """Return that a solver does not have a feature, and where it is to be had: the end of a fault, after its place."""
    able = solvers_declaring("supported_features", feature, catalog)
    optional = solvers_declaring("optional_features", feature, catalog)
    others = [*map(repr, able), *(f"{other!r} with an option" for other in optional if other not in able)]
    meaning = FEATURES[feature].meaning.partition(" [")[0]
    option = solver.optional_features.get(feature)
    used = f", used by {listed(users)}" if users else ""
    switch = f" set solver.{option} = true;" if option else ""
    cure = f" {'or ' if option else ''}{FEATURES[feature].cure};" if FEATURES[feature].cure else ""
    return (
        f"{name!r} does not support {feature} ({meaning}){used};{switch}{cure}"
        f" solvers that do: {', '.join(others) or 'none that is installed'}"
    )


def refuse_unsupported(
    declarations: Mapping[str, Declaration],
    requested: Collection[str],
    supported: frozenset[str],
    solver: str,
    catalog: Catalog,
) -> None:
    """Refuse observables that a sensor or the file needs and the solver does not compute."""
    faults = []
    for place, kind in unmet_needs(declarations, requested, supported):
        able = ", ".join(repr(other) for other in solvers_declaring("supported_observables", kind, catalog))
        faults.append(
            f"{place}: needs {kind!r}, which solver {solver!r} does not compute;"
            f" solvers that do: {able or 'none that is installed'}"
            + "; or leave all sensors out: --set 'sensors={extends=false}'"
            * place.startswith("sensors.")
        )
    if faults:
        raise ConfigError(*faults)


def unmet_needs(
    declarations: Mapping[str, Declaration], requested: Collection[str], supported: frozenset[str]
) -> list[tuple[str, str]]:
    """Return the needs that neither the solver nor the host meets, as pairs of place and kind of observable."""
    needs = {name.replace(":", "."): declared.observables for name, declared in declarations.items()}
    needs = {"simulation.observables": frozenset(requested)} | needs
    return [(place, kind) for place, kinds in needs.items() for kind in sorted(kinds - supported - MEASURED)]
