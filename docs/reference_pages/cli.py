"""Page *Command line*: the help of every command."""

from __future__ import annotations

import click
from pippin.cli import main as pippin_command

CLI = """\
# Command line

<!-- Written by docs/write_reference.py from the commands' own help. Change that, then run it. -->
"""


def page() -> str:
    """Return the help of `pippin` and of each of its commands."""
    group = click.Context(pippin_command, info_name="pippin", **pippin_command.context_settings)
    page = CLI + _help("pippin", pippin_command, None)
    for name in pippin_command.list_commands(group):
        command = pippin_command.get_command(group, name)
        assert command is not None, "listed"
        page += _help(name, command, group)
    return page


def _help(name: str, command: click.Command, parent: click.Context | None) -> str:
    context = click.Context(command, parent, info_name=name, terminal_width=100, **command.context_settings)
    page = f"\n## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    nested = command.commands if isinstance(command, click.Group) and parent is not None else {}
    return page + "".join(_help(each, nested[each], context) for each in sorted(nested))
