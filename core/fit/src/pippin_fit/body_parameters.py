"""Parameters of bodies in a fit: masses, centres of mass and inertias, each of which a body can have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
from pippin import ConfigError, Simulation, did_you_mean, labels
from pippin.arrays import on_host

from pippin_fit.config import FitParameterConfig

from .parameters import FitParameter

_AXES = (" x", " y", " z")

_PARTS = {"mass": ("",), "com": _AXES, "spread": _AXES, "shear": (" xy", " xz", " yz")}
"""Numbers of a body, and the suffixes of their values after the name of the body."""

_KEYS = {"spread": "inertia", "shear": "inertia"}
"""Keys of files, where they are others."""


class BodyNumbers:
    """The numbers of all bodies of a simulation, shape [worlds, bodies, ...].

    The spreads of a body are ∫x² dm, ∫y² dm and ∫z² dm about its centre of mass, along the principal axes of the file.
    The moment of inertia about one of the axes is the sum of the other two: each triple of positive spreads belongs to
    a body. Shears slide its layers along each other, x' = x + xy y + xz z and y' = y + yz z, so that its principal axes
    turn. With the mass and the centre of mass, these are the ten numbers of the Cholesky factor of its pseudo-inertia
    (Rucker and Wensing 2022): any ten such numbers belong to a body.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation, model = simulation, simulation.model
        rows = on_host(model.body_world)
        self._indices = np.stack([np.flatnonzero(rows == world) for world in range(simulation.world_count)])
        first = self._indices[0]
        self.labels: list[str] = [model.body_label[body] for body in first]
        moments, axes = np.linalg.eigh(on_host(model.body_inertia).astype(float)[first])
        worlds = simulation.world_count
        self._axes = axes
        spread = 0.5 * moments.sum(axis=1, keepdims=True) - moments
        self.values: dict[str, np.ndarray] = {
            "mass": np.tile(on_host(model.body_mass).astype(float)[first, None], (worlds, 1, 1)),
            "com": np.tile(on_host(model.body_com).astype(float)[first], (worlds, 1, 1)),
            "spread": np.tile(np.maximum(spread, 0.0), (worlds, 1, 1)),
            "shear": np.zeros((worlds, len(first), 3)),
        }
        self._stated = {name: values[0].copy() for name, values in self.values.items()}
        tables = simulation.config.scene.bodies
        stated = labels.match(tables, self.labels, "body", "scene.bodies") if tables else ()
        #: Names of the numbers that vary of each body; none of one that the file states itself.
        self.varied: dict[int, set[str]] = {body: set() for body in stated}
        #: Bodies with numbers that are known, and differ between logs.
        self.known: set[int] = set()

    def inertias(self) -> np.ndarray:
        """Return the inertias about the centres of mass, in axes of the bodies [kg·m²], shape [worlds, bodies, 3, 3].

        Without a spread that varies, the inertia of a body grows with its mass, as the file says.
        """
        spread = self.values["spread"].copy()
        for body, names in self.varied.items():
            if "mass" in names and "spread" not in names:
                spread[:, body] *= self.values["mass"][:, body] / self._stated["mass"][body]
        axes = np.tile(np.eye(3), (*spread.shape[:2], 1, 1))
        axes[..., *np.triu_indices(3, 1)] = self.values["shear"]
        axes = self._axes @ axes
        spreads = np.einsum("wbij,wbj,wbkj->wbik", axes, spread, axes)  # ∫x xᵀ dm
        return np.trace(spreads, axis1=2, axis2=3)[..., None, None] * np.eye(3) - spreads

    def push(self) -> None:
        """Write the numbers into the model."""
        model, inertias = self._simulation.model, self.inertias()
        mass = self.values["mass"][..., 0]
        with np.errstate(divide="ignore"):
            inverse = np.where(mass > 0.0, 1.0 / mass, 0.0)
        self._assign(model.body_mass, mass)
        self._assign(model.body_inv_mass, inverse)
        self._assign(model.body_com, self.values["com"])
        self._assign(model.body_inertia, inertias)
        self._assign(model.body_inv_inertia, np.linalg.pinv(inertias))
        self._simulation.notify_model_changed(newton.ModelFlags.BODY_INERTIAL_PROPERTIES)

    def _assign(self, array: Any, values: np.ndarray) -> None:
        present = array.numpy()
        present[self._indices] = values
        array.assign(present)

    def written(self) -> dict[str, dict[str, Any]]:
        """Return the tables of the bodies that vary, by pattern, with the numbers of the first world."""
        inertias, found = self.inertias()[0], {}
        for body in self.varied.keys() - self.known:
            matrix = inertias[body]
            inertia = (*np.diag(matrix), matrix[0, 1], matrix[0, 2], matrix[1, 2])
            found[re.escape(self.labels[body])] = {
                "mass": _rounded(self.values["mass"][0, body, 0]),
                "com": [_rounded(each) for each in self.values["com"][0, body]],
                "inertia": [_rounded(each) for each in inertia],
            }
        return found


class BodyParameter(FitParameter):
    """Masses [kg], centres of mass [m], spreads [kg·m²] or shears of the bodies of a key `bodies.PATTERN.NUMBER`, which
    must mean some. Known ones do not vary.
    """

    def __init__(
        self, key: str, config: FitParameterConfig, where: str, numbers: BodyNumbers, *, is_known: bool = False
    ) -> None:
        pattern, _, name = key.removeprefix("bodies.").rpartition(".")
        if name not in _PARTS:
            near = did_you_mean(name, _PARTS)
            raise ConfigError(f"{where}: a body has no number {name!r}{near}; {', '.join(_PARTS)}")
        bodies = labels.match(pattern, numbers.labels, "body", where)
        for body in bodies:
            if name in numbers.varied.get(body, ()):
                raise ConfigError(f"{where}: {numbers.labels[body]!r} varies by another key already; name it once")
            if is_known and body not in numbers.known and numbers.varied.get(body):
                raise ConfigError(f"{where}: other numbers of {numbers.labels[body]!r} vary; fit those of another body")
            if not numbers.values["mass"][0, body, 0] > 0.0:
                raise ConfigError(f"{where}: {numbers.labels[body]!r} has no mass; leave it out of the pattern")
        for body in bodies:
            numbers.varied.setdefault(body, set()).add(name)
        if is_known:
            numbers.known.update(bodies)
        self._numbers, self._name, self._bodies = numbers, name, bodies
        names = [f"{numbers.labels[body]}{part}" for body in bodies for part in _PARTS[name]]
        super().__init__(key, config, where, names, numbers.values[name][0, bodies].ravel())

    def write(self, values: np.ndarray) -> None:
        """Set the values of all worlds."""
        own = self._numbers.values[self._name]
        own[:, self._bodies] = self.of_joints(values).reshape(len(values), len(self._bodies), -1)
        self._numbers.push()

    def write_tables(self, tables: dict[str, Any], comments: dict[tuple[Any, ...], str], texts: Sequence[str]) -> None:
        """Write the bodies, with the text of each value as a comment."""
        tables.setdefault("scene", {})["bodies"] = {"extends": False, **self._numbers.written()}
        names = [f"{name}: {text}" for name, text in zip(self.names, texts, strict=True)]
        for body in self._bodies:
            label = self._numbers.labels[body]
            own = [text for text in names if label.rpartition("/")[2] in text]
            where = ("scene", "bodies", re.escape(label), _KEYS.get(self._name, self._name))
            comments[where] = ", ".join([*([comments[where]] if where in comments else []), *own])


def _rounded(value: float) -> float:
    return float(f"{value:.9g}")
