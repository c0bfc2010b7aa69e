"""Each solver: the bits of a part of the worlds are those in the whole, and those after a checkpoint; or it refuses."""

import os
import tomllib

import numpy as np
import pippin
import pytest
import warp as wp

WORLDS = 4
OPTIONS = {
    "steel": {"enable_joint_limits": True},
    "implicit-mpm": {"separate_worlds": True, "grid_type": "dense"},
}
NO_PART = {
    "style3d": "cannot simulate 2 of 4 worlds by themselves: it does not keep the particles of several worlds apart",
    "implicit-mpm": "cannot simulate 2 of 4 worlds by themselves: its iterations end for all worlds at once",
}
"""What a solver says of a part of the worlds, if it does not give a world the bits that it has alone."""


@pytest.fixture
def matter(cloth, grains):
    """The prototypes of those that do not move robots."""
    return {"style3d": cloth, "implicit-mpm": grains}


@pytest.fixture
def build(scene, matter):
    """Return a function that builds some worlds with a solver: a robot that falls, cloth or grains."""

    def build(name, count, first=0):
        tables = tomllib.loads(scene.read_text())
        tables["scene"]["assets"][0]["path"] = str(scene.parent / "robot.xml")
        tables["scene"] |= {"worlds": count, "first_world": first}
        if name in matter:
            tables = {key: tables[key] for key in ("simulation", "scene")}
            del tables["scene"]["assets"]
        tables["solver"] = {"type": name, **OPTIONS.get(name, {})}
        return pippin.Simulation(pippin.structure(tables), prototype=matter[name]() if name in matter else None)

    return build


def begin(simulation, first=0):
    """Step, and reset world 3 of the whole."""
    simulation.step(4)
    simulation.reset(np.arange(first, first + simulation.world_count) == 3)
    simulation.step(3)


def end(simulation):
    """Land on the ground; return what the steps leave, by name, one row for each world."""
    simulation.step(6)
    arrays = {name: getattr(simulation.state, name) for name in vars(simulation.model.state())}
    for label, sensor in simulation.sensors.items():
        arrays |= {f"{label}.{name}": output.data for name, output in sensor.outputs.items()}
    for actuator in simulation.actuators.values():
        arrays |= {"effort": actuator.applied_effort, "reward": simulation.task.episodes.reward}
    arrays = {name: array for name, array in arrays.items() if isinstance(array, wp.array) and array.size}
    return {name: array.numpy().copy().reshape(simulation.world_count, -1) for name, array in arrays.items()}


@pytest.mark.slow
def test_a_part_and_a_resumed_run_have_the_bits_of_the_whole(each_solver, build, matter, tmp_path):
    if each_solver == "kamino" and os.environ.get("PIPPIN_TEST_LANE") == "capture":
        pytest.skip("kamino allocates in a reset, see docs/how-to/test-on-a-gpu.md")
    file, prototype = tmp_path / "half.npz", matter.get(each_solver, lambda: None)
    with build(each_solver, 1 if each_solver == "style3d" else WORLDS) as simulation:
        begin(simulation)
        reason = simulation.unsaved_reasons.get("solver")
        if reason is None:
            simulation.save(file)
        whole = end(simulation)
        assert all(np.isfinite(array.astype(float)).all() for array in whole.values())

    if reason is not None:
        assert each_solver == "implicit-mpm"
    else:
        with pippin.Simulation.load(file, prototype=prototype()) as resumed:
            again = end(resumed)
        assert [name for name in whole if whole[name].tobytes() != again[name].tobytes()] == []
    if each_solver in NO_PART:
        with pytest.raises(pippin.ConfigError, match=NO_PART[each_solver]):
            build(each_solver, 2, first=2)
        return
    with build(each_solver, 2, first=2) as part:
        begin(part, first=2)
        alone = end(part)
    assert [name for name in whole if whole[name][2:].tobytes() != alone[name].tobytes()] == []
    assert whole["body_q"][2].tobytes() != whole["body_q"][3].tobytes()
