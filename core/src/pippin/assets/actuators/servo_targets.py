"""Start targets of an asset's own position servos: the position that the file counts as 0, as MuJoCo's `ctrl` is 0."""

from __future__ import annotations

import numpy as np
from newton import ModelBuilder

from .asset_actuators import AssetActuators


def zero_targets(builder: ModelBuilder) -> None:
    """Set the targets of the asset's own position servos to 0, counted as in the file.

    Newton counts positions from the pose of the file, which is `ref` of the joint in MuJoCo. A group that drives the
    joint gives it another target.

    Args:
        builder: The builder of this asset alone.
    """
    own = AssetActuators(builder)
    for actuator in np.flatnonzero(own.is_servo & ~own.is_velocity).tolist():
        coordinate = own.transmissions.coordinate(actuator)
        if coordinate is not None:
            builder.joint_target_q[coordinate] = -own.transmissions.reference(actuator)
