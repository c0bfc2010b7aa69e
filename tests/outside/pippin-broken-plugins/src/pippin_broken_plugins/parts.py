"""A stage that does nothing, and an executor that loses every job."""

import attrs
from pippin import sensing
from pippin_sweep import JobResult


@attrs.frozen(kw_only=True)
class StageConfig(sensing.StageConfig):
    """Nothing of its own."""

    implementation = "Transparent"


class Transparent(sensing.Stage):
    """Changes no number."""

    def apply(self, values, world_mask, dt):
        pass


@attrs.frozen(kw_only=True)
class LosingConfig:
    """Nothing."""

    implementation = "Losing"


class Losing:
    """Runs no job."""

    slots = 1
    keeps_processes = False

    def __init__(self, config):
        self._ended = []

    def submit(self, job):
        self._ended.append(JobResult(key=job.key, status="lost", text="nobody runs it"))

    def wait(self, timeout):
        ended, self._ended = self._ended, []
        return ended

    def cancel(self, key):
        pass

    def close(self):
        pass
