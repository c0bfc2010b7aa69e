"""Random files move as in plain MuJoCo on the solver that has all of MJCF, or a note or an error tells why not."""

import collections

import pytest

from .random_files import judge

SEEDS = range(1000)


def found_in(seeds, folder):
    found = {seed: judge(seed, "mujoco-native", folder) for seed in seeds}
    assert not {seed: each.error for seed, each in found.items() if each is not None and each.word == "SILENT"}
    return collections.Counter("none" if each is None else each.word for each in found.values())


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_few_random_files_part_from_mujoco_with_a_word_or_not_at_all(tmp_path):
    counts = found_in(range(2000, 2008), tmp_path)

    assert counts["equal"] >= 5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("first", SEEDS[::100])
def test_random_files_part_from_mujoco_with_a_word_or_not_at_all(first, tmp_path):
    counts = found_in(range(first, first + 100), tmp_path)

    assert counts["equal"] > 75


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_flag_may_switch_off_an_actuator_with_a_range_of_its_state(tmp_path):
    assert judge(1199, "mujoco-native", tmp_path, frozenset({"dcmotor"})).word == "equal"
