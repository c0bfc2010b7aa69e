"""Differences by design, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

BY_DESIGN: Mapping[str, str] = {
    "visual geom": "it cannot collide, so the physics has no use for it",
    "gap": "contacts inside the gap are found and exert no force",
    "child of a fixed body": "Newton lets no two bodies of a joint collide, even if one of them is fixed to the world",
    "mocap": "Newton may move a body that is fixed to the world",
    "timestep": "simulation.dt and simulation.substeps decide",
    "integrator euler to implicitfast": "a file that states no integrator gets one with which drives are implicit",
    "solver pgs": "MuJoCo Warp has no PGS, and every solver finds the same solution",
    "keyframes": "the start pose is given by `keyframe` or joint_positions",
    "sensors": "sensors are given by [sensors]",
    "cameras": "cameras are given by [sensors]",
    "flag energy": "nothing reads MuJoCo's energy",
    "flag fwdinv": "it only compares MuJoCo with itself",
    "flag midphase": "it only shortens the search for contacts",
    "flag sensor": "MuJoCo's own sensors are not computed",
    "flag autoreset": "a world that diverges is an error, and not reset",
}
"""The reason for each difference that is intended. Every one is reported; none is an error."""
