"""Claims about `pippin selftest`: it passes here, shows a wrong result by its place, and outlives a crash."""

import json
import re

import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin_conformance.selftest.checks import CHECKS
from pippin_conformance.selftest.rows import Case

PLANTED = """
import os
import signal

import attrs
import newton
import pippin
import warp as wp

@attrs.frozen(kw_only=True)
class DriftingConfig:
    implementation = "Drifting"

@attrs.frozen(kw_only=True)
class CrashingConfig:
    implementation = "Crashing"
    marker: str = __file__ + ".crashed"

@wp.kernel
def pippin_test_nudge(
    calls: wp.array[int], is_recorded: bool, worlds: wp.array[int], body_q: wp.array[wp.transform]
):
    body = wp.tid()
    if body == 0:
        calls[0] += 1
    # Three substeps for each control step; Pippin itself compares the first steps alone.
    if is_recorded and calls[0] > 3 * 6 and worlds[body] == 3:
        body_q[body] = wp.transform_multiply(wp.transform(wp.vec3(0.5, 0.0, 0.0), wp.quat_identity()), body_q[body])

class Stepping(newton.solvers.SolverSemiImplicit):
    def __init__(self, model, marker):
        super().__init__(model)
        self.calls, self.marker = wp.zeros(1, dtype=int, device=model.device), marker

    def step(self, state_in, state_out, control, contacts, dt, *, observables=None):
        if self.marker and not os.path.exists(self.marker):
            open(self.marker, "w").close()
            os.kill(os.getpid(), signal.SIGSEGV)
        super().step(state_in, state_out, control, contacts, dt)
        inputs = [self.calls, self.model.device.is_capturing, self.model.body_world, state_out.body_q]
        wp.launch(pippin_test_nudge, self.model.body_count, inputs, device=self.model.device)

class Drifting:
    coordinates = "maximal"
    supported_features = dict.fromkeys(("gravity", "rigid_bodies", "free_joints", "rigid_contacts"), "live")
    deterministic_on = frozenset({"cpu", "cuda"})

    def __init__(self, config):
        self.marker = getattr(config, "marker", "")

    @pippin.hookimpl
    def build_solver(self, model):
        return Stepping(model, self.marker)

class Crashing(Drifting):
    pass
"""


REFUSING = """
import attrs
import pippin

@attrs.frozen(kw_only=True)
class RefusingConfig:
    implementation = "Refusing"

class Refusing:
    coordinates = "maximal"
    supported_features = dict.fromkeys(("gravity", "rigid_bodies", "free_joints", "rigid_contacts"), "live")

    def __init__(self, config):
        pass

    @pippin.hookimpl
    def build_solver(self, model):
        raise pippin.ConfigError("solver.type: it has no such device")
"""


def selftest(*arguments):
    return CliRunner().invoke(main, ["selftest", "--device", "cpu", "--quick", *map(str, arguments)])


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Return exit code and rows of a test of two planted solvers."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "planted.py").write_text(PLANTED)
    names = [f"{folder}/planted.py:CrashingConfig", f"{folder}/planted.py:DriftingConfig"]
    solvers = [part for name in names for part in ("--solver", name)]
    result = selftest(*solvers, "solver *", "--json", folder / "found.json", "--page", folder / "found.md")
    found = json.loads((folder / "found.json").read_text())
    return result, {(row["group"].rpartition(":")[2], row["check"]): row for row in found["rows"]}, folder / "found.md"


@pytest.mark.slow
def test_a_wrong_result_is_shown_by_array_world_and_step(planted):
    result, rows, page = planted

    row = rows["DriftingConfig", "captured"]
    assert (result.exit_code, row["outcome"]) == (1, "wrong")
    assert re.match(r"body_q\[3, 0\] of world 3 at step 7: \S+ captured, \S+ eager; ", row["detail"])
    assert "**wrong**" in page.read_text()


@pytest.mark.slow  # its fixture takes sixteen seconds
def test_a_solver_that_ends_its_process_ends_none_of_the_other_checks(planted):
    _, rows, _ = planted

    outcomes = {check: row["outcome"] for (group, check), row in rows.items() if group == "CrashingConfig"}
    assert outcomes == {"captured": "failed", "more worlds": "wrong", "reset": "passed"}  # it drifts, too
    assert "signal SIGSEGV" in rows["CrashingConfig", "captured"]["detail"]


@pytest.mark.parametrize("check", ["captured", "free fall"])
def test_a_check_of_a_solver_that_refuses_the_device_is_skipped(check, tmp_path):
    (tmp_path / "refusing.py").write_text(REFUSING)
    name = f"{tmp_path}/refusing.py:RefusingConfig"
    case = Case(group="solver", checks=(check,), device="cpu", is_quick=True, solver=name)

    with pytest.raises(pippin.ConfigError, match="it has no such device"):  # groups.py makes a skipped row of it
        CHECKS[check](case)


def test_a_group_that_is_not_there_is_a_fault_of_the_command_line():
    result = selftest("tusk")

    assert result.exit_code == 2
    assert "no group 'tusk'; did you mean 'task'?" in result.stderr


def test_a_check_that_hangs_is_ended():
    result = selftest("task", "--timeout", "0.01")

    assert result.exit_code == 1
    assert "no answer within 0.01 s" in result.stdout


@pytest.mark.slow
def test_everything_passes_on_this_machine(tmp_path):
    result = selftest("--json", tmp_path / "found.json", "--page", tmp_path / "found.md")

    rows = json.loads((tmp_path / "found.json").read_text())["rows"]
    assert (result.exit_code, [row for row in rows if row["outcome"] in ("wrong", "failed")]) == (0, [])
    assert {row["outcome"] for row in rows if row["group"].startswith("speed")} == {"measured"}
    assert "÷ captured by hand" in (tmp_path / "found.md").read_text()
