"""What events leave behind at a reset: nothing, for every installed kind, every `when`, and every solver."""

from typing import Any, get_args, get_type_hints

import attrs
import numpy as np
import pippin
import pytest
from pippin.catalog.entries import Catalog
from pippin.state.world_rows import arrays_of
from pippin_task import Event

WHENS = ("startup", "reset", "interval")
REQUIRED = {"actuator": "arm", "gain": "kp", "action": "arm", "range": [0.01, 0.02], "number": "particle_mass"}
REQUIRED |= {"joints": ["shoulder", "elbow"], "first": [0.1, 0.2], "second": [0.1, 0.2], "bodies": ["upper", "box"]}
REQUIRED |= {"parameter": "damping"}
"""Values of keys that an event may require."""
WRENCH = {"force": {"x": [1.0, 2.0]}, "torque": {"y": [0.1, 0.2]}}
CHANGES: dict[tuple[str, str], dict[str, Any]] = {
    ("wrench", "reset"): WRENCH,
    ("wrench", "interval"): {**WRENCH, "duration": [0.01, 0.05]},
}
"""Keys without which an event of a kind changes nothing at its time, or has no length."""
CASES = [(when, "joint-point") for when in WHENS] + [("reset", "joints")]
"""Times of the events, and the one of two that draw the same joints which is left out."""
RANGES = {(0.0, 0.0): [0.01, 0.02], (1.0, 1.0): [0.7, 0.9]}
"""Ranges in place of those that change nothing."""
SOLVERS = ("featherstone", "kamino", "mujoco", "mujoco-native", "semi-implicit", "steel", "vbd", "xpbd")
ARM: dict[str, Any] = {"actions": {"arm": {"type": "joint-targets", "actuator": "arm"}}}
ARM["observations"] = {"policy": {"weight": {"of": "projected-gravity"}, "q": {"of": "joint-positions"}}}


def table_of(kind: str, when: str) -> dict[str, Any] | None:
    """Return the table of an event of a kind that changes something at every second step; None without this `when`."""
    config = Catalog.installed().find("event", kind).load_config()
    if when not in get_args(get_type_hints(config)["when"]):
        return None
    table = {"type": kind, "when": when} | ({"period": [0.02, 0.02]} if when == "interval" else {})
    for field in attrs.fields(config):
        if field.default is attrs.NOTHING:
            table[field.name] = REQUIRED[field.name]
        elif field.default in RANGES:
            table[field.name] = RANGES[field.default]
    return table | CHANGES.get((kind, when), {})


def all_kinds() -> list[str]:
    """Return the events but that of a motion, which needs a clip: core/task/tests/commands/test_motion.py has it."""
    return sorted({entry.name for entry in Catalog.installed().entries if entry.kind == "event"} - {"motion"})


def seen(simulation: pippin.Simulation) -> dict[str, np.ndarray]:
    """Return copies of the state, the model and the observations."""
    found = {f"model.{name}": array for name, array in arrays_of(simulation.model).items()}
    found |= {f"state.{name}": array for name, array in arrays_of(simulation.state).items()}
    found["observations"] = simulation.task.observations["policy"].values
    return {name: array.numpy().copy() for name, array in found.items()}


def episode(simulation: pippin.Simulation, seed: int, steps: int, action: float) -> list[dict[str, np.ndarray]]:
    """Begin an episode with a seed, take steps with one action, and return what is seen at the start and at the end."""
    simulation.task.reseed(np.full(simulation.world_count, seed))
    simulation.reset()
    start = seen(simulation)
    for _ in range(steps):
        simulation.task.episodes.action.fill_(action)
        simulation.step()
    return [start, seen(simulation)]


def built(floating: Any, solver: str, events: dict[str, Any]) -> pippin.Simulation | None:
    """Return the simulation with the events that the solver takes, and without those that it refuses; None for none."""
    events = dict(events)
    while events:
        try:
            settings = {"capture": "off", "accept_unsupported": ["joint_limits"]}
            law = {"type": "solver-pd" if solver.startswith("mujoco") else "pd"}
            return floating(events, worlds=2, solver=solver, simulation=settings, actuator=law, **ARM)
        except pippin.ConfigError as error:
            refused = [label for label in events if f"events.{label}" in str(error)]
            if not refused:
                raise
            del events[refused[0]]
    return None


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(("when", "left_out"), CASES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_an_episode_does_not_depend_on_the_one_before(floating, solver, when, left_out):
    kinds = [kind for kind in all_kinds() if kind != left_out]
    tables = {kind: table for kind in kinds if (table := table_of(kind, when)) is not None}
    simulation = built(floating, solver, tables)
    assert simulation is not None

    first = episode(simulation, 7, 3, 0.1)
    episode(simulation, 3, 5, -0.2)
    again = episode(simulation, 7, 3, 0.1)

    for before, after in zip(first, again, strict=True):
        assert [name for name in before if before[name].tobytes() != after[name].tobytes()] == []
    if when == "interval":
        start, end = first
        assert any(start[name].tobytes() != end[name].tobytes() for name in start if name.startswith("model."))


@pytest.mark.slow
def test_an_episode_that_ends_in_a_recorded_step_puts_the_model_back(floating):
    events = {kind: table_of(kind, "interval") for kind in ("mass", "gains", "joint-offsets", "gravity")}
    simulation = floating(events, simulation={"capture": "require"}, episode_length=0.05, **ARM)
    group, task = simulation.actuators["arm"], simulation.task
    values = [simulation.model.body_mass, group.get("kp"), task.actions["arm"].errors, simulation.model.gravity]
    built = [array.numpy().copy() for array in values]

    changed = []
    for _ in range(7):
        simulation.step()
        changed.append([bool((array.numpy() != before).any()) for array, before in zip(values, built, strict=True)])

    # Every second step of an episode draws; after the fifth one the next episode begins.
    assert changed == [[at in (2, 3, 4, 7)] * 4 for at in range(1, 8)]


def test_an_interval_event_that_cannot_put_the_model_back_is_refused(floating, monkeypatch):
    monkeypatch.setattr("pippin_task.events.variation.ModelEvent.restore", Event.restore)

    with pytest.raises(pippin.ConfigError, match=r"task\.events\.m\.when: what Mass changes would outlive a reset"):
        floating({"m": table_of("mass", "interval")})
