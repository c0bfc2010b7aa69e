"""The page of Isaac's tensor names: what it calls the same is there."""

import re
from pathlib import Path

import pytest
from pippin.views.articulations import ArticulationView
from pippin.views.body_rows import RigidBodyView
from pippin.views.contacts.view import RigidContactView
from pippin.views.simulation_view import SimulationView

PAGE = Path(__file__).parents[2] / "docs/reference/tensors.md"
CLASSES = {
    "The simulation view": SimulationView,
    "Articulations": ArticulationView,
    "Rigid bodies": RigidBodyView,
    "Contacts": RigidContactView,
}


def names(text):
    """Yield the names of Isaac's that a section calls the same."""
    for theirs, ours in re.findall(r"^\| (.*?) \| (.*?) \|$", text, flags=re.MULTILINE):
        if "the same" in ours:
            yield from re.findall(r"`(\w+)", theirs)


SET_BY_CONSTRUCTORS = {"filter_count", "is_valid"}


@pytest.mark.parametrize("title", CLASSES)
def test_a_name_that_is_called_the_same_exists(title):
    sections = dict(part.split("\n", 1) for part in PAGE.read_text(encoding="utf-8").split("\n## ")[1:])

    same = list(names(sections[title]))

    assert [name for name in same if not hasattr(CLASSES[title], name) and name not in SET_BY_CONSTRUCTORS] == []
    assert len(same) > 6
