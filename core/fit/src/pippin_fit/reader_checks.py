"""Check of a reader of logs, with a file of its author."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pippin import ConfigError
from pippin.arrays import present
from pippin_conformance import KindChecks, Runs, check

from .config import FitConfig, FitParameterConfig
from .log import Log, RobotJoint, log_of
from .readers.reader import read_arrays

_CONFIG = FitConfig(parameters={"bodies.any.mass": FitParameterConfig(range=(0.0, 1.0))})
_FREE: dict[str, Any] = {"dof": 0, "coordinate": 0, "is_turning": True, "low": -math.inf, "high": math.inf}


def check_log(runs: Runs) -> None:
    """Each log of the file has times that ascend, and numbers for each joint; a second reading gives the same. A file
    of zeros is refused.
    """
    file = present(runs.subject.file)
    first, second = (list(_logs(runs, file)) for _ in range(2))
    for one, again in zip(first, second, strict=True):
        if not (len(one.times) > 1 and (np.diff(one.times) > 0.0).all() and (np.diff(one.command_times) > 0.0).all()):
            raise runs.fault(f"{one.name}: times do not ascend; yield the samples in the order of their times")
        if not all(np.array_equal(each, again.signals[name]) for name, each in one.signals.items()):
            raise runs.fault(f"{one.name}: a second reading gives other numbers; draw none, and keep nothing")
    with tempfile.TemporaryDirectory() as folder:
        zeros = Path(folder, "zeros").with_suffix(file.suffix)
        zeros.write_bytes(bytes(1000))
        try:
            list(_logs(runs, zeros))
        except ConfigError:
            return
    raise runs.fault("reads a file of zeros as a log; raise a ValueError that says what is missing")


def _logs(runs: Runs, path: Path) -> Iterator[Log]:
    for arrays, _ in read_arrays(path, runs.subject.structured(), "position_targets"):
        known = {str(joint): RobotJoint(label=str(joint), **_FREE) for joint in arrays["joints"]}
        try:
            yield log_of(str(arrays.get("name", path)), arrays, _CONFIG, known)
        except (ValueError, LookupError, TypeError) as error:
            raise runs.fault(f"yields no log: {error}; yield each array in its shape") from error


LOG = KindChecks(own=(check(check_log),), reads_file=True)
