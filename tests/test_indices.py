"""Every argument that chooses worlds or rows: indices and their mask mean the same, and what names none is refused."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin_conformance import scenes
from pippin_isaac import ArticulationActuators

torch = pytest.importorskip("torch")

FACADE = ArticulationActuators(".*")
CHOSEN, COUNT = [0, 2], 4
MASK = [True, False, True, False]
SAME = {
    "list": CHOSEN,
    "numpy": np.array(CHOSEN),
    "warp": wp.array(CHOSEN, dtype=wp.int64, device="cpu"),
    "torch": torch.tensor(CHOSEN),
    "mask": MASK,
    "numpy mask": np.array(MASK),
    "warp mask": wp.array(MASK, dtype=bool, device="cpu"),
    "torch mask": torch.tensor(MASK),
}
WRONG = {
    "4 is not a ": [0, 4],
    "-2 is not a ": [-2],
    "expected integers or booleans, got float": np.array([1.9]),
    r"expected a mask of shape \[4\], got \[2\]": [True, False],
    "mixes indices and booleans": [True, 2],
}


@pytest.fixture(scope="module")
def simulation():
    """Four worlds with a hinged chain that a group drives."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_chain(builder, [0.3], length=0.5)
    config = pippin.structure({
        "simulation": {"device": "cpu", "dt": 0.002, "observables": ["contact_f"]},
        "scene": {"worlds": COUNT},
        "solver": {"type": "xpbd"},
        "actuators": {"legs": {"type": "pd", "joints": [".*"], "kp": 1.0, "kd": 0.0}},
    })  # fmt: skip
    with pippin.Simulation(config, [FACADE], prototype=builder) as built:
        yield built


def reset(simulation, worlds):
    simulation.view.articulations("**").set_dof_positions(0.7)
    simulation.reset(worlds)
    return simulation.state.joint_q.numpy() != np.float32(0.7)


def invalidate(simulation, worlds):
    before = simulation.state.body_q.numpy().copy()
    simulation.state.joint_q.fill_(float(simulation.state.joint_q.numpy()[0]) + 0.1)
    simulation.invalidate("joints", worlds)
    changed = (simulation.state.body_q.numpy() != before).reshape(COUNT, -1).any(axis=1)
    simulation.reset()
    return changed


def parameter(simulation, worlds):
    group = simulation.actuators["legs"]
    group.set("kp", 1.0)
    group.set("kp", 50.0, worlds)
    return group.get("kp").numpy()[:, 0] == 50.0


def feedforward(simulation, worlds):
    FACADE.set_dof_feedforward_effort_targets(0.0)
    FACADE.set_dof_feedforward_effort_targets(3.0, indices=worlds)
    return simulation.actuators["legs"].feedforward.numpy()[:, 0] == 3.0


def gravity(simulation, worlds):
    simulation.view.set_gravity((0.0, 0.0, -9.81))
    simulation.view.set_gravity((0.0, 0.0, -1.0), worlds)
    return simulation.view.gravity[:, 2] == -1.0


def rows(simulation, worlds):
    view = simulation.view.articulations("**")
    view.set_dof_forces(0.0)
    view.set_dof_forces(1.0, indices=worlds)
    return view.get_dof_forces().numpy()[:, 0] == 1.0


def selected(kind):
    def select(simulation, worlds):
        view = getattr(simulation.view, kind)("**", worlds=worlds)
        return np.isin(np.arange(COUNT), view.world_ids)

    return select


ENTRIES = {each.__name__: each for each in (reset, invalidate, parameter, feedforward, gravity, rows)}
ENTRIES |= {kind: selected(kind) for kind in ("articulations", "rigid_bodies", "contacts")}


@pytest.mark.parametrize("entry", ENTRIES)
def test_indices_and_their_mask_choose_the_same(simulation, entry):
    for name, worlds in SAME.items():
        assert ENTRIES[entry](simulation, worlds).tolist() == MASK, name


@pytest.mark.parametrize("entry", ENTRIES)
def test_what_chooses_nothing_known_is_refused(simulation, entry):
    for message, worlds in WRONG.items():
        with pytest.raises(pippin.ConfigError, match=message):
            ENTRIES[entry](simulation, worlds)


def test_indices_of_a_prototype_stay_within_its_world(simulation):
    with pytest.raises(pippin.ConfigError, match="world_indices: prototype 0: 1 is not a body; there are 1"):
        simulation.world_indices("body", [1])
