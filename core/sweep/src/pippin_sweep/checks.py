"""Check of an executor with real jobs."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pippin import PluginError
from pippin_conformance import KindChecks, Runs, check

from .executor_contract import executor_faults


def check_jobs(runs: Runs) -> None:
    """Jobs that return, raise, die, hang and are cancelled end as `pippin_sweep.Executor` promises."""
    with tempfile.TemporaryDirectory() as folder:
        faults = executor_faults(runs.subject.component, Path(folder))
    if faults:
        raise PluginError("\n".join(f"{runs.subject}: {fault}" for fault in faults))


EXECUTOR = KindChecks(own=(check(check_jobs, 5.0),))
