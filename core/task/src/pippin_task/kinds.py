"""The kinds of plugins that are terms of a task."""

from __future__ import annotations

from typing import Any

from pippin.catalog import Kind


def _term(name: str, plural: str, order: int, meaning: str, **others: Any) -> Kind:
    usual: dict[str, Any] = {"place": f"task.{plural}.*", "template": f"pippin_conformance.templates:{name}"}
    base, checks = f"pippin_task:{name.capitalize()}", f"pippin_conformance.kinds:{name.upper()}"
    return Kind(name=name, plural=plural, order=order, meaning=meaning, base=base, checks=checks, **usual | others)


QUANTITY = _term(
    "quantity",
    "quantities",
    170,
    "Measures numbers of each world for observations, rewards and ends of episodes.",
    place="task.observations.*.*.of",
    is_named_alone=True,
    template="pippin_conformance.templates:term",  # one for quantities and rewards
)
ACTION = _term("action", "actions", 180, "Gives the numbers of a policy their meaning.")
REWARD = _term(
    "reward", "rewards", 190, "Is a term of the reward of a step.", template="pippin_conformance.templates:term"
)
TERMINATION = _term("termination", "terminations", 200, "Ends an episode on a condition.")
EVENT = _term("event", "events", 210, "Changes a simulation at random: at the start, at resets, or from time to time.")
COMMAND = _term("command", "commands", 220, "Draws a target, such as a velocity, for each world.")
CURRICULUM = _term("curriculum", "curricula", 230, "Changes the numbers of other terms while a policy learns.")
METRIC = _term("metric", "metrics", 240, "Measures how episodes go, without a part in the reward.")
