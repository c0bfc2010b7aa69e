"""The library of servos, and settings completed with it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import attrs

from .friction_config import KEYS_OF_FRICTION, FrictionConfig, FrictionType

if TYPE_CHECKING:
    from . import ServoConfig

__all__ = ["complete", "read_library"]


def read_library() -> Mapping[str, Mapping[str, Any]]:
    """Return the tables of the library by the name of the servo."""
    return tomllib.loads(files("pippin_actuator_servo").joinpath("servos.toml").read_text(encoding="utf-8"))


def complete(config: ServoConfig) -> ServoConfig:
    """Return settings without a `model`, with the values of the library where they give none.

    Raises:
        ValueError: The library has no such servo, or a number is neither given nor in the library.
    """
    if config.model is not None:
        return _with_model(config, config.model)
    for name in ("kt", "resistance", "voltage", "kp"):
        if getattr(config, name) is None:
            raise ValueError(f"'{name}' is missing; give it, or a model of the library")
    if config.mode != "current" and config.damping_factor is not None:
        raise ValueError("'damping_factor' is a number of the mode 'current'; leave it out")
    friction = config.friction
    if friction is not None and friction.type is None:
        raise ValueError("'friction.type' is missing; give it, 'm1' to 'm6', or a model of the library")
    if friction is not None and friction.missing:
        raise ValueError(f"'friction.{friction.missing[0]}' is missing for type {friction.type!r}; give it")
    return config


def _with_model(config: ServoConfig, model: str) -> ServoConfig:
    """Return settings with the values of a servo where they give none."""
    library = read_library()
    if model not in library:
        raise ValueError(f"'model': {model!r} is not in the library; choose one of {', '.join(library)}")
    servo = library[model]
    frictions: list[FrictionType] = [name for name in KEYS_OF_FRICTION if name in servo]
    kind = frictions[-1] if config.friction is None or config.friction.type is None else config.friction.type
    if kind not in frictions:
        raise ValueError(f"'friction.type': the library has no {kind!r} of {model!r}, but {', '.join(frictions)}")
    motor = {name: servo[name] for name in servo if name not in frictions} | servo[kind]
    friction = {name: motor.pop(name) for name in KEYS_OF_FRICTION[kind]} | {"type": kind}
    given = config.friction or FrictionConfig(type=kind)
    if (config.mode or motor["mode"]) == "voltage":
        motor.pop("damping_factor", None)
    if config.kp is None and "kp" not in motor:
        raise ValueError(f"'kp' is missing; the library has none for {model!r}, so give it")
    completed = attrs.evolve(given, **_missing(given, friction))
    return attrs.evolve(config, model=None, **_missing(config, motor), friction=completed)


def _missing(config: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that settings do not give."""
    return {name: value for name, value in values.items() if getattr(config, name) is None}
