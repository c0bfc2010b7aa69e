"""An inertial measurement unit, as a Pippin sensor."""

from __future__ import annotations

from typing import Literal

import attrs
from pippin import sensing

__all__ = ["IMUConfig"]


@attrs.frozen(kw_only=True)
class IMUConfig(sensing.SiteConfig):
    """An accelerometer and a gyroscope at a site of a body."""

    implementation = ".sensor:SensorIMU"

    source: Literal["solver", "finite-difference"] = "solver"
    """Source of accelerations: the solver's report of the last substep, which not every solver has, or the change of
    the site's velocity from one reading to the next, with any solver."""
