"""The sensor stage beside Newton's own sensors: `uv run python tests/benchmarks/sensors.py [--device cuda:0]`.

Each side is one reading, recorded into a graph over the same model, state, contacts and observables. Both must give the
same values, bit for bit. A figure is the median of the ratios of neighbouring runs.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from in_turn import in_turn, recorded

FEET = 4
SENSORS: dict[str, dict[str, Any]] = {
    "contact": {"type": "contact", "bodies": ["foot_.*"]},
    "contact, two partners": {"type": "contact", "bodies": ["foot_.*"], "partners": ["ground_plane", "plate"]},
    "imu": {"type": "imu", "body": "foot_.*", "position": [0.0, 0.0, 0.02]},
    "frame-transform": {"type": "frame-transform", "body": "foot_.*", "reference": {"body": "base"}},
}


def robot() -> newton.ModelBuilder:
    """Return a body that stands on four feet, with a hinge over each of them."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    base = builder.add_link(mass=10.0, inertia=wp.diag(wp.vec3(1.0)), label="base")
    joints = [builder.add_joint_free(base)]
    builder.joint_q[2] = 0.3
    massless = newton.ModelBuilder.ShapeConfig(density=0.0)
    for index, (x, y) in enumerate(((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2))):
        foot = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.05)), label=f"foot_{index}")
        builder.add_shape_sphere(foot, xform=wp.transform(wp.vec3(0.0, 0.0, -0.25)), radius=0.05, cfg=massless)
        hip = wp.transform(wp.vec3(x, y, 0.0), wp.quat_identity())
        joints.append(builder.add_joint_revolute(base, foot, parent_xform=hip, axis=(0.0, 1.0, 0.0)))
    builder.add_articulation(joints)
    plate = wp.transform(wp.vec3(5.0, 0.0, 0.0), wp.quat_identity())
    builder.add_shape_box(-1, xform=plate, hx=0.1, hy=0.1, hz=0.1, cfg=massless, label="plate")
    return builder


class Reading:
    """Pippin's operation of one sensor, on robots that have come to stand."""

    def __init__(self, sensor: dict[str, Any], worlds: int, device: str) -> None:
        tables = {
            "simulation": {"device": device, "dt": 0.002},
            "scene": {"worlds": worlds, "ground": True},
            "solver": {"type": "mujoco"},
            "sensors": {"it": sensor},
        }
        self.simulation = pippin.Simulation(pippin.structure(tables), plugins=[self], prototype=robot())
        self.simulation.step(10)
        self.sensor = self.simulation.sensors["it"]
        (self.run,) = (each.run for each in self.simulation.program.operations if "sensors:it" in each.name)

    @pippin.hookimpl
    def update_sensors(self, contacts: newton.Contacts, observables: Any) -> None:
        """Keep what the sensor is given."""
        self.contacts, self.observables = contacts, observables

    @property
    def values(self) -> list[wp.array]:
        """What both sides measure."""
        names = ("net_force", "friction_force", "linear_acceleration", "angular_velocity", "transform")
        return [self.sensor.outputs[name].data for name in names if name in self.sensor.outputs]


class ByHand:
    """Newton's sensor over the same bodies or sites, as its documentation has it."""

    def __init__(self, beside: Reading, sensor: dict[str, Any]) -> None:
        model = beside.simulation.model
        self.state, self.options = beside.simulation.state, {"observables": beside.observables}
        self.inputs = (self.state, beside.contacts) if sensor["type"] == "contact" else (self.state,)
        if sensor["type"] == "imu":
            self.sensor = newton.sensors.SensorIMU(model, sites="*/site", request_state_attributes=False)
            self.values = [self.sensor.accelerometer, self.sensor.gyroscope]
            return
        if sensor["type"] == "frame-transform":
            sites, references = (labelled(model, end) for end in ("/site", "/reference"))
            self.sensor = newton.sensors.SensorFrameTransform(model, sites, np.repeat(references, FEET).tolist())
            self.values, self.options = [self.sensor.transforms], {}
            return
        partners = {"counterpart_shapes": ["*ground_plane", "*plate"]} if "partners" in sensor else {}
        options = {"sensing_bodies": "*foot_*", "request_contact_attributes": False, **partners}
        self.sensor = newton.sensors.SensorContact(model, **options)
        self.values = [self.sensor.total_force, self.sensor.total_force_friction]

    def run(self) -> None:
        """Take one reading."""
        self.sensor.update(*self.inputs, **self.options)


def labelled(model: newton.Model, end: str) -> list[int]:
    """Return the shapes whose labels end so."""
    return [shape for shape, label in enumerate(model.shape_label) if label.endswith(end)]


def ratios(sensor: dict[str, Any], worlds: int, device: str) -> Iterator[float]:
    """Yield our time over theirs, run by run, and see that both give the same values."""
    ours = Reading(sensor, worlds, device)
    theirs = ByHand(ours, sensor)
    replays = recorded(ours.run, device), recorded(theirs.run, device)
    yield from (one / other for one, other in in_turn(*replays, device))
    for mine, other in zip(ours.values, theirs.values, strict=True):
        assert np.any(mine.numpy())
        np.testing.assert_array_equal(mine.numpy().ravel(), other.numpy().ravel())


def main() -> None:
    """Print one row for each sensor and number of worlds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sensors", nargs="*", default=list(SENSORS), choices=list(SENSORS))
    arguments = parser.parse_args()
    print("| sensor | worlds | reading ÷ by hand |\n|---|---|---|")
    for name in arguments.sensors:
        for worlds in (64, 4096):
            figure = statistics.median(ratios(SENSORS[name], worlds, arguments.device))
            print(f"| {name} | {worlds} | {figure:.3f} |", flush=True)


if __name__ == "__main__":
    from pippin.devices import leave_out_backward_kernels

    leave_out_backward_kernels()
    main()
