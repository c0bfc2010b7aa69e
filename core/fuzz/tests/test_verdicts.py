"""Random URDF and USD files move as their references in MJCF, or a note or an error tells why not."""

from pathlib import Path

import pippin
import pytest
from pippin_fuzz import urdf
from pippin_fuzz.run_fuzz import Fuzzer, Plan

WRONG = Path(__file__).with_name("wrong_solvers.py")


def outcomes(seeds, folder, form, solver="mujoco-native", overrides=("solver.threads=1",)):
    fuzzer = Fuzzer(Plan(solver=solver, overrides=overrides, form=form), folder)
    return [fuzzer.outcome(seed) for seed in seeds]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("form", ["urdf", "usd"])
def test_a_few_random_robots_part_with_a_word_or_not_at_all(form, tmp_path):
    found = outcomes(range(12), tmp_path, form)

    assert [each for each in found if each.finding] == []
    assert sum(each.word == "equal" for each in found) > 6


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("seed", "what"), [(54, "<motor"), (165, "left/arm")])
def test_motors_pull_and_links_without_mass_have_the_velocity_of_their_origin(seed, what, tmp_path):
    (found,) = outcomes([seed], tmp_path, "urdf")

    assert what in urdf.draw(seed).reference
    assert found.words == ("equal",)


@pytest.mark.parametrize(("form", "seed"), [("urdf", 5), ("usd", 3)])
def test_a_wrong_solver_is_found_with_files_that_run(form, seed, tmp_path):
    (found,) = outcomes([seed], tmp_path, form, f"{WRONG}:MirroredConfig", ())

    folder = tmp_path / found.finding
    assert found.word == "SILENT"
    assert f"{found.finding}-reference.xml" in {each.name for each in folder.iterdir()}
    with pippin.Simulation.from_file(folder / f"{found.finding}.toml") as simulation:
        simulation.step(1)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("form", "seed", "word"), [("urdf", 35, "friction"), ("usd", 18, "gravcomp")])
def test_what_a_note_names_is_left_out_of_the_next_draw(form, seed, word, tmp_path):
    (found,) = outcomes([seed], tmp_path, form, "featherstone", ())

    assert word in found.without
    assert found.words == ("told", "equal")
