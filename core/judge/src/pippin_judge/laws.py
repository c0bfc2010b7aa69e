"""Laws of actuators that are judged: the table of a group under each law, what varies, and where a search starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError

FORMULAS: Mapping[str, tuple[str, ...]] = {
    "m1": (),
    "m2": ("kcs", "vs", "alpha"),
    "m3": ("kl",),
    "m4": ("kl", "kcs", "vs", "alpha", "kls"),
    "m5": ("kcs", "vs", "alpha", "km", "ke", "kms", "kes"),
    "m6": ("kcs", "vs", "alpha", "km", "ke", "kms", "kes", "kmq", "keq"),
}
"""Formulas of the friction of servos, and the numbers of each besides dry and viscous friction."""

SERVOS = tuple(f"servo-{formula}" for formula in FORMULAS)

LAWS = ("pd", "dc-motor", *SERVOS)
"""Laws that are judged by default, simple ones first."""

BEFORE: Mapping[str, tuple[str, ...]] = {
    "pd": (),
    "dc-motor": ("pd",),
    "servo-m1": ("pd",),
    "servo-m2": ("servo-m1", "pd"),
    "servo-m3": ("servo-m1", "pd"),
    "servo-m4": ("servo-m3", "servo-m1", "pd"),
    "servo-m5": ("servo-m1", "pd"),
    "servo-m6": ("servo-m5", "servo-m1", "pd"),
}
"""Simpler laws within each law; the search starts from the values of the first one that was fitted."""

_SHARED = ("joints", "delay", "clamping", "effort_limit", "velocity_limit", "effort_mode")
"""Keys of a group that mean the same under every law."""

_SPREAD = 30.0
"""Ratio of the end of a range to the start of the search."""

_FASTER = 3.0
"""First speed without load, in units of the largest speed of the log."""

_DRY = 0.05
"""First dry friction of a servo where there was none, as a share of the largest effort of the log."""

_REACH = 20.0
"""Largest effort of a servo with a duty of 1, in units of the largest effort of the log."""


@attrs.frozen(kw_only=True, eq=False)
class Loads:
    """What the logs show of springs and dampers that pull to their commands, shape [joints] each."""

    pull: np.ndarray
    """Largest effort of the springs [N or N·m]."""

    effort: np.ndarray
    """Largest effort of springs and dampers [N or N·m]."""

    speed: np.ndarray
    """Largest speed [rad/s or m/s]."""

    is_explained: bool = False
    """Whether no more than the noise of the logs is left: then the friction that a further law adds begins with none."""

    limit: float = 2.0
    """First limit of an effort, in units of the largest effort of the logs: above 1, it begins with no effect."""


@attrs.frozen(kw_only=True, eq=False)
class Group:
    """A group of actuators whose law is judged, under one law."""

    label: str

    kind: str
    """The type of its law."""

    joints: tuple[str, ...]
    """Labels of its joints."""

    table: Mapping[str, Any]
    """Its table in the file."""

    parameters: Mapping[str, Mapping[str, Any]]
    """What the file lets vary of it: the plain table of each parameter, by its key in the group."""

    file_kind: str
    """The type of its law in the file."""

    numbers: Mapping[str, np.ndarray]
    """Its parameters under this law by their keys, shape [joints] each."""

    @property
    def spring(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Stiffness [N·m/rad], damping [N·m·s/rad] and dry friction [N·m] about a target, shape [joints] each.

        Raises:
            ConfigError: The law has no stiffness.
        """
        own = self.numbers
        if self.kind in ("pd", "dc-motor"):
            return own["kp"], own["kd"], own["friction"]
        if self.kind != "servo":
            raise ConfigError(
                f"actuators.{self.label}: {self.kind!r} has no stiffness that other laws could start from; write them"
                " into files, --law FILE.toml"
            )
        dry, viscous = (own.get(f"friction.{name}", np.zeros(len(self.joints))) for name in ("kc", "kv"))
        if "damping_factor" in own:
            stiffness = own["kt"] * own["gain"] * own["kp"]
            return stiffness, own["kt"] * own["damping_factor"] * np.sqrt(own["kp"]) + viscous, dry
        per_volt = own["kt"] / own["resistance"]
        return per_volt * own["voltage"] * own["gain"] * own["kp"], per_volt * own["kt"] + viscous, dry

    @property
    def law(self) -> str | None:
        """The name of its law in the file, if that of `LAWS` varies nothing more; None otherwise."""
        formula = self.table.get("friction", {}).get("type") if self.kind == "servo" else None
        name = self.kind if self.kind != "servo" else f"servo-{formula}"
        needed = {"pd": ("kp", "kd"), "dc-motor": ("kp", "kd", "saturation_effort", "velocity_limit")}.get(name)
        if formula in FORMULAS:
            needed = tuple(f"friction.{each}" for each in ("kc", *FORMULAS[formula]))
        return name if needed is not None and self.parameters.keys() >= set(needed) else None

    def under(self, law: str, loads: Loads, logged: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the table of the group under another law, which starts from these numbers, and what varies of it.

        Args:
            law: One of `LAWS`.
            loads: The loads of the logs.
            logged: Labels of the joints that the logs have.

        Raises:
            ConfigError: This law has no stiffness.
        """
        kind, _, formula = law.partition("-m") if law in SERVOS else (law, "", "")
        numbers, ranges = self._start(kind, loads)
        if formula:
            numbers, ranges = _with_friction(numbers, ranges, f"m{formula}", loads)
        varied = dict(self._varied(kind, ranges, logged))
        for key, parameter in varied.items():
            low, high = parameter["range"]
            values = np.clip(numbers[key], low, high)
            numbers[key] = np.full_like(values, values.mean()) if parameter.get("each") == "group" else values
        table: dict[str, Any] = {"extends": False, "type": kind}
        table |= {key: self.table[key] for key in _SHARED if key in self.table and (key, kind) != _OWN_SPEED}
        if kind == "servo" == self.file_kind:
            table |= {key: self.table[key] for key in ("mode", "supply") if key in self.table}
        if formula:
            table["friction"] = {"type": f"m{formula}"}
        for key, values in numbers.items():
            if np.isfinite(values).all():
                *places, last = key.split(".")
                place = table
                for name in places:
                    place = place.setdefault(name, {})
                named = zip(map(re.escape, self.joints), map(_rounded, values), strict=True)
                place[last] = dict(named)
        return table, {f"actuators.{self.label}.{key}": parameter for key, parameter in varied.items()}

    def _start(self, kind: str, loads: Loads) -> tuple[dict[str, np.ndarray], dict[str, tuple[float, float]]]:
        """Return the first numbers under a type, and the ranges of what varies by default."""
        stiffness, damping, dry = self.spring
        floor, limit = np.maximum(damping, 1e-3 * stiffness), loads.limit
        joint = {name: self.numbers[name] for name in ("armature", "offset") if self._has(name)}
        if kind == "servo":
            dry = np.where(dry > 0.0, dry, 0.0 if loads.is_explained else _DRY * loads.effort)
            viscous = {"friction.kc": dry, "friction.kv": self.numbers["damping"]}
            ranges = {"friction.kc": (0.0, _most(loads.effort))}
            if self.kind == "servo":
                own = {key: each for key, each in self.numbers.items() if key not in ("friction", "damping")}
                own = {key: each for key, each in own.items() if not key.startswith("supply.")}
                if self.file_kind != "servo":
                    ranges |= {"kp": _about(own["kp"]), "kt": _about(own["kt"]), "max_duty": (1e-4, 1.0)}
                return {**own, **joint}, ranges
            kt = np.sqrt(floor)  # of a motor with a resistance of 1 Ω
            volts = _REACH * loads.pull / kt
            first = {"resistance": np.ones_like(kt), "voltage": volts, "gain": np.ones_like(kt), "kt": kt}
            first |= {"kp": stiffness / (kt * volts), "max_duty": np.full_like(kt, limit / _REACH)}
            ranges |= {"kp": _about(first["kp"]), "kt": _about(kt), "max_duty": (1e-4, 1.0)}
            return {**first, **joint, **viscous}, ranges
        first = {"kp": stiffness, "kd": floor}
        ranges = {"kp": _about(stiffness), "kd": (0.0, _SPREAD * _most(floor))}
        if kind == "dc-motor":
            first |= {"saturation_effort": limit * loads.effort, "velocity_limit": _FASTER * loads.speed}
            if self.kind == kind:
                first |= {name: self.numbers[name] for name in ("saturation_effort", "velocity_limit")}
            ranges |= {name: _about(first[name]) for name in ("saturation_effort", "velocity_limit")}
        joint |= {"friction": dry} if self._has("friction") else {}
        joint |= {"damping": self.numbers["damping"]} if self._has("damping") and self.file_kind != "servo" else {}
        return {**first, **joint}, ranges

    def _has(self, name: str) -> bool:
        """Tell whether the file says something about a number of the joints."""
        is_of_servo = self.file_kind == "servo" and name in ("armature", "friction")
        return name in self.numbers and (name in self.table or name in self.parameters or is_of_servo)

    def _varied(
        self, kind: str, ranges: Mapping[str, tuple[float, float]], logged: Sequence[str]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the key and the table of each parameter that varies: as in the file, if it has the key there."""
        own, is_same = self.parameters, kind == self.file_kind
        twins = {"friction": "friction.kc", "friction.kc": "friction"}
        kept = {key for key in own if is_same or key in ("armature", "offset", "friction", "damping")}
        if kind == "servo":
            kept -= {"friction", "damping"}
            kept -= {key for key in own if key.startswith("friction.") and key not in ("friction.kc", "friction.kv")}
        elif "friction.kc" in own:
            yield "friction", {**own["friction.kc"]}
        for key in kept:
            yield key, {**own[key]}
        for key, ends in ranges.items():
            if key in kept or (key == "kd" and "damping" in own):  # one has the effect of the other
                continue
            if is_same and key in ("kp", "kt", "max_duty") and kind == "servo":
                continue
            if (twin := twins.get(key)) in own:
                yield key, {**own[twin]}
                continue
            like = own.get(key, {})
            looks = {name: like[name] for name in ("joints", "each") if name in like}
            yield key, {"range": list(ends), "joints": [re.escape(label) for label in logged], **looks}


_OWN_SPEED = ("velocity_limit", "dc-motor")
"""A limit of the speed that means something else under a law."""


def _with_friction(
    numbers: Mapping[str, np.ndarray], ranges: Mapping[str, tuple[float, float]], formula: str, loads: Loads
) -> tuple[dict[str, np.ndarray], dict[str, tuple[float, float]]]:
    """Return numbers and ranges of a servo with those of a formula of friction, and of no other."""
    effort, speed, some = loads.effort, loads.speed, 0.0 if loads.is_explained else 1.0
    share = (np.full_like(effort, 0.05 * some), (0.0, 1.0))
    scales = {
        "kcs": (0.02 * some * effort, (0.0, _most(effort))),
        "vs": (0.1 * speed, (0.002 * float(speed.min()), 2.0 * _most(speed))),
        "alpha": (np.full_like(effort, 1.5), (0.3, 4.0)),
        "kmq": (0.02 * some / effort, (0.0, 2.0 / float(effort.min()))),
    }
    scales["keq"] = scales["kmq"]
    own = ("kc", "kv", *FORMULAS[formula])
    kept = {key: each for key, each in numbers.items() if key.partition(".")[0] != "friction" or key[9:] in own}
    firsts = {f"friction.{name}": scales.get(name, share) for name in FORMULAS[formula]}
    return (
        {key: each for key, (each, _) in firsts.items()} | kept,
        {**ranges, **{key: ends for key, (_, ends) in firsts.items()}},
    )


def _about(values: np.ndarray) -> tuple[float, float]:
    return _rounded(float(values.min()) / _SPREAD), _rounded(_SPREAD * float(values.max()))


def _most(values: np.ndarray) -> float:
    return _rounded(float(values.max()))


def _rounded(value: float) -> float:
    return float(f"{value:.9g}")
