"""The plugins of Pippin's own distributions besides the core, so that an error can say which one to install."""

from __future__ import annotations

from .entry import Kind

_NAMES: dict[str, str] = {
    "actuator": "control dc-motor joint-impedance neural operational-space pd pid servo solver-pd surface-gripper",
    "sensor": "camera contact frame-transform imu joint-state joint-wrench object-state ray-caster",
    "solver": "coupled featherstone implicit-mpm kamino mujoco mujoco-native semi-implicit steel style3d vbd xpbd",
}

_OF_OTHER_NAME = {
    "joint-impedance": "pippin-actuator-impedance",
    "operational-space": "pippin-actuator-impedance",
}


def first_party_distribution(kind: Kind, name: str) -> str | None:
    """Return the distribution of Pippin's own that has a plugin of a name; None if there is none, or it is the core."""
    if name not in _NAMES.get(kind, "").split():
        return None
    return _OF_OTHER_NAME.get(name, f"pippin-{kind}-{name}")
