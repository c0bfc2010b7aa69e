"""Components by label."""

import pippin
import pytest
from pippin.label_mapping import LabelMapping


def test_an_unknown_label_is_told_with_the_known_ones():
    actuators = LabelMapping("actuators", {"legs": 1, "arms": 2})

    with pytest.raises(KeyError) as caught:
        actuators["leg"]

    assert str(caught.value) == "actuators: none is labelled 'leg'; did you mean 'legs'?; labels: legs, arms"
    assert isinstance(caught.value, pippin.ConfigError)


def test_it_is_a_mapping():
    actuators = LabelMapping("actuators", {"legs": 1})

    assert (actuators == {"legs": 1}, actuators.get("leg", 3), "leg" in actuators) == (True, 3, False)
