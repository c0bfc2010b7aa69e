"""Shards: how the worlds of a configuration are split, and what cannot be."""

import newton
import numpy as np
import pytest
from pippin.assembly.scene import world_offsets
from pippin.config import structure
from pippin.errors import ConfigError
from pippin.sharding.shard import shard_count, shards_of
from pippin.simulation import Simulation
from pippin.workers import usable_cores

ASSET = {"path": "pkg:pippin/gym/tasks/pendulum.xml"}


def config(worlds=8, scene=(), **tables):
    data = {
        "simulation": {"device": "cpu"},
        "scene": {"worlds": worlds, "assets": [ASSET], **dict(scene)},
        "solver": {"type": "xpbd"},
    }
    return structure(data | tables)


def test_worlds_are_split_evenly_and_the_first_shards_are_larger():
    shards = shards_of(config(worlds=8), 3)

    assert [each.worlds for each in shards] == [range(3), range(3, 6), range(6, 8)]
    assert [each.config.scene.worlds for each in shards] == [3, 3, 2]
    assert [each.config.scene.first_world for each in shards] == [0, 3, 6]
    assert {each.config.scene.total_worlds for each in shards} == {8}
    assert str(shards[1]) == "shard 1 of 3 (worlds 3:6)"


def test_a_shard_of_a_part_of_a_run_counts_on_from_it():
    shards = shards_of(config(worlds=4, scene={"first_world": 4, "total_worlds": 16}), 2)

    assert [each.config.scene.first_world for each in shards] == [4, 6]
    assert {each.config.scene.total_worlds for each in shards} == {16}


@pytest.mark.parametrize(
    ("solver", "substeps", "is_refused"),
    [("featherstone", "auto", True), ("featherstone", 4, False), ("xpbd", "auto", False)],
)
def test_shards_do_not_choose_unlike_substeps(solver, substeps, is_refused):
    assets = [ASSET, ASSET | {"label": "second", "worlds": "2:5"}]
    whole = config(scene={"assets": assets}, solver={"type": solver}, simulation={"substeps": substeps})

    assert len(shards_of(whole, 1)) == 1
    if is_refused:
        with pytest.raises(ConfigError, match=r"^simulation.substeps: the worlds differ.*'featherstone'; set a number"):
            shards_of(whole, 2)
    else:
        assert {each.config.simulation.substeps for each in shards_of(whole, 2)} == {substeps}


def test_one_shard_is_the_whole():
    whole = config()

    (shard,) = shards_of(whole, 1)

    assert shard.config is whole


def test_assets_are_in_the_worlds_that_they_chose():
    assets = [ASSET, ASSET | {"label": "second", "worlds": "2:5"}, ASSET | {"label": "third", "worlds": [7, 0]}]

    shards = shards_of(config(worlds=8, scene={"assets": assets}), 2)

    found = [[(each.label, each.worlds) for each in shard.config.scene.assets] for shard in shards]
    assert found == [
        [(None, None), ("second", (2, 3)), ("third", (0,))],
        [(None, None), ("second", (0,)), ("third", (3,))],
    ]


def test_observers_are_in_the_shards_of_their_worlds():
    recorders = {"all": {"type": "npz", "worlds": "::3"}, "first": {"type": "npz"}}
    viewers = {"file": {"type": "usd", "worlds": "5:7"}}

    first, second = shards_of(config(recorders=recorders, viewers=viewers), 2)

    assert {label: each.config.worlds for label, each in first.config.recorders.items()} == {
        "all": (0, 3),
        "first": (0,),
    }
    assert {label: each.config.worlds for label, each in second.config.recorders.items()} == {"all": (2,)}
    assert not first.config.viewers
    assert second.config.viewers["file"].config.worlds == (1, 2)


def test_threads_of_the_solver_are_divided():
    shards = shards_of(config(solver={"type": "mujoco-native", "threads": 6}), 2)

    assert [each.config.solver.config.threads for each in shards] == [3, 3]


def test_capacities_for_all_worlds_are_kept():
    shards = shards_of(config(collision={"rigid_contact_max": 100}), 2)

    assert [each.config.collision.rigid_contact_max for each in shards] == [100, 100]


@pytest.mark.parametrize(
    ("count", "tables", "fault"),
    [
        (9, {}, "shards: expected 1 to 8, the number of worlds, got 9; choose fewer shards, or raise scene.worlds"),
        (0, {}, "shards: expected 1 to 8, the number of worlds, got 0; choose fewer shards, or raise scene.worlds"),
        (
            2,
            {"viewers": {"file": {"type": "usd"}}},
            "viewers.file.worlds: 8 worlds in several shards, and a viewer shows those of one;"
            ' choose some of them, such as "0:4"',
        ),
        (
            2,
            {"recorders": {"all": {"type": "npz", "worlds": ":", "path": "/tmp/a.npz"}}},
            "recorders.all.path: '/tmp/a.npz' would be the file of several shards; give a relative path",
        ),
    ],
)
def test_what_cannot_be_split_is_refused(count, tables, fault):
    with pytest.raises(ConfigError) as caught:
        shards_of(config(**tables), count)

    assert caught.value.faults == (fault,)


@pytest.mark.parametrize(
    ("solver", "reason"),
    [
        ("xpbd", "it does not keep the particles of several worlds apart"),
        ("implicit-mpm", "its iterations end for all worlds at once"),
    ],
)
def test_a_part_of_worlds_that_depend_on_each_other_is_refused(solver, reason):
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_particle((0.0, 0.0, 1.0), (0.0, 0.0, 0.0), mass=1.0, radius=0.1)
    part = {"simulation": {"device": "cpu"}, "scene": {"worlds": 1, "total_worlds": 2}, "solver": {"type": solver}}

    with pytest.raises(ConfigError) as caught:
        Simulation(structure(part), prototype=builder)

    assert str(caught.value) == (
        f"solver: {solver!r} cannot simulate 1 of 2 worlds by themselves: {reason}; simulate all in one process"
    )


def test_a_run_has_at_least_the_worlds_of_its_part():
    with pytest.raises(ConfigError, match=r"total_worlds: must be at least first_world \+ worlds, which is 12, not 8"):
        config(worlds=8, scene={"first_world": 4, "total_worlds": 8})


def test_a_part_of_a_run_is_drawn_at_its_places_in_the_whole():
    whole = config(worlds=6, scene={"spacing": [1.0, 2.0, 0.0]})

    parts = [world_offsets(shard.config.scene) for shard in shards_of(whole, 2)]

    np.testing.assert_array_equal(np.concatenate(parts), world_offsets(whole.scene))


@pytest.mark.parametrize(
    ("solver", "worlds", "expected"), [("xpbd", 1000, usable_cores()), ("xpbd", 1, 1), ("mujoco-native", 1000, 1)]
)
def test_auto_is_a_shard_for_each_core_unless_the_solver_uses_all(solver, worlds, expected):
    assert shard_count(config(worlds=worlds, solver={"type": solver}), "auto") == expected
