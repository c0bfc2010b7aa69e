"""Newton, Warp and what builds a simulation, imported: the process from which workers are forked imports this module.

Nothing else imports it. These imports start neither CUDA nor threads.
"""

from .devices import import_hot_modules

import_hot_modules(requires_grad=False)
