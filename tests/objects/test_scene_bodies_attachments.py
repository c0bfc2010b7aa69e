"""Attachments of `[[scene.attachments]]`: particles that bodies hold, their forces, their worlds and errors."""

import numpy as np
import pippin
import pytest

CLOTH = {"type": "cloth-grid", "label": "flag", "cells": [2, 1], "cell": [0.1, 0.1], "particle_mass": 0.1}
CLOTH |= {"particle_radius": 0.01, "edge_ke": 0.0, "position": [0.0, 0.0, 1.0], "tri_ke": 1e3, "tri_ka": 1e3}
PULLEY = {"type": "body", "label": "crate", "mass": 1.0, "shapes": [{"type": "sphere", "radius": 0.02}]}
CRATE = {**PULLEY, "position": [0.0, 0.0, 1.0], "joint": {"type": "prismatic", "axis": [0.0, 0.0, 1.0]}}
EDGE = {"particles": {"of": "flag", "edge": "left"}, "body": "crate"}


def build(*attachments, solver="vbd", worlds=1, objects=(CLOTH, CRATE), device="cpu"):
    tables = {
        "simulation": {"device": device, "dt": 0.002},
        "scene": {"objects": list(objects), "worlds": worlds, "attachments": list(attachments)},
        "solver": {"type": solver},
        "collision": {"soft_contact_mu": 0.0},
    }
    return pippin.Simulation(pippin.structure(tables))


def test_attached_particles_keep_their_places_on_the_body_in_every_world(device):
    with build(EDGE, worlds=2, device=device) as simulation:
        simulation.step(50)
        simulation.reset([1])
        held = simulation.state.particle_q.numpy().reshape(2, 2, 3, 3)[:, :, 0]
        crates = simulation.state.body_q.numpy()[:, :3]
        fallen = 1.0 - crates[:, 2]

    assert fallen == pytest.approx([9.81 * 0.1**2 / 2, 0.0], rel=0.03)
    np.testing.assert_allclose(held - crates[:, None], [[[0.0, 0.0, 0.0], [0.0, 0.1, 0.0]]] * 2, atol=1e-3)


def test_a_point_and_a_stiffness_carry_the_weight_of_the_body():
    """A crate of 1 kg hangs from a pinned corner by 500 N/m, critically damped: m g / k below its point."""
    corner = {"particles": {"of": "flag", "corner": "top-left"}, "body": "crate", "point": [0.0, 0.1, 0.05]}
    pinned = {**CLOTH, "pin": [{"corner": "top-left"}]}
    with build({**corner, "stiffness": 500.0, "damping": 45.0}, objects=(pinned, CRATE)) as simulation:
        simulation.step(400)
        height = float(simulation.state.body_q.numpy()[0, 2])

    assert height == pytest.approx(1.0 - 0.05 - 9.81 / 500.0, abs=5e-4)


@pytest.mark.slow
def test_an_attachment_survives_a_checkpoint(tmp_path):
    with build(EDGE) as whole:
        whole.step(10)
        whole.save(tmp_path / "flag.npz")
        whole.step(10)
        expected = whole.state.particle_q.numpy()
    with pippin.Simulation.load(tmp_path / "flag.npz") as resumed:
        resumed.step(10)
        np.testing.assert_array_equal(resumed.state.particle_q.numpy(), expected)


def test_an_attachment_to_an_object_of_another_world_is_left_out_there():
    with build(EDGE, worlds=2, objects=(CLOTH, {**CRATE, "worlds": [1]})) as simulation:
        assert simulation.model.attachment_particle_body_world.numpy().tolist() == [1, 1]


@pytest.mark.parametrize(
    ("attachment", "fault"),
    [
        ({**EDGE, "body": "crat"}, r"attachments\[0\]\.body: no body 'crat'; did you mean 'crate'"),
        ({**EDGE, "particles": {"of": "flak"}}, r"attachments\[0\]\.particles\.of: .*'flak'.*flag"),
        ({**EDGE, "particles": {"of": "flag", "index": [9]}}, r"\.particles in 'flag'\.index: 9, but the object has 6"),
        ({**EDGE, "damping": 1.0}, r"attachments\.0\.damping: needs a 'stiffness'"),
        ({**EDGE, "stiffness": 0.0}, r"attachments\.0\.stiffness: "),
    ],
)
def test_a_wrong_attachment_is_refused_by_its_key(attachment, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        build(attachment)


def test_a_solver_without_attachments_refuses_them_with_a_cure():
    with pytest.raises(pippin.ConfigError, match=r"'semi-implicit' does not support attachments .* `pin`; .*'vbd'"):
        build(EDGE, solver="semi-implicit")
