"""Run bare URDF files with five solvers: `python tests/fidelity/first_tries.py FILE...` prints what each one says.

Each file runs as it is, with the defaults of the solver: for 0.1 s.
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
    for solver in SOLVERS:
        subprocess.run([sys.executable, __file__, "--with", solver, *files], check=False)


def with_solver(solver: str, files: list[str]) -> None:
    """Print what one solver says of each file."""
    count = 0
    for file in files:
        said = first_try(file, solver).replace("\n", " | ")
        count += said.startswith("runs")
        print(f"{'/'.join(file.split('/')[-3:])} {solver}: {said}", flush=True)
    print(f"{solver}: {count} of {len(files)} run", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--with":
        with_solver(sys.argv[2], sys.argv[3:])
    else:
        main(sys.argv[1:])
