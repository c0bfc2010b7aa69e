"""Parts that commands share: options, progress on the console, and tables."""

from typing import TYPE_CHECKING

from pippin.late import late

from .options import PATH, changes, duration, json_line, json_list, out, overrides, run_options, solvers, steps, trust

if TYPE_CHECKING:
    from .progress import shown_progress
    from .running import run_file
    from .table import new_table, print_table

__all__ = [
    "PATH",
    "changes",
    "duration",
    "json_line",
    "json_list",
    "new_table",
    "out",
    "overrides",
    "print_table",
    "run_file",
    "run_options",
    "shown_progress",
    "solvers",
    "steps",
    "trust",
]

__getattr__ = late(__name__)
