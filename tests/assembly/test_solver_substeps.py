"""Substeps that the host chooses for solvers whose contacts need short steps."""

import newton
import pytest

BOX = {"type": "body", "label": "box", "position": [0.0, 0.0, 0.1]}
BOX |= {"shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "density": 500.0}]}


@pytest.mark.first_cases(2)
@pytest.mark.parametrize(
    ("solver", "ground", "keys", "expected"),
    [
        ("featherstone", True, {}, 16),
        ("featherstone", True, {"dt": 0.0016}, 5),
        ("featherstone", True, {"dt": 0.0003}, 1),
        ("featherstone", True, {"substeps": 2}, 2),
        ("featherstone", False, {}, 1),
        ("xpbd", True, {}, 1),
    ],
)
def test_contacts_choose_the_substeps_that_the_user_does_not(simulate, solver, ground, keys, expected):
    with simulate(objects=[BOX], ground=ground, solver=solver, **keys) as simulation:
        simulation.step()
        dt = simulation.config.simulation.dt
        notes = [note for note in simulation.notes.get("scene", ()) if "simulation.substeps" in note]

        assert simulation.config.simulation.substeps == expected
        assert simulation.solver_dt == pytest.approx(dt / expected)
        assert bool(notes) == (expected > 2)


@pytest.mark.slow
def test_light_legs_hold_with_the_chosen_substeps_alone(simulate):
    """Legs of 70 g on a trunk of 2 kg: with longer steps, contacts throw them."""

    def speed(**keys):
        trunk = newton.ModelBuilder(up_axis=newton.Axis.Z)
        body = trunk.add_link(mass=2.0, inertia=((0.02, 0.0, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, 0.02)))
        joints = [trunk.add_joint_free(child=body)]
        for side in (-0.2, 0.2):
            leg = trunk.add_link()
            trunk.add_shape_capsule(
                leg, radius=0.02, half_height=0.1, cfg=newton.ModelBuilder.ShapeConfig(density=300.0)
            )
            joints.append(
                trunk.add_joint_revolute(body, leg, axis=(0, 1, 0), parent_xform=((side, 0, 0), (0, 0, 0, 1)))
            )
        trunk.add_articulation(joints)
        trunk.joint_q[2] = 0.2
        with simulate(trunk, ground=True, solver="featherstone", **keys) as simulation:
            simulation.step(200)
            return abs(simulation.state.body_qd.numpy()).max()

    assert speed() < 5.0
    assert not speed(substeps=4) < 100.0
