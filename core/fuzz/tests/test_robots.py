"""Random URDF and USD files move as their references in MJCF, or a note or an error tells why not."""

import pytest
from pippin_fuzz.run_fuzz import Fuzzer, Plan


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("form", ["urdf", "usd"])
def test_a_few_random_robots_part_with_a_word_or_not_at_all(form, tmp_path):
    fuzzer = Fuzzer(Plan(solver="mujoco-native", overrides=("solver.threads=1",), form=form), tmp_path)

    found = [fuzzer.outcome(seed) for seed in range(12)]

    assert [each for each in found if each.finding] == []
    assert sum(each.word == "equal" for each in found) > 6
