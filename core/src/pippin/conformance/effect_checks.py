"""Check that a plugin within another component acts at all, so that the other checks show something."""

from __future__ import annotations

from pippin.errors import PluginError

from .observation import advance, differing, start
from .runs import Runs


def check_effect(runs: Runs) -> None:
    """The plugin acts: efforts, readings or the state are others than without it."""
    with runs.subject.build(capture="off", is_present=False) as simulation:
        start(simulation)
        without = advance(simulation)
    if not [name for name in differing(runs.eager, without) if name in without.arrays]:
        raise PluginError(
            f"{runs.subject}: efforts, readings and the state are the same as without it; test it with settings that"
            " change some"
        )
