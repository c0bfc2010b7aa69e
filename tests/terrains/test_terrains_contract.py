"""The contract of every kind of patches, by the kit."""

import pippin_conformance as conformance
import pytest
from pippin.catalog.entries import Catalog

KINDS = Catalog.installed().names("terrain")
SUITES = [pytest.param(conformance.Conformance("terrain", kind), marks=pytest.mark.slow, id=kind) for kind in KINDS]


@pytest.mark.parametrize("suite", SUITES)
def test_it_keeps_the_contract(suite):
    results = [suite.run(check) for check in suite.checks]

    assert not [each for each in results if each.outcome == "failed"]


def test_there_are_ten_kinds():
    assert len(KINDS) == 10
