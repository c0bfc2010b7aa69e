"""Efforts of networks, from files as small as they can be: what they compute, what they remember, what is refused."""

import json
import subprocess
import sys
from pathlib import Path

import newton
import numpy as np
import onnx
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from onnx import TensorProto, helper, numpy_helper

POSITIONS, VELOCITIES, TARGETS = np.array([0.1, -0.2]), np.array([1.0, -2.0]), np.array([0.3, 0.1])
ERRORS = TARGETS - POSITIONS
LSTM_NAMES = {
    "input_name": "state",
    "hidden_in_name": "h",
    "cell_in_name": "c",
    "output_name": "effort",
    "hidden_out_name": "h_next",
    "cell_out_name": "c_next",
}
GRU_NORMALIZATION = {
    "inputs": {"mean": {"position_error": 0.0, "velocity": 0.0}, "std": {"position_error": 1.0, "velocity": 1.0}},
    "targets": {"mean": {"torque": 0.0}, "std": {"torque": 5.0}},
}


class Still:
    """Keeps the state where it is: what the network gives is all that is looked at."""

    supported_observables = frozenset()

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model)

    @pippin.hookimpl
    def step_solver(self, state_in, state_out):
        state_out.assign(state_in)


def tensor(name, values):
    return numpy_helper.from_array(np.asarray(values, dtype=np.float32), name)


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def write(path, nodes, inputs, outputs, weights, metadata):
    """Write a network, with its metadata as one JSON object; entries of None are left out."""
    graph = helper.make_graph(nodes, "network", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    entry = model.metadata_props.add()
    entry.key = "metadata"
    entry.value = json.dumps({key: item for key, item in metadata.items() if item is not None})
    onnx.save(model, path)
    return path


def mlp(path, *, width=2, outputs=1, **metadata):
    """effort_scale (3 tanh(pos_scale e) - 2 tanh(vel_scale q̇) + 0.5), where all else is as it is here."""
    nodes = [
        helper.make_node("Gemm", ["x", "w1"], ["a"], transB=1),
        helper.make_node("Tanh", ["a"], ["b"]),
        helper.make_node("Gemm", ["b", "w2", "b2"], ["y"], transB=1),
    ]
    second = np.tile([3.0, -2.0], (outputs, 1))
    weights = [tensor("w1", np.eye(2, width)), tensor("w2", second), tensor("b2", [0.5] * outputs)]
    metadata = {"model_type": "mlp", "pos_scale": 2.0, "vel_scale": 0.5, "effort_scale": 10.0} | metadata
    return write(path, nodes, [value("x", [None, width])], [value("y", [None, outputs])], weights, metadata)


def linear(path, row, **metadata):
    """A single layer: the inputs, weighted."""
    nodes = [helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)]
    inputs, outputs = [value("x", [None, len(row)])], [value("y", [None, 1])]
    return write(path, nodes, inputs, outputs, [tensor("w", [row])], {"model_type": "mlp"} | metadata)


def lstm(path, *, hidden=2, **metadata):
    """The candidate of two cells reads e and e / 2, and a tenth of what they gave; their gates are half open."""
    candidate, recurrent = np.zeros((1, 8, 2)), np.zeros((1, 8, 2))
    candidate[0, 6:, 0], recurrent[0, 6:] = [1.0, 0.5], 0.1 * np.eye(2)
    nodes = [
        helper.make_node("LSTM", ["state", "w", "r", "", "", "h", "c"], ["y", "h_next", "c_next"], hidden_size=2),
        helper.make_node("Squeeze", ["y", "axes"], ["flat"]),
        helper.make_node("Gemm", ["flat", "head"], ["effort"], transB=1),
    ]
    axes = numpy_helper.from_array(np.array([0, 1], dtype=np.int64), "axes")
    weights = [tensor("w", candidate), tensor("r", recurrent), tensor("head", [[1.0, 1.0]]), axes]
    inputs = [value("state", [1, None, 2]), value("h", [1, None, 2]), value("c", [1, None, 2])]
    outputs = [value("effort", [None, 1]), value("h_next", [1, None, 2]), value("c_next", [1, None, 2])]
    known = {"model_type": "lstm", "num_layers": 1, "hidden_size": hidden, "effort_scale": 4.0, **LSTM_NAMES}
    return write(path, nodes, inputs, outputs, weights, known | metadata)


