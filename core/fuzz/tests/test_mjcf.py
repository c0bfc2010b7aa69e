"""Random files move as in plain MuJoCo on the solver that has all of MJCF, or a note or an error tells why not."""

import collections

import pytest
from pippin_fuzz.mjcf import draw
from pippin_fuzz.run_fuzz import Fuzzer, Plan
from pippin_fuzz.verdicts import Subject, judge

SEEDS = range(1000)
OVERRIDES = ("solver.threads=1",)


def found_in(seeds, folder):
    fuzzer = Fuzzer(Plan(solver="mujoco-native", overrides=OVERRIDES, form="mjcf"), folder)
    found = [fuzzer.outcome(seed) for seed in seeds]
    assert not [each for each in found if each.word == "SILENT"]
    return collections.Counter(each.word for each in found)


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
    file = draw(1199, frozenset({"dcmotor"}))

    assert judge(file, Subject.of("mujoco-native", OVERRIDES), tmp_path).word == "equal"
