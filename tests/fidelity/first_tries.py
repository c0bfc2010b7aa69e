"""Run bare URDF files with five solvers: `python tests/fidelity/first_tries.py FILE...` prints what each one says.

Each file runs as it is, with the defaults of the solver: for 0.1 s, in a process of its own.
"""

import subprocess
import sys
import warnings

SOLVERS = ("mujoco", "mujoco-native", "xpbd", "featherstone", "kamino")
STEPS = 20


def first_try(file: str, solver: str) -> str:
    """Return `runs`, or the refusal."""
    import numpy as np
    import pippin

    warnings.simplefilter("ignore")
    tables = {"simulation": {"device": "cpu"}, "scene": {"assets": [{"path": file}]}, "solver": {"type": solver}}
    try:
        with pippin.Simulation(pippin.structure(tables)) as simulation:
            simulation.step(STEPS)
            simulation.raise_errors()
            is_finite = bool(np.isfinite(simulation.state.body_q.numpy()).all())
            ignored = ", ".join(simulation.ignored_features)
            return f"{'runs' if is_finite else 'diverges'}{f' without {ignored}' if ignored else ''}"
    except pippin.PippinError as error:
        return f"refused: {error}"


def main(files: list[str]) -> None:
    """Print one line for each file and solver, and the number of files that run by solver."""
    counts = dict.fromkeys(SOLVERS, 0)
    for file in files:
        for solver in SOLVERS:
            command = [sys.executable, __file__, "--one", file, solver]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            said = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr.strip()[-300:]
            counts[solver] += said.startswith("runs")
            print(f"{file.rpartition('/')[2]} {solver}: {said}", flush=True)
    print({solver: f"{count} of {len(files)}" for solver, count in counts.items()})


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        print(first_try(sys.argv[2], sys.argv[3]).replace("\n", " | "))
    else:
        main(sys.argv[1:])
