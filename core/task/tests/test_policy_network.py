"""Networks: the numbers of ONNX's own reference evaluator, called and replayed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pippin
import pytest
import warp as wp
from onnx import helper
from onnx.reference import ReferenceEvaluator
from pippin_task.policy import Network

RANDOM = np.random.default_rng(1)
ROWS = RANDOM.normal(size=(5, 4)).astype(np.float32)
WEIGHTS, BIAS = RANDOM.normal(size=(4, 3)).astype(np.float32), RANDOM.normal(size=3).astype(np.float32)
VECTOR = np.array([0.5, -1.0, 2.0, 0.25], np.float32)

CHAINS = {
    "dense": [("Gemm", [WEIGHTS, BIAS], {})],
    "transposed and scaled": [("Gemm", [WEIGHTS.T.copy(), BIAS], {"transB": 1, "alpha": 0.5, "beta": 2.0})],
    "product and sum": [("MatMul", [WEIGHTS], {}), ("Add", [BIAS], {})],
    "normalised": [("Sub", [VECTOR], {}), ("Div", [VECTOR], {}), ("Mul", [np.float32(3.0)], {})],
    "clipped": [("Clip", [np.float32(-0.5), np.float32(0.25)], {})],
    "clipped above": [("Clip", [None, np.float32(0.25)], {})],
    "three layers": [
        ("Gemm", [WEIGHTS, BIAS], {}),
        ("Elu", [], {"alpha": 0.7}),
        ("MatMul", [WEIGHTS.T.copy()], {}),
        ("Tanh", [], {}),
        ("Identity", [], {}),
        ("Gemm", [WEIGHTS, BIAS], {}),
    ],
    **{kind: [(kind, [], {})] for kind in ("Relu", "Tanh", "Sigmoid", "Elu", "LeakyRelu", "Softplus", "Selu")},
}
ENDS = (("x", 4), ("y", 3))
"""Input and output of a network of one layer."""
LAST_WITHOUT_BIAS = [("Gemm", [WEIGHTS, BIAS], {}), ("MatMul", [WEIGHTS.T.copy()], {})]


def evaluated(network, rows):
    """Return what a network writes for some rows."""
    action = wp.zeros((len(rows), network.width), dtype=float, device="cpu")
    network(wp.array(rows, dtype=float, device="cpu"), action)
    return action.numpy()


@pytest.mark.parametrize("name", CHAINS)
def test_a_network_gives_the_numbers_of_the_reference(name, network_file):
    file = network_file(4, CHAINS[name])
    network = Network(file, len(ROWS), 4, wp.get_device("cpu"))
    source = wp.array(ROWS, dtype=float, device="cpu")
    action = wp.zeros((len(ROWS), network.width), dtype=float, device="cpu")

    network(source, action)

    (expected,) = ReferenceEvaluator(str(file)).run(None, {"observations": ROWS})
    np.testing.assert_allclose(action.numpy(), expected, rtol=2e-5, atol=2e-6)
    np.testing.assert_array_equal(source.numpy(), ROWS)
    assert network.is_capturable


def test_convolutions_see_the_observations_as_an_image(network_file):
    filters = RANDOM.normal(size=(3, 2, 3, 3)).astype(np.float32)
    weights = RANDOM.normal(size=(3 * 4 * 5, 2)).astype(np.float32)
    chain = [
        ("Conv", [filters], {"pads": [1, 1, 1, 1]}),
        ("Relu", [], {}),
        ("Flatten", [], {}),
        ("MatMul", [weights], {}),
    ]
    file = network_file((2, 4, 5), chain)
    rows = RANDOM.normal(size=(3, 2 * 4 * 5)).astype(np.float32)
    network = Network(file, len(rows), rows.shape[1], wp.get_device("cpu"))

    action = evaluated(network, rows)

    (expected,) = ReferenceEvaluator(str(file)).run(None, {"observations": rows.reshape(3, 2, 4, 5)})
    np.testing.assert_allclose(action, expected, rtol=2e-5, atol=1e-5)
    assert network.is_capturable


def test_a_network_of_several_outputs_gives_the_first(network_file):
    file = network_file(4, CHAINS["dense"])
    model = onnx.load(file)
    model.graph.node.append(helper.make_node("Hardmax", ["observations"], ["value"]))
    model.graph.output.append(helper.make_tensor_value_info("value", onnx.TensorProto.FLOAT, [None, 4]))
    onnx.save(model, file)

    action = evaluated(Network(file, len(ROWS), 4, wp.get_device("cpu")), ROWS)

    np.testing.assert_allclose(action, ROWS @ WEIGHTS + BIAS, rtol=2e-5, atol=2e-6)


def test_a_network_that_was_exported_for_one_row_takes_many(network_file):
    file = network_file(4, CHAINS["dense"])
    model = onnx.load(file)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(model, file)

    action = evaluated(Network(file, len(ROWS), 4, wp.get_device("cpu")), ROWS)

    np.testing.assert_allclose(action, ROWS @ WEIGHTS + BIAS, rtol=2e-5, atol=2e-6)


def test_a_network_whose_replay_would_differ_from_a_call_is_not_recorded(network_file):
    """Warp finds the kernels of a graph by name, and a layer with a bias has another kernel of the same name."""
    file = network_file(4, LAST_WITHOUT_BIAS)
    network = Network(file, len(ROWS), 4, wp.get_device("cpu"))

    action = evaluated(network, ROWS)

    (expected,) = ReferenceEvaluator(str(file)).run(None, {"observations": ROWS})
    np.testing.assert_allclose(action, expected, rtol=2e-5, atol=2e-6)
    assert not network.is_capturable


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        ([("Gemm", [WEIGHTS.T.copy(), BIAS[:1]], {})], "does not run on 2 rows of 4 numbers: .* 3 input features"),
        ([("Hardmax", [], {})], "unsupported op 'Hardmax'"),
        ([("Gemm", [WEIGHTS, BIAS], {"transA": 1})], "transA is not supported"),
    ],
)
def test_a_network_that_does_not_run_is_refused(chain, message, network_file):
    with pytest.raises(pippin.ConfigError, match=message):
        Network(network_file(4, chain), 2, 4, wp.get_device("cpu"))


def test_a_network_of_another_width_is_refused(network_file):
    with pytest.raises(pippin.ConfigError, match="takes 4 numbers, and there are 5 observations"):
        Network(network_file(4, CHAINS["dense"]), 2, 5, wp.get_device("cpu"))


def test_a_file_that_is_not_a_network_is_refused(tmp_path):
    file = tmp_path / "policy.onnx"
    file.write_bytes(b"no network")

    with pytest.raises(pippin.ConfigError, match="is not a valid ONNX file"):
        Network(file, 2, 4, wp.get_device("cpu"))


def weights(**changes):
    """Return the weights of a dense layer, as data or as a place of them in another file."""
    tensor = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=changes.pop("dims", (4, 3)))
    if not changes:
        tensor.raw_data = WEIGHTS.tobytes()
        return tensor
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in changes.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


@pytest.mark.parametrize(
    "tensor",
    [
        weights(location="../secret.bin", length="48"),
        weights(location="/etc/hostname", length="48"),
        weights(location="link.bin", length="48"),
        weights(dims=(2**40, 3)),
        weights(dims=(-4, -3)),
    ],
    ids=["above the folder", "an absolute path", "a link", "a terabyte", "a negative size"],
)
def test_a_forged_network_is_refused(tmp_path, tensor):
    (tmp_path / "secret.bin").write_bytes(b"\0" * 48)
    (tmp_path / "own").mkdir()
    (tmp_path / "own/link.bin").symlink_to(tmp_path / "secret.bin")

    def network_of(tensor):
        ends = ([helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", width])] for name, width in ENDS)
        graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "forged", *ends, [tensor])
        (tmp_path / "own/policy.onnx").write_bytes(helper.make_model(graph, ir_version=8).SerializeToString())
        return Network(tmp_path / "own/policy.onnx", 2, 4, wp.get_device("cpu"))

    with pytest.raises(pippin.ConfigError, match=r"policy\.onnx' is not a valid ONNX file"):
        network_of(tensor)
    assert network_of(weights()).width == 3


def test_flipped_bits_of_a_network_raise_no_other_error(tmp_path, network_file):
    whole, refused = network_file(4, CHAINS["dense"]).read_bytes(), 0
    for place in RANDOM.integers(8 * len(whole), size=30):
        data = bytearray(whole)
        data[place // 8] ^= 1 << int(place % 8)
        (tmp_path / "flipped.onnx").write_bytes(data)
        try:
            Network(tmp_path / "flipped.onnx", 2, 4, wp.get_device("cpu"))
        except pippin.ConfigError:
            refused += 1

    assert refused


@pytest.mark.slow
def test_a_network_leaves_a_later_neural_actuator_its_slope():
    """As in a program that imports Newton after Pippin has built something, so without backward kernels."""
    here = f"{__file__}::{test_a_network_gives_the_numbers_of_the_reference.__name__}"
    actuator = Path(__file__).parents[3] / "actuators/neural/tests/test_actuator_neural.py"
    slope = f"{actuator}::test_an_implicit_effort_is_that_of_the_network_s_slope_at_the_end_of_the_step"
    code = (
        "import sys, pippin.devices; pippin.devices.leave_out_backward_kernels();"
        "import newton, pytest, warp; assert not warp.config.enable_backward; sys.exit(pytest.main(sys.argv[1:]))"
    )
    arguments = ["-q", "-n0", "-p", "no:cacheprovider", here, slope]  # in that process, not in its workers
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
