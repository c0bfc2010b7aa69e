"""Values that are held: each of them has a verdict, also one that the logs determine beside the others."""

from types import SimpleNamespace

import numpy as np
import pytest
from pippin_fit.evidence import Evidence
from pippin_fit.identifiability import Identifiability


def coupled(seed):
    """Return the identifiability of five values, of which the first one has almost the effect of the others, and whose
    derivatives have errors.
    """
    random, count, rows = np.random.default_rng(seed), 5, 200
    jacobian = random.normal(size=(rows, count)) @ (np.eye(count) + random.normal(size=(count, count)))
    jacobian[:, 0] = jacobian[:, 1:] @ random.normal(size=count - 1) + 0.1 * random.normal(size=rows)
    one = np.ones(count)
    unknowns = SimpleNamespace(
        values=lambda unknowns: one,
        owners=[(SimpleNamespace(key=key), "joint") for key in "abcde"],
        file_values=0.5 * one,
        ranges=np.tile([0.01, 100.0], (count, 1)),
        low=0.0 * one,
        high=one,
    )
    minimum = SimpleNamespace(unknowns=0.5 * one, is_free=one > 0.0)
    found = Identifiability(SimpleNamespace(unknowns=unknowns), minimum)
    found.evidence = Evidence(
        names=tuple("abcde"),
        values=one,
        is_ratio=one > 0.0,
        slopes=one,
        priors=0.0 * one,
        jacobian=jacobian,
        residuals=random.normal(size=rows),
        blocks=np.arange(rows) // 25,
        errors=np.linalg.norm(jacobian, axis=0) * 10.0 ** random.uniform(-2.0, 0.5, count),
        channels=np.zeros(rows, dtype=int),
        share=0.9,
    )
    return found


@pytest.mark.alone
def test_a_value_that_is_held_with_others_has_a_verdict_of_its_own():
    """Beside the others it is identified; when they are held, what is left of its effect is an error."""
    is_seen = False
    for seed in range(40):
        found = coupled(seed)
        verdicts = found.verdicts({})

        numbers, given = found.held({})

        lost = [number for number in numbers if verdicts[number].is_determined]
        assert all(not given[number].is_determined for number in lost)
        is_seen |= bool(lost)
    assert is_seen
