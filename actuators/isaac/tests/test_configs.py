"""Configurations with Isaac Sim's names: what they refuse."""

import pippin
import pytest
from pippin_isaac import ArgumentError, MaxEffortClampingConfig, PDControlConfig


@pytest.mark.alone
def test_a_wrong_value_is_a_value_error_and_an_error_of_the_configuration():
    with pytest.raises(ValueError, match="kp") as caught:
        PDControlConfig(kp=-1.0, kd=1.0)

    assert isinstance(caught.value, ArgumentError)
    assert isinstance(caught.value, pippin.ConfigError)


def test_a_limit_may_be_infinite():
    assert MaxEffortClampingConfig(max_effort=float("inf")).max_effort == float("inf")
