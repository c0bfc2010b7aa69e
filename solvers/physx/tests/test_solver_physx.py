"""PhysX keeps the contract in an environment of its own, and moves and touches as formulas and MuJoCo say."""

import collections
import importlib.metadata
import os
import re
from pathlib import Path

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from click.testing import CliRunner
from pippin.catalog import Catalog
from pippin.cli import main
from pippin.quaternions import rotated
from pippin_engines import FirstWorld

ENVIRONMENT = Path(os.environ.get("PIPPIN_PHYSX", Path(__file__).parents[3] / "envs" / "physx"))
CONFORMANCE = conformance.Conformance(
    "solver",
    "physx",
    config={"environment": str(ENVIRONMENT)},
    expected_failures={
        "pair_ellipsoid": "an ellipsoid is a hull, as a note says: ellipsoids and cones meet its corners"
    },
)
G = 9.81

needs_engine = pytest.mark.skipif(
    not ENVIRONMENT.exists(),
    reason="`uv run pippin env add physx` makes envs/physx, 1100 MB; PIPPIN_PHYSX names another",
)


def simulation(builder, worlds=1, dt=0.002, observables=(), **settings):
    tables = {
        "simulation": {"dt": dt, "device": "cpu", "observables": list(observables)},
        "scene": {"worlds": worlds},
        "solver": {"type": "physx", "environment": str(ENVIRONMENT), **settings},
    }
    return pippin.Simulation(pippin.structure(tables), prototype=builder)


def on_ground(*shapes, speed=0.0, height=0.1, fall=0.0, **surface):
    """Return bodies of 2 kg beside each other, on a ground of the same surface."""
    builder, cfg = newton.ModelBuilder(up_axis="Z"), newton.ModelBuilder.ShapeConfig(density=0.0, **surface)
    builder.add_ground_plane(cfg=cfg)
    sizes = {"box": {"hx": 0.1, "hy": 0.1, "hz": 0.1}, "sphere": {"radius": 0.1}}
    sizes |= {"capsule": {"radius": 0.05, "half_height": 0.05}, "ellipsoid": {"rx": 0.1, "ry": 0.1, "rz": 0.1}}
    sizes |= {shape: {"radius": 0.1, "half_height": 0.1} for shape in ("cylinder", "cone")}
    sizes["convex_hull"] = {"mesh": newton.Mesh.create_box(0.1, 0.1, 0.1)}
    for row, shape in enumerate(shapes):
        place = wp.transform((2.0 * row, 0.0, height), wp.quat_identity())
        body = builder.add_body(mass=2.0, inertia=wp.diag(wp.vec3(0.02)), xform=place, label=shape)
        getattr(builder, f"add_shape_{shape}")(body, cfg=cfg, **sizes[shape])
        builder.joint_qd[-6:] = [speed, 0.0, -fall, 0.0, 0.0, 0.0]
    return builder


def hinge(**joint):
    """Return an arm of 1 kg at a hinge about y, 0.5 m above its centre of mass."""
    builder = newton.ModelBuilder(up_axis="Z")
    arm = builder.add_link(mass=1.0, com=wp.vec3(0.0, 0.0, -0.5), inertia=wp.diag(wp.vec3(0.02)), label="arm")
    builder.add_articulation([builder.add_joint_revolute(-1, arm, axis=(0.0, 1.0, 0.0), label="hinge", **joint)])
    return builder


@pytest.mark.alone
def test_its_features_are_known_without_physx():
    found = Catalog.installed().find("solver", "physx").load()

    assert found.supported_features["joint_drives"] == "live"
    assert "d6_joints" not in found.supported_features


@pytest.mark.alone
def test_without_an_environment_it_says_what_to_make():
    with pytest.raises(pippin.ConfigError, match="it cannot be beside Pippin, so name an environment that has it"):
        pippin.Simulation(pippin.structure({"solver": {"type": "physx"}}))


