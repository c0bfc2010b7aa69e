"""Tests of the contract of every recorder, and of this one's files."""

import newton
import numpy as np
import pippin
from pippin import conformance


@conformance.parametrize(conformance.Conformance("recorder", "demo"))
def test_it_keeps_the_contract(check):
    check()


@conformance.parametrize(conformance.Conformance("reader", "demo"))
def test_its_reader_keeps_the_contract(check):
    check()


def fall(folder):
    """Record three steps of a body that falls into `table.demo`, and return its height at the end."""
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_body(label="kite", mass=1.0, inertia=np.eye(3), xform=((0.0, 0.0, 2.0), (0.0, 0.0, 0.0, 1.0)))
    config = pippin.structure(
        {
            "simulation": {"dt": 0.01, "device": "cpu"},
            "solver": {"type": "semi-implicit"},
            "recorders": {"table": {"type": "demo", "series": ["joint_q"]}},
        }
    )
    with pippin.Simulation(config, prototype=builder, folder=folder) as simulation:
        simulation.step(3)
        return simulation.state.joint_q.numpy()[2]


def test_it_writes_a_row_for_each_step(tmp_path):
    height = fall(tmp_path)

    table = np.genfromtxt(tmp_path / "table.demo", delimiter=",", skip_header=1, names=True, deletechars="")
    np.testing.assert_allclose(table["time"], [0.01, 0.02, 0.03])
    np.testing.assert_allclose(table["joint_q[2]"][-1], height, rtol=1e-5)


def test_a_file_that_was_cut_off_has_its_whole_rows(tmp_path):
    fall(tmp_path)
    file = tmp_path / "table.demo"
    file.write_bytes(file.read_bytes()[:-9])

    with pippin.Run(tmp_path) as run:
        np.testing.assert_allclose(run.time, [0.01, 0.02])
