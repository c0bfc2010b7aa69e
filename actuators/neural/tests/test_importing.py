"""Networks of checkpoints, as files that the actuator runs: their efforts beside torch's, ONNX's and NumPy's."""

import json
import warnings

import newton
import numpy as np
import onnx
import pippin
import pytest
import warp as wp
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from pippin_actuator_neural.importing.command import import_network
from pippin_actuator_neural.importing.convert import convert
from pippin_actuator_neural.importing.layers import Activation, Linear, Recurrent
from pippin_actuator_neural.importing.writer import write_onnx

POSITION, VELOCITY, TARGET = 0.1, -2.0, 0.4
COLUMNS = ["position_error", "velocity"]
GRU_METADATA = [
    "input_columns=['position_error', 'velocity']",
    "sample_dt_s=0.01",
    *(f"normalization.inputs.mean.{name}=0.0" for name in COLUMNS),
    *(f"normalization.inputs.std.{name}=1.0" for name in COLUMNS),
    "normalization.targets.mean.torque=0.0",
    "normalization.targets.std.torque=1.0",
]


class Still:
    """Keeps the state where it is."""

    supported_observables = frozenset()

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model)

    @pippin.hookimpl
    def step_solver(self, state_in, state_out):
        state_out.assign(state_in)


def efforts(file, count, *, worlds=1, capture="require", reset=None, effort_mode="explicit"):
    """Return the efforts of the steps on a hinge that stands still, shape [count, worlds]."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
    joint = builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label="hinge", armature=0.0)
    builder.add_articulation([joint])
    builder.joint_q[-1], builder.joint_qd[-1] = POSITION, VELOCITY
    group = {"type": "neural", "joints": [".*"], "model_path": str(file), "effort_mode": effort_mode}
    tables = {
        "simulation": {"device": "cpu", "dt": 0.01, "capture": capture},
        "scene": {"worlds": worlds, "gravity": [0.0, 0.0, 0.0]},
        "actuators": {"legs": group},
    }
    with pippin.Simulation(pippin.structure(tables), plugins=[Still()], prototype=builder) as simulation:
        legs, found = simulation.actuators["legs"], []
        legs.position_targets.fill_(TARGET)
        for step in range(count):
            if step == reset:
                simulation.reset([1])
                legs.position_targets.fill_(TARGET)
            simulation.step()
            found.append(legs.computed_effort.numpy()[:, 0].copy())
    return np.array(found)


def random_lstm(rng, inputs, cells):
    shapes = {"weight_ih": (4 * cells, inputs), "weight_hh": (4 * cells, cells), "bias_ih": 4 * cells}
    weights = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    return Recurrent(kind="lstm", **weights, bias_hh=np.zeros(4 * cells))


def two_layers(path, **metadata):
    rng = np.random.default_rng(3)
    head = Linear(weight=rng.normal(size=(1, 4)), bias=np.array([0.5]))
    layers = [random_lstm(rng, 2, 4), random_lstm(rng, 4, 4), head]
    write_onnx(path, layers, "a test", metadata)
    return layers


def gates(layer, values, hidden, cell):
    """Return hidden and cell state after one step, by the equations of an LSTM."""
    both = layer.weight_ih @ values + layer.weight_hh @ hidden + layer.bias_ih + layer.bias_hh
    enter, keep, candidate, out = np.split(both, 4)
    opened = [1.0 / (1.0 + np.exp(-each)) for each in (enter, keep, out)]
    cell = opened[1] * cell + opened[0] * np.tanh(candidate)
    return opened[2] * np.tanh(cell), cell


def remembered(layers, count, scale):
    """Return the efforts of two layers, in double precision."""
    memory, found = [(np.zeros(4), np.zeros(4))] * 2, []
    for _ in range(count):
        values = np.array([TARGET - POSITION, VELOCITY])
        for index, layer in enumerate(layers[:2]):
            memory[index] = gates(layer, values, *memory[index])
            values = memory[index][0]
        found.append(scale * (layers[2].weight @ values + layers[2].bias)[0])
    return np.array(found)


def test_two_layers_of_an_lstm_follow_the_equations_of_their_gates(tmp_path):
    layers = two_layers(tmp_path / "net.onnx", effort_scale=3.0)

    found = efforts(tmp_path / "net.onnx", 4, worlds=2, reset=2)

    expected = remembered(layers, 4, 3.0)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-5)
    np.testing.assert_allclose(found[:, 1], [*expected[:2], *expected[:2]], rtol=1e-5)


def test_two_layers_give_the_same_bits_recorded_and_eager(tmp_path):
    two_layers(tmp_path / "net.onnx")

    recorded, eager = (efforts(tmp_path / "net.onnx", 3, capture=capture) for capture in ("require", "off"))

    np.testing.assert_array_equal(recorded, eager)


def test_two_layers_have_no_implicit_mode(tmp_path):
    two_layers(tmp_path / "net.onnx")

    with pytest.raises(pippin.ConfigError, match="'implicit' is not possible with this network, an lstm of 2 layers"):
        efforts(tmp_path / "net.onnx", 1, effort_mode="implicit")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cell_in_name": "cell_0"}, "'cell_in_name': expected a list of 2 names, one for each layer, got 'cell_0'"),
        ({"cell_in_name": ["cell_0"] * 2}, "'cell_in_name': expected 2 different names"),
        ({"hidden_out_name": ["hidden_next_0", "h"]}, "'hidden_out_name': the network has .*hidden_next_1"),
        ({"hidden_size": 5}, r"'hidden_0' has shape .* its last extent must be 5 \(hidden_size\)"),
    ],
)
def test_names_that_do_not_fit_the_layers_are_refused(tmp_path, change, message):
    two_layers(tmp_path / "net.onnx", **change)

    with pytest.raises(pippin.ConfigError, match=message):
        efforts(tmp_path / "net.onnx", 1)


# ONNX files.


def exported(path, *, extra=None):
    """An lstm as training programs export it: inputs [N, 1, 2], and the states of both layers in one array."""
    rng = np.random.default_rng(5)

    def tensor(name, values, dtype=np.float32):
        return numpy_helper.from_array(np.asarray(values, dtype=dtype), name)

    nodes = [helper.make_node("Transpose", ["x"], ["values_0"], perm=[1, 0, 2])]
    weights = [tensor("axis", [1], np.int64)]
    for index in range(2):
        sizes = {"w": (1, 16, 2 if index == 0 else 4), "r": (1, 16, 4), "b": (1, 32)}
        weights += [tensor(f"{name}{index}", rng.normal(size=shape)) for name, shape in sizes.items()]
        weights += [tensor(f"place{index}", [index], np.int64)]
        for state in ("h", "c"):
            nodes.append(helper.make_node("Gather", [state, f"place{index}"], [f"{state}{index}"]))
        inputs = [f"values_{index}", f"w{index}", f"r{index}", f"b{index}", "", f"h{index}", f"c{index}"]
        nodes.append(helper.make_node("LSTM", inputs, [f"y{index}", f"hn{index}", f"cn{index}"], hidden_size=4))
        nodes.append(helper.make_node("Squeeze", [f"y{index}", "axis"], [f"values_{index + 1}"]))
    nodes += [helper.make_node("Concat", [f"{state}n0", f"{state}n1"], [f"{state}n"], axis=0) for state in ("h", "c")]
    nodes += [helper.make_node("MatMul", ["values_2", "head"], ["sums"])]
    nodes += [helper.make_node("Add", ["sums", "bias"], ["plain" if extra else "effort"])]
    nodes += [helper.make_node(extra, ["plain"], ["effort"])] if extra else []
    weights += [tensor("head", rng.normal(size=(4, 1))), tensor("bias", [0.5])]
    states = {name: [2, "n", 4] for name in ("h", "c", "hn", "cn")}
    shapes = {"x": ["n", 1, 2], "effort": [1, "n", 1], **states}
    infos = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()}
    inputs, outputs = ([infos[name] for name in names] for names in (("x", "h", "c"), ("effort", "hn", "cn")))
    graph = helper.make_graph(nodes, "exported", inputs, outputs, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    return path


def test_an_exported_lstm_gives_the_efforts_of_its_file(tmp_path):
    source = exported(tmp_path / "trained.onnx")
    convert(source, tmp_path / "net.onnx", ["effort_scale=2.0"])

    found = efforts(tmp_path / "net.onnx", 3)[:, 0]

    reference, states, expected = ReferenceEvaluator(str(source)), [np.zeros((2, 1, 4), np.float32)] * 2, []
    for _ in range(3):
        inputs = np.array([[[TARGET - POSITION, VELOCITY]]], np.float32)
        effort, *states = reference.run(None, {"x": inputs, "h": states[0], "c": states[1]})
        expected.append(2.0 * effort.item())
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("extra", "message"),
    [("Exp", "operator 'Exp' is not a layer of an mlp, lstm or gru"), ("Erf", "operator 'Erf' is not a layer")],
)
def test_an_operator_that_is_not_a_layer_is_named(tmp_path, extra, message):
    with pytest.raises(pippin.ConfigError, match=message):
        convert(exported(tmp_path / "trained.onnx", extra=extra), tmp_path / "net.onnx")


def test_an_output_that_exists_is_kept(tmp_path):
    (tmp_path / "net.onnx").write_text("mine")

    with pytest.raises(pippin.ConfigError, match=r"net\.onnx: it exists; choose another name"):
        convert(exported(tmp_path / "trained.onnx"), tmp_path / "net.onnx")
    assert (tmp_path / "net.onnx").read_text() == "mine"


def test_an_output_in_no_folder_is_refused(tmp_path):
    with pytest.raises(pippin.ConfigError, match=r"net\.onnx: its folder does not exist; make it first"):
        convert(exported(tmp_path / "trained.onnx"), tmp_path / "missing" / "net.onnx")


# Checkpoints of torch.


def networks(torch):
    """Return networks in the manner of published ones: an mlp of three layers, lstm and gru of two."""
    nn = torch.nn

    class Recurring(nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.cells = getattr(nn, kind)(2, 6, num_layers=2, batch_first=True)
            self.head = nn.Linear(6, 1)

    class LSTM(Recurring):
        def forward(self, x, states: tuple[torch.Tensor, torch.Tensor]):
            y, states = self.cells(x, states)
            return self.head(y[:, 0]), states

    class GRU(Recurring):
        def forward(self, x, hidden):
            y, hidden = self.cells(x, hidden)
            return self.head(y[:, 0]), hidden

    class MLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.third = nn.Linear(2, 8), nn.Linear(8, 8), nn.Linear(8, 1)

        def forward(self, x):
            x = nn.functional.softsign(self.first(x))
            return self.third(nn.functional.elu(self.second(x), 0.7))

    torch.manual_seed(1)
    return {"mlp": MLP(), "lstm": LSTM("LSTM"), "gru": GRU("GRU")}


def save_script(torch, network, path):
    """Write TorchScript, which torch has deprecated."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".*torch\.jit")
        torch.jit.save(torch.jit.script(network), str(path))


