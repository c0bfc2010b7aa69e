"""The kit finds solvers that are wrong around each step: by trees beside the equations of motion, and by matter beside
itself, moved and turned.
"""

import newton
import numpy as np
import pytest
from pippin_conformance import Conformance, relations
from pippin_conformance.plugin_under_test import PluginUnderTest
from pippin_conformance.tree_relations import TREE_RELATIONS
from pippin_conformance.trees import TREES, errors_of_trees

from tests.mutants import listed, matter, physics

FOUND = {
    "body_com lost (roots)": "tree_hinges",
    "joint_X_c not moved (world 3)": "tree_hinges",
    "joint_f lost (ball)": "tree_balls",
    "joint_armature 0.7 times (children)": "tree_armature",
    "joint_damping copied at the first step": "tree_damping",
    "joint_target_ke of the world before": "tree_drives",
    "body_f swapped (free)": "tree_a_free_body",
    "gravity z alone": "tree_hinges",
    "dt is 2 ms": "tree_hinges",
    "velocities damped (prismatic)": "tree_sliders",
    "leak of world 3 into 4": "isolation",
    "leak of world 1 into 0": "isolation",
    "joint_limit_upper 0.7 times": "tree_limits",
    "joint_X_p turned back (d6)": "tree_joints_of_two_axes",
}
"""A check that finds each mutant."""


OF_MATTER = {
    "contact forces act along x alone": "rotate",
    "drag to the left": "mirror",
    "gravity by the world": "worlds",
    "contact forces grow with height": "translate",
    "contact forces grow with the index": "permute",
    "gravity along z alone": "turn",
    "sites that weigh": "site",
    "contact forces are strong along x": "rotate",
    "other forces grow along x": "translate",
    "drag of every other": "permute",
    "gravity by the number of worlds": "worlds",
    "places on a grid of wide worlds": "far",
}
"""A relation that each solver with wrong particles breaks."""


ALONE = {
    "places on a grid of wide worlds": "far",
    "gravity of the earth": "scale",
    "fixed joints that do not turn": "split",
    "velocities damped by each step": "reverse",
}
"""The one relation that each of some wrong solvers breaks."""


def missing(*arguments, **options):
    raise ValueError("no springs here")


@pytest.fixture
def kit():
    return Conformance("solver", "featherstone")


@pytest.mark.first_cases(3)
@pytest.mark.parametrize("name", FOUND)
def test_a_solver_with_a_wrong_number_is_found(kit, name):
    with physics.mutated(physics.mutants()[name]):
        result = kit.run(FOUND[name])

    assert result.outcome == "failed"
    text = "changed " if FOUND[name] == "isolation" else "does not move as the equations of motion say, however short"
    assert text in result.reason


def test_friction_that_is_wrong_in_one_world_is_found(kit):
    with physics.mutated(physics.mutants()["shape_material_mu 0.7 times (world 3)"]):
        result = kit.run("model_changes")

    assert result.outcome == "failed"
    assert "m/s after 0.1 s, expected one of 0.4 to 0.75, and 0.9 to 1" in result.reason


@pytest.mark.parametrize("name", ["body_f", "joint_f", "joint_target_q", "joint_target_qd"])
def test_an_input_that_acts_a_step_late_is_found(kit, name):
    with physics.mutated(physics.mutants()[f"{name} a step late"]):
        result = kit.run("delay")

    assert result.outcome == "failed"
    assert f"{name} was set to " in result.reason


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("name", listed.LISTED)
def test_a_wrong_solver_that_was_listed_is_found(kit, name):
    with physics.mutated(listed.listed()[name]):
        result = kit.run(listed.LISTED[name][1])

    assert result.outcome == "failed"


def test_a_solver_of_first_order_moves_as_the_equations_say():
    """At a quarter of the step, half of what halving the step takes away is left, or more where limits begin."""
    errors = errors_of_trees(PluginUnderTest(kind="solver", name="featherstone"))

    assert list(errors) == list(TREES)
    assert {name: error.share for name, error in errors.items() if not 0.05 < error.share < 0.3} == {}


