"""What actuators remember, across a reset of some worlds, a checkpoint and an export: bit for bit."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.export import export_step
from pippin_actuator_neural.importing.layers import Linear, Recurrent
from pippin_actuator_neural.importing.writer import write_onnx

DELAY = {"min_steps": 1, "max_steps": 4}
PID = {"type": "pid", "kp": 10.0, "ki": 30.0, "kd": 1.0}
ACTUATORS = {
    "pd": {"type": "pd", "kp": {"uniform": [10.0, 20.0]}, "kd": 1.0, "delay": DELAY},
    "pid": {**PID, "delay": DELAY},
    "implicit": {**PID, "effort_mode": "implicit"},
    "lstm": {"type": "neural", "delay": DELAY},
    "stack": {"type": "neural"},
    "gru": {"type": "neural"},
    "solver": {"type": "solver-pd", "kp": 10.0, "kd": {"uniform": [1.0, 2.0]}},
}
RECURRENT = {"lstm": ["lstm"], "stack": ["lstm", "lstm"], "gru": ["gru"]}
COLUMNS = ["position_error", "velocity"]
SCALES = {
    "lstm": {"effort_scale": 5.0},
    "gru": {
        "input_columns": COLUMNS,
        "sample_dt_s": 0.01,
        "normalization": {
            "inputs": {"mean": dict.fromkeys(COLUMNS, 0.0), "std": dict.fromkeys(COLUMNS, 1.0)},
            "targets": {"mean": {"torque": 0.0}, "std": {"torque": 5.0}},
        },
    },
}


def recurrent(rng, kind, inputs, cells=4):
    rows = {"lstm": 4, "gru": 3}[kind] * cells
    shapes = {"weight_ih": (rows, inputs), "weight_hh": (rows, cells), "bias_ih": rows, "bias_hh": rows}
    return Recurrent(kind=kind, **{name: rng.normal(size=shape) for name, shape in shapes.items()})


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    """One group of each kind, each with a hinge of its own; the networks have random weights."""
    folder, rng = tmp_path_factory.mktemp("networks"), np.random.default_rng(3)
    tables = {label: {**table, "joints": [label]} for label, table in ACTUATORS.items()}
    for label, kinds in RECURRENT.items():
        layers = [recurrent(rng, kind, 4 if index else 2) for index, kind in enumerate(kinds)]
        head = Linear(weight=rng.normal(size=(1, 4)), bias=np.zeros(1))
        write_onnx(folder / f"{label}.onnx", [*layers, head], "a test", SCALES[kinds[0]])
        tables[label]["model_path"] = str(folder / f"{label}.onnx")
    return tables


def hinges():
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for label in ACTUATORS:
        link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
        joint = builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label=label)
        builder.add_articulation([joint])
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.01, decimation=3, seed=5, worlds=3, gravity=0.0, prototype=hinges, solver="featherstone"
)


def first_half(simulation):
    """Step, reset a world, and step again; the last targets are still on their way through the delays."""
    for worlds, factor in (([1], 1.0), ([], 2.0), ([], 3.0)):
        simulation.reset(worlds)
        for group in simulation.actuators.values():
            group.position_targets.assign(factor * np.float32([[0.5], [-0.3], [0.2]]))
        simulation.step(2 if factor < 3.0 else 0)


def second_half(simulation):
    """Return the arrays of a step, before and after a reset of another world."""
    simulation.step()
    simulation.reset([0])
    simulation.step(2)
    return simulation.state_record().arrays


@pytest.mark.slow
def test_what_is_remembered_continues_with_the_same_bits(simulate, groups, tmp_path):
    with simulate(actuators=groups, capture="require") as whole:
        first_half(whole)
        whole.save(tmp_path / "half.npz")
        export_step(whole, tmp_path / "step")
        expected = second_half(whole)
        efforts = {label: group.applied_effort.numpy() for label, group in whole.actuators.items() if label != "solver"}
    with pippin.Simulation.load(tmp_path / "half.npz", prototype=hinges()) as resumed:
        found = second_half(resumed)
    with simulate(actuators=groups, capture="off") as eager:
        first_half(eager)
        without_graph = second_half(eager)

    assert all(np.abs(each[1:]).min() > 0.0 for each in efforts.values()), efforts
    assert [name for name in expected if expected[name].tobytes() != found[name].tobytes()] == []
    assert [name for name in expected if expected[name].tobytes() != without_graph[name].tobytes()] == []