def torch_efforts(torch, network, kind, count):
    inputs = torch.tensor([[TARGET - POSITION, VELOCITY]])
    hidden, found = torch.zeros(2, 1, 6), []
    states = (hidden, hidden) if kind == "lstm" else hidden
    with torch.inference_mode():
        for _ in range(count):
            if kind == "mlp":
                effort = network(inputs)
            else:
                effort, states = network(inputs[:, None], states)
            found.append(effort.item())
    return found


@pytest.mark.parametrize("kind", ["mlp", "lstm", "gru"])
def test_torchscript_gives_the_efforts_of_torch(tmp_path, kind):
    torch = pytest.importorskip("torch")
    network = networks(torch)[kind].eval()
    save_script(torch, network, tmp_path / "net.pt")
    settings = GRU_METADATA if kind == "gru" else []
    done = CliRunner().invoke(
        import_network,
        [
            str(tmp_path / "net.pt"),
            str(tmp_path / "net.onnx"),
            *(part for each in settings for part in ("--set", each)),
        ],
        catch_exceptions=False,
    )

    assert "differ from the checkpoint's by" in done.output
    expected = torch_efforts(torch, network, kind, 3)
    np.testing.assert_allclose(efforts(tmp_path / "net.onnx", 3)[:, 0], expected, rtol=2e-5)