def gru(path, **metadata):
    """The candidate of two cells reads e and q̇, their gates are half open, the head weighs them 2 and 1."""
    candidate = np.zeros((1, 6, 2))
    candidate[0, 4:] = np.eye(2)
    nodes = [
        helper.make_node("GRU", ["x", "w", "r", "", "", "h"], ["y", "h_next"], hidden_size=2, linear_before_reset=1),
        helper.make_node("Squeeze", ["y", "one"], ["sequence"]),
        helper.make_node("Squeeze", ["sequence", "zero"], ["flat"]),
        helper.make_node("Gemm", ["flat", "head", "bias"], ["effort"], transB=1),
    ]
    weights = [
        tensor("w", candidate),
        tensor("r", np.zeros((1, 6, 2))),
        tensor("head", [[2.0, 1.0]]),
        tensor("bias", [0.0]),
        numpy_helper.from_array(np.array([1], dtype=np.int64), "one"),
        numpy_helper.from_array(np.array([0], dtype=np.int64), "zero"),
    ]
    inputs = [value("x", [1, None, 2]), value("h", [1, None, 2])]
    outputs = [value("effort", [None, 1]), value("h_next", [1, None, 2])]
    columns = ["position_error", "velocity"]
    known = {"input_columns": columns, "normalization": GRU_NORMALIZATION, "sample_dt_s": 0.01}
    return write(path, nodes, inputs, outputs, weights, {"model_type": "gru", **known} | metadata)


WRITERS = {"mlp": mlp, "lstm": lstm, "gru": gru}


