"""Declarations: attributes of a component, in addition to its hooks, that the host reads once at registration."""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Self

import attrs
from pippin.errors import PluginError
from pippin.spelling import did_you_mean

from .features import FEATURES, LEVELS, live_changes

MISSING: Any = object()
"""The value of an attribute that a component does not have."""

_CLOSE = 0.85
"""Similarity of `difflib` from which a name counts as misspelt: one wrong letter in seven, or two in fourteen."""


def read(component: Any, attribute: str, name: str) -> Any:
    """Return an attribute of a component, or MISSING. Properties of a class count as missing.

    Raises:
        PluginError: The attribute is a property that raises an AttributeError; its default would be a guess.
    """
    try:
        value = getattr(component, attribute)
    except AttributeError as error:
        if hasattr(inspect.getattr_static(type(component), attribute, None), "__get__"):
            raise PluginError(f"{name}: {attribute} cannot be read: {error}") from error
        return MISSING
    return MISSING if isinstance(component, type) and hasattr(value, "__get__") else value


def misspelt(plugin: type, declared: Collection[str]) -> Iterator[str]:
    """Yield a fault for each public name of a plugin's class that is similar, but not equal, to a declared name.

    Names of base classes from other packages and hooks are left out. Annotations of Pippin's base classes count as
    declared names.
    """
    known = {*declared, *_annotated_by_pippin(plugin)}
    by_folded = {name.casefold(): name for name in known}
    for cls in plugin.__mro__:
        if _package(cls) != _package(plugin):
            continue
        for name in (*vars(cls), *inspect.get_annotations(cls)):
            if name.startswith("_") or name in known or hasattr(vars(cls).get(name), "pippin_impl"):
                continue
            near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=_CLOSE)
            if near and not _is_plural(name, near[0]):
                yield f"{name} is not a declaration; did you mean {by_folded[near[0]]}? If not, rename it"


def _annotated_by_pippin(plugin: type) -> set[str]:
    bases = [cls for cls in plugin.__mro__ if _package(cls) == "pippin"]
    return {name for cls in bases for name in inspect.get_annotations(cls) if name.islower()}


def _is_plural(name: str, near: str) -> bool:
    """Tell whether two short names are a word and its plural: `world` is not a misspelt `worlds`."""
    short, long = sorted((name.casefold(), near), key=len)
    return long == f"{short}s" and len(short) < 8


def _package(cls: type) -> str:
    return cls.__module__.partition(".")[0]


Check = Callable[[Any, Any, Any], None]


def _names(value: Any) -> Any:
    is_collection = isinstance(value, Collection) and not isinstance(value, str | Mapping)
    return frozenset(value) if is_collection else value


def _are_names(known: Collection[str] = ()) -> Check:

    def check(declaration: Any, field: attrs.Attribute[Any], names: Any) -> None:
        if names is None and field.default is None:
            return
        if not isinstance(names, frozenset | Mapping) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"{field.name}: expected names, got {names!r}; declare a frozenset of strings")
        for name in sorted(set(names) - set(known)) if known else ():
            near = did_you_mean(name, known) or f"; known: {', '.join(sorted(known))}"
            raise ValueError(f"{field.name} has {name!r}, which does not exist{near}")

    return check


def _levels(value: Any) -> Any:
    """Leave out the features that a solver says it does not have; `_are_levels` refuses everything else."""
    if not isinstance(value, Mapping):
        return value
    levels = {name: level for name, level in value.items() if level != "no" or name not in FEATURES}
    if "heterogeneous_worlds" in levels:  # a solver of worlds that differ in anything
        levels.setdefault("different_meshes", levels["heterogeneous_worlds"])
    return levels


