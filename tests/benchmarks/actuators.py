"""The actuator stage beside Newton's own `Actuator`: `uv run python tests/benchmarks/actuators.py [--device cuda:0]`.

Each side is the stage alone, zeroing and adding up the efforts of four physics steps, recorded into one graph over the
same model. Both must give the same efforts, bit for bit. A figure is the median of the ratios of neighbouring runs.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from in_turn import in_turn, recorded
from newton import actuators
from pippin_actuator_neural.drives import MLP

DOFS = 12
TICKS = 4
MOTOR = {"saturation_effort": 33.5, "velocity_limit": 21.0, "max_motor_effort": 23.5}
LAWS: dict[str, dict[str, Any]] = {
    "pd": {"type": "pd", "kp": 40.0, "kd": 1.5},
    "pd, delay, two limits": {
        "type": "pd",
        "kp": 40.0,
        "kd": 1.5,
        "delay": {"steps": 3},
        "clamping": [{"type": "dc-motor", **MOTOR}, {"type": "max-effort", "max_effort": 20.0}],
    },
    "pid": {"type": "pid", "kp": 40.0, "ki": 10.0, "kd": 1.5},
    "dc-motor": {"type": "dc-motor", "kp": 40.0, "kd": 1.5, **MOTOR},
    "neural": {"type": "neural", "model_path": str(Path(__file__).parents[2] / "docs" / "examples" / "knee.onnx")},
}


def robot() -> newton.ModelBuilder:
    """Return a body that floats, with twelve hinges."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    base = builder.add_link(mass=10.0, inertia=wp.diag(wp.vec3(1.0)), label="base")
    joints = [builder.add_joint_free(base)]
    for index in range(DOFS):
        link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.05)))
        joints.append(builder.add_joint_revolute(base, link, axis=(0.0, 1.0, 0.0), label=f"hinge_{index}"))
    builder.add_articulation(joints)
    return builder


class Actuation:
    """Pippin's operations from `zero_efforts` to the last `apply_actuators` of a control step."""

    def __init__(self, law: dict[str, Any], worlds: int, device: str) -> None:
        tables = {
            "simulation": {"device": device, "dt": 0.002, "decimation": TICKS},
            "scene": {"worlds": worlds},
            "solver": {"type": "featherstone"},
            "actuators": {"legs": {"joints": ["hinge_.*"], **law}},
        }
        self.simulation = pippin.Simulation(pippin.structure(tables), prototype=robot())
        self.group = self.simulation.actuators["legs"]
        names = ("zero_efforts", "apply_actuators(actuators:legs)")
        self.operations = [operation for operation in self.simulation.program.operations if operation.name in names]

    def run(self) -> None:
        """Run the stage four times, and settle its buffers."""
        for operation in self.operations:
            operation.run()

    @property
    def effort(self) -> wp.array:
        """What reached the joints [N·m]."""
        return self.simulation.control.joint_f


class ByHand:
    """Newton's `Actuator` over the same DOFs, as its documentation has it."""

    def __init__(self, beside: Actuation, law: dict[str, Any]) -> None:
        model = beside.simulation.model
        dofs = beside.group.actuated_dofs.numpy()
        coordinates = dofs + 1 + dofs // (6 + DOFS)  # a free joint has one coordinate more than degrees of freedom
        count = len(dofs)

        def array(value: float) -> wp.array:
            return wp.full(count, value, dtype=float, device=model.device)

        gains = {name: array(law.get(name, 0.0)) for name in ("kp", "kd")}
        drive = actuators.DrivePD(**gains)
        if law["type"] == "neural":
            drive = MLP(model_path=law["model_path"])  # Newton's, loaded so that Warp replays it right on the CPU
        if law["type"] == "pid":
            drive = actuators.DrivePID(**gains, ki=array(law["ki"]), integral_max=array(np.inf))
        limits = [{"type": "dc-motor", **MOTOR}] if law["type"] == "dc-motor" else law.get("clamping", [])
        self.actuator = actuators.Actuator(
            wp.array(dofs.astype(np.uint32), dtype=wp.uint32, device=model.device),
            drive,
            delay=self._delay(law, count, model.device),
            clamping=[self._clamping(limit, array) for limit in limits],
            pos_indices=wp.array(coordinates.astype(np.uint32), dtype=wp.uint32, device=model.device),
        )
        self.state, self.control = model.state(), model.control()
        self.state.assign(beside.simulation.state)
        self.dofs, self.now, self.later = dofs, self.actuator.state(), self.actuator.state()
        self.effort = self.control.joint_f
        self.driven = beside.group.actuated_dofs

    @staticmethod
    def _delay(law: dict[str, Any], count: int, device: wp.Device) -> Any:
        if "delay" not in law:
            return None
        steps = law["delay"]["steps"]
        return actuators.Delay(wp.full(count, steps, dtype=int, device=device), max_delay=steps)

    @staticmethod
    def _clamping(limit: dict[str, Any], array: Callable[[float], wp.array]) -> Any:
        if limit["type"] == "max-effort":
            return actuators.ClampingMaxEffort(array(limit["max_effort"]))
        return actuators.ClampingDCMotor(**{name: array(limit[name]) for name in MOTOR})

    def run(self) -> None:
        """Run the stage four times: an even number, so that the states end as they began."""
        for _ in range(TICKS):
            wp.launch(zero, len(self.driven), [self.driven, self.effort], device=self.driven.device)
            self.actuator.step(self.state, self.control, self.now, self.later, 0.002)
            self.now, self.later = self.later, self.now


@wp.kernel
def zero(dofs: wp.array[int], joint_f: wp.array[float]):
    joint_f[dofs[wp.tid()]] = 0.0


def ratios(law: dict[str, Any], worlds: int, device: str) -> Iterator[float]:
    """Yield our time over theirs, run by run, and see that both give the same efforts."""
    ours = Actuation(law, worlds, device)
    theirs = ByHand(ours, law)
    generator = np.random.default_rng(0)
    targets = generator.uniform(-1.0, 1.0, (worlds, DOFS)).astype(np.float32)
    ours.group.position_targets.assign(targets)
    spread = theirs.control.joint_target_q.numpy()
    spread[theirs.actuator.pos_indices.numpy()] = targets.ravel()
    theirs.control.joint_target_q.assign(spread)
    replays = recorded(ours.run, device), recorded(theirs.run, device)
    yield from (one / other for one, other in in_turn(*replays, device))
    np.testing.assert_array_equal(ours.effort.numpy(), theirs.effort.numpy())


def main() -> None:
    """Print one row for each law and number of worlds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--laws", nargs="*", default=list(LAWS), choices=list(LAWS))
    arguments = parser.parse_args()
    print("| law | worlds | stage ÷ by hand |\n|---|---|---|")
    for law in arguments.laws:
        for worlds in (64, 4096):
            print(f"| {law} | {worlds} | {statistics.median(ratios(LAWS[law], worlds, arguments.device)):.3f} |")


if __name__ == "__main__":
    main()
