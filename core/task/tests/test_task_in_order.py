"""The order of a control step, and what is seen of the last state of an episode, in each mode of resets."""

from pathlib import Path

import numpy as np
import pytest

MODES = ("same-step", "next-step", "disabled")
STEPS = 10
PERIOD = 0.01 * STEPS
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "environments.md"
COMMANDS = {
    "walk": {"type": "velocity", "x": [-1, 1], "y": [-1, 1], "yaw": [-2, 2], "heading_stiffness": 1.5, "body": "box"},
    "place": {"type": "pose", "x": [-1, 1], "y": [-1, 1], "z": [0, 2], "roll": [-1, 1], "yaw": [-3, 3]},
}
TERMS = {
    "walk": {"of": {"type": "command", "command": "walk"}, "history": 2},
    "late": {"of": {"type": "command", "command": "walk"}, "delay": [1, 1]},
    "place": {"of": {"type": "pose-error", "command": "place", "body": "box", "what": "rotation"}, "noise": 0.1},
    "clock": {"of": {"type": "phase", "frequency": 3.0}},
    "speed": {"of": {"type": "root-linear-velocity", "body": "box"}},
    "joints": {"of": "joint-positions"},
}
EVENTS = {
    "start": {
        "type": "root",
        "body": "box",
        "yaw": [-3.0, 3.0],
        "roll": [-0.5, 0.5],
        "velocity": {"x": [-1.0, 1.0], "yaw": [-2.0, 2.0]},
    },
    "joints": {"type": "joints", "joints": ["shoulder", "elbow"], "velocity": [-2.0, 2.0]},
}
PUSH = {"type": "push", "when": "interval", "body": "box", "x": [1.0, 2.0], "y": [1.0, 2.0]}


def last_step(floating, mode, length=PERIOD, period=PERIOD, push=PERIOD):
    """Return what is seen at the end of the step in which commands are due: the final observations, and the values."""
    commands = {label: {**each, "period": [period, period]} for label, each in COMMANDS.items()}
    events = {**EVENTS, "push": {**PUSH, "period": [push, push]}}
    task = {"commands": commands, "observations": {"policy": TERMS}, "autoreset": mode, "episode_length": length}
    with floating(events, worlds=3, **task) as simulation:
        simulation.step(STEPS)
        group = simulation.task.observations["policy"]
        return group.final.numpy().copy(), group.values.numpy().copy()


@pytest.fixture(scope="module")
def seen(floating):
    """The final observations and the values of each mode, with a command and a push that are due at the end."""
    return {mode: last_step(floating, mode) for mode in MODES}


@pytest.mark.parametrize("mode", MODES)
def test_the_final_observations_are_those_of_an_episode_that_goes_on(mode, seen, floating):
    """With the command that is drawn at the end of the step, and without a push, which no ended episode gets."""
    _, values = last_step(floating, "same-step", length=1.0, push=1.0)

    np.testing.assert_array_equal(seen[mode][0], values)
    assert np.abs(values[:, 2:6]).max() > 0.1


@pytest.mark.parametrize("mode", ["next-step", "disabled"])
def test_a_world_that_waits_for_its_reset_shows_its_final_observations(mode, seen):
    final, values = seen[mode]

    np.testing.assert_array_equal(values, final)


def test_a_command_that_is_due_at_the_end_is_a_new_one(floating, seen):
    _, kept = last_step(floating, "same-step", length=1.0, period=1.0, push=1.0)

    assert (np.abs(seen["same-step"][0][:, 3:5] - kept[:, 3:5]) > 1e-3).any(axis=1).all()


ORDER = {
    "same-step": "terminations rewards metrics curricula commands final-observations events resets observations",
    "next-step": "terminations rewards metrics curricula commands final-observations events observations",
    "disabled": "terminations rewards metrics curricula commands final-observations events observations",
}


def noted(order, name, method):
    """Return a method that notes its first call."""

    def call(*arguments, **keys):
        if name not in order:
            order.append(name)
        return method(*arguments, **keys)

    return call


@pytest.mark.parametrize("mode", MODES)
def test_a_control_step_has_the_order_of_the_page(mode, floating):
    """Of the step that ends an episode, in which a command and an event are due."""
    commands = {"place": {**COMMANDS["place"], "period": [PERIOD, PERIOD]}}
    stages = [{"step": 3, "numbers": {"x": [0.0, 1.0]}}]
    task = {
        "commands": commands,
        "observations": {"policy": {"place": TERMS["place"]}},
        "rewards": {"alive": {"type": "alive", "weight": 1.0}},
        "terminations": {"far": {"type": "outside", "of": {"type": "root-height", "body": "box"}, "high": 99.0}},
        "metrics": {"mean": {"type": "mean", "of": {"type": "root-height", "body": "box"}}},
        "curricula": {"wider": {"type": "stages", "of": "commands.place", "stages": stages}},
    }
    events = {**EVENTS, "push": {**PUSH, "period": [PERIOD, PERIOD]}}
    with floating(
        events, worlds=2, simulation={"capture": "off"}, autoreset=mode, episode_length=PERIOD, **task
    ) as simulation:
        simulation.step(STEPS - 1)
        own, order = simulation.task, []
        methods = [
            ("terminations", own.terminations["far"], "evaluate"),
            ("rewards", own.rewards["alive"], "evaluate"),
            ("metrics", own.metrics["mean"], "evaluate"),
            ("curricula", own.curricula["wider"], "update"),
            ("commands", own.commands["place"], "resample"),
            ("final-observations", own.observations["policy"], "show_final"),
            ("events", own.events["push"], "apply"),
            ("resets", own.events["start"], "apply"),
            ("observations", own.observations["policy"], "show"),
        ]
        for name, term, method in methods:
            setattr(term, method, noted(order, name, getattr(term, method)))
        simulation.step(1)

    text = PAGE.read_text()
    table = text[text.index("## A control step") : text.index("## Time of a reset")]
    rows = [line.split("|")[2].strip().replace(" ", "-") for line in table.splitlines() if line.startswith("| ")]

    assert " ".join(order) == ORDER[mode]
    assert [name for name in rows if name in order] == order
