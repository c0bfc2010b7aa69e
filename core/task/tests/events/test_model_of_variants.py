"""The event `variants`: other shapes at resets, in the worlds that are reset, known to the solver within the step."""

import numpy as np
import pippin
import pytest

WORLDS = 24
BALL = {"label": "ball", "shapes": [{"type": "sphere", "radius": 0.1}]}
BOX = {"label": "box", "shapes": [{"type": "box", "size": [0.2, 0.2, 0.1]}]}
TALL = {"label": "tall box", "shapes": [{"type": "box", "size": [0.2, 0.2, 0.3]}]}
HEIGHTS = np.array([0.1, 0.05, 0.15])


def build(
    event, solver="xpbd", variants=(BALL, BOX, TALL), plain=False, events=(), recorders=None, folder=None, **simulation
):
    thing = {"type": "body", "label": "thing", "position": [0.0, 0.0, 0.16], "variants": list(variants)}
    of = {"type": "body-variants", "bodies": ["thing"]}
    if plain:
        thing |= {"variants": [], "shapes": BOX["shapes"]}
        of["type"] = "body-positions"
    tables = {
        "simulation": {"device": "cpu", "dt": 0.002, **simulation},
        "scene": {"worlds": WORLDS, "ground": True, "objects": [thing]},
        "solver": {"type": solver} | ({"use_mujoco_contacts": False} if solver == "mujoco" else {}),
        "task": {"events": {"shape": {"type": "variants", "bodies": ["thing"], **event}, **dict(events)}},
    }
    tables["task"]["observations"] = {"policy": {"which": {"of": of}}}
    if recorders is not None:
        tables["recorders"] = recorders
    return pippin.Simulation(pippin.structure(tables), folder=folder)


def now(simulation):
    return simulation.model.body_variant.numpy().copy()  # not a view


@pytest.mark.parametrize("solver", ["xpbd", "mujoco"])
@pytest.mark.parametrize("capture", ["auto", "off"])
def test_a_reset_draws_and_the_bodies_rest_on_what_they_got(solver, capture):
    with build({}, solver, capture=capture) as simulation:
        simulation.reset()
        before = now(simulation)
        assert set(before.tolist()) == {0, 1, 2}
        simulation.step(200)
        np.testing.assert_allclose(simulation.state.body_q.numpy()[:, 2], HEIGHTS[before], atol=6e-3)

        simulation.reset([3, 4, 5, 6, 7, 8])
        after = now(simulation)
        others = np.delete(np.arange(WORLDS), np.arange(3, 9))
        np.testing.assert_array_equal(after[others], before[others])
        assert (after != before).any()
        simulation.step(200)
        np.testing.assert_allclose(simulation.state.body_q.numpy()[:, 2], HEIGHTS[after], atol=6e-3)


def test_variants_are_chosen_by_their_labels():
    with build({"variants": [".*box"]}) as simulation:
        simulation.reset()
        assert set(now(simulation).tolist()) == {1, 2}


def test_a_policy_sees_which_one_it_is():
    with build({}) as simulation:
        simulation.reset()
        simulation.step(1)
        seen = simulation.component("task").observations["policy"]
        assert list(seen.labels) == ["which/thing/ball", "which/thing/box", "which/thing/tall box"]
        np.testing.assert_array_equal(seen.values.numpy(), np.eye(3)[now(simulation)])


def test_a_recording_tells_it(tmp_path):
    with build({}, recorders={"log": {"type": "npz", "worlds": "0:4"}}, folder=tmp_path) as simulation:
        simulation.reset()
        simulation.step(3)
        before = now(simulation)[:4]
        simulation.reset()
        simulation.step(3)
        after = now(simulation)[:4]
    recorded = pippin.Run(tmp_path)["body_variant"].values
    np.testing.assert_array_equal(recorded[1, :, 0], before)
    np.testing.assert_array_equal(recorded[-1, :, 0], after)
    assert (before != after).any()


def test_a_draw_belongs_to_its_seed():
    def drawn(seed):
        with build({}, seed=seed) as simulation:
            simulation.reset()
            return now(simulation).tolist()

    assert drawn(0) == drawn(0) != drawn(1)


def test_at_the_start_they_are_drawn_once():
    with build({"when": "startup"}) as simulation:
        first = now(simulation)
        simulation.reset()
        np.testing.assert_array_equal(now(simulation), first)
    assert set(first.tolist()) == {0, 1, 2}


def test_an_episode_begins_with_the_built_ones_if_they_change_within_it():
    with build({"when": "interval", "period": [0.02, 0.03]}) as simulation:
        built = np.arange(WORLDS) % 3
        simulation.reset()
        np.testing.assert_array_equal(now(simulation), built)
        simulation.step(20)
        assert (now(simulation) != built).any()
        simulation.reset()
        np.testing.assert_array_equal(now(simulation), built)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"event": {}, "plain": True}, "events.shape.bodies: 'thing' has no variants; give its object 'variants'"),
        (
            {"event": {"variants": ["cone"]}},
            "events.shape.variants: no variant matches 'cone'; variants: ball, box, tall box",
        ),
        (
            {"event": {}, "events": {"load": {"type": "mass", "bodies": ["thing"], "scale": [0.5, 1.0]}}},
            "changes the mass of 'thing' already",
        ),
    ],
)
def test_what_cannot_be_is_refused(keys, told):
    with pytest.raises(pippin.ConfigError, match=told):
        build(**keys)
