"""Featherstone with a mistake: a number of the model that it takes otherwise than the file says."""

from typing import ClassVar

import attrs
import newton
import numpy as np
import pippin
from pippin.solving import RIGID_TREES


class Wrong:
    """Newton's solver on a changed model."""

    coordinates = "reduced"
    supported_features = RIGID_TREES | {"joint_damping": "live", "joint_stiffness": "live", "armature": "live"}
    array: ClassVar[str] = "body_mass"

    def __init__(self, config) -> None:
        self.config = config

    @staticmethod
    def mistake(values: np.ndarray) -> np.ndarray:
        """Return the wrong values of the array."""
        return values

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverFeatherstone:
        """Return the solver of the changed model."""
        array = getattr(model, self.array)
        array.assign(self.mistake(array.numpy()))
        return newton.solvers.SolverFeatherstone(model)


class Heavy(Wrong):
    """Bodies are harder to turn."""

    array = "body_inertia"

    @staticmethod
    def mistake(values):
        """Return moments that are too large."""
        return 1.75 * values


class Centred(Wrong):
    """Centres of mass are at the origins of bodies."""

    array = "body_com"

    @staticmethod
    def mistake(values):
        """Return no offsets."""
        return 0.0 * values


class Mirrored(Wrong):
    """Axes point the other way."""

    array = "joint_axis"

    @staticmethod
    def mistake(values):
        """Return the opposite axes."""
        return -values


class Unplaced(Wrong):
    """Joints are at the origins of the bodies that they move."""

    array = "joint_X_c"

    @staticmethod
    def mistake(values):
        """Return the frames without their positions."""
        return np.concatenate([0.0 * values[:, :3], values[:, 3:]], axis=1)


@attrs.frozen(kw_only=True)
class RightConfig:
    """No mistake."""

    implementation = "Wrong"


@attrs.frozen(kw_only=True)
class HeavyConfig:
    """See `Heavy`."""

    implementation = "Heavy"


@attrs.frozen(kw_only=True)
class CentredConfig:
    """See `Centred`."""

    implementation = "Centred"


@attrs.frozen(kw_only=True)
class MirroredConfig:
    """See `Mirrored`."""

    implementation = "Mirrored"


@attrs.frozen(kw_only=True)
class UnplacedConfig:
    """See `Unplaced`."""

    implementation = "Unplaced"
