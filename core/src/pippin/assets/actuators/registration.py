"""Registration of what a builder keeps of MJCF whatever the solver: actuators, tendons, dimensions of contacts."""

from __future__ import annotations

import newton

_KEYS = ("mujoco:dof_ref", "mujoco:condim")
_FREQUENCIES = ("mujoco:actuator", "mujoco:tendon", "mujoco:tendon_joint", "mujoco:tendon_wrap")


def declare_actuators(builder: newton.ModelBuilder) -> None:
    """Let a builder keep the actuators, tendons and dimensions of contacts of an MJCF file that is added later.

    Newton's importer drops them without a word otherwise, and nobody could tell that the solver has no such thing.
    """
    known = newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(known)
    for name in _FREQUENCIES:
        builder.add_custom_frequency(known.custom_frequencies[name])
    for key, attribute in known.custom_attributes.items():
        if attribute.frequency in _FREQUENCIES or key in _KEYS:
            builder.add_custom_attribute(attribute)
