"""Random walk over the public API: a call acts, is refused with a cure, or has no effect for a documented reason.

The usual run makes a few calls of each solver. `PIPPIN_WALK=1000` makes that many, 25 from each start, and
`PIPPIN_WALK_SOLVER=NAME` walks with one solver alone, also with one of another distribution.
"""

import os
from contextlib import suppress

import numpy as np
import pippin
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from .bed import COUPLED, TWINS, Bed
from .calls import FAULTS, Calls
from .walker import Walker

pytestmark = pytest.mark.slow

RIGID = ("featherstone", "kamino", "mujoco", "mujoco-native", "semi-implicit", "steel", "vbd", "xpbd")
SOLVERS = (*RIGID, "style3d", "implicit-mpm")
CHOSEN = [os.environ["PIPPIN_WALK_SOLVER"]] if "PIPPIN_WALK_SOLVER" in os.environ else SOLVERS

COUNT = int(os.environ.get("PIPPIN_WALK", "0"))
"""Calls of a long walk; 0 for the usual run."""

LENGTH = 25
"""Calls from one start to the next."""

FEW = {"kamino": 3, "implicit-mpm": 3, "mujoco": 10, "style3d": 4, "steel": 10, "vbd": 15, "mujoco-native": 12}
"""Calls of the usual run with solvers whose steps take long; the others make 12."""

CHANGING = ("setter", "attribute", "forces", "gravity", "changed", "reset", "written", "group", "switch")
"""Calls that change something, which a closed simulation refuses."""


def walk(bed, starts, length):
    """Make random calls after each of several starts, and return their kinds.

    Hypothesis draws one generator for each start, and nothing else: choices of single calls would begin with the
    simplest, which are all the same, and go on with copies of earlier ones.
    """
    tolerance = COUPLED.get(bed.solver, 0.0)
    walker = Walker(bed, tolerance, tolerance if bed.solver in TWINS else 0.0)
    calls, kinds = Calls(bed), []

    @settings(
        max_examples=starts,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(chance=st.randoms(use_true_random=True))
    def from_start(chance):
        bed.restart()
        for _ in range(length):
            kinds.append(chance.choice(calls.kinds))
            fault = chance.choice(["none", chance.choice(FAULTS)])
            walker.make(getattr(calls, kinds[-1])(np.random.default_rng(chance.getrandbits(32)), fault))

    from_start()
    return kinds


def length_of(solver):
    """Return the number of starts, and of calls after each."""
    if COUNT:
        return -(-COUNT // LENGTH), min(COUNT, LENGTH)
    return 1, FEW.get(solver, 12)


def make_after_close(bed):
    """Make calls on a closed simulation, and return those that are accepted or leave other bits."""
    calls, odd = Calls(bed), []
    made = [getattr(calls, kind)(np.random.default_rng(5), "none") for kind in CHANGING if kind in calls.kinds]
    bed.simulation.close()
    before = bed.bits()
    for call in made:
        with suppress(pippin.PippinError):
            call.act()
            odd.append(call.name)
    return odd + bed.bits().differences(before)


@pytest.mark.parametrize("solver", CHOSEN)
def test_no_call_is_silent(solver, tmp_path):
    bed = Bed(solver, tmp_path)
    starts, length = length_of(solver)

    with bed.simulation:
        kinds = walk(bed, starts, length)
        assert make_after_close(bed) == []
    assert len(kinds) == starts * length
    assert len(set(kinds)) > 1


def test_a_walk_resumes_from_a_file(tmp_path):
    bed = Bed("xpbd", tmp_path)
    bed.restart()
    bed.views["robot"].set_masses(np.float32(1.5))
    bed.step()
    bed.simulation.save(tmp_path / "walk.npz")
    saved = bed.motion()

    with pippin.Simulation.load(tmp_path / "walk.npz", prototype=bed.prototype) as loaded:
        masses = loaded.view.articulations("robot").get_masses().numpy()
        state = {name: getattr(loaded.state, name).numpy() for name in saved if ":" not in name}

    assert (masses == 1.5).all()
    assert all(state[name].tobytes() == np.concatenate(saved[name]).tobytes() for name in state)
