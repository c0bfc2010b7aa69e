"""Time of the replay of a network of a policy [ms], and its error beside the reference of ONNX.

uv run --group dev python tests/benchmarks/policy.py [FILE.onnx ...]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import warp as wp
from onnx.reference import ReferenceEvaluator
from pippin_task.policy import Network

POLICIES = Path(__file__).parents[2] / "docs" / "examples" / "policies"


def replay(file: Path, rows: np.ndarray, device: wp.Device) -> tuple[Callable[[], None], float]:
    """Return what replays the recorded network once, and its largest error beside ONNX's reference."""
    network = Network(file, *rows.shape, device)
    observations = wp.array(rows, dtype=float, device=device)
    action = wp.zeros((len(rows), network.width), dtype=float, device=device)
    with wp.ScopedCapture(device) as capture:
        network(observations, action)

    def call() -> None:
        wp.capture_launch(capture.graph)
        wp.synchronize_device(device)

    call()
    reference = ReferenceEvaluator(str(file))
    (expected, *_) = reference.run(None, {reference.input_names[0]: rows})
    return call, float(np.abs(action.numpy() - expected).max())


def milliseconds(call: Callable[[], None], count: int = 200) -> float:
    """Return the median time of a call [ms]."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    """Print a table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(POLICIES.glob("*.onnx")))
    parser.add_argument("--rows", type=int, nargs="*", default=[64, 512])
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args()
    print("| network | rows | replay [ms] | largest error |\n|---|---|---|---|")
    for file in chosen.files:
        width = onnx.load(file).graph.input[0].type.tensor_type.shape.dim[-1].dim_value
        for count in chosen.rows:
            rows = np.random.default_rng(0).normal(size=(count, width)).astype(np.float32)
            call, error = replay(file, rows, wp.get_device(chosen.device))
            print(f"| {file.name} | {count} | {milliseconds(call):.3f} | {error:.1e} |", flush=True)


if __name__ == "__main__":
    from pippin.devices import leave_out_backward_kernels

    leave_out_backward_kernels()
    main()
