"""SharedLayouts of the memory that shards share."""

import pippin
import pytest
from pippin_task.gym.sharing import SharedLayout, refuse_different


def test_shards_with_other_observations_are_refused_by_name():
    layouts = [SharedLayout(2, {"action": ((4,), "<f4"), "policy": (width, "<f4")}) for width in ((7,), (9,))]

    with pytest.raises(pippin.ConfigError) as raised:
        refuse_different(layouts)

    assert str(raised.value) == (
        "shards: 'policy' has the shape [7] for a world of shard 0 and [9] for one of shard 1; let all worlds have the"
        " same joints and sensors, or leave 'shards' out"
    )
