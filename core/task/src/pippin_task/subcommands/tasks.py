"""`pippin tasks`: the tasks that Pippin brings."""

from __future__ import annotations

import json

import click
from pippin.console import json_line, new_table, print_table

from pippin_task.named_tasks import NAMED_TASKS


@click.command()
@json_line("Print")
def tasks(as_json: bool) -> None:
    """List the tasks that Pippin brings, by the names that Gymnasium knows.

    `pippin train`, `pippin play` and `gymnasium.make_vec("pippin_task.gym:NAME")` take such a name in place of a file.
    """
    lines = {name: path.read_text(encoding="utf-8").partition("\n")[0] for name, path in NAMED_TASKS.items()}
    if as_json:
        found = {name: {"title": line.lstrip("# "), "file": str(NAMED_TASKS[name])} for name, line in lines.items()}
        click.echo(json.dumps(found))
        return
    table = new_table("task", "what it is")
    for name, line in lines.items():
        table.add_row(name, line.lstrip("# "))
    print_table(table)