@pytest.mark.alone
def test_its_licence_is_told_before_it_is_installed():
    config = Catalog.installed().find("solver", "physx").load_config()

    assert "NVIDIA" in config.engine.licence
    assert config.engine.is_apart


@needs_engine
@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()


@needs_engine
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:docs/examples/cartpole.toml.* left out, as written for type:UserWarning")
def test_three_commands_of_one_page_lead_to_a_scene(monkeypatch):
    """The first one is tried where packages are; here, the extra and the distribution that it names exist."""
    root = Path(__file__).parents[3]
    page = (root / "docs" / "how-to" / "run-on-physx.md").read_text("utf-8")
    install, add, run = re.search(r"```sh\n(.*?)```", page, re.DOTALL)[1].splitlines()
    monkeypatch.chdir(root)

    assert install == "uv pip install 'pippin[engines]' pippin-solver-physx"
    assert "pippin-engines" in "".join(importlib.metadata.requires("pippin"))
    assert importlib.metadata.version("pippin-solver-physx")
    told = CliRunner().invoke(main, [*add.split()[1:], "--to", "envs/never"]).output
    assert "licence   NVIDIA's terms for Omniverse" in told
    assert "nobody can be asked here" in told
    done = CliRunner().invoke(main, [word.replace("envs/physx", str(ENVIRONMENT)) for word in run.split()[1:]])
    assert done.exit_code == 0, done.output


@needs_engine
@pytest.mark.slow
def test_the_flight_of_an_ant_nears_that_of_mujoco_with_the_step(ant_flight):
    """Both are of first order: a quarter of the step leaves a quarter of the distance."""
    far, near = (ant_flight("physx", dt=dt, environment=str(ENVIRONMENT)) for dt in (0.01, 0.0025))

    assert far < 1e-3
    assert near == pytest.approx(far / 4, rel=0.1)


@needs_engine
def test_all_shapes_rest_on_the_ground():
    """A mesh has a thickness, by which it sinks."""
    with simulation(on_ground("box", "sphere", "capsule", "cylinder", "cone", "convex_hull")) as found:
        found.step(500)
        heights = found.state.body_q.numpy()[:, 2].astype(float)

    assert heights[:5] == pytest.approx(0.1, abs=1e-6)
    assert heights[5] == pytest.approx(0.1, abs=3e-6)


@needs_engine
def test_a_mesh_with_as_many_points_as_may_be_keeps_all():
    """It stands on its lowest one, on a slider, which lets it not turn."""
    turns, heights = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(34), 1.0 - (np.arange(34) + 0.5) / 17.0
    flat = 0.1 * np.sqrt(1.0 - heights**2)
    points = np.stack([flat * np.cos(turns), flat * np.sin(turns), 0.1 * heights], axis=1)
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_ground_plane()
    body = builder.add_link(mass=2.0, inertia=wp.diag(wp.vec3(0.02)))
    builder.add_articulation([builder.add_joint_prismatic(-1, body, axis=(0.0, 0.0, 1.0))])
    mesh = newton.Mesh(points.astype(np.float32), np.arange(33, dtype=np.int32))
    builder.add_shape_convex_hull(body, mesh=mesh)
    builder.joint_q[0] = 0.11
    with simulation(builder) as found:
        found.step(300)
        height = found.state.joint_q.numpy()[0]

    assert height == pytest.approx(-points[:, 2].min(), abs=2e-6)


@needs_engine
def test_an_ellipsoid_is_a_mesh_within_five_percent_and_a_note_says_so():
    builder = on_ground(*3 * ("ellipsoid",))
    for row, angle in enumerate((0.1, 0.5, 1.2)):
        turn = wp.quat_from_axis_angle(wp.normalize(wp.vec3(1.0, 0.3, 0.0)), angle)
        builder.joint_q[7 * row + 3 : 7 * row + 7] = turn
    with simulation(builder) as found:
        note = found.notes["solver"][0]
        found.step(300)
        heights = found.state.body_q.numpy()[:, 2]

    assert (abs(heights - 0.1) < 0.005).all()
    assert "is a convex mesh in PhysX, within 5 % of its size, with normals that are 0.24 rad off in the mean" in note


