"""Problems of benchmarks: small worlds with a reference that no solver of the comparison has made."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, ClassVar

import attrs
import numpy as np

SAMPLE = 0.1
"""Time from one sample of a motion to the next [s]."""


@attrs.frozen(kw_only=True, eq=False)
class ProblemMotion:
    """Motion of all bodies and particles of one world, sampled every 0.1 s from the start on."""

    times: np.ndarray
    """Times [s], shape [samples]."""

    poses: np.ndarray
    """Positions of the bodies' origins [m] and unit quaternions (x, y, z, w), shape [samples, bodies, 7]."""

    velocities: np.ndarray
    """Velocities of the centres of mass [m/s], and angular velocities in the world [rad/s], shape
    [samples, bodies, 6]."""

    particles: np.ndarray = attrs.Factory(lambda self: np.zeros((len(self.times), 0, 3)), takes_self=True)
    """Places of the particles [m], shape [samples, particles, 3]; by default there are none."""

    particle_velocities: np.ndarray = attrs.Factory(lambda self: np.zeros_like(self.particles), takes_self=True)
    """Velocities of the particles [m/s], shape [samples, particles, 3]; by default zero."""

    def angles(self, body: int = 0) -> np.ndarray:
        """Return the angle of a body about y [rad], shape [samples]; it counts whole turns."""
        return np.unwrap(2.0 * np.arctan2(self.poses[:, body, 4], self.poses[:, body, 6]))


class BenchmarkProblem(abc.ABC):
    """A problem in which a solver can be right or wrong: its content, its duration, and the error of a motion.

    A solver that lacks a feature of the content does not take part.
    """

    title: ClassVar[str]
    """The problem and its error, in a line."""

    unit: ClassVar[str]
    """Unit of the error; `1` for a share."""

    limit: ClassVar[float]
    """Error from which a solver does not hold the problem."""

    duration: ClassVar[float] = 1.0
    """Time that is simulated [s], a multiple of 0.1 s."""

    conserves: ClassVar[tuple[str, ...]] = ()
    """What the world keeps: `energy`, which is kinetic or of gravity, and `angular momentum`, of the first body. What
    springs, drives and deformed matter store is not counted."""

    is_quick: ClassVar[bool] = False
    """Whether the short benchmark has it."""

    @abc.abstractmethod
    def error(self, motion: ProblemMotion) -> float:
        """Return the error of a motion, in `unit`."""

    def build(self, builder: Any) -> None:  # noqa: B027 (the content may be in tables)
        """Add the content of one world to a `newton.ModelBuilder`; z is up, and gravity is 9.81 m/s².

        A problem whose content is in `tables` adds nothing.
        """

    def tables(self) -> Mapping[str, object]:
        """Return keys of `[scene]` that the problem needs: another gravity; or the content: `objects`, `assets`."""
        return {}
