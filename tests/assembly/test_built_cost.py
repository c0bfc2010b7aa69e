"""What a build and a first step of many worlds cost in steps of Python."""

import cProfile
import pstats
from collections import Counter
from collections.abc import Callable
from typing import Any

import attrs
import pippin
import pytest

FEW, MANY = 300, 2_000
"""Numbers of worlds, both tiled."""

CALLS_PER_WORLD = 4


def counts(call: Callable[[], Any]) -> Counter[str]:
    """Return how often each Python function is called during a call."""
    profile = cProfile.Profile()
    profile.runcall(call)
    rows = pstats.Stats(profile).stats.items()
    return Counter({f"{file}:{line} {name}": row[1] for (file, line, name), row in rows if file != "~"})


def counts_of(path: str, worlds: int, steps: int) -> list[Counter[str]]:
    """Return the counts of a build and of the first steps."""
    config = pippin.load(path)
    config = attrs.evolve(
        config,
        scene=attrs.evolve(config.scene, worlds=worlds),
        simulation=attrs.evolve(config.simulation, device="cpu"),
    )
    built: list[pippin.Simulation] = []
    of_build = counts(lambda: built.append(pippin.Simulation(config)))
    with built[0]:
        return [of_build, *(counts(built[0].step) for _ in range(steps))]


@pytest.mark.parametrize(("name", "steps"), [("quadruped", 0), pytest.param("ant", 1, marks=pytest.mark.slow)])
def test_no_function_is_called_more_than_four_times_for_each_world(name, steps):
    """Beside what does not grow with the worlds, such as copies of the prototype."""
    few, many = (counts_of(f"docs/examples/{name}.toml", worlds, steps) for worlds in (FEW, MANY))

    for before, after in zip(few, many, strict=True):
        grown = after - before
        assert not {name: count for name, count in grown.items() if count > CALLS_PER_WORLD * (MANY - FEW)}