def test_normals_of_the_mesh_of_a_ball_are_as_far_off_as_the_note_says():
    """The facet that a ray from the centre meets is not square to it."""
    from scipy.spatial import ConvexHull

    model = on_ground("ellipsoid").finalize(device="cpu")
    corners = next(shape.corners for shape in FirstWorld(model).shapes if shape.kind == "ELLIPSOID")
    faces = ConvexHull(corners).equations
    rays = np.random.default_rng(0).normal(size=(2000, 3))
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    met = (-faces[:, 3] / np.maximum(rays @ faces[:, :3].T, 1e-9)).argmin(axis=1)
    angles = np.arccos((faces[met, :3] * rays).sum(axis=1))

    assert angles.mean() == pytest.approx(0.24, abs=0.02)


@needs_engine
@pytest.mark.parametrize("mu", [0.5, 0.2])
def test_a_box_slides_as_far_as_friction_says(mu):
    with simulation(on_ground("box", speed=1.0, mu=mu)) as found:
        found.step(500)
        place = found.state.body_q.numpy()[0, 0]

    assert place == pytest.approx(
        0.5 / (mu * G) - 0.5 * 0.002, rel=1e-3
    )  # the last speed of a step is that of all of it


@needs_engine
def test_friction_is_the_mean_of_two_shapes():
    builder = on_ground("box", speed=1.0, mu=0.4)
    builder.shape_material_mu[0] = 0.0
    with simulation(builder) as found:
        found.step(500)
        place = found.state.body_q.numpy()[0, 0]

    assert place == pytest.approx(0.5 / (0.2 * G) - 0.5 * 0.002, rel=1e-3)


@needs_engine
def test_a_sphere_leaves_the_ground_with_its_share_of_the_speed():
    with simulation(on_ground("sphere", height=0.101, fall=2.0, restitution=0.6)) as found:
        found.step(5)
        speed = found.state.body_qd.numpy()[0, 2]

    assert speed == pytest.approx(0.6 * (2.0 + 0.002 * G) - 4 * 0.002 * G, abs=1e-3)  # it meets the ground at once


@needs_engine
def test_shapes_with_margins_rest_as_far_apart():
    builder = on_ground("sphere", height=0.14, margin=0.01)
    builder.shape_margin[1] = 0.02
    with simulation(builder) as found:
        found.step(500)
        height = found.state.body_q.numpy()[0, 2]

    assert height == pytest.approx(0.13, abs=1e-5)


@needs_engine
def test_a_pendulum_swings_as_long_as_the_formula_says():
    """The defaults of PhysX, a damping of turns among them, are off."""
    builder = hinge(armature=0.03)
    builder.joint_q[0] = 0.05
    period = 2.0 * np.pi * np.sqrt((0.02 + 0.5**2 + 0.03) / (0.5 * G))
    with simulation(builder, dt=period / 1000) as found:
        found.step(10_000)
        angle = found.state.joint_q.numpy()[0]

    assert angle == pytest.approx(0.05, rel=1e-3)


@needs_engine
def test_the_other_method_gains_energy():
    """A step with forces in each of many iterations adds as much as half an explicit Euler step."""
    builder = hinge()
    builder.joint_q[0] = 0.05
    rate = np.sqrt(0.5 * G / (0.02 + 0.5**2))
    with simulation(builder, method="tgs") as found:
        found.step(round(10 * 2.0 * np.pi / rate / 0.002))
        angle = found.state.joint_q.numpy()[0]

    assert angle == pytest.approx(0.05 * np.exp(0.25 * rate**2 * 0.002 * 20.0 * np.pi / rate), rel=0.01)


