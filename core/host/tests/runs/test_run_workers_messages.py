"""Lines of several processes."""

import io

from pippin.console.progress import ConsoleProgress
from pippin.runs.run_workers import MessageMerger
from rich.console import Console


def test_a_line_of_all_is_printed_once_and_one_of_some_with_their_worlds() -> None:
    page = io.StringIO()
    messages = MessageMerger(ConsoleProgress(Console(file=page)), 2)

    for worlds in ("worlds 0:2", "worlds 2:4"):
        messages.add("warning: no floor", worlds)
    messages.add("warning: too light", "worlds 2:4")
    messages.print(patience=60.0)
    messages.print()
    messages.add("warning: too light", "worlds 0:2")
    messages.print()

    assert page.getvalue().splitlines() == ["warning: no floor", "warning: too light (worlds 2:4)"]