def hinges():
    """Two free hinges of inertia 1 kg·m², at the positions and velocities of the reference cases."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for index in range(2):
        link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
        joint = builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label=f"joint_{index}", armature=0.0)
        builder.add_articulation([joint])
        builder.joint_q[-1], builder.joint_qd[-1] = POSITIONS[index], VELOCITIES[index]
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.01,
    capture="require",
    worlds=2,
    gravity=0.0,
    prototype=hinges,
    solver=Still,
    actuators={"legs": {"type": "neural", "joints": [".*"]}},
    options="actuators.legs",
)


def efforts(simulation, count):
    """Step, and return the effort before clamping of each step, shape [count, worlds, joints]."""
    group, found = simulation.actuators["legs"], []
    group.position_targets.assign(np.tile(TARGETS, (simulation.world_count, 1)).astype(np.float32))
    for _ in range(count):
        simulation.step()
        found.append(group.computed_effort.numpy().copy())
    return np.array(found)


def sigmoidal_memory(kind, count):
    """Return what the cells of `lstm` and `gru` give, in double precision, by the equations of the gates."""
    hidden, cell, found = np.zeros((2, 2)), np.zeros((2, 2)), []
    for _ in range(count):
        if kind == "lstm":
            cell = 0.5 * cell + 0.5 * np.tanh(ERRORS[:, None] * [1.0, 0.5] + 0.1 * hidden)
            hidden = 0.5 * np.tanh(cell)
            found.append(4.0 * hidden.sum(axis=1))
        else:
            hidden = 0.5 * np.tanh(np.stack([ERRORS, VELOCITIES], axis=1)) + 0.5 * hidden
            found.append(5.0 * hidden @ [2.0, 1.0])
    return np.array(found)


# What the networks compute.


@pytest.mark.alone
def test_an_mlp_gives_its_closed_form(simulate, tmp_path, device):
    with simulate(model_path=str(mlp(tmp_path / "net.onnx")), device=device) as simulation:
        found = efforts(simulation, 2)

    expected = 10.0 * (3.0 * np.tanh(2.0 * ERRORS) - 2.0 * np.tanh(0.5 * VELOCITIES) + 0.5)
    np.testing.assert_allclose(expected, [7.156126, 36.343372], rtol=1e-6)
    np.testing.assert_allclose(found, np.broadcast_to(expected, (2, 2, 2)), rtol=1e-5)


@pytest.mark.parametrize(
    ("kind", "first"), [("lstm", [0.296323, 0.437880]), ("gru", [2.890862, -0.953506])], ids=["lstm", "gru"]
)
def test_a_recurrent_network_follows_the_equations_of_its_gates(simulate, tmp_path, device, kind, first):
    with simulate(model_path=str(WRITERS[kind](tmp_path / "net.onnx")), device=device) as simulation:
        found = efforts(simulation, 3)

    expected = sigmoidal_memory(kind, 3)
    np.testing.assert_allclose(expected[0], first, rtol=1e-5)
    np.testing.assert_allclose(found, np.repeat(expected[:, None], 2, axis=1), rtol=1e-5)


def test_an_mlp_may_read_past_states(simulate, tmp_path):
    """Weights 100, 10 and 1 on the errors of now and of one and two steps ago; before the start they are zero."""
    file = linear(tmp_path / "net.onnx", [100.0, 10.0, 1.0, 0.0, 0.0, 0.0], input_idx=[0, 1, 2])
    with simulate(model_path=str(file), worlds=1) as simulation:
        found = efforts(simulation, 3)

    np.testing.assert_allclose(found[:, 0], np.outer([100.0, 110.0, 111.0], ERRORS), rtol=1e-5)


def test_velocities_may_come_first(simulate, tmp_path):
    with simulate(
        model_path=str(linear(tmp_path / "net.onnx", [1.0, 10.0], input_order="vel_pos")), worlds=1
    ) as simulation:
        np.testing.assert_allclose(efforts(simulation, 1)[0, 0], VELOCITIES + 10.0 * ERRORS, rtol=1e-5)


def test_metadata_may_be_single_properties(simulate, tmp_path):
    file = mlp(tmp_path / "net.onnx")
    model = onnx.load(file)
    del model.metadata_props[:]
    helper.set_model_props(model, {"model_type": "mlp", "effort_scale": "20", "author": "somebody"})
    onnx.save(model, file)
    with simulate(model_path=str(file), worlds=1) as simulation:
        expected = 20.0 * (3.0 * np.tanh(ERRORS) - 2.0 * np.tanh(VELOCITIES) + 0.5)
        np.testing.assert_allclose(efforts(simulation, 1)[0, 0], expected, rtol=1e-5)


def test_the_stages_around_the_law_are_there(simulate, tmp_path):
    clamping = [{"type": "max-effort", "max_effort": 8.0}]
    with simulate(
        model_path=str(mlp(tmp_path / "net.onnx")), worlds=1, clamping=clamping, delay={"steps": 1}
    ) as simulation:
        found = efforts(simulation, 2)
        np.testing.assert_allclose(found[1, 0], [7.156126, 36.343372], rtol=1e-5)
        np.testing.assert_allclose(simulation.actuators["legs"].applied_effort.numpy()[0], [7.156126, 8.0], rtol=1e-5)


# What they remember.


@pytest.mark.parametrize("kind", WRITERS)
def test_recorded_and_eager_steps_give_the_same_bits(simulate, tmp_path, kind):
    options = {"input_idx": [0, 2], "width": 4} if kind == "mlp" else {}
    file = WRITERS[kind](tmp_path / "net.onnx", **options)
    with simulate(model_path=str(file)) as recorded, simulate(model_path=str(file), capture="off") as eager:
        np.testing.assert_array_equal(efforts(recorded, 5), efforts(eager, 5))
        assert recorded.program.is_captured
        assert not eager.program.is_captured


def test_layers_with_and_without_bias_are_recorded(simulate, tmp_path):
    """Warp 1.19 takes their kernels for one in a CPU graph: 2 (e + 1) + 3 (q̇ - 1), of which a replay lost the bias."""
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["a"], transB=1),
        helper.make_node("Gemm", ["a", "w2"], ["y"]),
    ]
    weights = [tensor("w1", np.eye(2)), tensor("b1", [1.0, -1.0]), tensor("w2", [[2.0], [3.0]])]
    inputs, outputs = [value("x", [None, 2])], [value("y", [None, 1])]
    file = write(tmp_path / "net.onnx", nodes, inputs, outputs, weights, {"model_type": "mlp"})
    with simulate(model_path=str(file), worlds=1) as simulation:
        found = efforts(simulation, 3)
        assert simulation.program.is_captured

    expected = 2.0 * (ERRORS + 1.0) + 3.0 * (VELOCITIES - 1.0)
    np.testing.assert_allclose(found[:, 0], np.tile(expected, (3, 1)), rtol=1e-5)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_a_reset_forgets_in_its_worlds_alone(simulate, tmp_path, kind):
    with simulate(model_path=str(WRITERS[kind](tmp_path / "net.onnx"))) as simulation:
        efforts(simulation, 2)
        simulation.reset([1])
        found = efforts(simulation, 1)[0]

    expected = sigmoidal_memory(kind, 3)
    np.testing.assert_allclose(found, [expected[2], expected[0]], rtol=1e-5)


def test_a_reset_forgets_past_states_in_its_worlds_alone(simulate, tmp_path):
    file = linear(tmp_path / "net.onnx", [100.0, 10.0, 1.0, 0.0, 0.0, 0.0], input_idx=[0, 1, 2])
    with simulate(model_path=str(file)) as simulation:
        efforts(simulation, 2)
        simulation.reset([0])
        found = efforts(simulation, 1)[0]

    np.testing.assert_allclose(found, np.outer([100.0, 111.0], ERRORS), rtol=1e-5)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_what_is_remembered_is_saved(simulate, tmp_path, kind):
    file = WRITERS[kind](tmp_path / "net.onnx")
    with simulate(model_path=str(file)) as simulation:
        efforts(simulation, 2)
        simulation.save(tmp_path / "two.npz")
        expected = efforts(simulation, 1)

    with pippin.Simulation.load(tmp_path / "two.npz", plugins=[Still()], prototype=hinges()) as resumed:
        np.testing.assert_array_equal(efforts(resumed, 1), expected)


# What they do not read.


@pytest.mark.parametrize(
    ("kind", "columns", "reads"),
    [
        ("mlp", None, {"position_targets"}),
        ("lstm", None, {"position_targets"}),
        ("gru", ["position_error", "velocity"], {"position_targets"}),
        ("gru", ["target_velocity", "velocity"], {"velocity_targets"}),
        ("gru", ["position", "velocity"], set()),
    ],
)
def test_arrays_that_the_network_does_not_read_are_not_there(simulate, tmp_path, kind, columns, reads):
    changes = {}
    if columns:
        ones = dict.fromkeys(columns, 1.0)
        inputs = {"mean": ones, "std": ones}
        changes = {"input_columns": columns, "normalization": GRU_NORMALIZATION | {"inputs": inputs}}
    with simulate(model_path=str(WRITERS[kind](tmp_path / "net.onnx", **changes)), worlds=1) as simulation:
        group = simulation.actuators["legs"]
        names = ("position_targets", "velocity_targets", "feedforward")

        assert {name for name in names if hasattr(group, name)} == reads
        with pytest.raises(AttributeError, match=r"feedforward: network '.*net\.onnx' does not read it; it reads "):
            group.feedforward.fill_(1.0)


# Implicit effort.


def test_an_implicit_effort_is_that_of_the_network_s_slope_at_the_end_of_the_step(simulate, tmp_path):
    """One DOF, τ = kp e - kd q̇: τ = (kp (e - h q̇) - kd q̇) / (1 + (h kd + h² kp) / I); the network is that law."""
    with simulate(model_path=str(linear(tmp_path / "net.onnx", [1000.0, -10.0])), effort_mode="implicit") as simulation:
        found = efforts(simulation, 3)

    explicit = 1000.0 * ERRORS - 10.0 * VELOCITIES
    expected = (explicit - 0.01 * 1000.0 * VELOCITIES) / (1.0 + 0.01 * 10.0 + 1e-4 * 1000.0)
    np.testing.assert_allclose(found, np.broadcast_to(expected, (3, 2, 2)), rtol=1e-4)


def test_an_implicit_effort_of_an_lstm_remembers_as_the_explicit_one(simulate, tmp_path):
    """With the memory of the step's start, τ = (τ₀ - k h q̇) / (1 + k h² / I), where k is the slope dτ/de there."""
    with simulate(
        model_path=str(lstm(tmp_path / "net.onnx", effort_scale=400.0)), effort_mode="implicit"
    ) as simulation:
        found = efforts(simulation, 3)

    weights, hidden, cell, expected = np.array([1.0, 0.5]), np.zeros((2, 2)), np.zeros((2, 2)), []
    for _ in range(3):
        candidate = np.tanh(ERRORS[:, None] * weights + 0.1 * hidden)
        cell = 0.5 * cell + 0.5 * candidate
        hidden = 0.5 * np.tanh(cell)
        slope = 400.0 * (0.5 * (1.0 - np.tanh(cell) ** 2) * 0.5 * (1.0 - candidate**2) * weights).sum(axis=1)
        expected.append((400.0 * hidden.sum(axis=1) - slope * 0.01 * VELOCITIES) / (1.0 + slope * 1e-4))
    np.testing.assert_allclose(found, np.repeat(np.array(expected)[:, None], 2, axis=1), rtol=1e-4)


