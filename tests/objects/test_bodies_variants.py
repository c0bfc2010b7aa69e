"""Variants of a body: one of several sets of shapes in each world, which move to the bit as they do alone."""

import numpy as np
import pippin
import pytest
import warp as wp
from pippin.sharding import ShardedSimulation

BALL = {"label": "ball", "shapes": [{"type": "sphere", "radius": 0.1}], "mass": 0.5}
BOX = {"shapes": [{"type": "box", "size": [0.2, 0.3, 0.1]}]}
CLUB = {
    "shapes": [
        {"type": "capsule", "radius": 0.05, "length": 0.2},
        {"type": "sphere", "radius": 0.06, "position": [0.02, 0.0, 0.15]},
    ]
}
VARIANTS = [BALL, BOX, CLUB]
SOLVERS = ["xpbd", "featherstone", "mujoco"]
TILT = [0.2, 0.1, 0.3, 0.9273618495495703]


def scene(worlds=6, solver="xpbd", device="cpu", seed=0, ground=True, **keys):
    """Return the tables of a scene with one object that falls."""
    thing = {"type": "body", "label": "thing", "position": [0.0, 0.0, 0.3], "rotation": TILT, "variants": VARIANTS}
    options = {"use_mujoco_contacts": False} if solver == "mujoco" else {}
    return {
        "simulation": {"device": device, "dt": 0.002, "seed": seed},
        "scene": {"worlds": worlds, "ground": ground, "objects": [thing | keys]},
        "solver": {"type": solver, **options},
    }


def build(**keys):
    return pippin.Simulation(pippin.structure(scene(**keys)))


def alone(variant, **keys):
    """Return a simulation of one world with the shapes of a variant, and nothing else."""
    return build(worlds=1, variants=[], **{key: value for key, value in variant.items() if key != "label"}, **keys)


def poses(simulation, steps=300):
    simulation.step(steps)
    return simulation.state.body_q.numpy()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_world_moves_as_its_object_alone(solver, device):
    with build(solver=solver, device=device) as simulation:
        together, masses = poses(simulation), simulation.model.body_mass.numpy()

    for world in range(6):
        with alone(VARIANTS[world % 3], solver=solver, device=device) as simulation:
            np.testing.assert_array_equal(together[world], poses(simulation)[0])
            assert masses[world] == simulation.model.body_mass.numpy()[0]
    assert len(np.unique(together[:3], axis=0)) == 3


def test_many_worlds_are_built_like_few():
    with build(worlds=300) as simulation:
        many = poses(simulation)
    with build(worlds=3) as simulation:
        few = poses(simulation)

    np.testing.assert_array_equal(many, np.tile(few, (100, 1)))


def chosen(**keys):
    with build(ground=False, **keys) as simulation:
        return simulation.model.body_variant.numpy().tolist()


def test_worlds_choose():
    copies = {"repeat": {"count": [2, 1, 1], "spacing": [1.0, 0.0, 0.0]}}

    assert chosen(worlds=4) == [0, 1, 2, 0]
    assert chosen(worlds=5, choose=[2, 0]) == [2, 0, 2, 0, 2]
    assert chosen(worlds=3, **copies) == [0, 1, 1, 2, 2, 0]
    drawn = chosen(worlds=40, choose="random")
    assert set(drawn) == {0, 1, 2}
    assert chosen(worlds=40, choose="random") == drawn != chosen(worlds=40, choose="random", seed=1)


@pytest.mark.parametrize("choose", ["turn", "random", [2, 0, 1, 1, 0]])
def test_a_shard_has_the_variants_of_its_worlds(choose):
    whole = chosen(worlds=12, choose=choose)
    config = pippin.structure(scene(worlds=12, choose=choose))
    with ShardedSimulation(config, shards=2) as sharded:
        assert sharded.gather("model.body_variant")[:, 0].tolist() == whole


def test_own_shapes_stay_and_masses_add_up():
    handle = {"type": "box", "size": [0.1, 0.1, 0.1], "density": 500.0}
    with build(worlds=3, shapes=[handle]) as simulation:
        masses = simulation.model.body_mass.numpy()
    with build(worlds=3) as simulation:
        without = simulation.model.body_mass.numpy()

    np.testing.assert_allclose(masses - without, 0.5, rtol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_another_variant_while_it_runs(solver):
    """A ball becomes a box, and rests as a box does: the recorded step reads the shapes anew."""
    with build(solver=solver, worlds=2, choose=[0], rotation=[0.0, 0.0, 0.0, 1.0]) as simulation:
        assert poses(simulation, 500)[:, 2] == pytest.approx([0.1, 0.1], abs=3e-3)
        flags = simulation.model.select_body_variants(wp.array([-1, 1], dtype=int, device="cpu"))
        simulation.notify_model_changed(flags)
        assert poses(simulation, 500)[:, 2] == pytest.approx([0.1, 0.05], abs=6e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_checkpoint_has_the_variants(solver, tmp_path):
    with build(solver=solver, worlds=3) as simulation:
        simulation.step(20)
        flags = simulation.model.select_body_variants(wp.array([2, 0, 1], dtype=int, device="cpu"))
        simulation.notify_model_changed(flags)
        simulation.step(20)
        simulation.save(tmp_path / "then")
        expected = poses(simulation, 150)
    with pippin.Simulation.load(tmp_path / "then") as simulation:
        np.testing.assert_array_equal(poses(simulation, 150), expected)
        assert simulation.model.body_variant.numpy().tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"solver": "mujoco-native"}, "does not support body_variants"),
        ({"motion": "static"}, "variants: needs a motion that is not 'static'; leave it out otherwise, got 3 tables"),
        ({"choose": [3]}, r"choose: must have numbers of variants, from 0 to 2: \[3\]"),
        ({"choose": []}, "choose: must name a variant"),
        ({"variants": [], "choose": "random"}, "choose: needs 'variants', of which it chooses"),
        ({"variants": [BOX, {"shapes": [{"type": "plane"}]}]}, r"scene.objects\[0\].variants\[1\].shapes\[0\]"),
        (
            {"variants": [BOX, {"shapes": [{"type": "sphere", "radius": 0.1, "density": 0.0}]}]},
            r"scene.objects\[0\].variants\[1\]: the body has no mass with it",
        ),
        ({"variants": [BALL, BALL]}, r"scene.objects\[0\].variants: two have the label 'ball'"),
        ({"variants": [{"shapes": []}]}, "shapes"),
    ],
)
def test_what_cannot_be_is_refused(keys, told):
    with pytest.raises(pippin.ConfigError, match=told):
        build(**keys)