def _are_levels(declaration: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise ValueError(
            f"{field.name}: expected a mapping from features to 'live', 'build' or 'no', got {value!r}; write"
            " {'armature': 'live'} for one that may change while the solver runs"
        )
    _are_names(FEATURES)(declaration, field, value)
    for name, level in value.items():
        if level not in LEVELS:
            raise ValueError(f"{field.name}: {name}: {level!r}; declare 'live', 'build' or 'no'")


def _is(expected: str, accepts: Callable[[Any], bool]) -> Check:
    def check(declaration: Any, field: attrs.Attribute[Any], value: Any) -> None:
        if not accepts(value):
            raise ValueError(f"{field.name}: expected {expected}, got {value!r}")

    return check


def _may_be_positive(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (is_number and math.isfinite(value) and value > 0.0)


_is_positive = _is("a number above 0 or None", _may_be_positive)
_is_reason = _is("a reason as text or None", lambda value: value is None or (isinstance(value, str) and bool(value)))


def _are_options(declaration: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, Mapping) or not all(isinstance(option, str) for option in value.values()):
        raise ValueError(f"{field.name}: expected a mapping from features to names of options, got {value!r}")
    _are_names(FEATURES)(declaration, field, value)


def _are_coordinates(declaration: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if value not in ("reduced", "joint", "maximal", "mixed"):
        raise ValueError(f"{field.name}: {value!r}; declare 'reduced', 'joint', 'maximal' or 'mixed'")


def _is_memory(declaration: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if value not in ("own", "shared"):
        raise ValueError(f"{field.name}: {value!r}; declare 'own' or 'shared'")


def _names_field(default: Collection[str] | None, known: Collection[str] = ()) -> Any:
    return attrs.field(default=default, converter=_names, validator=_are_names(known))


def _bool_field() -> Any:
    return attrs.field(default=False, validator=_is("True or False", lambda value: isinstance(value, bool)))


@attrs.frozen(kw_only=True)
class Declaration:
    """The declaration of a component, read before anything is built. Missing attributes have their default."""

    observables: frozenset[str] = _names_field(frozenset())
    """Sensors: The solver observables that the sensor reads in `update_sensors`, such as `{"body_qdd"}`."""

    period: float | None = attrs.field(default=None, validator=_is_positive)
    """Sensors and recorders: Time from one `update_sensors`, or one `after_step`, to the next [s], a whole number of
    control steps. None means every control step."""

    frame_rate: float | None = attrs.field(default=None, validator=_is_positive)
    """Viewers: Frames per second of real time; a frame that would come late is left out."""

    frame_period: float | None = attrs.field(default=None, validator=_is_positive)
    """Viewers: Simulated time from one frame to the next [s]; each comes after the first control step that reaches its
    time. Without it and `frame_rate`, a frame comes after every control step."""

    supported_observables: frozenset[str] | None = _names_field(None)
    """Solvers: The observables that the solver can write. With this declaration, the host can refuse a sensor before
    it builds anything; without it, the host asks the solver that it has built."""

    supported_features: Mapping[str, str] | None = attrs.field(default=None, converter=_levels, validator=_are_levels)
    """Solvers: A mapping from the [features that the solver supports](solvers.md#supported-features) to `"live"` or
    `"build"`. The host checks every scene against the features, and every change at run time against the words.
    `"live"`: the solver follows what [changes of the feature while it runs](solvers.md#model-changes-while-running).
    `"build"`: it reads the feature only while it is built, so that such a change is refused. `"no"` is the same as
    leaving the feature out. `heterogeneous_worlds` implies `different_meshes`. A solver without this declaration is
    assumed to support every feature, live."""

    optional_features: Mapping[str, str] = attrs.field(factory=dict, validator=_are_options)
    """Solvers: A mapping from features to the options that switch them on. If a scene needs such a feature, the error
    names the option."""

    features_fixed_at_build: frozenset[str] = _names_field(frozenset(), FEATURES)
    """Solvers: The names of live [features of joints](honoured.md) that the built solver cannot add to a joint: a
    setter of a view acts only at joints that had the feature when the solver was built, and is refused at the others.
    `scene.settable_joints` gives all joints these features before the build."""

    features_kept_from_build: frozenset[str] = _names_field(frozenset(), FEATURES)
    """Solvers: The names of features that the built solver cannot take away from a joint, either: a value of zero, or a
    limit at infinity, is refused."""

    coordinates: str = attrs.field(default="reduced", validator=_are_coordinates)
    """Solvers: `"reduced"`: the solver writes joints and bodies. `"joint"`: it writes joints only, and the host runs
    `newton.eval_fk`. `"maximal"`: it writes bodies only, and the host runs `newton.eval_ik`. `"mixed"`: it writes
    bodies, and reads joints of the last substep: the host runs `newton.eval_ik` after each of its calls."""

    longest_contact_step: float | None = attrs.field(default=None, validator=_is_positive)
    """Solvers: The longest step that contacts of usual robots hold [s], if the solver takes their forces at the start
    of a step. Where something can touch, `simulation.substeps` is by default so large that no step is longer, and links
    on fixed joints of a URDF are merged: a contact would push a light link far."""

    detects_contacts: bool = _bool_field()
    """Solvers: True if the solver detects contacts by its own method. A `[collision]` table would have no effect, so
    the host refuses it before it builds anything. The hook `initialize_contacts` has to return the solver's contacts
    all the same."""

    runs_pipeline: bool = _bool_field()
    """Solvers: True if the solver runs Newton's collision pipeline within its step. `build_solver` then gets a
    pipeline, and `step_solver` gets no contacts."""

    steps_in_place: bool = _bool_field()
    """Solvers: True if a step has to write into the state that it reads, when another solver steps this one."""

    deterministic_on: frozenset[str] = _names_field(frozenset({"cpu"}), frozenset({"cpu", "cuda"}))
    """The kinds of device (`"cpu"`, `"cuda"`) on which its steps give the same bits in every run. If its
    configuration has a key `deterministic`, the claim holds for `deterministic = true`. `simulation.determinism`
    relies on it."""

    hookspecs: type | None = None
    """A class whose methods, marked with `@pippin.hookspec`, are [hooks of the plugin's own](#hooks-of-a-plugin): other
    components answer them, and `simulation.services.call_hook` calls them."""

    engine_memory: str = attrs.field(default="own", validator=_is_memory)
    """Solvers that ask for `written_worlds`: `"shared"` if all that their steps carry on is in arrays and numbers that
    the host finds, or in a `pippin.solving.EngineMemory`, so that it can put it back. `"own"` if some of it is in a
    library of another language or in another process: the host then takes no step twice, and after `load` the solver
    reads all worlds."""

    mixed_worlds: str | None = attrs.field(default=None, validator=_is_reason)
    """Solvers: The reason why the motion of a world depends on the other worlds, if it does. Then the worlds of a run
    are not split over processes."""

    is_observer: bool = _bool_field()
    """True if the component only observes the simulation: its data are not part of the simulation's state. Viewers and
    recorders always do."""

    @classmethod
    def of(cls, component: Any, name: str) -> Self:
        """Read the declaration of a component, or of a plugin's class for all its instances.

        Properties of a class are left out: only an instance has their values.

        Args:
            component: The component or the class.
            name: Its name, for errors.

        Raises:
            PluginError: A part of the declaration is wrong.
        """
        values = {field.name: read(component, field.name, name) for field in attrs.fields(cls)}
        try:
            return cls(**{key: value for key, value in values.items() if value is not MISSING})
        except ValueError as error:
            raise PluginError(f"{name}: {error}") from error

    @property
    def live_changes(self) -> frozenset[str] | None:
        """Names in `newton.ModelFlags` of the changes that the solver follows while it runs; None for all."""
        return None if self.supported_features is None else live_changes(self.supported_features)

    @classmethod
    def names(cls) -> Iterator[str]:
        """Yield the declared attributes."""
        return (field.name for field in attrs.fields(cls))
