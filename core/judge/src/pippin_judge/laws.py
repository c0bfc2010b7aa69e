"""Laws of actuators that are judged: the table of a group under each law, what varies, and where a search starts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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

_VARIED = {
    "pd": ("kp", "kd"),
    "dc-motor": ("kp", "kd", "saturation_effort", "velocity_limit"),
    "servo": ("kp", "kt", "max_duty", "friction.kc"),
}
"""What varies of a law; of a servo of the file, what the file says and the friction."""

_OF_ALL = ("joints", "delay", "clamping", "effort_limit", "velocity_limit", "effort_mode", "mode", "supply")
"""Keys of a group that mean the same under every law that has them; the last two are those of servos."""

OF_JOINTS = ("armature", "damping", "friction", "offset")
"""Numbers of a group that are none of its law."""

_SPREAD = 30.0
"""Ratio of the end of a range to the start of the search."""

_IDLE = 2.0
"""First limit of an effort that has no effect, in units of the largest effort."""

_FASTER, _DRY = 3.0, 0.05
"""First speed without load, in units of the largest speed of the logs; and first dry friction of a servo where there
was none, in units of the largest effort.
"""


@attrs.frozen(kw_only=True, eq=False)
class Loads:
    """Loads of springs and dampers that pull to the commands of logs, shape [joints] each."""

    pull: np.ndarray
    """Largest effort of the springs [N or N·m]."""

    effort: np.ndarray
    """Largest effort of springs and dampers [N or N·m]."""

    speed: np.ndarray
    """Largest speed [rad/s or m/s]."""

    is_explained: bool
    """Whether no more than the noise of the logs is left: then friction that a law adds begins with none."""

    limit: float | None = None
    """First limit of efforts, in units of the largest ones of the logs: above 1, it begins without an effect. None for
    the one that a fit found, if there is one."""


@attrs.frozen(kw_only=True, eq=False)
class Group:
    """A group of actuators whose law is judged, under one law."""

    label: str

    kind: str
    """The type of this law."""

    joints: tuple[str, ...]
    """Labels of its joints."""

    table: Mapping[str, Any]
    """Its table in the file."""

    parameters: Mapping[str, Mapping[str, Any]]
    """The table of each parameter that the file lets vary, by its key in the group."""

    numbers: Mapping[str, np.ndarray]
    """Its numbers under this law by their keys, shape [joints] each."""

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
            cure = "write them into files, --law FILE.toml"
            raise ConfigError(
                f"actuators.{self.label}: {self.kind!r} has no stiffness that other laws could start from; {cure}"
            )
        none = np.zeros(len(self.joints))
        dry, viscous = own.get("friction.kc", none), own.get("friction.kv", none)
        if "damping_factor" in own:
            of_current = own["kt"] * own["damping_factor"] * np.sqrt(own["kp"])
            return own["kt"] * own["gain"] * own["kp"], of_current + viscous, dry
        per_volt = own["kt"] / own["resistance"]
        return per_volt * own["voltage"] * own["gain"] * own["kp"], per_volt * own["kt"] + viscous, dry

    @property
    def law(self) -> str | None:
        """The name of the law of the file, if that of `LAWS` lets nothing more vary; None otherwise."""
        name = self.kind
        needed = set(_VARIED.get(name, ()))
        if name == "servo":
            formula = self.table.get("friction", {}).get("type")
            name, needed = f"servo-{formula}", {f"friction.{each}" for each in ("kc", *FORMULAS.get(formula, ()))}
        return name if name in LAWS and self.parameters.keys() >= needed else None

    def under(self, law: str, loads: Loads, logged: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the table of the group under another law, which starts from these numbers, and what varies of it.

        Args:
            law: One of `LAWS`.
            loads: What the logs show with these numbers.
            logged: Labels of the joints that the logs have.

        Raises:
            ConfigError: This law has no stiffness.
        """
        kind, _, formula = law.partition("-m") if law in SERVOS else (law, "", "")
        numbers = self._start(kind, loads)
        if formula:
            own = ("kc", "kv", *FORMULAS[f"m{formula}"])
            numbers = {key: each for key, each in numbers.items() if key[:9] != "friction." or key[9:] in own}
            numbers = {f"friction.{name}": first for name, first in _frictions(loads).items() if name in own} | numbers
        varied = self._varied(kind, numbers, loads, [re.escape(label) for label in logged])
        for key, parameter in varied.items():
            values = np.clip(numbers[key], *parameter["range"])
            numbers[key] = np.full_like(values, values.mean()) if parameter.get("each") == "group" else values
        table: dict[str, Any] = {key: self.table[key] for key in _OF_ALL if key in self.table}
        if kind == "dc-motor":
            table.pop("velocity_limit", None)  # here it is the speed without load
        if kind != "servo":
            table = {key: each for key, each in table.items() if key not in ("mode", "supply")}
        table |= {"extends": False, "type": kind} | ({"friction": {"type": f"m{formula}"}} if formula else {})
        for key, values in numbers.items():
            if np.isfinite(values).all():
                first, _, last = key.rpartition(".")
                place = table[first] if first else table
                place[last] = dict(zip(map(re.escape, self.joints), map(_rounded, values), strict=True))
        return table, {f"actuators.{self.label}.{key}": parameter for key, parameter in varied.items()}

    def _start(self, kind: str, loads: Loads) -> dict[str, np.ndarray]:
        """Return the first numbers under a type."""
        stiffness, damping, dry = self.spring
        limit = _IDLE if loads.limit is None else loads.limit
        damping, is_servo = np.maximum(damping, 1e-3 * stiffness), self.table["type"] == "servo"
        stated = [name for name in OF_JOINTS if name in self.table or name in self.parameters]
        stated += ["armature", "friction"] * is_servo
        joint = {name: self.numbers[name] for name in stated if name in self.numbers}
        if kind != "servo":
            first = {"kp": stiffness, "kd": damping}
            if kind == "dc-motor":
                first |= {"saturation_effort": limit * loads.effort, "velocity_limit": _FASTER * loads.speed}
            known = self.numbers if self.kind == kind and loads.limit is None else {}
            first = {key: known.get(key, each) for key, each in first.items()}
            return {**joint, **first, **({"friction": dry} if "friction" in stated else {})}
        joint = {name: each for name, each in joint.items() if name not in ("damping", "friction")}
        if self.kind == "servo":
            own = {key: each for key, each in self.numbers.items() if key not in OF_JOINTS and key[:7] != "supply."}
            if loads.limit is not None and not is_servo:
                own["max_duty"] = limit * loads.pull / (own["kt"] * own["voltage"])  # at 1 Ω
            return own | joint
        dry = np.where((dry > 0.0) | loads.is_explained, dry, _DRY * loads.effort)
        kt, one = np.sqrt(damping), np.ones_like(damping)  # of a motor with a resistance of 1 Ω
        first = {"resistance": one, "gain": one, "kp": one, "kt": kt, "voltage": stiffness / kt}
        first |= {"max_duty": limit * loads.pull / stiffness}
        first |= {"friction.kc": dry, "friction.kv": self.numbers["damping"]}
        return joint | first

    def _varied(
        self, kind: str, numbers: Mapping[str, np.ndarray], loads: Loads, logged: Sequence[str]
    ) -> dict[str, dict[str, Any]]:
        """Return the table of each parameter that varies: as in the file, if that says it."""
        own, is_of_file = self.parameters, self.table["type"] == kind
        kept = {key: {**each} for key, each in own.items() if key in numbers and (is_of_file or key in OF_JOINTS)}
        for name, twin in (("friction", "friction.kc"), ("friction.kc", "friction")):
            if name in numbers and name not in kept and twin in own:
                kept[name] = {**own[twin]}
        added = list(_VARIED[kind]) if kind != "servo" or not is_of_file else ["friction.kc"]
        added += [key for key in numbers if key[:9] == "friction." and key[9:] not in ("kc", "kv")]
        for key in added:
            if key in kept or (key == "kd" and "damping" in kept):  # one has the effect of the other
                continue
            looks = {name: own[key][name] for name in ("joints", "each") if name in own.get(key, {})}
            kept[key] = {"range": _range(key, numbers[key], loads), "joints": list(logged), **looks}
        return kept