@needs_engine
def test_a_slider_falls_along_its_axis():
    """PhysX has joints along x alone, so that frames are turned to the axis."""
    builder, axes = newton.ModelBuilder(up_axis="Z"), [*np.eye(3), *-np.eye(3), [-0.8, 0.36, -0.48]]
    for axis in axes:
        body = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.02)))
        builder.add_articulation([builder.add_joint_prismatic(-1, body, axis=axis)])
    with simulation(builder) as found:
        found.model.gravity.fill_(wp.vec3(1.0, 2.0, 3.0))
        found.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)
        found.step(100)
        speeds = found.state.joint_qd.numpy()

    assert speeds == pytest.approx(0.2 * np.array(axes) @ [1.0, 2.0, 3.0], abs=1e-5)


@needs_engine
def test_a_hinge_counts_its_turns():
    builder = hinge()
    builder.joint_qd[0] = 40.0
    with simulation(builder) as found:
        found.model.gravity.zero_()
        found.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)
        found.step(500)
        angle = found.state.joint_q.numpy()[0]

    assert angle == pytest.approx(40.0, rel=1e-3)


@needs_engine
def test_a_drive_holds_as_its_gains_say_and_has_its_limit():
    """At rest, gain times error is the torque of the weight; or the drive gives what it may, which holds less."""
    builder = hinge(target_ke=50.0, target_kd=5.0, effort_limit=20.0, damping=2.0)
    with simulation(builder, worlds=2) as found:
        found.view.articulations("**").set_dof_position_targets([[0.5], [0.5]])
        found.view.articulations("**").set_dof_max_forces([[20.0], [1.0]])
        found.step(3000)
        held, limited = found.state.joint_q.numpy().astype(float)

    assert 50.0 * (0.5 - held) == pytest.approx(0.5 * G * np.sin(held), rel=1e-3)
    assert 0.5 * G * np.sin(limited) == pytest.approx(1.0, rel=1e-2)


@needs_engine
def test_worlds_are_equal_to_the_bit_and_apart():
    """All stand at the same place, on bodies, on a tree and on a mount; one is pushed, and one gets another gravity."""
    builder, mount = on_ground("box", "capsule", speed=0.5, mu=0.3), wp.transform((-1.0, 0.0, 0.6), wp.quat_identity())
    builder.add_builder(meeting_links(collision_filter_parent=True), xform=wp.transform((0.0, 2.0, 0.11), mount.q))
    builder.add_builder(hinge(), xform=mount)
    with simulation(builder, worlds=12) as found:
        gravity = found.model.gravity.numpy()
        gravity[2] *= 0.5
        found.model.gravity.assign(gravity)
        found.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)
        for label in ("box", "one"):
            found.view.rigid_bodies(label).apply_forces([[0.0, 5.0, 0.0]], indices=[10])
        found.step(50)
        poses = found.state.body_q.numpy().reshape(12, -1)

    assert (poses[0] == poses[[1, 3, 9, 11]]).all()
    assert (poses[0].reshape(-1, 7)[[0, 2]] != poses[10].reshape(-1, 7)[[0, 2]]).any(axis=1).all()
    assert (poses[0].reshape(-1, 7) != poses[2].reshape(-1, 7)).any(axis=1)[:3].all()


@needs_engine
def test_each_world_may_have_limits_of_its_own():
    builder = hinge(limit_lower=-1.0, limit_upper=0.3)
    builder.joint_qd[0] = 3.0
    with simulation(builder, worlds=2) as found:
        found.model.joint_limit_upper.assign([0.3, 0.6])
        found.notify_model_changed(newton.ModelFlags.JOINT_DOF_PROPERTIES)
        angles = []
        for _ in range(200):
            found.step(1)
            angles.append(found.state.joint_q.numpy().copy())

    assert np.max(angles, axis=0) == pytest.approx([0.3, 0.6], abs=0.01)


def finite_ground():
    builder = on_ground("box")
    builder.shape_scale[0] = (1.0, 1.0, 0.0)
    return builder


