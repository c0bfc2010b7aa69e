"""Draw the loss of `docs/examples/throw.toml` by two methods: `python docs/draw_optimisation.py`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pippin_optimise

DOCS = Path(__file__).parent
METHODS = {"l-bfgs": {}, "adam": {"optimise.learning_rate": 0.2}}


def main() -> None:
    """Draw the picture."""
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 3.0), layout="constrained")
    axes = figure.subplots()
    for method, keys in METHODS.items():
        values = {"optimise.optimiser": method, "optimise.tolerance": 0.0, "simulation.device": "cpu", **keys}
        with tempfile.TemporaryDirectory() as folder:
            losses = pippin_optimise.optimise(DOCS / "examples" / "throw.toml", values, out=folder).losses[:, 0]
        axes.semilogy(range(len(losses)), losses, marker=".", label=method)
    axes.set(xlabel="iteration", ylabel="loss [m²]")
    axes.grid(alpha=0.3)
    axes.legend()
    with matplotlib.rc_context({"svg.hashsalt": "optimisation", "svg.fonttype": "none"}):
        figure.savefig(DOCS / "images" / "optimisation.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
