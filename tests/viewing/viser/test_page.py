"""The scene of a page, without a browser: contacts are drawn if they are asked for."""

import newton
import numpy as np
import pippin
import pytest
from pippin.conformance import scenes
from pippin.viewing.viser.page import Page
from pippin.viewing.viser.ports import free_port


class Noting(Page):
    """A page that notes the lines that it sends: their ends [m], shape [2, lines, 3]; none if they are hidden."""

    def log_lines(self, name, starts, ends, *args, **options):
        self.lines = getattr(self, "lines", {})
        self.lines[name] = np.zeros((2, 0, 3)) if starts is None else np.array([starts.numpy(), ends.numpy()])
        super().log_lines(name, starts, ends, *args, **options)


@pytest.fixture
def page():
    """A page of a ball of 1 kg that lies on the ground, and its simulation."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_ball(builder, 0.099, mass=1.0, radius=0.1)
    tables = {
        "simulation": {"device": "cpu", "dt": 0.002, "observables": ["contact_f"]},
        "scene": {"ground": True},
        "solver": {"type": "xpbd"},
    }
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        simulation.step(50)
        page = Noting(simulation, [0], free_port(None, "port"), "ball")
        yield page, simulation
        page.close()


def test_contacts_and_forces_are_drawn_while_they_are_asked_for(page):
    page, simulation = page
    page.show(simulation, 0.0)
    before = dict(getattr(page, "lines", {}))
    page.show_contacts = page.show_contact_normals = page.show_contact_forces = True
    page.show(simulation, 0.1)
    drawn = {name: lines for name, lines in page.lines.items() if "contacts" in name}
    page.show_contacts = False
    page.show(simulation, 0.2)

    assert all(lines.shape[1] == 0 for name, lines in before.items() if "contacts" in name)
    assert len(drawn) == 2  # normals and forces
    for starts, ends in drawn.values():
        touching = np.linalg.norm(ends - starts, axis=1) > 1e-3
        np.testing.assert_allclose(starts[touching], [[0.0, 0.0, 0.0]], atol=0.005)
        np.testing.assert_allclose((ends - starts)[touching, :2], 0.0, atol=1e-3)
    assert all(page.lines[name].shape[1] == 0 for name in drawn)
