"""Newton, Warp and what builds a simulation, imported: the process from which workers are forked imports this module.

Nothing else imports it. These imports start neither CUDA nor threads.
"""

import gc

from .simulation import import_hot_modules

gc.disable()  # it would walk all that is being imported, again and again; the last import enables it

import_hot_modules(requires_grad=False, will_fork=True)
