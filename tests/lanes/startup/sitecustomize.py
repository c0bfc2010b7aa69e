"""Puts a process into the lane that an environment variable names; Python imports this file when it starts."""

import os
import sys
from pathlib import Path

if os.environ.get("PIPPIN_TEST_LANE"):
    sys.path.insert(0, str(Path(__file__).parents[1]))
    try:
        from patches import VARIABLE, lane_module, patch_imports
    finally:
        del sys.path[0]
    lane = lane_module(os.environ[VARIABLE])
    patch_imports(lane.PATCHES)
    getattr(lane, "start", bool)()
