"""Libraries that are extensions without type stubs, as values of any type."""

from typing import Any

import mujoco as _mujoco

mujoco: Any = _mujoco