@pytest.mark.slow
def test_the_slope_is_there_where_a_simulation_leaves_out_backward_kernels():
    """As every program does that imports Newton after Pippin has built something; these tests import it before."""
    name = test_an_implicit_effort_is_that_of_the_network_s_slope_at_the_end_of_the_step.__name__
    code = (
        "import sys, pippin.devices; pippin.devices.leave_out_backward_kernels();"
        "import newton, pytest, warp; assert not warp.config.enable_backward; sys.exit(pytest.main(sys.argv[1:]))"
    )
    arguments = ["-q", "-n0", "-p", "no:cacheprovider", f"{__file__}::{name}"]  # in that process, not in its workers
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("kind", "options", "reason"),
    [
        ("gru", {}, "a gru, which Newton does not differentiate"),
        ("mlp", {"input_idx": [0, 1], "width": 4}, r"which reads past states: input_idx is \[0, 1\]"),
    ],
)
def test_a_network_without_implicit_mode_says_why(simulate, tmp_path, kind, options, reason):
    with pytest.raises(pippin.ConfigError, match=rf"^actuators\.legs\.effort_mode: 'implicit' .*{reason}.*'explicit'"):
        simulate(model_path=str(WRITERS[kind](tmp_path / "net.onnx", **options)), effort_mode="implicit")


