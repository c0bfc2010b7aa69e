"""Jacobians, mass matrices and gravity forces beside Newton's: `uv run python tests/benchmarks/dynamics.py`.

The robots are those of `views.py`. Newton's functions write into arrays that they get, and what its user keeps is then
copied. A view of half of the robots stands beside the same calls for all of them. A figure is the median of the ratios
of the times of neighbouring runs, ours over Newton's: less than 1 is faster.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator

import newton
import numpy as np
import warp as wp
from in_turn import in_turn
from views import Bench

Call = Callable[[], object]


def cases(bench: Bench) -> Iterator[tuple[str, Call, Call]]:
    """Yield name, ours and Newton's; both are called and compared first."""
    model, state = bench.simulation.model, bench.simulation.state
    motions = wp.zeros(model.joint_dof_count, dtype=wp.spatial_vector)
    inertias = wp.zeros(model.body_count, dtype=wp.spatial_matrix)
    jacobians, matrices = newton.eval_jacobian(model, state), newton.eval_mass_matrix(model, state)
    forces = wp.zeros(model.joint_dof_count, dtype=float)
    evaluate: dict[str, tuple[wp.array, Call]] = {
        "jacobians": (jacobians, lambda: newton.eval_jacobian(model, state, jacobians, joint_S_s=motions)),
        "mass_matrices": (
            matrices,
            lambda: newton.eval_mass_matrix(model, state, matrices, body_I_s=inertias, joint_S_s=motions),
        ),
        "gravity_forces": (forces, lambda: newton.eval_inverse_dynamics_passive(model, state, gravity_force=forces)),
    }
    half = bench.simulation.view.articulations("robot", worlds=range(0, bench.worlds, 2))
    for name, (source, call) in evaluate.items():
        kept = wp.clone(source)

        def newtons(source: wp.array = source, call: Call = call, kept: wp.array = kept) -> None:
            call()
            wp.copy(kept, source)

        for title, view in (("all", bench.view), ("half", half)):
            ours = getattr(view, f"get_{name}")
            newtons()
            mine, theirs = ours().numpy(), kept.numpy().reshape(bench.worlds, *ours().shape[1:])
            np.testing.assert_allclose(mine, theirs if title == "all" else theirs[::2], atol=2e-4)
            yield f"{name}, {title}", ours, newtons


def main() -> None:
    """Print one row for each case and number of worlds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    device = wp.get_device(arguments.device)
    print("| | worlds | time ÷ Newton's |\n|---|---|---|")
    for worlds in (64, 4096):
        for title, ours, newtons in cases(Bench(worlds, arguments.device)):

            def repeated(call: Call) -> Callable[[int], None]:
                return lambda count: [call() for _ in range(count)] and None

            turns = in_turn(repeated(ours), repeated(newtons), device, spell=0.01)
            ratio = statistics.median(mine / theirs for mine, theirs in turns)
            print(f"| {title} | {worlds} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
