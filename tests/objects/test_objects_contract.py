"""The contract of every kind of objects, by the kit."""

import pippin_conformance as conformance
import pytest

CLOTH = {"density": 0.5, "particle_radius": 0.02}
SOFT = {"density": 1e3, "k_mu": 1e4, "k_lambda": 1e4, "particle_radius": 0.02}
KINDS = {
    "body": {"shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}]},
    "cloth-grid": {"cells": [4, 2], "cell": [0.1, 0.1], **CLOTH},
    "granular": {"size": [0.2, 0.1, 0.1], "spacing": 0.05, "density": 2000.0},
    "particles": {"points": [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]], "particle_mass": 0.1, "springs": [[0, 1]]},
    "rod": {"end": [1.0, 0.0, 0.0], "segments": 4, "radius": 0.01},
    "soft-grid": {"cells": [2, 1, 1], "cell": [0.1, 0.1, 0.1], **SOFT},
}
SOLVERS = {"body": "semi-implicit"}


SUITES = [
    conformance.Conformance("object", kind, config=config, solver=SOLVERS.get(kind, "vbd"))
    for kind, config in KINDS.items()
]


@pytest.mark.first_cases(3)
@pytest.mark.parametrize("suite", SUITES, ids=KINDS)
def test_it_keeps_the_contract(suite):
    results = [suite.run(check) for check in suite.checks]

    assert not [each for each in results if each.outcome == "failed"]