# What is refused.


def refused(simulate, file, message, **options):
    with pytest.raises(pippin.ConfigError, match=rf"^actuators\.legs\.model_path: .*{message}"):
        simulate(model_path=str(file), worlds=1, **options)


def test_a_file_that_is_not_there_is_refused(simulate, tmp_path):
    mlp(tmp_path / "knee.onnx")

    refused(simulate, tmp_path / "nee.onnx", "no file .*did you mean 'knee.onnx'")


@pytest.mark.parametrize("content", [b"", b"# a text\n", bytes(range(256))])
def test_a_foreign_file_is_refused(simulate, tmp_path, content):
    (tmp_path / "net.onnx").write_bytes(content)

    refused(simulate, tmp_path / "net.onnx", r"net\.onnx' is not a valid ONNX file \(")


def test_a_truncated_file_is_refused(simulate, tmp_path):
    file = mlp(tmp_path / "net.onnx")
    file.write_bytes(file.read_bytes()[:-40])

    refused(simulate, file, r"net\.onnx' is not a valid ONNX file \(")


def test_a_torch_checkpoint_is_refused(simulate, tmp_path):
    (tmp_path / "net.pt").write_bytes(b"PK")

    refused(simulate, tmp_path / "net.pt", r"is not an '\.onnx' file; export the network to ONNX")


