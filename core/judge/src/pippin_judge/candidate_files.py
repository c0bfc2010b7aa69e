"""Files of candidates: the user's file with another solver and another law, which starts from what a fit found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError, Simulation, SimulationConfig, did_you_mean, load
from pippin.config import toml_text, unstructure
from pippin.studies import RunFolder
from pippin_fit import FitResult

from .laws import BEFORE, LAWS, OF_JOINTS, SERVOS, Group, Loads
from .unseen import BlockErrors, largest_loads

FILE = "file"
"""Name of the law that the file has."""

_AT_NOISE = 1.2
"""Error [σ] below which nothing but noise is left."""

_FIRST_ANGLE, _FIRST_SPEED = 0.3, 5.0
"""Distance to a target [rad or m], and a speed, before a fit has told those of the logs."""

Fits = Mapping[str, FitResult | None]
"""Fits of a solver by the names of their laws."""

Start = tuple[str, FitResult | None]
"""A law, and its fit; without one, the file."""


class CandidateFiles:
    """The files of the candidates of a configuration, in a folder; all extend one that has the configuration."""

    def __init__(self, config: SimulationConfig, folder: Path) -> None:
        self._config, self._folder = config, RunFolder(folder, continues=True)
        #: The plain table `[fit.parameters]`.
        self.parameters: dict[str, Any] = unstructure(config.fit.parameters)
        labels = dict.fromkeys(key.split(".")[1] for key in self.parameters if key.startswith("actuators."))
        with Simulation(config) as simulation:
            #: The groups whose law is judged.
            self.groups: tuple[Group, ...] = tuple(self._group(simulation, label) for label in labels)
        #: Whether all of them are servos in the file, whose limits and resistances are known.
        self.has_servos: bool = all(group.kind == "servo" for group in self.groups)
        known = {group.law for group in self.groups}
        #: The name of the law of the file, if it is one of `LAWS`; otherwise `file`.
        self.law: str = (known.pop() if len(known) == 1 else None) or FILE
        self._folder.write_text("file.toml", toml_text(unstructure(config)))

    def _group(self, simulation: Simulation, label: str) -> Group:
        actuator, start = simulation.actuators.get(label), f"actuators.{label}."
        if actuator is None:
            near = did_you_mean(label, simulation.actuators)
            raise ConfigError(f"fit.parameters: there is no actuator {label!r}{near}")
        kind, names = self._config.actuators[label].type, getattr(actuator, "parameters", ())
        own = {key.removeprefix(start): each for key, each in self.parameters.items() if key.startswith(start)}
        return Group(
            label=label,
            kind=kind,
            joints=tuple(actuator.joint_labels),
            table={"type": kind, **unstructure(actuator.config)},
            parameters=own,
            numbers={name: actuator.get(name).numpy()[0].astype(float) for name in names if "[" not in name},
        )

    def start_of(self, law: str, fits: Fits) -> Start:
        """Return what the search of a law starts from: the fit of a simpler law of its solver, or that of the file."""
        before = next((each for each in BEFORE.get(law, ()) if fits.get(each) is not None), FILE)
        before = FILE if self.has_servos and law in SERVOS and before not in SERVOS else before
        return before, fits.get(before)

    def write(self, name: str, solver: str, law: str, start: Start, **first: Any) -> Path:
        """Write the file of a candidate, by its name, and return it.

        Args:
            name: Its name.
            solver: The solver.
            law: The law.
            start: What its search starts from.
            **first: The `limit` of efforts at the start, as in `Loads`; `is_of_file` if the other values are those of
                the file, and `is_shared` if all joints get the largest limit.
        """
        tables: dict[str, Any] = {"extends": ["file.toml"]}
        if self._config.solver is not None and solver != self._config.solver.type:
            tables["solver"] = {"extends": False, "type": solver}
        if law in LAWS:
            tables |= self._tables_of(law, *start, **first)
        elif law != FILE:
            tables |= {key: each for key, each in self.tables_in(load(law)).items() if key != "solver"}
        self._folder.write_text(f"{name}.toml", toml_text(tables))
        return self._folder.path / f"{name}.toml"

    def _tables_of(
        self,
        law: str,
        before: str,
        result: FitResult | None,
        *,
        limit: float | None = None,
        is_of_file: bool = False,
        is_shared: bool = False,
    ) -> dict[str, Any]:
        actuators: dict[str, Any] = {}
        varied = {key: each for key, each in self.parameters.items() if not key.startswith("actuators.")}
        for group in self.groups:
            start = group if result is None else _refitted(group, before, result)
            loads = _loads(start, result, limit)
            if is_shared:
                loads = attrs.evolve(loads, effort=np.full_like(loads.effort, loads.effort.max()))
            start = group if is_of_file else start
            logged = [label for label in group.joints if result is None or label in result.joints]
            actuators[group.label], own = start.under(law, loads, logged)
            varied |= own
        return {"actuators": actuators, "fit": {"parameters": {"extends": False, **varied}}}

    def tables_in(self, found: SimulationConfig) -> dict[str, Any]:
        """Return the tables in which a configuration may differ from the user's: solver, groups, bodies, parameters.

        Raises:
            ConfigError: It lacks a group, or the parameters.
        """
        missing = [f"actuators.{group.label}" for group in self.groups if group.label not in found.actuators]
        if missing := [*missing, *(["fit"] * (found.fit is None))]:
            raise ConfigError(f"law: the file of a law has no [{missing[0]}]; let it extend the file that is judged")
        groups = {group.label: found.actuators[group.label] for group in self.groups}
        tables: dict[str, Any] = {"solver": unstructure(found.solver) | {"extends": False}}
        tables["actuators"] = {label: unstructure(each) | {"extends": False} for label, each in groups.items()}
        if found.scene.bodies:
            tables["scene"] = {"bodies": unstructure(found.scene.bodies) | {"extends": False}}
        return tables | {"fit": {"parameters": unstructure(found.fit.parameters) | {"extends": False}}}


def _refitted(group: Group, law: str, result: FitResult) -> Group:
    """Return a group under a law that was fitted, with the values that it found."""
    kind = group.kind if law == FILE else "servo" if law in SERVOS else law
    numbers = {key: each for key, each in group.numbers.items() if kind == group.kind or key in OF_JOINTS}
    found: dict[str, Any] = unstructure(load(result.file).actuators[group.label])
    inner = found.get("friction") if kind == "servo" else None
    found |= {f"friction.{key}": each for key, each in (inner or {}).items()}
    names = [re.escape(label) for label in group.joints]
    for key, values in found.items():
        if isinstance(values, Mapping) and set(names) == values.keys():
            numbers[key] = np.array([values[name] for name in names], dtype=float)
    return attrs.evolve(group, kind=kind, numbers=numbers)


def _loads(group: Group, result: FitResult | None, limit: float | None) -> Loads:
    """Return what the logs show with the values of a group; guesses without a fit."""
    stiffness, damping, _ = group.spring
    if result is None:
        pull = effort = _FIRST_ANGLE * stiffness
        speed = np.full_like(stiffness, _FIRST_SPEED)
    else:
        pull, effort, speed = largest_loads(result, stiffness, damping, group.joints)
    is_explained = result is not None and is_at_noise(result)
    return Loads(pull=pull, effort=effort, speed=speed, is_explained=is_explained, limit=limit)


def is_at_noise(result: FitResult) -> bool:
    """Tell whether a fit leaves nothing but noise of what it saw."""
    return BlockErrors.of(result, is_seen=True).error < _AT_NOISE
