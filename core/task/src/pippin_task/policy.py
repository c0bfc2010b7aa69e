"""The policy of a task: a network, read from ONNX, that chooses the action inside the recorded step."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp
from pippin import ConfigError, Host, PluginError, did_you_mean, find_file, hookimpl
from pippin.actuation import backward_kernels
from pippin.devices import kind_of

from pippin_task import kernels
from pippin_task.config import PolicyConfig
from pippin_task.passport import described, differences, metadata_of, read_passport
from pippin_task.task import Task


class Network:
    """A network that maps a row of observations to a row of actions.

    Args:
        file: The ONNX file. The network reads its first input and gives its first output; the first axis of both is
            that of the rows. An input of more axes, such as an image, takes the numbers of a row in C order. Further
            inputs are the states of a recurrent network, shape [layers, rows, units], and there are as many further
            outputs: the states after the row.
        lengths: Steps of the episode of each row so far: at 0, its states are zero.

    Raises:
        ConfigError: The file is not a valid ONNX file, has an unknown operator, or does not fit the rows.
        PluginError: The libraries `onnx` and `warp-nn` are not installed.
    """

    def __init__(
        self, file: Path, rows: int, width: int, device: wp.Device, lengths: wp.array[wp.int32] | None = None
    ) -> None:
        with backward_kernels():  # neural actuators share Warp-NN's modules, and may ask for a slope
            self._runtime = _load(file, device)
        declared, *memories = self._runtime.inputs
        self._lengths, lead = lengths, (1,) if memories else ()  # the axis of time
        self._states: list[wp.array] = []
        for each in memories:
            layers, count, units = each.shape if len(each.shape) == 3 else (None,) * 3
            if layers is None or count is not None or units is None:
                raise ConfigError(
                    f"path: '{file}' has the state {each.name} of the shape {list(each.shape)}; export states of the"
                    " shape [layers, rows, units]"
                )
            self._states.append(wp.zeros((layers, rows, units), dtype=float, device=device))
        sizes = declared.shape[len(lead) + 1 :]
        shape = [width] if None in sizes else list(sizes)
        if math.prod(shape) != width:
            raise ConfigError(
                f"path: '{file}' takes {math.prod(shape)} numbers, and there are {width} observations; train with these"
                " observations, or choose another group"
            )
        self._names, self._shape = [each.name for each in self._runtime.inputs], (*lead, rows, *shape)
        self._outputs = [each.name for each in self._runtime.outputs]
        numbers = np.random.default_rng(0).normal(size=(rows, width))
        observations = wp.array(numbers, dtype=float, device=device)
        try:
            with backward_kernels():
                result, *after = self._evaluate(observations)  # makes all arrays, and loads the kernels
        except (RuntimeError, TypeError, ValueError, LookupError, MemoryError) as error:
            raise ConfigError(f"path: '{file}' does not run on {rows} rows of {width} numbers: {error}") from error
        if result.shape[:1] != (rows,):
            raise ConfigError(
                f"path: '{file}' gives the shape {list(result.shape)} for {rows} rows; export rows of actions"
            )
        if [each.shape for each in after] != [each.shape for each in self._states]:
            raise ConfigError(
                f"path: '{file}' has the states {', '.join(self._names[1:])}, and its further outputs have other"
                " shapes; export the states after the row in the same order"
            )
        #: Numbers of a row of the output.
        self.width: int = math.prod(result.shape[1:])
        #: Whether the calls may be recorded.
        self.is_capturable = self._is_replayed_alike(observations)

    def __call__(self, observations: wp.array, action: wp.array) -> None:
        """Write the network's output for each row, shape [rows, width], from the input."""
        if self._lengths is not None:
            for state in self._states:
                wp.launch(kernels.forget, state.shape, [self._lengths, state], device=state.device)
        result, *after = self._evaluate(observations)
        wp.copy(action, result.reshape(action.shape))
        for state, following in zip(self._states, after, strict=True):
            wp.launch(kernels.remember, state.shape, [following, state], device=state.device)

    def _evaluate(self, observations: wp.array) -> list[Any]:
        given = [observations.reshape(self._shape), *self._states]
        found = self._runtime(dict(zip(self._names, given, strict=True)))
        return [found[name] for name in self._outputs]

    def _forget(self) -> None:
        for state in self._states:
            state.zero_()

    def _is_replayed_alike(self, observations: wp.array) -> bool:
        """Tell whether a replay gives the numbers of a call.

        Warp 1.19 finds the kernels of a CPU graph by name, and layers of Warp-NN that differ in a bias or in the size
        of a filter have different kernels of one name.
        """
        device = wp.get_device(observations.device)
        if kind_of(device) == "cuda":
            return True
        called, replayed = (wp.zeros((len(observations), self.width), device=device) for _ in range(2))
        self._forget()
        self(observations, called)
        with wp.ScopedCapture(device) as capture:
            self(observations, replayed)
        assert capture.graph is not None  # the capture succeeded
        self._forget()
        wp.capture_launch(capture.graph)
        self._forget()
        return np.array_equal(called.numpy(), replayed.numpy(), equal_nan=True)


