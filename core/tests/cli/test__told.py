"""Lines of several processes."""

import io

from pippin.cli._progress import ConsoleProgress
from pippin.cli._told import Told
from rich.console import Console


def test_a_line_of_all_is_printed_once_and_one_of_some_with_their_worlds() -> None:
    page = io.StringIO()
    told = Told(ConsoleProgress(Console(file=page)), 2)

    for worlds in ("worlds 0:2", "worlds 2:4"):
        told.hear("warning: no floor", worlds)
    told.hear("warning: too light", "worlds 2:4")
    told.print(patience=60.0)
    told.print()
    told.hear("warning: too light", "worlds 0:2")
    told.print()

    assert page.getvalue().splitlines() == ["warning: no floor", "warning: too light (worlds 2:4)"]
