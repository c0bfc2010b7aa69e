"""Time of a build of many equal worlds, beside Newton's own calls: `world_builds.py [FILE] [WORLDS] [--alone]`.

Newton's side replicates the same prototype, finalises the model and makes the solver; Pippin's is a whole simulation.
Processor time of builds in turn in one process, after a first one of each: imports and kernels are warm. With
`--alone`, one build of Pippin's, and the peak of memory: for numbers of worlds of which two do not fit.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
import warnings

import attrs
import newton
import pippin

TURNS = 3


def config_of(path: str, worlds: int) -> pippin.SimulationConfig:
    """Return the configuration of a file with another number of worlds, on the CPU."""
    config = pippin.load(path)
    scene = attrs.evolve(config.scene, worlds=worlds)
    return attrs.evolve(config, scene=scene, simulation=attrs.evolve(config.simulation, device="cpu"))


def ours(path: str, worlds: int) -> float:
    """Return the time that a simulation takes to build [s]."""
    config = config_of(path, worlds)
    start = time.process_time()
    with pippin.Simulation(config):
        return time.process_time() - start


def newtons(prototype: newton.ModelBuilder, ground: bool, worlds: int) -> float:
    """Return the time that Newton takes for the same worlds and its solver MuJoCo [s]."""
    start = time.process_time()
    builder = newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    builder.replicate(prototype, worlds)
    if ground:
        builder.add_ground_plane()
    newton.solvers.SolverMuJoCo(builder.finalize(device="cpu"))
    return time.process_time() - start


def prototype_of(path: str) -> newton.ModelBuilder:
    """Return a file's asset in a builder of Newton's, as Newton imports it."""
    builder = newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    asset = pippin.load(path).scene.assets[0].path
    getattr(builder, "add_mjcf" if str(asset).endswith(".xml") else "add_urdf")(str(pippin.find_file(asset, path)))
    return builder


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    arguments = [each for each in sys.argv[1:] if not each.startswith("--")]
    path, worlds = (arguments + ["docs/examples/ant.toml", "16384"][len(arguments) :])[:2]
    ours(path, 8)
    if "--alone" in sys.argv:
        took = ours(path, int(worlds))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{worlds} worlds of {path}: {took:.2f} s, peak {peak:.2f} GB")
        sys.exit()
    prototype, has_ground = prototype_of(path), pippin.load(path).scene.ground
    newtons(prototype, has_ground, 8)
    turns = [(ours(path, int(worlds)), newtons(prototype, has_ground, int(worlds))) for _ in range(TURNS)]
    own, theirs = (statistics.median(each) for each in zip(*turns, strict=True))
    print(f"{worlds} worlds of {path}: {own:.2f} s, Newton {theirs:.2f} s, {own / theirs:.2f}")
