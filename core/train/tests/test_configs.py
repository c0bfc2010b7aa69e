"""Settings of trainers: they need no library that learns."""

import pippin
import pytest


@pytest.mark.alone
@pytest.mark.parametrize("name", ["rsl-rl", "sb3", "sb3-recurrent", "sb3-sac", "sb3-td3", "skrl", "skrl-sac"])
def test_settings_are_read_and_refused_without_the_library(name):
    read = pippin.structure({"trainer": {"type": name, "hidden": [32, 16], "gamma": 0.9}}).trainer

    assert (read.config.hidden, read.config.gamma) == ((32, 16), 0.9)
    with pytest.raises(pippin.ConfigError, match=r"trainer\.gamma: .*1\.5"):
        pippin.structure({"trainer": {"type": name, "gamma": 1.5}})
