"""Attributes and methods of a component that the host reads after `bind`, in addition to the hooks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from pippin.errors import PluginError
from pippin.support.declaration import MISSING, read

if TYPE_CHECKING:
    import numpy as np
    import warp as wp
    from pippin.solving.contact_source import Capacity


_FITTING: dict[str, Callable[[Any], bool]] = {
    "True or False": lambda value: isinstance(value, bool),
    "a phrase or None": lambda value: isinstance(value, str | None),
    "a sequence of phrases": lambda value: not isinstance(value, str) and all(isinstance(each, str) for each in value),
    "a collection of names": lambda value: isinstance(value, Collection) and not isinstance(value, str),
    "a Warp array or None": lambda value: value is None or (hasattr(value, "ptr") and hasattr(value, "numpy")),
    "a mapping of Warp arrays": lambda value: isinstance(value, Mapping),
    "a mapping of pippin.sensing.Output": lambda value: isinstance(value, Mapping),
    "features with labels": lambda value: isinstance(value, Mapping),
    "anything": lambda _: True,
}
"""What values of attributes are expected to be, and whether one is."""


class _ReadAttribute:
    """An attribute that is read from the component at each access; a value that does not fit is refused."""

    def __init__(self, expected: str = "anything", default: Callable[[], Any] = lambda: None) -> None:
        self._expected, self._default = expected, default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, of: RuntimeAttributes | None, owner: type) -> Any:
        return self if of is None else of._fitting(self._name, of._read(self._name, self._default()), self._expected)


class _OfferedArray(_ReadAttribute):
    """An array, or None if the component raises an AttributeError."""

    def __get__(self, of: RuntimeAttributes | None, owner: type) -> Any:
        if of is None:
            return self
        with of._during(self._name):
            return getattr(of._component, self._name, None)


# For type checkers, an attribute has the type of its annotation.
_attribute: Any = _ReadAttribute
_offered: Any = _OfferedArray


class RuntimeAttributes:
    """The attributes of a component after `bind`, read at each access. Missing attributes have their default.

    Args:
        name: The component's name in errors, such as `sensors:torso`.
        during: Returns a context, by the name of the attribute, in which exceptions name the component;
            by default exceptions are left alone.
    """

    def __init__(
        self, component: Any, name: str, during: Callable[[str], AbstractContextManager[Any]] = nullcontext
    ) -> None:
        self._component, self._name, self._during = component, name, during

    is_capturable: bool = _attribute("True or False", lambda: True)
    """True if the step hooks may be recorded into a graph. The host checks this claim."""

    eager_reason: str | None = _attribute("a phrase or None")
    """The reason why the step hooks may not be recorded; shown with the program."""

    is_differentiable: bool = _attribute("True or False", bool)
    """True if a [rollout](../how-to/gradients.md) may record its step hooks: they carry nothing from call to call and
    overwrite nothing that was read. In a rollout, `state.requires_grad` is true. A solver declares the feature
    `gradients` instead."""

    notes: Sequence[str] = _attribute("a sequence of phrases", tuple)
    """Phrases with facts that a reader of the results should know; shown in `sim.notes`, in the summary and by `pippin
    run`."""

    honoured_features: Mapping[str, Collection[str]] = _attribute("features with labels", dict)
    """Actuators: [features](solvers.md#supported-features) that the component honours itself, so that the solver need
    not have them, with the labels of the joints. Read once all prototypes are extended, before `bind`."""

    asked_features: Mapping[str, Collection[str]] = _attribute("features with labels", dict)
    """Actuators: features that the component's table asks of the solver, with the labels of the joints. A solver
    without them is refused, also where it is only noted that a robot file states them. Read before `bind`."""

    unsaved_reason: str | None = _attribute("a phrase or None")
    """The reason why a simulation with this component cannot be saved, for example state that is not in arrays or
    numbers of fixed size."""

    actuated_dofs: wp.array[int] | None = _attribute("a Warp array or None")
    """Actuators: The DOFs whose `control.joint_f` the host zeroes before `apply_actuators`. An actuator of a file must
    have this attribute. No two components may list one DOF, wherever they come from; a component that only adds effort
    to a DOF that another one drives does not list it."""

    is_open_loop: bool = _attribute("True or False", bool)
    """Actuators: True if `apply_actuators` writes the same in all physics steps of a control step, because it depends
    on targets and parameters alone, and not on the state. If all actuators declare this, a solver that takes several
    substeps in a call takes all of a control step, and `apply_actuators` is called once before."""

    shared_arrays: Collection[str] = _attribute("a collection of names", tuple)
    """Actuators: arrays of `newton.Control` and of the model that users may set for `actuated_dofs` because the
    actuator reads them or leaves them alone, such as `joint_target_q`. Views refuse to set the other targets, efforts,
    gains and effort limits of these DOFs."""

    joint_labels: Sequence[str] = _attribute("a collection of names", tuple)
    """Actuators: labels of the driven axes of the first world, or of what a group drives in their place, such as pads,
    one for each column of the arrays below."""

    position_targets: wp.array | None = _offered()
    """Actuators: targets [m or rad], shape [len(worlds), DOFs]; recorded by `pippin run`."""

    velocity_targets: wp.array | None = _offered()
    """Actuators: targets [m/s or rad/s], shape [len(worlds), DOFs]; recorded by `pippin run`."""

    feedforward: wp.array | None = _offered()
    """Actuators: effort that is added to that of the law [N or N·m], shape [len(worlds), DOFs]."""

    actuator_labels: Sequence[str] = _attribute("a collection of names", tuple)
    """Actuators: labels of the asset's own actuators in the first world, one for each column of `ctrl`."""

    ctrl: wp.array | None = _offered()
    """Actuators: inputs of the asset's own actuators, shape [len(worlds), actuators], in the units of the asset;
    recorded by `pippin run`."""

    computed_effort: wp.array | None = _offered()
    """Actuators: effort of the last physics step before clamping [N or N·m], shape [len(worlds), DOFs]."""

    applied_effort: wp.array | None = _offered()
    """Actuators: effort of the last physics step as it reached the joints [N or N·m], shape [len(worlds), DOFs];
    recorded by `pippin run`."""

    @property
    def outputs(self) -> Mapping[str, Any]:
        """Sensors: a `pippin.sensing.Output` for each quantity, by name; recorded by `pippin run`."""
        outputs = self._fitting("outputs", self._read("outputs", {}), "a mapping of pippin.sensing.Output")
        for label, output in outputs.items():
            if not all(hasattr(output, name) for name in ("data", "unit", "labels")):
                raise self._wrong(f"outputs: {label!r} is not a pippin.sensing.Output, got {output!r}")
        return outputs

    worlds: np.ndarray | None = _attribute()
    """The worlds that its state arrays, outputs and targets belong to, ascending, in equal parts. None means all
    worlds."""

    ended_worlds: wp.array[wp.bool] | None = _attribute("a Warp array or None")
    """The worlds that the host resets at the end of a control step, after `end_step`: a mask of shape [world_count + 1]
    that the component writes on the device. Only one component may have it."""

    held_arrays: Mapping[str, wp.array] = _attribute("a mapping of Warp arrays", dict)
    """Observers: arrays, by name, that the hooks within a step write. They do not belong to the simulation's state; the
    host puts them back after a step that it only rehearsed."""

    harmless_overflow_bits: int = _attribute(default=int)
    """Solvers: Bits of the observable `overflow` that report no loss of data, such as a reached iteration limit."""

    def state_arrays(self) -> Mapping[str, wp.array]:
        """A method that returns, by name, the arrays that the component carries from step to step. A reset restores
        them by world.
        """
        arrays, again = (
            self._fitting("state_arrays", self._call("state_arrays", dict), "a mapping of Warp arrays")
            for _ in range(2)
        )
        for key, array in arrays.items():
            if getattr(array, "ptr", None) != getattr(again.get(key), "ptr", None):
                raise self._wrong(
                    f"state_arrays: {key!r} is a new array at each call, which a reset would restore in vain; make it"
                    " in bind, and return the same one"
                )
        return arrays

    def capacities(self) -> Sequence[Capacity]:
        """Solvers: A method that returns a `pippin.solving.Capacity` for each buffer of fixed size that a step fills.
        If its `count` exceeds the allocated size, `Simulation.raise_errors` names the buffer.
        """
        return self._call("capacities", tuple)

    def raise_errors(self) -> None:
        """A method that raises `pippin.SimulationError` if something went wrong on the device; called by
        `Simulation.raise_errors`, and may read arrays.
        """
        self._call("raise_errors", lambda: None)

    def wants_frame(self) -> bool:
        """Viewers: A method that tells whether anybody looks; without a look, the host leaves the frame out. It is
        called for each frame, and takes microseconds.
        """
        return bool(self._call("wants_frame", lambda: True))

    def wait_time(self) -> float:
        """Viewers: A method that returns the time to wait before the next control step [s]: 0 to continue, `inf` while
        the simulation is paused. The host asks again while it waits. After a pause it takes one step, and asks.
        """
        return float(self._call("wait_time", float))

    def act(self) -> bool:
        """Viewers: A method that changes the simulation for a user before the next control step, as a hand that pulls a
        body does; True if it did, and then the steps come one by one. It is called once before each stride of steps.
        """
        return bool(self._call("act", lambda: False))

    @classmethod
    def names(cls) -> Iterator[str]:
        """Yield the attributes that components may have."""
        public = {key: value for key, value in vars(cls).items() if not key.startswith("_")}
        return (key for key, value in public.items() if not isinstance(value, classmethod))

    def _read(self, attribute: str, default: Any) -> Any:
        with self._during(attribute):
            value = read(self._component, attribute, self._name)
        return default if value is MISSING else value

    def _fitting(self, attribute: str, value: Any, expected: str) -> Any:
        if not _FITTING[expected](value):
            raise self._wrong(f"{attribute}: expected {expected}, got {value!r}")
        return value

    def _wrong(self, fault: str) -> PluginError:
        """Return the error of a fault; it names this component, and not the one that reads the attribute."""
        error = PluginError(f"{self._name}: {fault}")
        error.owner = self._name
        return error

    def _call(self, method: str, default: Callable[[], Any]) -> Any:
        found = self._read(method, default)
        if not callable(found):
            raise self._wrong(f"{method}: expected a method, got {found!r}")
        with self._during(method):
            return found()
