"""Networks: the numbers of ONNX's own reference evaluator, for every known operator."""

import numpy as np
import pippin
import pytest
import warp as wp
from onnx.reference import ReferenceEvaluator
from pippin.task.policy.network import Network

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


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        ([("Gemm", [WEIGHTS.T.copy(), BIAS], {})], "a layer takes 3 numbers, and gets 4"),
        ([("Sin", [], {})], "the operator Sin is not known; known: Gemm, MatMul"),
        ([("Gemm", [WEIGHTS, BIAS], {"transA": 1})], "multiplies from the left"),
    ],
)
def test_a_network_that_is_no_such_chain_is_refused(chain, message, network_file):
    with pytest.raises(pippin.ConfigError, match=message):
        Network(network_file(4, chain), 2, 4, wp.get_device("cpu"))


def test_a_file_that_is_no_network_is_refused(tmp_path):
    file = tmp_path / "policy.onnx"
    file.write_bytes(b"no network")

    with pytest.raises(pippin.ConfigError, match="is no valid ONNX file"):
        Network(file, 2, 4, wp.get_device("cpu"))
