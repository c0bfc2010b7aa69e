"""Models of many worlds that are made of those of few, beside Newton's own, number for number."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.assembly.tiling import SAMPLES, SAMPLES_OF_TURNS, tile

WORLDS = 256
"""The fewest that are tiled."""

EXAMPLES = ("ant", "quadruped", "humanoid", "throw", "arm_pick", "suction", "so101_push", "tasks/quadruped_velocity")
"""Files whose worlds are tiled."""


class Counting:
    """A plugin that counts the builders."""

    count = 0

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Count the builder."""
        self.count += 1


class Completing(Counting):
    """A plugin with a hook of the builder of all worlds, so that Newton builds them."""

    @pippin.hookimpl
    def complete_builder(self, builder: newton.ModelBuilder) -> None:
        """Do nothing."""


def simulation_of(path: str, worlds: int, plugins: Sequence[Any], **options: Any) -> pippin.Simulation:
    config = pippin.load(path)
    config = attrs.evolve(config, scene=attrs.evolve(config.scene, worlds=worlds))
    config = attrs.evolve(config, simulation=attrs.evolve(config.simulation, device="cpu"))
    return pippin.Simulation(config, plugins, **options)


def differences(
    ours: Any, theirs: Any, where: str = "model", seen: set[tuple[int, int]] | None = None
) -> Iterator[str]:
    """Yield where two values differ, in whatever they hold; trees of bounds are compared by their leaves elsewhere."""
    seen = set() if seen is None else seen
    if ours is theirs or (id(ours), id(theirs)) in seen:
        return
    seen.add((id(ours), id(theirs)))
    parts = parts_of(ours), parts_of(theirs)
    if type(ours) is not type(theirs):
        yield f"{where}: {type(ours)}, {type(theirs)}"
    elif isinstance(ours, wp.array | np.ndarray):
        rows = [each.numpy() if isinstance(each, wp.array) else each for each in (ours, theirs)]
        same = rows[0].dtype == rows[1].dtype and rows[0].shape == rows[1].shape
        if not same or rows[0].tobytes() != rows[1].tobytes():
            yield f"{where}: {rows[0]}, {rows[1]}"
    elif parts[0] is not None:
        if list(parts[0]) != list(parts[1]):
            yield f"{where}: {len(parts[0])} parts, {len(parts[1])}"
        else:
            for name, part in parts[0].items():
                yield from differences(part, parts[1][name], f"{where}.{name}", seen)
    elif callable(ours):  # gives what an old name stands for
        yield from differences(ours(), theirs(), f"{where}()", seen)
    elif not isinstance(ours, wp.Bvh | wp.HashGrid) and ours != theirs:
        yield f"{where}: {ours!r}, {theirs!r}"


def parts_of(value: Any) -> Mapping[Any, Any] | None:
    """Return what a value holds, by name or number; None of a number, a text or an array."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list | tuple):
        simple = all(isinstance(each, str | int | None) for each in value)
        return None if simple else dict(enumerate(value))
    if hasattr(value, "_cls"):  # a structure of Warp's
        return {name: getattr(value, name) for name in value._cls.vars}
    if type(value).__module__.startswith("newton.") and type(value).__eq__ is object.__eq__:
        names = vars(value) if hasattr(value, "__dict__") else value.__slots__
        return {name: getattr(value, name) for name in names}
    return None


def numbers_of(model: newton.Model) -> dict[str, Any]:
    """Return what a model holds, without the indices behind the enabled shapes, which Newton does not write."""
    found = dict(vars(model))
    for name in ("bvh_shape_enabled", "_bvh_shape_active_leaves"):
        found[name] = found[name].numpy()[: model.bvh_shape_count_enabled]
    return found


def compared(build: Callable[..., pippin.Simulation], samples: int = len(SAMPLES)) -> list[str]:
    """Return the differences between a tiled model and Newton's own, both before the solver has seen them."""
    found: list[str] = []
    few, all_of_them = Counting(), Completing()
    inner, outer = pippin.Callbacks(), pippin.Callbacks()

    def build_newtons(model: newton.Model) -> None:
        tiled = model
        inner.add("model_ready", lambda model: found.extend(differences(numbers_of(tiled), numbers_of(model))))
        build([all_of_them], callbacks=inner).close()

    outer.add("model_ready", build_newtons)
    build([few], callbacks=outer).close()
    assert few.count - all_of_them.count == samples - 1
    return found


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_tiled_model_is_newtons_own(name):
    assert not compared(partial(simulation_of, f"docs/examples/{name}.toml", WORLDS))


def test_a_tiled_simulation_moves_to_the_bit_as_newtons_own():
    states = []
    for plugins in ([], [Completing()]):
        with simulation_of("docs/examples/ant.toml", WORLDS, plugins) as simulation:
            simulation.step(3)
            states.append(simulation.state.joint_q.numpy().tobytes())

    assert states[0] == states[1]


@pytest.mark.parametrize("name", ["cloth", "quadruped_rough"])
def test_a_scene_that_is_completed_as_a_whole_is_not_tiled(name):
    counting = Counting()

    simulation_of(f"docs/examples/{name}.toml", WORLDS, [counting]).close()

    assert counting.count == 2


def test_a_hook_that_changes_world_7_is_not_tiled(chain):
    class Heavier:
        @pippin.hookimpl
        def complete_builder(self, builder):
            body = builder.body_world.index(7)
            builder.body_mass[body] *= 2.0

    config = pippin.structure({"scene": {"worlds": WORLDS}, "solver": {"type": "featherstone"}})

    with pippin.Simulation(config, [Heavier()], prototype=chain(link_count=1)) as simulation:
        masses = simulation.model.body_mass.numpy()

    assert np.flatnonzero(masses != masses[0]).tolist() == [7]


def samples_of(prototype: newton.ModelBuilder, change: Any = lambda model, worlds: None) -> dict[int, newton.Model]:
    """Return Newton's models of the numbers of worlds that tell the laws."""
    models = {}
    for worlds in SAMPLES:
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        builder.replicate(prototype, worlds)
        models[worlds] = builder.finalize(device="cpu")
        change(models[worlds], worlds)
    return models


@pytest.mark.parametrize("worlds", SAMPLES)
def test_a_number_without_a_law_has_no_tiled_model(chain, worlds):
    def change(model, count):
        if count == worlds:
            model.body_mass.fill_(3.0)

    config = newton.ModelBuilder.BvhConfig()

    assert tile(samples_of(chain(link_count=2)), 9, config) is not None
    assert tile(samples_of(chain(link_count=2), change), 9, config) is None


def test_an_unknown_object_has_no_tiled_model(chain):
    models = samples_of(chain(link_count=1), lambda model, _: setattr(model, "something", object()))

    assert tile(models, 9, newton.ModelBuilder.BvhConfig()) is None


def test_prototypes_in_turn_are_tiled_as_newton_builds_them(chain):
    turn = [(chain(link_count=2), 1), (chain(link_count=3, angle=0.2), 1)]
    config = pippin.structure({"scene": {"worlds": WORLDS, "ground": True}, "solver": {"type": "featherstone"}})

    assert not compared(partial(pippin.Simulation, config, prototype=turn * (WORLDS // 2)), len(SAMPLES_OF_TURNS))