def test_mujoco_with_contacts_of_its_own_refuses_them():
    tables = scene(solver="mujoco")
    tables["solver"].pop("use_mujoco_contacts")
    with pytest.raises(pippin.ConfigError, match="body_variants"):
        pippin.Simulation(pippin.structure(tables))


def test_rays_meet_the_chosen_shapes_alone():
    """The club has a shape more, whose place is empty in the other worlds, even after it was there."""
    eye = {"type": "body", "label": "eye", "position": [0.0, 0.0, 2.0], "motion": "kinematic"}
    tables = scene(worlds=3, ground=False, rotation=[0.0, 0.0, 0.0, 1.0], position=[0.0, 0.0, 0.0], choose=[2])
    tables["scene"]["objects"].append(eye | {"shapes": [{"type": "box", "size": [0.1] * 3}]})
    tables["scene"]["gravity"] = [0.0, 0.0, 0.0]
    beam = {"type": "ray-caster", "body": "eye", "targets": ["thing/.*"], "moving": True}
    tables["sensors"] = {"beam": beam | {"grid": {"size": [0.0, 0.0], "resolution": 1.0}}}
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        distance = simulation.sensors["beam"].outputs["distance"].data
        simulation.step(1)
        far = 2.0 - (0.15 + np.sqrt(0.06**2 - 0.02**2))
        assert distance.numpy().ravel() == pytest.approx([far] * 3, abs=1e-5)
        flags = simulation.model.select_body_variants(wp.array([0, -1, 1, -1, 2, -1], dtype=int, device="cpu"))
        simulation.notify_model_changed(flags)
        simulation.step(1)
        assert distance.numpy().ravel() == pytest.approx([1.9, 1.95, far], abs=1e-5)


def shown(chosen, later=None, **tables):
    """Return a simulation of one still body that is seen, after a change to another variant."""
    parts = scene(worlds=1, ground=False, rotation=[0.0, 0.0, 0.0, 1.0], choose=[chosen])
    parts["scene"]["gravity"] = [0.0, 0.0, 0.0]
    simulation = pippin.Simulation(pippin.structure(parts | tables))
    simulation.step(1)
    if later is not None:
        flags = simulation.model.select_body_variants(wp.array([later], dtype=int, device="cpu"))
        simulation.notify_model_changed(flags)
        simulation.step(1)
    return simulation


def test_a_camera_sees_the_chosen_shapes_alone():
    """After the club, the ball is seen as if the club had never been there."""
    view = {"position": [1.0, 0.0, 0.3], "look_at": [0.0, 0.0, 0.3], "outputs": ["depth"]}
    sensors = {"eye": {"type": "camera", "width": 48, "height": 48, "vertical_fov": 0.6, **view}}
    images = []
    for chosen, later in ((0, None), (2, 0), (2, None)):
        with shown(chosen, later, sensors=sensors) as simulation:
            images.append(simulation.sensors["eye"].outputs["depth"].numpy().copy())

    np.testing.assert_array_equal(images[1], images[0])
    assert (images[2] != images[0]).any()


@pytest.mark.parametrize("kind", ["video", "usd"])
def test_a_file_shows_a_change_or_tells_it(kind, tmp_path):
    path = {"video": "film.gif", "usd": "film.usda"}[kind]
    parts = scene(worlds=1, ground=False, choose=[2])
    tables = parts | {"viewers": {"film": {"type": kind, "path": path, "rate": 500.0}}}
    with pippin.Simulation(pippin.structure(tables), folder=tmp_path) as simulation:
        simulation.step(2)
        flags = simulation.model.select_body_variants(wp.array([0], dtype=int, device="cpu"))
        simulation.notify_model_changed(flags)
        simulation.step(2)
        notes = " ".join(simulation.viewers["film"].notes)
        assert ("shows the first ones" in notes) == (kind == "usd")
        assert "beside the run" not in notes  # a copy of the process would have the first shapes


def test_a_page_shows_a_change():
    with shown(2, viewers={"page": {"type": "viser"}}) as simulation:
        page = simulation.viewers["page"]._panel.page
        before = sum(len(each.xforms) for each in page._shape_instances.values() if each.xforms is not None)
        flags = simulation.model.select_body_variants(wp.array([0], dtype=int, device="cpu"))
        simulation.notify_model_changed(flags)
        page.show(simulation, 0.0)
        after = sum(len(each.xforms) for each in page._shape_instances.values() if each.xforms is not None)
    assert (before, after) == (2, 1)
