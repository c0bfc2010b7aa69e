"""Time of a build beside MuJoCo's compiler and Newton's importer: `builds.py FILE SOLVER [--cold]`.

Processor time of the second build in a process: imports and kernels are warm. With `--cold`, of the first build of
fresh processes, in turn, without the imports of packages: what a build loads itself counts.
"""

import subprocess
import sys
import time
import warnings

import mujoco
import newton
import pippin


def parts(file: str) -> float:
    """Return the time that Newton's importer and MuJoCo's compiler take for a file [s]."""
    builder = newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    start = time.process_time()
    if file.endswith(".xml"):
        mujoco.MjModel.from_xml_path(file)
        builder.add_mjcf(file)
        return time.process_time() - start
    builder.add_urdf(file)
    read, model = time.process_time() - start, builder.finalize(device="cpu")
    start = time.process_time()
    newton.solvers.SolverMuJoCo(model, use_mujoco_cpu=True)
    return read + time.process_time() - start


def whole(file: str, solver: str) -> float:
    """Return the time of a build [s]."""
    tables = {"simulation": {"device": "cpu"}, "scene": {"assets": [{"path": file}]}, "solver": {"type": solver}}
    start = time.process_time()
    with pippin.Simulation(pippin.structure(tables)):
        return time.process_time() - start


def cold(*arguments: str) -> float:
    """Return the time of `parts` or `whole` in a process of its own [s]."""
    found = subprocess.run([sys.executable, __file__, *arguments, "--once"], capture_output=True, text=True, check=True)
    return float(found.stdout.split()[-1])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if "--once" in sys.argv:
        print(parts(sys.argv[1]) if len(sys.argv) == 3 else whole(*sys.argv[1:3]))
        sys.exit()
    file, solver = sys.argv[1:3]
    if "--cold" in sys.argv:
        turns = [(cold(file), cold(file, solver)) for _ in range(2)]
        theirs, ours = map(min, zip(*turns, strict=True))
    else:
        parts(file), whole(file, solver)
        theirs, ours = min(parts(file) for _ in range(2)), min(whole(file, solver) for _ in range(2))
    print(f"{ours:.2f} s, {ours / theirs:.2f} times the importer and the compiler")
