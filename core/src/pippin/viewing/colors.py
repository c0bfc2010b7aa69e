"""Colours as displays take them, and linear ones."""

from __future__ import annotations

import numpy as np


def linear_color(color: np.ndarray) -> np.ndarray:
    """Return the linear colours of sRGB colours, from 0 to 1, of the same shape."""
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)