def test_a_tree_that_a_solver_refuses_by_name_is_no_failure():
    result = Conformance("solver", "kamino", dt=0.004, config={"max_contacts_per_world": 64}).run(
        "tree_a_joint_of_two_axes"
    )

    assert result.outcome == "not applicable"
    assert "it refuses such a tree: solver.type: 'kamino' has no joint" in result.reason


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("name", OF_MATTER)
def test_a_solver_with_wrong_particles_breaks_a_relation(kit, name):
    with physics.mutated(matter.mutants()[name]):
        result = kit.run(f"relation_{OF_MATTER[name]}")

    assert result.outcome == "failed"
    assert f"matter that is {relations.RELATIONS[OF_MATTER[name]].expectation} has to move as before" in result.reason
    assert "m beside its place" in result.reason


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("name", ALONE)
def test_one_relation_alone_finds_a_wrong_solver(kit, name):
    with physics.mutated(matter.mutants()[name]):
        results = {relation: kit.run(f"relation_{relation}") for relation in (*relations.RELATIONS, *TREE_RELATIONS)}

    broken = {relation: result.reason for relation, result in results.items() if result.outcome == "failed"}
    assert list(broken) == [ALONE[name]], broken
    assert "has to move as before, but " in broken[ALONE[name]]


def of_pair(names, change, pair):
    """Return a mutant that sees arrays of contacts otherwise, where the two shapes are of a pair of kinds."""
    kinds = {int(newton.GeoType[kind]) for kind in pair}

    def step(true, before, after, control, contacts, dt):
        types = true.__self__.model.shape_type.numpy()
        arrays = [getattr(contacts, f"rigid_contact_{name}").numpy() for name in names.split()]
        shapes = [getattr(contacts, f"rigid_contact_shape{side}").numpy() for side in "01"]
        rows = np.array([one >= 0 and {types[one], types[other]} == kinds for one, other in zip(*shapes, strict=True)])
        kept = [values.copy() for values in arrays]
        for values in arrays:
            values[rows] = change(values[rows])
        true(before, after, control, contacts, dt)
        for values, true_ones in zip(arrays, kept, strict=True):
            values[...] = true_ones

    return physics.Mutant(name="", owner="step", step=step)


WRONG_PAIRS = {
    "lost": ("shape0 shape1", lambda shapes: 0 * shapes - 1, "the contact gave "),
    "turned round": ("normal", np.negative, "the contact gave "),
    "at 3 cm from its place": ("point0 point1", lambda points: points + 0.03 * np.eye(3)[0], "the torque is "),
}
"""The arrays of contacts that are wrong, how, and what the kit says."""


@pytest.mark.first_cases(3)
@pytest.mark.parametrize("pair", [("BOX", "CAPSULE"), ("HFIELD", "CONE"), ("MESH", "SPHERE")])
@pytest.mark.parametrize("wrong", WRONG_PAIRS)
def test_one_pair_of_shapes_that_is_wrong_is_found(kit, wrong, pair):
    names, change, text = WRONG_PAIRS[wrong]
    support, kind = ({"HFIELD": "heightfield"}.get(name, name.lower()) for name in pair)
    with physics.mutated(of_pair(names, change, pair)):
        result = kit.run(f"pair_{support}")

    assert result.outcome == "failed"
    assert f"{kind} on {support}: " in result.reason
    assert text in result.reason
    assert result.reason.count(" on ") == 1, result.reason


def loops_unturned(model, values, memory):
    """Return the frames of joints without the rotations of those that close loops."""
    found = values.copy()
    found[model.joint_articulation.numpy() < 0, 3:] = 0.0, 0.0, 0.0, 1.0
    return found


def test_a_loop_that_turns_what_it_ties_is_found_by_a_drawn_loop_alone():
    mutant = physics.Mutant(name="loops unturned", owner="model", array="joint_X_p", change=loops_unturned)
    with physics.mutated(mutant, "xpbd"):
        kit = Conformance("solver", "xpbd")
        results = {name: kit.run(name) for name in ("feature_loop_joints", *map("relation_{}".format, TREE_RELATIONS))}

    assert [name for name, result in results.items() if result.outcome == "failed"] == ["relation_loop"]
    assert "halves that a joint outside of it ties, has to move as before, but " in results["relation_loop"].reason


def test_each_relation_is_broken_by_a_wrong_solver():
    assert set(OF_MATTER.values()) == set(relations.RELATIONS)
    assert {*ALONE.values(), "loop"} - {"far"} == set(TREE_RELATIONS)


def test_relations_need_matter_that_is_declared(kit):
    wanted = relations.matter_for(kit.subject.features)

    assert set(relations.MATTER) - set(wanted) == {"grains that meet"}
    assert relations.matter_for({"revolute_joints", "triangles"}) == []


def test_a_copy_that_a_solver_refuses_is_a_failure_that_names_the_matter(kit, monkeypatch):
    monkeypatch.setattr(newton.ModelBuilder, "add_spring", missing)
    faults = relations.errors_of_relations(kit.subject)

    assert set(faults.values()) == {"springs fails: no springs here"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["contact forces act along x alone", "contact forces grow with height"])
def test_nothing_but_relations_finds_what_no_formula_says(name):
    assert not physics.let_pass(matter.mutants()[name], without=("relation_*", *matter.EAGER))
