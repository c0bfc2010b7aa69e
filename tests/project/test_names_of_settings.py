"""Settings have Newton's names where Newton has them, and one meaning each: see the decision of that name."""

import dataclasses
import inspect
from collections import defaultdict

import attrs
import newton
import pytest
from pippin.catalog.entries import Catalog

CATALOG = Catalog.installed()
NEWTONS = {
    "featherstone": newton.solvers.SolverFeatherstone,
    "implicit-mpm": newton.solvers.SolverImplicitMPM,
    "kamino": newton.solvers.SolverKamino,
    "mujoco": newton.solvers.SolverMuJoCo,
    "mujoco-native": newton.solvers.SolverMuJoCo,
    "semi-implicit": newton.solvers.SolverSemiImplicit,
    "steel": newton.solvers.SolverSteel,
    "style3d": newton.solvers.SolverStyle3D,
    "vbd": newton.solvers.SolverVBD,
    "xpbd": newton.solvers.SolverXPBD,
}
"""The solver of Newton that gets the settings of a plugin."""

FOREIGN = ("drake", "motrix", "physx", "pinocchio")
"""Solvers of engines that Newton does not know."""

OWN = {
    "implicit-mpm": {"project_outside_colliders"},
    "kamino": {"max_contacts_per_world"},  # of Newton's pipeline, as of Kamino's own detector
    "mujoco-native": {"environment", "threads", "timeout"},
    "semi-implicit": {"disable_particle_contacts"},
    "vbd": {
        "owns_collision_pipeline",
        "particle_rebuild_bvh",
        # Newton's collision_frequency and collision_frequency_type, one for each kind of contact
        *(f"{kind}_collision_frequency{rest}" for kind in ("particle", "rigid") for rest in ("", "_type")),
    },
    "xpbd": {"disable_particle_contacts"},
}
"""Settings that Pippin adds."""

FORMS = {
    "bodies",  # patterns, or a selection of links of objects
    "effort_limit",  # the solver's own limit is not drawn anew in each episode
    "friction",  # a number, or the law of a servo's gears
    "kd",
    "kp",  # of six directions
    "velocity_limit",  # a DC motor has to have one
}
"""Names with one meaning in two forms."""


def of_newton(solver):
    names = set(inspect.signature(solver.__init__).parameters)
    config = getattr(solver, "Config", None)
    return names | ({field.name for field in dataclasses.fields(config)} if config else set())


def test_every_solver_is_compared_with_one_of_newtons():
    assert set(CATALOG.names("solver")) - {"coupled", *FOREIGN} == NEWTONS.keys()


@pytest.mark.parametrize("name", NEWTONS)
def test_a_solver_has_the_names_of_newton(name):
    fields = {field.name for field in attrs.fields(CATALOG.find("solver", name).load_config())}

    assert fields - of_newton(NEWTONS[name]) == OWN.get(name, set())


def test_a_name_of_actuators_and_sensors_has_one_type():
    types = defaultdict(set)
    for kind in ("actuator", "sensor"):
        for name in CATALOG.names(kind):
            for field in attrs.fields(attrs.resolve_types(CATALOG.find(kind, name).load_config())):
                types[field.name].add(str(field.type))

    assert {name for name, found in types.items() if len(found) > 1} == FORMS
