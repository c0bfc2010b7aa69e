"""Everything that a user can set while a simulation runs, with what a solver has to declare to honour it.

The kit tries each on a body of its own, and the reference page *honoured* is made of the same table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import attrs
from pippin.components import Declaration
from pippin.views import ARTICULATION, RIGID_BODY

Body = Literal["slider", "wheel", "ball", "fixed"]
"""Mechanism of a change: a slider along x, a wheel on a hinge about z, a free ball, or a ball on a fixed root."""

Motion = Literal["x", "y", "z", "x speed", "y speed", "z speed", "turn speed"]
"""What is measured: the change of a position [m] or a velocity [m/s, rad/s] of the body, in world axes."""

_JOINTS: Mapping[Body, str] = {
    "slider": "prismatic_joints",
    "wheel": "revolute_joints",
    "ball": "free_joints",
    "fixed": "fixed_joints",
}


@attrs.frozen
class RuntimeChange:
    """One change at run time, on a body that moves in one way if it is honoured, and in another if not."""

    name: str
    """Call that makes the change, such as `set_masses`."""

    value: Any
    """New value: a number, or numbers of one row."""

    meaning: str
    """Meaning of the motion, without its unit."""

    motion: Motion
    acting: tuple[float, float]
    """Bounds of the motion in the world that is changed."""

    idle: tuple[float, float] = (-0.005, 0.005)
    """Bounds of the motion in the other worlds, which are not changed; by default it stands still."""

    body: Body = attrs.field(default="slider", kw_only=True)
    feature: str = attrs.field(default="", kw_only=True)
    """Name in `pippin.solving.FEATURES` of what the solver needs; empty if it needs nothing but the body."""

    flags: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    """Names in `newton.ModelFlags` that the solver has to take over while it runs."""

    first: Mapping[str, float] = attrs.field(default={}, kw_only=True)
    """Setters that are called in all worlds before, with their values."""

    start: tuple[float, float] = attrs.field(default=(0.0, 0.0), kw_only=True)
    """Position [m] and velocity [m/s] of the slider at the start."""

    push: float = attrs.field(default=0.0, kw_only=True)
    """Force along x on the centre of mass in each step [N]."""

    torque: float = attrs.field(default=0.0, kw_only=True)
    """Torque about z in each step [N·m]."""

    attribute: str = attrs.field(default="", kw_only=True)
    """Name of the attribute that `set_attribute` sets."""

    @property
    def expectation(self) -> str:
        """Meaning of the motion, with its unit; for errors and the reference page."""
        unit = "rad/s" if self.motion == "turn speed" else "m/s" if "speed" in self.motion else "m"
        return f"{self.meaning} [{unit}]"

    @property
    def label(self) -> str:
        """Name among all changes: that of the call, with the attribute that it sets."""
        return f"{self.name}_{self.attribute}" if self.attribute else self.name

    @property
    def prepares(self) -> frozenset[str]:
        """Features that its `first` setters change."""
        return frozenset(ARTICULATION[setter.removeprefix("set_")].feature for setter in self.first) - {""}

    @property
    def of_body(self) -> frozenset[str]:
        """Features that a solver needs to move the body."""
        return frozenset({"rigid_bodies", _JOINTS[self.body]})


@attrs.frozen(kw_only=True)
class Cell:
    """Verdict of a declaration on a change."""

    is_honoured: bool
    """Whether the call acts; otherwise it is refused."""

    lacks: str = ""
    """The first feature that the solver does not have or reads at the build, or else the first change that it does not
    follow, if the call is refused."""

    is_withheld: bool = False
    """Whether the solver has what the call changes, but declares that it reads it at the build only."""

    option: str = ""
    """The option of the solver that makes the call act, if it is refused without."""

    is_fixed: bool = False
    """Whether the call acts only at joints that had the feature when the solver was built."""


def cell_of(change: RuntimeChange, declared: Declaration) -> Cell:
    """Return what a solver's declaration says of a runtime change."""
    features, flags = declared.supported_features, declared.live_changes
    needed = [*sorted(change.of_body, reverse=True), *([change.feature] if change.feature else [])]
    lacking = [each for each in needed if features is not None and each not in features]
    if lacking:
        return Cell(is_honoured=False, lacks=lacking[0], option=declared.optional_features.get(lacking[0], ""))
    if features is not None and change.flags and features.get(change.feature) == "build":
        return Cell(is_honoured=False, lacks=change.feature, is_withheld=True)
    if ignored := [flag for flag in change.flags if flags is not None and flag not in flags]:
        return Cell(is_honoured=False, lacks=ignored[0], is_withheld=True)
    return Cell(is_honoured=True, is_fixed=change.feature in declared.features_fixed_at_build)


def _changes() -> Iterator[RuntimeChange]:
    for label, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items():
        of_view: Any = {**RIGID_BODY, **ARTICULATION}.get(label.removeprefix("set_"))
        declared = {} if of_view is None else {"feature": of_view.feature, "flags": of_view.flags}
        read = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
        values: Any = {"name": label, **declared, **read}
        yield RuntimeChange(**values)


RUNTIME_CHANGES: Mapping[str, RuntimeChange] = {change.label: change for change in _changes()}
"""The runtime changes by name."""