def test_a_dictionary_of_weights_needs_its_activation(tmp_path):
    torch = pytest.importorskip("torch")
    network = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ELU(), torch.nn.Linear(4, 1))
    torch.save({"model_state_dict": network.state_dict(), "epoch": 3}, tmp_path / "net.pt")

    with pytest.raises(pippin.ConfigError, match="give it with --activation"):
        convert(tmp_path / "net.pt", tmp_path / "net.onnx")
    with pytest.raises(pippin.ConfigError, match=r"--activation: expected one of .*got 'elo'; did you mean 'elu'"):
        convert(tmp_path / "net.pt", tmp_path / "net.onnx", activation="elo")
    assert "not compared" in convert(tmp_path / "net.pt", tmp_path / "net.onnx", activation="elu")

    expected = torch_efforts(torch, network, "mlp", 1)
    np.testing.assert_allclose(efforts(tmp_path / "net.onnx", 1)[:, 0], expected, rtol=1e-5)


def test_what_a_network_does_besides_its_layers_is_found(tmp_path):
    torch = pytest.importorskip("torch")

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, x):
            return 3.0 * self.layer(x)

    save_script(torch, Scaled(), tmp_path / "net.pt")

    with pytest.raises(pippin.ConfigError, match=r"net\.pt: its layers alone give other efforts than it"):
        convert(tmp_path / "net.pt", tmp_path / "net.onnx")
    assert not (tmp_path / "net.onnx").exists()


def test_weights_of_other_layers_are_named(tmp_path):
    torch = pytest.importorskip("torch")
    torch.save(torch.nn.LSTM(2, 4, bidirectional=True).state_dict(), tmp_path / "net.pt")

    with pytest.raises(pippin.ConfigError, match=r"no layer .* in one direction has weights weight_ih_l0_reverse"):
        convert(tmp_path / "net.pt", tmp_path / "net.onnx")


def test_metadata_of_a_written_file_are_those_given(tmp_path):
    layers = [Linear(weight=np.eye(1, 2), bias=np.zeros(1)), Activation(name="Tanh")]
    write_onnx(tmp_path / "net.onnx", layers, "a test", {"pos_scale": -1.0})

    properties = {each.key: each.value for each in onnx.load(tmp_path / "net.onnx").metadata_props}
    assert json.loads(properties["metadata"]) == {"model_type": "mlp", "pos_scale": -1.0}
