"""Components of the kit, so that no plugin is needed: a solver, and an actuator and a sensor that carry a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
import pippin
import warp as wp
from newton.actuators import DrivePD
from pippin import Binding, ComponentConfig
from pippin.actuation import ActuatorConfig, DriveActuator, Lanes
from pippin.sensing import Output, Sensor, SensorConfig
from pippin.solving import RIGID_TREES

CARRIED_OUTPUT = "velocity"
"""Name of the sensor's output."""

_STIFFNESS, _DAMPING = 100.0, 1.0
"""Gains of the actuator [N·m/rad, N·m·s/rad]."""


def actuator_with(clamping: ComponentConfig | None) -> PlainActuator:
    """Return the actuator that carries a clamping; None means the actuator alone."""
    return PlainActuator(ActuatorConfig(joints=(".*",), clamping=() if clamping is None else (clamping,)))


def sensor_with(stage: ComponentConfig | None) -> PlainSensor:
    """Return the sensor that carries a stage; None means the sensor alone."""
    return PlainSensor(SensorConfig(stages=() if stage is None else (stage,)))


class PlainActuator(DriveActuator):
    """PD control of every axis, with efforts of tens of newton metres."""

    def build_drive(self, lanes: Lanes) -> DrivePD:
        """Return Newton's drive."""
        return DrivePD(kp=lanes.per_lane(_STIFFNESS, "kp"), kd=lanes.per_lane(_DAMPING, "kd"))


class PlainSensor(Sensor):
    """Velocity of every body's centre of mass, and its rotation."""

    def build_outputs(self, binding: Binding) -> Mapping[str, Output]:
        """Return the velocities, one row for each world."""
        simulation = binding.simulation
        shape: Any = (simulation.world_count, simulation.model.body_count // simulation.world_count)
        kind: Any = wp.spatial_vector
        self._velocities: Any = wp.zeros(shape, dtype=kind, device=simulation.device)
        return {CARRIED_OUTPUT: Output(data=self._velocities, unit="m/s, rad/s", frame="world")}

    def measure(self, state: newton.State, contacts: Any, observables: Any, dt: float) -> None:
        """Copy the velocities of the state."""
        velocities: Any = state.body_qd
        wp.copy(self._velocities.flatten(), velocities)


class PlainSolver:
    """Component that builds Newton's XPBD."""

    coordinates = "maximal"
    supported_features = RIGID_TREES
    supported_observables = newton.solvers.SolverXPBD.SUPPORTED_OBSERVABLES

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverXPBD:
        """Return the solver of a model."""
        return newton.solvers.SolverXPBD(model, iterations=4)
