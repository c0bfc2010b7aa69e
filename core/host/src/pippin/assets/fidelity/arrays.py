"""Arrays of `mujoco.MjModel` that are compared: all of a kind of element, except those that have a reason."""

from __future__ import annotations

import tomllib
from pathlib import Path

import mujoco

from .difference import Field

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def reason_of(kind: str, name: str) -> str | None:
    """Return the reason for which an array is not compared; None if it is."""
    return next((reason for reason, arrays in _TABLE["reasons"].items() if name in arrays.get(kind, ())), None)


def fields(kind: str) -> tuple[Field, ...]:
    """Return all arrays of a kind of element, such as `jnt`, whose values are compared as they are.

    Arrays that a later MuJoCo adds are among them, until they get a meaning or a reason.
    """
    names = [each.removeprefix(f"{kind}_") for each in dir(mujoco.MjModel) if each.startswith(f"{kind}_")]
    special, floors = _TABLE["meaning"][kind], _TABLE["floors"]
    return tuple(
        Field(_words(name), f"{kind}_{name}", floors.get(f"{kind}_{name}", 1e-7))
        for name in names
        if name not in special and reason_of(kind, name) is None
    )


def _words(name: str) -> str:
    return f"{name[:-4]} of higher orders" if name.endswith("poly") else _TABLE["names"].get(name, name)