def meeting_links(collision_filter_parent=False):
    builder, cfg = newton.ModelBuilder(up_axis="Z"), newton.ModelBuilder.ShapeConfig(density=0.0)
    links = [builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.02)), label=name) for name in ("one", "two")]
    joints = [builder.add_joint_free(links[0])]
    joints.append(
        builder.add_joint_revolute(*links, axis=(0.0, 1.0, 0.0), collision_filter_parent=collision_filter_parent)
    )
    builder.add_articulation(joints)
    for link in links:
        builder.add_shape_sphere(link, radius=0.1, cfg=cfg)
    return builder


def of_shape(add):
    builder = newton.ModelBuilder(up_axis="Z")
    add(builder, builder.add_body(mass=1.0, inertia=wp.diag(wp.vec3(0.02)), label="block"))
    return builder


MESH, BALL = newton.Mesh.create_box(0.1, 0.1, 0.1), newton.Mesh.create_sphere(0.1)


@pytest.mark.parametrize(
    ("builder", "told"),
    [
        (finite_ground, "plane .* moves, or has edges; let it be a box, or an endless ground"),
        (meeting_links, "may touch across a joint, as they never do in 'physx'; let their pair be filtered"),
        (lambda: of_shape(lambda b, body: b.add_shape_mesh(body, mesh=MESH)), "no shapes of the kind mesh"),
        (lambda: of_shape(lambda b, body: b.add_shape_convex_hull(body, mesh=BALL)), "mesh .* has more than 34 points"),
        (lambda: of_shape(lambda b, body: b.add_shape_plane(body=body, width=0, length=0)), "plane .* moves"),
    ],
)
def test_what_it_lacks_is_refused(builder, told):
    config = Catalog.installed().find("solver", "physx").load_config()(environment=None)
    found = Catalog.installed().find("solver", "physx").load()(config)

    assert re.search(told, "\n".join(found.faults(builder().finalize(device="cpu"))))


def contacts_of(found):
    """Return the shapes and points on both sides, the normals, and the wrenches on the first shapes."""
    count = int(found.contacts.rigid_contact_count.numpy()[0])
    names = ("shape0", "shape1", "point0", "point1", "normal")
    arrays = (getattr(found.contacts, f"rigid_contact_{name}") for name in names)
    return [array.numpy()[:count].astype(float) for array in (*arrays, found.observables.contact_f)]


@needs_engine
def test_contacts_of_a_box_that_slides_bear_it_and_brake_it():
    """Friction that acts below its centre presses more on the foremost points."""
    with simulation(on_ground("box", speed=1.0, mu=0.3), observables=["contact_f"]) as found:
        found.step(20)
        _, _, point, _, normal, wrench = contacts_of(found)

    force, torque = wrench[:, :3].sum(0), (wrench[:, 3:] + np.cross(point, wrench[:, :3])).sum(0)
    assert normal == pytest.approx(np.tile([0.0, 0.0, -1.0], (4, 1)), abs=1e-5)
    assert force == pytest.approx([-0.3 * 2.0 * G, 0.0, 2.0 * G], abs=0.02)
    assert torque == pytest.approx(np.zeros(3), abs=0.005)


@needs_engine
def test_torsion_of_friction_is_in_the_wrenches():
    """A box that spins about the vertical slows by what its contacts tell, although their forces add up to nothing."""
    builder = on_ground("box", mu=0.3)
    builder.joint_qd[5] = 8.0
    with simulation(builder, observables=["contact_f"]) as found:
        found.step(5)
        before = found.state.body_qd.numpy()[0, 5]
        found.step()
        after = found.state.body_qd.numpy()[0, 5]
        _, _, point, _, _, wrench = contacts_of(found)
        pose = found.state.body_q.numpy()[0].astype(float)

    arms = rotated(pose[3:], point)
    torque = (wrench[:, 5] + np.cross(arms, wrench[:, :3])[:, 2]).sum()
    assert before - after > 0.01
    assert torque * 0.002 / 0.02 == pytest.approx(after - before, rel=0.02)


