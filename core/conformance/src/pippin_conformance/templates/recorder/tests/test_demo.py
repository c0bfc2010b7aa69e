"""Tests of this recorder's files."""

import numpy as np
import pippin
import pippin_conformance as conformance
import pytest


@conformance.parametrize(conformance.Conformance("reader", "demo"))
def test_its_reader_keeps_the_contract(check):
    check()


@pytest.fixture
def height(simulate, tmp_path):
    """Height of a box after three steps, which are recorded in `table.demo`."""
    with simulate(tmp_path, recorders={"table": {"type": "demo", "series": ["joint_q"]}}) as simulation:
        simulation.step(3)
        return simulation.state.joint_q.numpy()[2]


def test_it_writes_a_row_for_each_step(height, tmp_path):
    table = np.genfromtxt(tmp_path / "table.demo", delimiter=",", skip_header=1, names=True, deletechars="")
    np.testing.assert_allclose(table["time"], [0.01, 0.02, 0.03])
    np.testing.assert_allclose(table["joint_q[2]"][-1], height, rtol=1e-5)


def test_a_file_that_was_cut_off_has_its_whole_rows(height, tmp_path):
    file = tmp_path / "table.demo"
    file.write_bytes(file.read_bytes()[:-9])

    with pippin.Run(tmp_path) as run:
        np.testing.assert_allclose(run.time, [0.01, 0.02])
