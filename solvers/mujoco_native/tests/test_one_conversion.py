"""The build converts the model once, unless worlds differ: a second conversion compiles meshes and kernels anew."""

import newton
import pippin
import pytest
import warp as wp


def arm(height=0.0):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    base = builder.add_link(label="base")
    rod = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)), label="rod")
    builder.add_shape_sphere(base, radius=0.1)
    at = wp.transform((0.0, 0.0, height), wp.quat_identity())
    root = builder.add_joint_fixed(-1, base, parent_xform=at)
    builder.add_articulation([root, builder.add_joint_revolute(base, rod, axis=newton.Axis.Y)])
    return builder


@pytest.mark.parametrize(("heights", "expected"), [([0.3, 0.3], 1), ([0.3, 0.5], 2)])
def test_a_base_at_rest_is_no_reason_for_a_second_conversion(monkeypatch, heights, expected):
    built, original = [], newton.solvers.SolverMuJoCo.__init__
    monkeypatch.setattr(
        newton.solvers.SolverMuJoCo, "__init__", lambda self, *a, **k: (built.append(self), original(self, *a, **k))[1]
    )
    tables = {"simulation": {"device": "cpu"}, "scene": {"worlds": 2}, "solver": {"type": "mujoco-native"}}
    worlds = [(arm(height), 1) for height in heights] if heights[0] != heights[1] else arm(heights[0])
    with pippin.Simulation(pippin.structure(tables), prototype=worlds) as simulation:
        simulation.step(2)
        simulation.reset()
        simulation.step()

        assert len(built) == expected
        assert simulation.state.body_q.numpy()[[0, 2], 2] == pytest.approx(heights)
