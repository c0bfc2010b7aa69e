"""Channels of cloth, soft bodies, granular matter and cables, by object."""

import numpy as np
import pippin
import pytest
from pippin.recording.channels import channels
from pippin.recording.reading import Recording

CLOTH = {"type": "cloth-grid", "label": "flag", "cells": [4, 2], "cell": [0.1, 0.2], "density": 0.5}
CLOTH |= {"particle_radius": 0.02, "spring_ke": 10.0, "velocity": [0.1, 0.0, 0.0]}
BLOCK = {"type": "soft-grid", "label": "block", "cells": [2, 1, 1], "cell": [0.1, 0.1, 0.1], "density": 1e3}
BLOCK |= {"k_mu": 1e4, "k_lambda": 1e4, "particle_radius": 0.02, "position": [0.0, 1.0, 0.0]}
SAND = {"type": "granular", "label": "sand", "size": [0.2, 0.1, 0.1], "spacing": 0.05, "density": 2000.0}
SAND |= {"position": [0.0, 2.0, 0.0], "repeat": {"count": [2, 1, 1], "spacing": [1.0, 0.0, 0.0]}}
ROD = {"type": "rod", "label": "cable", "end": [0.4, 0.0, 0.0], "segments": 4, "radius": 0.01}
ROD |= {"position": [0.0, -1.0, 1.0]}
SIZES = {"sand_0": 5 * 3 * 3, "sand_1": 5 * 3 * 3, "flag": 5 * 3, "block": 3 * 2 * 2}
"""Particles of each object, in the order of the scene."""


def tables(*objects, solver="xpbd", worlds=3, **others):
    accepted = ["triangles", "bending"] if solver == "xpbd" else []
    return {
        "simulation": {"device": "cpu", "dt": 0.002, "accept_unsupported": accepted},
        "scene": {"objects": list(objects), "worlds": worlds},
        "solver": {"type": solver, **({"disable_particle_contacts": True} if solver == "xpbd" else {})},
        **others,
    }


@pytest.mark.parametrize("worlds", [[0], [2, 1], [0, 2]])
def test_each_object_of_particles_has_its_own_channels(worlds):
    with pippin.Simulation(pippin.structure(tables(SAND, CLOTH, BLOCK))) as simulation:
        simulation.step(2)
        usual = channels(simulation, worlds)
        found = {each.name: each for each in channels(simulation, worlds, ["particle_qd", "objects/.*"])}
        state = {name: getattr(simulation.state, f"particle_{name}").numpy().reshape(3, -1, 3) for name in ("q", "qd")}

    whole = {f"objects/{label}/{name}" for label in SIZES for name in ("centroid", "extent", "largest_speed")}
    assert {each.name for each in usual} == whole  # particles are heavy, and recorded if they are asked for
    assert (
        set(found) == {"particle_qd", *(f"objects/{label}/{name}" for label in SIZES for name in ("q", "qd"))} | whole
    )
    first = 0
    for label, size in SIZES.items():
        for name, values in state.items():
            channel = found[f"objects/{label}/{name}"]
            np.testing.assert_array_equal(channel.numpy(), values[worlds, first : first + size])
            assert (channel.units, channel.frame) == (("m" if name == "q" else "m/s",), "world")
        q, qd = (state[name][worlds, first : first + size] for name in ("q", "qd"))
        assert_whole(found, label, q, np.linalg.norm(qd, axis=2).max(axis=1))
        first += size
    np.testing.assert_array_equal(found["particle_qd"].numpy(), state["qd"][worlds])


def assert_whole(found, label, q, speed):
    """Compare the channels of an object as a whole with its particles, shape [worlds, particles, 3]."""
    np.testing.assert_allclose(found[f"objects/{label}/centroid"].numpy(), q.mean(axis=1), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found[f"objects/{label}/extent"].numpy(), np.ptp(q, axis=1), atol=1e-6)
    np.testing.assert_allclose(found[f"objects/{label}/largest_speed"].numpy(), speed, rtol=1e-5)


def test_a_cable_has_channels_of_its_segments():
    with pippin.Simulation(pippin.structure(tables(CLOTH, ROD, solver="vbd", worlds=2))) as simulation:
        simulation.step(2)
        found = {each.name: each for each in channels(simulation, [1], ["objects/cable/.*"])}
        for name in ("q", "qd"):
            values = getattr(simulation.state, f"body_{name}").numpy().reshape(2, 4, -1)
            np.testing.assert_array_equal(found[f"objects/cable/{name}"].numpy(), values[1:])
        q, qd = (getattr(simulation.state, f"body_{name}").numpy().reshape(2, 4, -1)[1:, :, :3] for name in ("q", "qd"))
        assert_whole(found, "cable", q, np.linalg.norm(qd, axis=2).max(axis=1))


@pytest.mark.parametrize(("recorder", "suffix"), [("npz", "npz"), ("hdf5", "h5"), ("mcap", "mcap")])
def test_a_recording_of_cloth_reads_back_what_the_state_was(recorder, suffix, tmp_path):
    path = tmp_path / f"cloth.{suffix}"
    table = {"log": {"type": recorder, "path": str(path), "series": ["objects/flag/.*"], "worlds": [0, 2]}}
    rows = []
    with pippin.Simulation(pippin.structure(tables(CLOTH, recorders=table))) as simulation:
        for _ in range(3):
            simulation.step(1)
            rows.append(simulation.state.particle_q.numpy().reshape(3, -1, 3)[[0, 2]].copy())
    with Recording(path) as recording:
        np.testing.assert_array_equal(recording["objects/flag/q"][-3:], np.array(rows))
        assert recording["objects/flag/qd"].shape[1:] == (2, 15, 3)
