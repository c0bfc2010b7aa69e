"""Benches in a process beside the checks: the same results as in one process, and errors that can be sent."""

import pickle
from multiprocessing import active_children

import pytest
from pippin.errors import PluginError
from pippin_conformance import Conformance
from pippin_conformance.plugin_under_test import PluginUnderTest
from pippin_conformance.trials import TRIALS, _tried, begin_trials


class UnsendableError(Exception):
    """An error of a plugin whose constructor takes what its arguments do not have."""

    def __init__(self, code, text):
        super().__init__(f"{text} ({code})")


def fail(_):
    raise UnsendableError(7, "no room")


def test_an_error_that_cannot_be_sent_is_sent_as_text():
    with pytest.raises(TypeError):
        pickle.loads(pickle.dumps(UnsendableError(7, "no room")))

    whole, one = _tried(fail, None), _tried(lambda _: {"good": 1.0, "bad": UnsendableError(7, "no room")}, None)

    assert isinstance(whole, PluginError)
    assert pickle.loads(pickle.dumps(one))["good"] == 1.0
    assert [str(pickle.loads(pickle.dumps(each))) for each in (whole, one["bad"])] == ["no room (7)"] * 2


@pytest.mark.slow
def test_a_process_beside_finds_what_the_kit_finds_by_itself():
    subject = PluginUnderTest(kind="solver", name="semi-implicit")
    processes = begin_trials(subject)
    found = dict(processes[name].receive(300.0) for name in TRIALS)
    for process in processes.values():
        process.close()

    here = {name: trial(subject) for name, trial in TRIALS.items()}
    assert found.keys() == here.keys()
    assert found["refusals"] == here["refusals"]
    assert found["features"] == here["features"]
    assert found["answers"].keys() == here["answers"].keys()


@pytest.mark.slow
def test_all_checks_together_have_the_outcomes_that_each_has_alone():
    together = {result.check: result.outcome for result in Conformance("solver", "semi-implicit").results()}
    alone = Conformance("solver", "semi-implicit")

    assert together == {name: alone.run(name).outcome for name in alone.checks}


@pytest.mark.slow
def test_the_processes_end_with_the_checks_also_if_nobody_reads_them():
    results = Conformance("solver", "semi-implicit").results()
    while next(results).check != "round_trip":
        pass
    next(results)
    assert len(active_children()) == 4

    results.close()
    assert not active_children()