@pytest.mark.first_cases(10)
@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("mlp", {"model_type": None}, "'model_type': expected one of mlp, lstm, gru, it is missing"),
        ("mlp", {"model_type": "transformer"}, "'model_type': expected one of mlp, lstm, gru, got 'transformer'"),
        ("mlp", {"effort_scale": float("nan")}, "'effort_scale': expected a finite number other than 0, got nan"),
        ("mlp", {"pos_scale": float("inf")}, "'pos_scale': .* got inf"),
        ("mlp", {"vel_scale": 0.0}, "'vel_scale': .* got 0.0"),
        ("mlp", {"vel_scale": "2"}, "'vel_scale': .* got '2'"),
        ("mlp", {"vel_scale": True}, "'vel_scale': .* got True"),
        ("mlp", {"torque_scale": 2.0}, "'torque_scale': another name of 'effort_scale', which is given, too"),
        ("mlp", {"efort_scale": 2.0}, "'efort_scale': no such key; did you mean 'effort_scale'"),
        ("mlp", {"input_order": "both"}, "'input_order': expected one of pos_vel, vel_pos, got 'both'"),
        ("mlp", {"input_idx": []}, r"'input_idx': expected a list of whole numbers >= 0, .* got \[\]"),
        ("mlp", {"input_idx": [-1]}, r"'input_idx': .* got \[-1\]"),
        ("mlp", {"input_idx": [0.5]}, r"'input_idx': .* got \[0\.5\]"),
        ("mlp", {"input_idx": [0, 1]}, r"'x' has shape \['\?', 2\], its last extent must be 4"),
        ("mlp", {"width": 3}, r"'x' has shape \['\?', 3\], its last extent must be 2"),
        ("mlp", {"outputs": 2}, r"'y' has shape \['\?', 2\], its last extent must be 1"),
        ("mlp", {"sample_dt_s": 0.02}, r"trained for steps of 0\.02 s, and the physics step is 0\.01 s"),
        ("lstm", {"hidden_size": None}, "'hidden_size': expected a whole number >= 1, it is missing"),
        ("lstm", {"hidden": 3}, r"'h' has shape \[1, '\?', 2\], its last extent must be 3 \(hidden_size\)"),
        ("lstm", {"num_layers": 2}, "'hidden_in_name': expected a list of 2 names, one for each layer, got 'h'"),
        ("lstm", {"cell_in_name": None}, "'cell_in_name': expected the name of an input or output, it is missing"),
        ("lstm", {"output_name": "torque"}, "'output_name': the network has effort, h_next, c_next, got 'torque'"),
        ("gru", {"sample_dt_s": None}, r"'sample_dt_s': expected the time step of training \[s\], it is missing"),
        ("gru", {"sample_dt_s": 0.005}, r"trained for steps of 0\.005 s, .* set simulation\.dt = 0\.005"),
        ("gru", {"input_columns": None}, "'input_columns': expected a list of names, it is missing"),
        ("gru", {"input_columns": ["velocity"]}, "Newton cannot run this network: .* does not match input_columns"),
        ("gru", {"custom_inputs": ["heat"]}, r"'custom_inputs': no actuator has inputs of its own, got \['heat'\]"),
        ("gru", {"normalization": None}, r"'normalization\.inputs\.mean': expected an object, it is missing"),
        (
            "gru",
            {"normalization": GRU_NORMALIZATION | {"targets": {"mean": {"torque": 0.0}, "std": {"torque": 0.0}}}},
            r"'normalization\.targets\.std\.torque': expected a finite number > 0, got 0\.0",
        ),
    ],
)
def test_metadata_that_do_not_fit_are_refused(simulate, tmp_path, kind, changes, message):
    refused(simulate, WRITERS[kind](tmp_path / "net.onnx", **changes), message)


def test_weights_that_do_not_fit_the_declared_shapes_are_refused(simulate, tmp_path):
    file = mlp(tmp_path / "net.onnx")
    model = onnx.load(file)
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 3
    onnx.save(model, file)

    refused(simulate, file, "is not a valid ONNX file")


def test_weights_that_are_not_finite_are_refused(simulate, tmp_path):
    refused(
        simulate,
        linear(tmp_path / "net.onnx", [1.0, np.nan]),
        r"'net\.onnx': weights 'w' hold nan; train the network anew",
    )


def test_an_operator_that_newton_does_not_run_is_refused(simulate, tmp_path):
    nodes = [helper.make_node("ReduceMean", ["x"], ["y"], axes=[1])]
    metadata = {"model_type": "mlp"}
    file = write(tmp_path / "net.onnx", nodes, [value("x", [None, 2])], [value("y", [None, 1])], [], metadata)

    refused(simulate, file, "Newton cannot run this network: .*ReduceMean")


def test_a_file_is_named_relative_to_the_configuration(tmp_path):
    mlp(tmp_path / "knee.onnx")
    (tmp_path / "scene.toml").write_text(
        '[simulation]\ndevice = "cpu"\n[actuators.legs]\ntype = "neural"\njoints = [".*"]\nmodel_path = "knee.onnx"\n'
    )
    with pippin.Simulation.from_file(tmp_path / "scene.toml", plugins=[Still()], prototype=hinges()) as simulation:
        np.testing.assert_allclose(efforts(simulation, 1)[0, 0], [7.156126, 36.343372], rtol=1e-5)


KNEE = Path(__file__).parents[3] / "docs" / "examples" / "knee.onnx"
CONFORMANCE = conformance.Conformance("actuator", "neural", config={"model_path": str(KNEE)})


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
