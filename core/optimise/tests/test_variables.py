"""Variables of an optimisation: the numbers of an array that each world has."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import warp as wp
from pippin_optimise.config import VariableConfig
from pippin_optimise.variables import InputVariable


@pytest.mark.alone
def test_each_number_of_an_array_of_two_axes_varies_once():
    weights = wp.array(np.arange(12.0).reshape(4, 3), dtype=float, device="cpu", requires_grad=True)
    host: Any = SimpleNamespace(plugins={"net": SimpleNamespace(weights=weights)}, actuators={}, world_count=2)

    variable = InputVariable("x", VariableConfig(value_of="plugins.net.weights"), host, 1)

    assert variable.read().tolist() == [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]]
