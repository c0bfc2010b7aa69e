"""Time of a build beside MuJoCo's compiler and Newton's importer: `python tests/benchmarks/builds.py FILE SOLVER`.

Processor time of the second build in a process: imports and kernels are warm.
"""

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


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    file, solver = sys.argv[1:3]
    parts(file), whole(file, solver)
    theirs, ours = min(parts(file) for _ in range(2)), min(whole(file, solver) for _ in range(2))
    print(f"{ours:.2f} s, {ours / theirs:.2f} times the importer and the compiler")
