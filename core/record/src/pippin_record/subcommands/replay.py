"""`pippin replay`: simulate recorded demonstrations again, and tell how far the simulation goes from them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from pippin.console import PATH, changes, json_line, new_table, print_table, shown_progress

FAILED = 4


@click.command()
@click.argument("demos", type=PATH)
@click.option("--file", "source", type=PATH, metavar="FILE", help="The simulation; by default that of the recording.")
@changes(has_worlds=False)
@click.option("--episode", "episodes", type=click.IntRange(min=0), multiple=True, metavar="N", help="By default all.")
@click.option("--states", is_flag=True, help="Start each step from the recorded state: the distance after one step.")
@click.option(
    "--limit", type=click.FloatRange(min=0.0), metavar="DISTANCE", help="Fail if a distance is larger [m or rad]."
)
@json_line("Print")
def replay(
    demos: Path,
    source: Path | None,
    overrides: tuple[str, ...],
    episodes: tuple[int, ...],
    states: bool,
    limit: float | None,
    as_json: bool,
) -> None:
    """Simulate the episodes of DEMOS again, and print how far they go from what was recorded.

    DEMOS is the folder of a recorder `lerobot` or the file of a recorder `robomimic`. Each episode is a world: it
    begins with the first recorded state, and gets the recorded actions. The distance is the largest difference of a
    joint coordinate, in m or rad; the same solver on the same machine has none. With --set solver.type=NAME, it is the
    distance of another solver. What the file draws besides the start, such as masses, is drawn anew.

    The exit code is 4 if a distance exceeds --limit.
    """
    with shown_progress(is_stdout_reserved=as_json) as progress, progress.phase("replay"):
        from pippin_record.replay import replay as replayed

        found = replayed(demos, source, overrides, episodes, states=states)
    largest = max(each.largest for each in found)
    if as_json:
        rows = [{"episode": each.index, "distances": each.distances.tolist()} for each in found]
        click.echo(json.dumps({"largest": largest, "episodes": rows}))
    else:
        table = new_table("episode", "frames", "largest distance", "in frame", "at the end")
        for each in found:
            numbers = (each.index, len(each.distances), f"{each.largest:.3g}", each.largest_frame, f"{each.last:.3g}")
            table.add_row(*map(str, numbers))
        print_table(table, [f"largest distance: {largest:.3g} m or rad"])
    if limit is not None and not largest <= limit:
        sys.exit(FAILED)