def _frictions(loads: Loads) -> dict[str, np.ndarray]:
    """Return the first numbers of friction beyond dry and viscous one."""
    some, one = 0.0 if loads.is_explained else 1.0, np.ones_like(loads.effort)
    found = dict.fromkeys(("kl", "kls", "km", "ke", "kms", "kes"), 0.05 * some * one)
    found |= dict.fromkeys(("kmq", "keq"), 0.02 * some / loads.effort)
    return found | {"kcs": 0.02 * some * loads.effort, "vs": 0.1 * loads.speed, "alpha": 1.5 * one}


def _range(key: str, values: np.ndarray, loads: Loads) -> list[float]:
    effort, speed = float(loads.effort.max()), float(loads.speed.max())
    known = {"kd": (0.0, _SPREAD * float(values.max())), "friction.alpha": (0.3, 4.0)}
    known |= dict.fromkeys(("friction.kc", "friction.kcs"), (0.0, effort))
    known |= dict.fromkeys(("friction.kmq", "friction.keq"), (0.0, 2.0 / effort))
    known |= {"friction.vs": (1e-3 * speed, 2.0 * speed)}
    rest = (0.0, 1.0) if key[:9] == "friction." else (float(values.min()) / _SPREAD, _SPREAD * float(values.max()))
    return [_rounded(end) for end in known.get(key, rest)]


def _rounded(value: float) -> float:
    return float(f"{value:.9g}")
