"""The solver of a simulation: what it refuses is told at once, and it knows the length of its steps."""

import newton
import pippin
import pytest


class Engine:
    """Newton's Featherstone, with the lengths of its steps and the faults that it is given."""

    def __init__(self, faults=()):
        self.faults = faults

    @pippin.hookimpl
    def check_model(self, model, collision, dt, substeps):
        assert model.body_count == 1
        assert isinstance(collision, pippin.CollisionConfig)
        self.checked = (dt, substeps)
        return self.faults

    @pippin.hookimpl
    def build_solver(self, model, dt, substeps):
        self.built = (dt, substeps)
        return newton.solvers.SolverFeatherstone(model)


def build(engine, ball):
    tables = {"simulation": {"device": "cpu", "dt": 0.008, "substeps": 4, "accept_unsupported": ["armature"]}}
    return pippin.Simulation(pippin.structure(tables), {"engine": engine}, prototype=ball())


def test_all_faults_are_told_before_the_solver_is_built(ball):
    engine = Engine(("shape: 'ellipsoid' on a plane; use a sphere", "type: no ball joints; use hinges"))

    with pytest.raises(pippin.ConfigError) as caught:
        build(engine, ball)

    assert caught.value.faults == (
        "plugins.engine.shape: 'ellipsoid' on a plane; use a sphere",
        "plugins.engine.type: no ball joints; use hinges",
    )
    assert not hasattr(engine, "built")


def test_a_fault_that_is_not_a_list_is_a_fault_of_the_plugin(ball):
    with pytest.raises(pippin.PluginError, match="check_model returned 'no'; return a sequence of faults"):
        build(Engine("no"), ball)


def test_the_solver_is_built_for_the_length_of_its_steps(ball):
    engine = Engine()
    with build(engine, ball):
        assert engine.checked == engine.built == (0.002, 4)
