"""What shards answer, joined in world order."""

import numpy as np
import pippin
import pytest
from pippin.sharding.simulation import concatenate_worlds


def test_parts_are_joined_in_order():
    values = concatenate_worlds("state.joint_q", [np.full((2, 3), 0.0), np.full((1, 3), 1.0)])

    np.testing.assert_array_equal(values[:, 0], [0.0, 0.0, 1.0])


def test_shards_whose_worlds_differ_are_told_with_both_shapes():
    with pytest.raises(pippin.ConfigError) as raised:
        concatenate_worlds("state.joint_q", [np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 5))])

    assert str(raised.value) == (
        "gather: 'state.joint_q' has the shape [3] for a world of shard 0 and [5] for one of shard 2, as their worlds"
        " differ; read the array of each shard by `call`"
    )
