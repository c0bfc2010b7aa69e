"""Numbers of worlds in the texts of a shard."""

import pytest
from pippin.sharding.shard import renumber_worlds


@pytest.mark.parametrize(
    ("text", "of_run"),
    [
        ("joint 'arm/elbow' of world 0 moves at 5 rad/s", "joint 'arm/elbow' of world 4 moves at 5 rad/s"),
        ("2 in worlds 0:2, 3 and 1 in world 2", "2 in worlds 4:6, 7 and 1 in world 6"),
        ("a buffer overflowed in world 1 (bits 0x4); 2 worlds", "a buffer overflowed in world 5 (bits 0x4); 2 worlds"),
        ("world_1/ball has 3 contacts", "world_1/ball has 3 contacts"),
    ],
)
def test_worlds_have_the_numbers_of_the_run(text, of_run):
    assert renumber_worlds(text, 4) == of_run
