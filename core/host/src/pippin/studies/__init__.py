"""Studies of a configuration file: one loop with a folder, phases, progress, Ctrl-C and a page."""

from typing import TYPE_CHECKING

from pippin.late import late

from .duration import DEFAULT_DURATION, step_count
from .interrupt import stopped_between_steps
from .progress import RunProgress, current_progress, progress_shown_by

if TYPE_CHECKING:
    from pippin.simulation import import_hot_modules

    from .folder import RunFolder
    from .start import import_newton
    from .study import Overlay, Study, StudyResult, kept_overrides, run_study
    from .summary import versions, what_ran

__all__ = [
    "DEFAULT_DURATION",
    "Overlay",
    "RunFolder",
    "RunProgress",
    "Study",
    "StudyResult",
    "current_progress",
    "import_hot_modules",
    "import_newton",
    "kept_overrides",
    "progress_shown_by",
    "run_study",
    "step_count",
    "stopped_between_steps",
    "versions",
    "what_ran",
]

__getattr__ = late(__name__)
