"""Values that nothing can have are refused in a scene, as by setters."""

import newton
import pippin
import pytest
import warp as wp
from pippin.assembly.faults import refuse_values

NAN = float("nan")


def model(shape=None, position=0.1, mass=1.0, **options):
    """Return a finalized hinge `hinge` with a link `link` that has a sphere `ball`."""
    builder = newton.ModelBuilder()
    link = builder.add_link(label="link", mass=mass, inertia=wp.diag(wp.vec3(0.1)))
    builder.add_shape_sphere(link, radius=0.1, label="ball", cfg=newton.ModelBuilder.ShapeConfig(**(shape or {})))
    builder.add_articulation([builder.add_joint_revolute(-1, link, label="hinge", **options)])
    builder.joint_q[0] = position
    return builder.finalize(device="cpu", skip_all_validations=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"limit_lower": 1.0, "limit_upper": -1.0},
            r"limits of 'hinge': expected lowest <= highest, got \[1\.0, -1\.0\]",
        ),
        ({"target_ke": -5.0}, r"joint_target_ke of 'hinge': expected a number >= 0, got -5\.0; correct the scene"),
        ({"target_kd": NAN}, "joint_target_kd of 'hinge': expected finite numbers, got nan"),
        ({"armature": -1.0}, "joint_armature of 'hinge': expected a number >= 0"),
        ({"effort_limit": NAN}, "joint_effort_limit of 'hinge': expected a number >= 0, got nan"),
        ({"position": NAN}, "joint_q of 'hinge': expected finite numbers, got nan"),
        ({"mass": NAN}, "body_mass of 'link': expected finite numbers, got nan"),
        ({"shape": {"mu": -0.5}}, r"shape_material_mu of 'ball': expected a number >= 0, got -0\.5"),
        (
            {"parent_xform": wp.transform(wp.vec3(), wp.quat(0.0, 0.0, 0.0, 2.0))},
            "joint_X_p of 'hinge': expected a quaternion of length 1",
        ),
    ],
)
def test_a_value_that_nothing_can_have_is_refused_with_its_place(options, message):
    with pytest.raises(pippin.ConfigError, match=message):
        refuse_values(model(**options))


def test_infinite_limits_and_efforts_are_none():
    inf = float("inf")

    refuse_values(model(limit_lower=-inf, limit_upper=inf, effort_limit=inf, velocity_limit=inf))


def test_a_simulation_blames_the_scene_and_not_its_solver():
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    builder.add_articulation([builder.add_joint_revolute(-1, link, label="hinge", armature=NAN)])
    tables = {"simulation": {"device": "cpu"}, "solver": {"type": "featherstone"}}

    with pytest.raises(pippin.ConfigError, match="scene: joint_armature of 'hinge': expected finite numbers, got nan"):
        pippin.Simulation(pippin.structure(tables), prototype=builder)


@pytest.mark.parametrize(("add", "first"), [("free", 3), ("ball", 0)])
def test_a_rotation_of_a_joint_is_unit(add, first):
    builder = newton.ModelBuilder()
    link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    builder.add_articulation([getattr(builder, f"add_joint_{add}")(parent=-1, child=link, label="root")])
    builder.joint_q[first + 3] = 2.0

    with pytest.raises(
        pippin.ConfigError, match=r"joint_q of 'root': expected a quaternion of length 1, got \[.* 2\.0]"
    ):
        refuse_values(builder.finalize(device="cpu", skip_all_validations=True))