@needs_engine
def test_contacts_of_a_stack_are_of_its_pairs_and_worlds():
    builder = on_ground("box")
    place = wp.transform((0.0, 0.0, 0.3), wp.quat_identity())
    top = builder.add_body(mass=3.0, inertia=wp.diag(wp.vec3(0.03)), xform=place)
    builder.add_shape_box(top, hx=0.1, hy=0.1, hz=0.1, cfg=newton.ModelBuilder.ShapeConfig(density=0.0))
    with simulation(builder, worlds=3, observables=["contact_f"]) as found:
        q = found.state.joint_q.numpy().reshape(3, 14)
        q[1, [2, 9]] += 1.0  # the stack of the second world falls, and nothing presses it together
        found.state.joint_q.assign(q.ravel())
        found.invalidate("joints", [1])
        found.step(50)
        first, second, *_, wrench = contacts_of(found)
        body = found.model.shape_body.numpy().tolist()

    upwards = collections.Counter()
    for one, other, force in zip(first.astype(int), second.astype(int), wrench[:, 2], strict=True):
        low, high = sorted((body[one], body[other]))
        upwards[high, low] += force if body[one] == high else -force
    expected = {(0, -1): 5.0 * G, (1, 0): 3.0 * G, (3, 2): 0.0, (4, -1): 5.0 * G, (5, 4): 3.0 * G}
    assert dict(upwards) == pytest.approx(expected, rel=1e-3, abs=1e-3)


@needs_engine
@pytest.mark.parametrize("other", ["ground", "box"])
@pytest.mark.parametrize("shape", ["box", "sphere", "capsule", "cylinder", "cone", "convex_hull"])
def test_points_of_contacts_are_on_both_shapes_within_half_their_depth(shape, other):
    """They overlap by 5 mm in the first step. PhysX's point is on either shape or between them, by its kinds."""
    below = 0.0 if other == "ground" else 0.2
    builder = on_ground(shape, height=0.095 + below)
    if other == "box":
        place = wp.transform((0.0, 0.0, 0.1), wp.quat_identity())
        body = builder.add_body(mass=2.0, inertia=wp.diag(wp.vec3(0.02)), xform=place)
        builder.add_shape_box(body, hx=0.3, hy=0.3, hz=0.1, cfg=newton.ModelBuilder.ShapeConfig(density=0.0))
    with simulation(builder, observables=["contact_f"]) as found:
        found.step()
        *shapes, on_first, on_second, normal, _ = contacts_of(found)
        body = found.model.shape_body.numpy()

    is_first, is_second = (body[each.astype(int)] == 0 for each in shapes)
    touching = is_first | is_second
    upper = np.where(is_first, on_first[:, 2], on_second[:, 2])[touching]
    lower = np.where(is_first, on_second[:, 2], on_first[:, 2])[touching]
    upwards = (normal[:, 2] * np.where(is_first, -1.0, 1.0))[touching]
    assert len(upper)
    assert upper == pytest.approx(np.full(len(upper), -0.1), abs=0.003)
    assert lower == pytest.approx(np.full(len(upper), below / 2.0), abs=0.003)
    assert upper - lower == pytest.approx(np.full(len(upper), -0.1 - below / 2.0), abs=0.003)
    assert upwards == pytest.approx(np.ones(len(upper)), abs=1e-3)


@needs_engine
def test_without_a_contact_nothing_is_told():
    with simulation(on_ground("box", height=1.0), observables=["contact_f"]) as found:
        found.step(3)

        assert [len(each) for each in contacts_of(found)] == 6 * [0]


@needs_engine
def test_its_process_leaves_no_file_in_shared_memory():
    with simulation(on_ground("box")) as found:
        found.step()
        pid = found.solver.engine.pid
        assert list(Path("/dev/shm").glob(f"*-{pid}"))

    assert not list(Path("/dev/shm").glob(f"*-{pid}"))
