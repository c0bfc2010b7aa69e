"""Check of the warm process, which imports this module last: forks of it are as good as new processes.

Importing it raises if an import before has started threads or Warp, which loads the driver of a GPU: the warm process
ends then, and workers start anew.
"""

import gc
import os
from pathlib import Path

from pippin.errors import SimulationError

from .start import leave_environment, leave_stops_to_caller

if len(os.listdir("/proc/self/task")) > 1:
    raise SimulationError("workers: a plugin has started threads when it was imported, so it cannot be forked")
if "/warp.so" in Path("/proc/self/maps").read_text():
    raise SimulationError("workers: a plugin has started Warp when it was imported, so it cannot be forked")
leave_environment()
leave_stops_to_caller()
gc.freeze()  # the collector of a fork need not walk, and so copy, what was imported
gc.enable()
