"""Faults that only show on another system than Linux, each in a line that is Pippin's."""

import pytest

LINES = {
    "locks of files": "import fcntl",
    "an event": "import os; os.close(os.eventfd(0))",
    "a signal": "import signal; signal.SIGKILL",
    "a terminal": "import os; [os.close(number) for number in os.openpty()]",
    "a fork": "import multiprocessing; multiprocessing.get_context('fork')",
    "the name of the system": "import sys; assert sys.platform == 'linux'",
    "processes of the system": "from pathlib import Path; Path('/proc/self/maps').read_text(encoding='utf-8')",
    "whether a place is there": "from pathlib import Path; assert Path('/dev/shm').is_dir()",
    "a name of a file": "from pathlib import Path; Path(folder, '12:30').write_text('', encoding='utf-8')",
    "an open file is replaced": "import os; file = open(folder / 'a', 'wb'); os.replace(folder / 'a', folder / 'b')",
    "an open file is removed": "file = open(folder / 'c', 'wb'); (folder / 'c').unlink()",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_line_of_pippin_needs_linux(line, tmp_path):
    names = {"__name__": "pippin_planted", "folder": tmp_path}
    exec(line, names)
    if "file" in names:
        names["file"].close()
