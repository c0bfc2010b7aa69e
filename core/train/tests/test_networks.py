"""Recurrent policies as ONNX files, against the networks of PyTorch, and as `pippin play` reads them."""

import numpy as np
import onnx
import pytest
import warp as wp
from onnx.reference import ReferenceEvaluator
from pippin_task.policy import Network
from pippin_train import write_policy

torch = pytest.importorskip("torch")

from pippin_train.torch_layers import layers_of, recurrent_of  # noqa: E402

KINDS = {"GRU": torch.nn.GRU, "LSTM": torch.nn.LSTM}


@pytest.mark.parametrize("limit", [None, 0.8])
@pytest.mark.parametrize(("kind", "layers"), [("GRU", 1), ("LSTM", 2)])
def test_a_recurrent_policy_remembers_as_pytorch_does(tmp_path, kind, layers, limit):
    """Five steps of three worlds; the episode of the second one begins again after two."""
    torch.manual_seed(1)
    memory, head = KINDS[kind](4, 6, num_layers=layers), torch.nn.Linear(6, 2)
    mean, std = np.array([0.1, 0.2, -0.3, 0.0]), np.array([1.0, 2.0, 0.5, 1.0])
    path = tmp_path / "policy.onnx"
    write_policy(path, layers_of([head]), "elu", mean=mean, std=std, limit=limit, recurrent=recurrent_of(memory))
    onnx.checker.check_model(onnx.load(path))
    evaluator = ReferenceEvaluator(str(path))
    rows = np.random.default_rng(1).normal(size=(5, 3, 4)).astype(np.float32)
    lengths = wp.zeros(3, dtype=int, device="cpu")
    played = Network(path, 3, 4, wp.get_device("cpu"), lengths)
    shapes = [(layers, 3, 6)] * (1 if kind == "GRU" else 2)
    states = [torch.zeros(shape) for shape in shapes]
    given = {name: np.zeros((1, 3, 6), "f") for name in evaluator.input_names[1:]}

    for step, seen in enumerate(rows):
        if step == 2:
            for state in [*states, *given.values()]:
                state[:, 1] = 0.0
        lengths.assign(np.array([step, step % 2 if step >= 2 else step, step]))
        normal = (seen - mean) / std
        normal = torch.as_tensor(normal if limit is None else np.clip(normal, -limit, limit), dtype=torch.float32)
        with torch.no_grad():
            out, after = memory(normal[None], states[0] if kind == "GRU" else tuple(states))
            wanted = head(out[0]).numpy()
        states = [each.clone() for each in ([after] if kind == "GRU" else after)]
        action, *others = evaluator.run(None, {"observations": seen, **given})
        given = dict(zip(given, map(np.array, others), strict=True))
        own = wp.zeros((3, 2), dtype=float, device="cpu")
        played(wp.array(seen, dtype=float, device="cpu"), own)

        np.testing.assert_allclose(action, wanted, atol=1e-5)
        if step != 4:  # there, the length is 0 again
            np.testing.assert_allclose(own.numpy(), wanted, atol=1e-5)
    assert np.abs(own.numpy() - wanted).max(axis=1)[1] > 1e-4, "forgets"
    assert np.abs(own.numpy() - wanted).max(axis=1)[[0, 2]].max() < 1e-5


def test_states_without_partners_are_refused(tmp_path):
    import pippin

    memory, head = torch.nn.LSTM(4, 6), torch.nn.Linear(6, 2)
    path = tmp_path / "policy.onnx"
    write_policy(path, layers_of([head]), "elu", recurrent=recurrent_of(memory))
    model = onnx.load(path)
    del model.graph.output[2]
    onnx.save(model, tmp_path / "fewer.onnx")
    model = onnx.load(path)
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "layers"
    onnx.save(model, tmp_path / "unknown.onnx")

    with pytest.raises(pippin.ConfigError, match="has the inputs observations, h_in, c_in, and 2 outputs; export a"):
        Network(tmp_path / "fewer.onnx", 3, 4, wp.get_device("cpu"))
    with pytest.raises(pippin.ConfigError, match=r"has the state h_in of the shape .*; export states of the shape"):
        Network(tmp_path / "unknown.onnx", 3, 4, wp.get_device("cpu"))
