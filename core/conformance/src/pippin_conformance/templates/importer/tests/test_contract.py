"""Tests of the contract of every importer."""

from pathlib import Path

import pippin_conformance as conformance

FILE = Path(__file__).parents[1] / "tower.demo"


@conformance.parametrize(conformance.Conformance("importer", "demo", file=FILE))
def test_it_keeps_the_contract(check):
    check()
