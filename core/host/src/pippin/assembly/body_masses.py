"""Masses, centres of mass and inertias that the file states in place of those of assets and objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.config.model import BodyMassConfig
from pippin.errors import ConfigError
from pippin.inertias import inertia_fault, symmetric
from pippin.labels import NoMatchError, assign, match, no_match

_WHERE = "scene.bodies"


def set_body_masses(builders: Iterable[newton.ModelBuilder], tables: Mapping[str, BodyMassConfig]) -> None:
    """Write the numbers of the file into the contents of the worlds.

    Raises:
        ConfigError: A pattern matches no body of any world, two match one body, or an inertia is that of no body.
    """
    builders = list(builders)
    matched: set[str] = set()
    for builder in builders if tables else ():
        known = [pattern for pattern in tables if _matches(pattern, builder.body_label)]
        owners = assign(known, builder.body_label, "body", _WHERE) if known else []
        for body, owner in enumerate(owners):
            if owner is not None:
                matched.add(owner)
                _set(builder, body, tables[owner], f"{_WHERE}.{owner!r}")
    every = [label for builder in builders for label in builder.body_label]
    faults = [no_match(pattern, every, "body", _WHERE) for pattern in tables if pattern not in matched]
    if faults:
        raise ConfigError(*faults)


def _matches(pattern: str, labels: Sequence[str]) -> bool:
    try:
        return bool(match(pattern, labels, "body", _WHERE))
    except NoMatchError:
        return False


def _set(builder: newton.ModelBuilder, body: int, table: BodyMassConfig, where: str) -> None:
    inertia: Any = np.array(builder.body_inertia[body], dtype=float).reshape(3, 3)
    if table.mass is not None:
        if table.inertia is None and builder.body_mass[body] > 0.0:
            inertia = inertia * (table.mass / builder.body_mass[body])
        builder.body_mass[body], builder.body_inv_mass[body] = table.mass, 1.0 / table.mass
    if table.com is not None:
        builder.body_com[body] = wp.vec3(*table.com)
    if table.inertia is not None:
        inertia = symmetric(table.inertia)
        if fault := inertia_fault(inertia):
            raise ConfigError(f"{where}.inertia: {fault}")
    if not builder.body_mass[body] > 0.0:
        raise ConfigError(f"{where}: {builder.body_label[body]!r} has no mass; give it one, too")
    builder.body_inertia[body] = wp.mat33(inertia)
    builder.body_inv_inertia[body] = wp.mat33(np.linalg.inv(inertia) if inertia.any() else inertia)
