"""A USD stage in other units, or with drives by acceleration, that is read as usual moves otherwise than it means."""

import pytest
from pippin.assets import importing, report
from pippin_fuzz import usd
from pippin_fuzz.verdicts import Subject, judge

SUBJECT = Subject.of("mujoco-native")


def first_with(word):
    """Return the first stage that states something in its lines, and no contacts, which are springs."""
    files = (usd.draw(seed) for seed in range(200))
    return next(each for each in files if word in each.text and 'contact="disable"' in each.reference)


def test_a_deep_start_counts_where_contacts_are_those_of_mujoco(tmp_path):
    """Seed 379 starts 5 cm inside: other contacts part the two their own way, which says nothing of the file."""
    deep = usd.draw(379)

    assert judge(deep, SUBJECT, tmp_path).word == "equal"
    assert judge(deep, Subject.of("featherstone"), tmp_path) is None


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("metersPerUnit = 0.01", "refused"),
        ("kilogramsPerUnit = 0.001", "refused"),
        ('physics:type = "acceleration"', "told"),
    ],
)
def test_what_a_stage_means_otherwise_is_told(word, verdict, tmp_path):
    assert judge(first_with(word), SUBJECT, tmp_path).word == verdict


def test_an_importer_that_reads_centimetres_as_metres_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "refuse_units", lambda *_: None)

    found = judge(first_with("metersPerUnit = 0.01"), SUBJECT, tmp_path)
    assert found.error > 10.0 * found.allowed


def test_an_importer_that_reads_gains_by_inertia_as_gains_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "lost", lambda *_: [])

    assert judge(first_with('physics:type = "acceleration"'), SUBJECT, tmp_path).word == "SILENT"
