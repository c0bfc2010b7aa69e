"""Configurations in which somebody else acts: an operator of the page, or the actions of recorded episodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
from pippin import ConfigError, SimulationConfig
from pippin.config import structure_choice
from pippin.files import refuse_taken
from pippin.motions import undriven

RECORDER = "demos"
"""Label of the recorder of demonstrations."""

_GUIDED = ("tool-goals", "gripper")
"""Types of actions that the page gives."""


def for_operator(config: SimulationConfig, path: Path, instruction: str | None = None) -> SimulationConfig:
    """Return a configuration of one world in which a user acts, and whose episodes are recorded if they are asked for.

    An operator begins and ends episodes: the task ends none. Its actions are those of the page if it has only
    `tool-goals` and `gripper`; else it has none, and the position targets of actuators are the action.

    Args:
        config: The configuration.
        path: The folder of a dataset of LeRobot, or a file `.hdf5` of robomimic; neither may exist.
        instruction: What the robot does, for LeRobot.

    Raises:
        ConfigError: There is something at the path, or its suffix is another one.
        PluginError: A library is not installed.
    """
    path = path.absolute()
    if path.suffix not in ("", ".hdf5"):
        raise ConfigError(f"--record: '{path}' ends with {path.suffix}; name a folder, or a file that ends with .hdf5")
    kind = "robomimic" if path.suffix else "lerobot"
    if kind == "lerobot":
        refuse_taken(path, "--record")
    elif path.exists():
        raise ConfigError(f"--record: '{path}' exists; choose another file")
    if instruction is not None and kind != "lerobot":
        raise ConfigError(f"--instruction: {kind} has none; leave it out, or name a folder")
    own = [choice for choice in config.recorders.values() if choice.type == kind]
    choice = own[0] if own else structure_choice("recorder", {"type": kind})
    settings: dict[str, Any] = {"path": str(path), "keep": "asked", "worlds": "0:1"}
    settings |= {} if instruction is None else {"instruction": instruction}
    recorder = attrs.evolve(choice, config=attrs.evolve(choice.config, **settings))
    task = config.tables.get("task")
    if task is not None:
        is_guided = all(each.type in _GUIDED for each in task.actions.values())
        actions = task.actions if is_guided else {}
        task = attrs.evolve(task, autoreset="disabled", episode_length=None, terminations={}, actions=actions)
    scene = attrs.evolve(config.scene, worlds=1)
    without = undriven(config.unobserved()).with_tables(policy=None, recorders={RECORDER: recorder}, task=task)
    return attrs.evolve(without, scene=scene)
