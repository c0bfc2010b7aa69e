"""Newton, Warp and what builds a simulation, imported: workers are forked from a process that imported this module.

Nothing else imports it. The imports start neither CUDA nor threads, so a copy of the process is as good as a new one.
"""

import gc

from .simulation import import_hot_modules
from .workers.start import leave_environment

import_hot_modules(requires_grad=False)
leave_environment()
gc.freeze()  # the collector of a copy need not walk, and so copy, what was imported