def _load(file: Path, device: wp.Device) -> Any:
    """Return the runtime of a network from its only input to its first output; the other outputs are not computed.

    That of a recurrent network has all inputs and outputs.
    """
    try:
        import onnx
        from onnx.utils import Extractor
        from warp_nn.runtime import OnnxRuntime
    except ModuleNotFoundError as error:
        raise PluginError("policy: reads ONNX files; install it: uv pip install 'pippin[policy]'") from error
    try:
        model = onnx.load(file)
        onnx.checker.check_model(model)
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise ConfigError(f"path: '{file}' is not a valid ONNX file: {reason}; export the network anew") from error
    weights = {each.name for each in model.graph.initializer}  # files of old versions list them as inputs, too
    inputs = [each.name for each in model.graph.input if each.name not in weights]
    outputs = len(model.graph.output)
    if not inputs or not outputs or (len(inputs) > 1 and len(inputs) != outputs):
        names = ", ".join(inputs) or "none"
        raise ConfigError(
            f"path: '{file}' has the inputs {names}, and {outputs} outputs; export a network of one input, the"
            " observations, or with the states of a recurrent one behind it, and the same states behind the action"
        )
    if len(inputs) == 1 and outputs > 1:
        model = Extractor(model).extract_model(inputs, [model.graph.output[0].name])
    for each in model.graph.input:
        dims = each.type.tensor_type.shape.dim
        axis = int(each.name != inputs[0])  # that of the rows
        if each.name in inputs and len(dims) > axis:
            dims[axis].dim_param = "rows"  # also if it was exported for one row
    if len(inputs) > 1:
        _begin_with_time(onnx, model.graph, inputs[0])
    contents: Any = io.BytesIO(model.SerializeToString())
    try:
        return OnnxRuntime(contents, device=device)
    except (NotImplementedError, ValueError) as error:
        raise ConfigError(f"path: '{file}': {error}; export a network of known operators") from error


def _begin_with_time(onnx: Any, graph: Any, name: str) -> None:
    """Let the observations of a recurrent network have the axis of time, which Warp-NN cannot add to them."""
    axes = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            axes[node.output[0]] = onnx.numpy_helper.to_array(node.attribute[0].t)
    others = {}
    for node in list(graph.node):
        if node.op_type == "Unsqueeze" and np.array_equal(np.ravel(axes.get(node.input[1], 1)), [0]):
            others[node.output[0]] = node.input[0]
            graph.node.remove(node)
    for node in graph.node:
        for index, each in enumerate(node.input):
            node.input[index] = others.get(each, each)
    dims = next(each for each in graph.input if each.name == name).type.tensor_type.shape.dim
    sizes = list(dims)
    del dims[:]
    dims.add().dim_value = 1
    dims.extend(sizes)


class Policy:
    """The component that acts in a task: the network's output is the action of each control step."""

    def __init__(self, config: PolicyConfig) -> None:
        self.config = config
        self.notes: list[str] = []

    @hookimpl
    def bind(self, simulation: Host) -> None:
        """Read the network, and compare its widths with those of the task."""
        self._task: Task = simulation.task
        task = self._task
        group = task.observations[chosen_group(self.config.observations, task, "observations")]
        self._observations: Any = group.values
        file = find_file(self.config.path, "path")
        self._network = Network(
            file, simulation.world_count, len(group.labels), simulation.device, task.episodes.length
        )
        if self._network.width != len(task.action_labels):
            raise ConfigError(
                f"path: '{file}' gives {self._network.width} numbers, and the action has {len(task.action_labels)};"
                " choose the network of this task"
            )
        if self.config.check:
            self._refuse_other_task(file, simulation)
        task.policy_switch = wp.ones(1, dtype=bool, device=simulation.device)
        self.notes = [f"the actions are those of '{file}'"]

    def _refuse_other_task(self, file: Path, simulation: Host) -> None:
        passport = read_passport(file)
        if passport is None and {"joint_names", "observation_names"} <= metadata_of(file).keys():
            raise ConfigError(
                f"path: '{file}' names joints and observations as mjlab does, and nothing brings them into the order of"
                " this task; let `pippin deploy --file` do it, or set policy.check = false"
            )
        if passport is None:
            return
        group = chosen_group(self.config.observations, self._task, "observations")
        found = list(differences(passport, described(simulation, group)))
        if found:
            more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
            raise ConfigError(
                f"path: the passport of '{file}' says {'; '.join(found[:3])}{more}; take the file of its training,"
                " train anew, or set policy.check = false"
            )

    @property
    def is_capturable(self) -> bool:
        """Whether the network may be recorded."""
        return self._network.is_capturable

    @property
    def eager_reason(self) -> str | None:
        """The reason why the network may not be recorded."""
        return None if self.is_capturable else "layers of the network differ, but have kernels of one name"

    @hookimpl(tryfirst=True)
    def start_step(self) -> None:
        """Choose the action from the last observations."""
        action: Any = self._task.episodes.action
        self._network(self._observations, action)
        wp.launch(kernels.silence_policy, action.shape, [self._task.policy_switch, action], device=action.device)


def chosen_group(name: str | None, task: Task, where: str) -> str:
    """Return the name of a group of observations; for None, that of the only one."""
    names = tuple(task.observations)
    if name is None and len(names) == 1:
        return names[0]
    if name not in names:
        near = did_you_mean(str(name), names)
        raise ConfigError(f"{where}: got {name!r}{near}; groups: {', '.join(names) or 'none'}")
    return name
