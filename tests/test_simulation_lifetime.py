"""Lifetime of a simulation: what ends with it, and what others keep."""

import gc
import os
import sys
import weakref
from pathlib import Path

import numpy as np
import pippin
import pytest
import warp as wp
from pippin.catalog.entries import Catalog

SOLVERS = {name: Catalog.installed().find("solver", name) for name in Catalog.installed().names("solver")}
RIGID = sorted(
    name
    for name in {*Catalog.installed().names_without_settings("solver")} - {"implicit-mpm", "style3d"}
    if not hasattr(SOLVERS[name].load_config(), "extra")  # engines of others have tests beside them
)


def held_by(simulation):
    """Return weak references to what a simulation made for its model."""
    source, program = simulation.contact_source, simulation.program
    held = [simulation, simulation.model, simulation.solver, simulation.state, simulation.control, program, source]
    held += [each for each in (source.pipeline, source.contacts) if each is not None]
    return [weakref.ref(each) for each in (*held, *(segment.graph for segment in program.segments if segment.graph))]


@pytest.mark.first_cases(3)
@pytest.mark.parametrize("name", RIGID)
def test_everything_bound_to_a_model_goes_with_its_simulation(name, ball, configure):
    with pippin.Simulation(configure(name, scene={"ground": True}), prototype=ball(height=0.0995)) as simulation:
        simulation.step(2)
        simulation.reset()
    held = held_by(simulation)

    del simulation
    gc.collect()

    assert [reference() for reference in held] == [None] * len(held)


@pytest.fixture
def without_collections():
    """Let Python free only what nothing refers to, not circles."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.first_cases(3)
@pytest.mark.parametrize("name", RIGID)
def test_a_closed_simulation_goes_at_once(name, ball, configure, without_collections):
    """Python's garbage collector waits for about 40 of them."""
    with pippin.Simulation(configure(name, scene={"ground": True}), prototype=ball(height=0.0995)) as simulation:
        simulation.step(2)
        simulation.reset()
        simulation.view.rigid_bodies("**").get_velocities()
    held = held_by(simulation)

    del simulation

    assert [reference() for reference in held] == [None] * len(held)


WATCHED = {
    "sensors.toml": {},
    "quadruped.toml": {
        **{f"recorders.{kind}": {"type": kind} for kind in ("npz", "hdf5", "mcap")},
        "viewers.file": {"type": "usd"},
    },
    "tasks/quadruped_velocity.toml": {},
}


@pytest.mark.slow
@pytest.mark.parametrize("file", WATCHED)
def test_who_watched_a_simulation_does_not_keep_it(file, examples, tmp_path, without_collections):
    """Sensors, recorders, viewers, views, the terms of a task, and callbacks that refer to it."""
    overrides = {"simulation.device": "cpu", "scene.worlds": 2, **WATCHED[file]}
    with pippin.Simulation.from_file(examples / file, overrides, folder=tmp_path) as simulation:
        simulation.callbacks.add("after_step", lambda own=simulation: own.time)
        simulation.step(2)
        simulation.view.articulations("*").get_dof_positions()
    parts = (*simulation.sensors.values(), *simulation.recorders.values(), *simulation.viewers.values())
    held = [*held_by(simulation), *(weakref.ref(each) for each in parts)]
    if simulation.task is not None:
        held.append(weakref.ref(simulation.task))

    del simulation, parts

    assert [reference() for reference in held] == [None] * len(held)


def test_a_build_that_fails_keeps_nothing(ball, configure, without_collections):
    held = []

    class Refusing:
        @pippin.hookimpl
        def bind(self, simulation):
            held.extend(weakref.ref(each) for each in (simulation.model, simulation.solver, simulation.state, self))
            raise pippin.ConfigError("no")

    with pytest.raises(pippin.ConfigError, match="no"):
        pippin.Simulation(configure("mujoco"), plugins=[Refusing()], prototype=ball())

    assert [reference() for reference in held] == [None] * len(held)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", ["mujoco", "mujoco-native", "featherstone"])
def test_twenty_builds_keep_less_than_three_tenths_of_a_megabyte_each(name, ball, configure):
    """Nobody collects garbage in between."""
    page = os.sysconf("SC_PAGE_SIZE")

    def build(count):
        for _ in range(count):
            with pippin.Simulation(configure(name, scene={"ground": True}), prototype=ball()) as simulation:
                simulation.step(2)
        return int(Path("/proc/self/statm").read_text().split()[1]) * page / 2**20

    before = build(8)

    assert (build(20) - before) / 20 < 0.3


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("name", ["mujoco", "xpbd"])
def test_another_model_can_follow_in_the_same_process(name, device, ball, chain, configure):
    """The second one has other counts of everything, and moves as if it had been the first."""
    ends = []
    for before in ([], [ball(height=0.0995)]):
        for prototype in before:
            with pippin.Simulation(configure(name, device=device, scene={"ground": True}), prototype=prototype) as gone:
                gone.step(3)
            del gone
            gc.collect()
        config = configure(name, device=device, scene={"worlds": 3, "ground": True}, capture="require")
        with pippin.Simulation(config, prototype=chain()) as simulation:
            simulation.step(5)
            ends.append(simulation.state.body_q.numpy())

    np.testing.assert_array_equal(*ends)


@pytest.mark.slow
@pytest.mark.first_cases(2)
@pytest.mark.parametrize("name", ["mujoco", "xpbd"])
def test_deleting_a_graph_leaves_others_as_they_were(name, device, ball, configure):
    """One graph is deleted after another was recorded, and before a third is."""
    config = configure(name, device=device, scene={"ground": True}, capture="require")
    deleted, kept = (pippin.Simulation(config, prototype=ball(height=0.0995)) for _ in range(2))
    deleted.step(2)
    kept.step(2)
    graph = weakref.ref(deleted.program.segments[0].graph)

    del deleted
    gc.collect()
    kept.step(3)
    later = pippin.Simulation(config, prototype=ball(height=0.0995))
    later.step(5)

    assert graph() is None
    np.testing.assert_array_equal(kept.state.body_q.numpy(), later.state.body_q.numpy())


def test_the_garbage_collector_waits_until_a_graph_is_recorded(device, ball, configure):
    seen = set()

    class Witness:
        @pippin.hookimpl
        def before_substep(self):
            seen.add((bool(wp.get_device(device).is_capturing), gc.isenabled()))

    with pippin.Simulation(configure("xpbd", device=device), plugins=[Witness()], prototype=ball()) as simulation:
        simulation.step(2)

    assert seen == {(False, True), (True, False)}
    assert gc.isenabled()
