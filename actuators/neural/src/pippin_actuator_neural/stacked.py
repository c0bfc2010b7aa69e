"""A drive of several LSTM layers: Newton's has one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import warp as wp
from newton.actuators import DriveBase
from warp_nn.runtime import OnnxRuntime

from .kernels import forget, read_errors, write_efforts
from .network import Stack

__all__ = ["StackedLSTM"]


class StackedLSTM(DriveBase):
    """An LSTM of several layers, whose hidden and cell states are inputs and outputs of the file, one for each layer.

    Effort and meaning of the scales are those of Newton's drive of one layer. It has no implicit mode.

    Args:
        model_path: The ONNX file.
        stack: Names of inputs and outputs, sizes and scales.
    """

    SHARED_PARAMS: ClassVar[set[str]] = {"model_path", "stack"}

    @dataclass
    class State(DriveBase.State):
        """Hidden and cell states, each of shape [layers, lanes, cells]."""

        hidden: wp.array[Any]
        cell: wp.array[Any]

        def reset(self, mask: wp.array[Any] | None = None) -> None:
            """Forget in all lanes, or in those of a mask."""
            for memory in (self.hidden, self.cell):
                if mask is None:
                    memory.zero_()
                else:
                    wp.launch(forget, memory.shape, inputs=[mask], outputs=[memory], device=memory.device)

    def __init__(self, model_path: str, stack: Stack) -> None:
        self.model_path = model_path
        self.stack = stack

    def finalize(self, device: wp.Device, num_actuators: int) -> None:
        """Load the network, and run it once, so that all its arrays exist."""
        self._device = device
        self._runtime = OnnxRuntime(self.model_path, device=device)
        self._inputs = wp.zeros((1, num_actuators, 2), dtype=wp.float32, device=device)
        self._outputs = self._run(self.state(num_actuators, device))
        shape = self._outputs[self.stack.output_name].shape
        if shape != (num_actuators, 1):
            raise ValueError(f"output {self.stack.output_name!r} has shape {shape}, expected ({num_actuators}, 1)")

    def is_stateful(self) -> bool:
        """Tell that it remembers."""
        return True

    def is_graphable(self) -> bool:
        """Tell that its step can be recorded."""
        return True

    def state(self, num_actuators: int, device: wp.Device) -> State:
        """Return an empty memory."""
        shape = (len(self.stack.hidden_in), num_actuators, self.stack.hidden_size)
        hidden, cell = (wp.zeros(shape, dtype=wp.float32, device=device) for _ in range(2))
        return self.State(hidden=hidden, cell=cell)

    def compute(
        self,
        positions: wp.array[float],
        velocities: wp.array[float],
        target_pos: wp.array[float],
        target_vel: wp.array[float],
        feedforward: wp.array[float] | None,
        pos_indices: wp.array[wp.uint32],
        vel_indices: wp.array[wp.uint32],
        target_pos_indices: wp.array[wp.uint32],
        target_vel_indices: wp.array[wp.uint32],
        forces: wp.array[float],
        state: Any,
        dt: float,
        device: wp.Device | None = None,
        *,
        custom_inputs: dict[str, Any] | None = None,
    ) -> None:
        """Write the effort of each lane [N or N·m]."""
        stack, lanes = self.stack, len(forces)
        indices = [pos_indices, vel_indices, target_pos_indices]
        read = [positions, velocities, target_pos, *indices, stack.pos_scale, stack.vel_scale]
        wp.launch(read_errors, lanes, inputs=read, outputs=[self._inputs], device=self._device)
        self._outputs = self._run(state)
        efforts = self._outputs[stack.output_name]
        wp.launch(write_efforts, lanes, inputs=[efforts, stack.effort_scale], outputs=[forces], device=self._device)

    def update_state(self, current_state: Any, next_state: Any) -> None:
        """Write what the network remembers after the last `compute`."""
        for names, memory in ((self.stack.hidden_out, next_state.hidden), (self.stack.cell_out, next_state.cell)):
            for layer, name in enumerate(names):
                wp.copy(_layer(memory, layer), self._outputs[name])

    def _run(self, state: State) -> dict[str, wp.array[Any]]:
        """Return the outputs of the network, whose arrays are the same in every call."""
        inputs = {self.stack.input_name: self._inputs}
        for names, memory in ((self.stack.hidden_in, state.hidden), (self.stack.cell_in, state.cell)):
            inputs |= {name: _layer(memory, layer) for layer, name in enumerate(names)}
        return self._runtime(inputs)


def _layer(memory: Any, layer: int) -> wp.array[Any]:
    """Return the part of a memory that belongs to a layer, shape [1, lanes, cells], in its place."""
    return memory[layer : layer + 1]
