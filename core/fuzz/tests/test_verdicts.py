"""Random URDF and USD files move as their references in MJCF, or a note or an error tells why not."""

from pathlib import Path

import pippin
import pytest
from pippin_fuzz import mjcf, urdf, usd
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


@pytest.mark.parametrize(
    ("word", "form", "said"),
    [
        ("contype", mjcf, 'contype="3"'),
        ("parted", usd, "def PhysicsCollisionGroup"),
        ("parted", usd, "rel physics:filteredPairs"),
        ("combine mode", usd, "physxMaterial:frictionCombineMode"),
        ("physx mimic", usd, "PhysxMimicJointAPI:rotZ"),
    ],
)
def test_some_files_have_what_came_later_unless_it_is_left_out(word, form, said):
    assert any(said in form.draw(seed).text for seed in range(150))
    assert not any(said in form.draw(seed, frozenset({word})).text for seed in range(150))


def test_a_body_that_is_parted_from_the_ground_falls_through_it_in_the_reference():
    files = [usd.draw(seed) for seed in range(150)]
    parted = [file for file in files if "filteredPairs = </w" in file.text or '"there"' in file.text]

    assert parted
    assert not any('size="3 3 3"' in file.reference for file in parted)
