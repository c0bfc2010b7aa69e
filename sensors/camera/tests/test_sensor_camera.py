"""The camera, held against rays that are traced by formulas, and against Newton's own camera called by hand."""

import math

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp

WIDTH, HEIGHT, FOV = 32, 20, 0.9
EYE, TARGET = np.array([1.6, -1.1, 1.2]), np.array([0.0, 0.1, 0.6])
EVERYTHING = ["depth", "distance", "normal", "segmentation", "color", "albedo"]
LIGHT = np.array([1.0, -1.0, 1.0]) / math.sqrt(3.0)
"""Where the one light comes from, and what reaches a surface from above and from below."""
SKY, SOIL = np.array([0.2, 0.2, 0.225]), np.array([0.05, 0.05, 0.06])
BOX = {"half": np.array([0.2, 0.3, 0.15]), "centre": np.array([0.3, 0.4, 0.35]), "color": (0.9, 0.2, 0.1)}
BALL = {"radius": 0.25, "centre": np.array([-0.3, -0.2, 0.5]), "color": (0.1, 0.3, 0.8)}
TURN = wp.quat_from_axis_angle(wp.normalize(wp.vec3(0.3, -0.2, 1.0)), 0.7)


class XPBD:
    """A solver that comes with Newton itself."""

    coordinates = "maximal"

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverXPBD(model)


def bodies():
    """Return a box and a ball in mid-air."""
    builder = newton.ModelBuilder()
    box = builder.add_body(label="box", xform=wp.transform(wp.vec3(*BOX["centre"]), TURN))
    half = dict(zip(("hx", "hy", "hz"), BOX["half"], strict=True))
    builder.add_shape_box(box, **half, label="cuboid", color=BOX["color"])
    ball = builder.add_body(label="ball", xform=wp.transform(wp.vec3(*BALL["centre"]), wp.quat_identity()))
    builder.add_shape_sphere(ball, radius=BALL["radius"], label="sphere", color=BALL["color"])
    return builder


VIEW = {"position": EYE.tolist(), "look_at": TARGET.tolist(), "outputs": EVERYTHING}

pytestmark = pytest.mark.simulation(
    dt=0.01,
    capture="require",
    ground=True,
    prototype=bodies,
    solver=XPBD,
    sensors={"eye": {"type": "camera", "width": WIDTH, "height": HEIGHT, "vertical_fov": FOV, **VIEW}},
    options="sensors.eye",
)


def images(simulation):
    return {name: output.numpy().copy() for name, output in simulation.sensors["eye"].outputs.items()}


def rays():
    """Return a unit vector for each pixel: row 0 is the upper edge, column 0 the left one."""
    forward = (TARGET - EYE) / np.linalg.norm(TARGET - EYE)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    half = math.tan(FOV / 2.0)
    x = (2.0 * (np.arange(WIDTH) + 0.5) / WIDTH - 1.0) * half * WIDTH / HEIGHT
    y = (1.0 - 2.0 * (np.arange(HEIGHT) + 0.5) / HEIGHT) * half
    directions = forward + x[None, :, None] * right + y[:, None, None] * up
    return directions / np.linalg.norm(directions, axis=-1, keepdims=True), forward


def meet_ground(directions):
    with np.errstate(divide="ignore"):
        distance = -EYE[2] / directions[..., 2]
    return np.where(distance > 0.0, distance, np.inf), np.broadcast_to([0.0, 0.0, 1.0], directions.shape)


def meet_ball(directions):
    """Solve |e + t d - c| = r."""
    towards = EYE - BALL["centre"]
    half = directions @ towards
    root = half**2 - (towards @ towards - BALL["radius"] ** 2)
    distance = np.where(root > 0.0, -half - np.sqrt(np.maximum(root, 0.0)), np.inf)
    with np.errstate(invalid="ignore"):
        return distance, (towards + distance[..., None] * directions) / BALL["radius"]


def meet_box(directions):
    """Enter the last of three slabs, before any of them is left."""
    axes = np.array(wp.quat_to_matrix(TURN)).reshape(3, 3)
    eye, directions = (EYE - BOX["centre"]) @ axes, directions @ axes
    near, far = sorted_slabs((-BOX["half"] - eye) / directions, (BOX["half"] - eye) / directions)
    enters = near.max(axis=-1)
    axis = near.argmax(axis=-1)
    normal = -np.sign(np.take_along_axis(directions, axis[..., None], axis=-1)) * np.eye(3)[axis]
    return np.where(enters < far.min(axis=-1), enters, np.inf), normal @ axes.T


def sorted_slabs(one, other):
    return np.minimum(one, other), np.maximum(one, other)


def to_linear(color):
    color = np.array(color)
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def to_bytes(radiance):
    """Return sRGB from 0 to 255; Newton cuts off what is behind the point."""
    radiance = np.clip(radiance, 0.0, 1.0)
    encoded = np.where(radiance <= 0.0031308, 12.92 * radiance, 1.055 * radiance ** (1.0 / 2.4) - 0.055)
    return 255.0 * encoded


@pytest.fixture(scope="module")
def still(simulate):
    """A picture of the first moment, and the model it is of."""
    with simulate() as simulation:
        yield simulation, {name: image[0, 0] for name, image in images(simulation).items()}


@pytest.fixture(scope="module")
def traced(still):
    """The same, traced by formulas: which shape, how far, and its normal."""
    model = still[0].model
    directions, forward = rays()
    shapes = [model.shape_label.index(name) for name in ("cuboid", "sphere", "ground_plane")]
    distances, normals = zip(*(meet(directions) for meet in (meet_box, meet_ball, meet_ground)), strict=True)
    nearest = np.argmin(distances, axis=0)
    distance = np.min(distances, axis=0)
    normal = np.take_along_axis(np.array(normals), nearest[None, ..., None], axis=0)[0]
    is_hit = np.isfinite(distance)
    color = np.array([BOX["color"], BALL["color"], model.shape_color.numpy()[shapes[2]]])[nearest]
    return {
        "is_hit": is_hit,
        "distance": distance,
        "depth": np.where(is_hit, distance * (directions @ forward), np.inf),
        "normal": np.where(is_hit[..., None], normal, 0.0),
        "segmentation": np.where(is_hit, np.array(shapes)[nearest], -1),
        "linear": to_linear(color),
    }


@pytest.mark.alone
@pytest.mark.parametrize("name", ["depth", "distance", "normal", "segmentation"])
def test_an_image_of_a_plane_a_box_and_a_ball_is_what_formulas_give(still, traced, name):
    """To single precision: 2 m and 1e-6 for each operation, more at grazing rays."""
    _, picture = still

    assert {-1, *traced["segmentation"].ravel()} == {-1, 0, 1, 3}
    np.testing.assert_allclose(picture[name], traced[name], atol=2e-5, rtol=2e-5)


def test_segmentation_tells_bodies_apart(still):
    simulation, picture = still
    body_of_shape = simulation.model.shape_body.numpy()

    seen = set(body_of_shape[np.unique(picture["segmentation"][picture["segmentation"] >= 0])])

    assert {simulation.model.body_label[body] for body in seen if body >= 0} == {"box", "ball"}
    assert -1 in seen, "the ground belongs to no body"


def test_albedo_is_the_colour_of_shapes(still, traced):
    """To the step of a byte: colours go through a linear scale and back."""
    _, picture = still
    wanted = np.where(traced["is_hit"][..., None], to_bytes(traced["linear"]), 0.0)

    np.testing.assert_allclose(picture["albedo"][..., :3], wanted, atol=1.01)
    np.testing.assert_array_equal(picture["albedo"][..., 3], np.where(traced["is_hit"], 255, 0))


def test_colours_are_lit_by_the_sky_and_one_light(still, traced):
    """Radiance = albedo × (sky and soil, by how far the normal points up, + what of the light meets the surface)."""
    _, picture = still
    normal = traced["normal"]
    upwards = 0.5 * (normal[..., 2:] + 1.0)
    light = np.maximum(normal @ LIGHT, 0.0)[..., None]
    wanted = to_bytes(traced["linear"] * (SKY * upwards + SOIL * (1.0 - upwards) + light))

    np.testing.assert_allclose(picture["color"][..., :3], np.where(traced["is_hit"][..., None], wanted, 0.0), atol=1.01)


def test_what_stands_in_the_light_casts_a_shadow_where_it_is_asked_for(simulate):
    """From above, each shadow is beside its body; Newton lets three tenths of the light into it."""
    pictures, view = [], {"position": [0.0, 0.0, 4.0], "look_at": [0.0, 0.0, 0.0]}
    for choice in ({}, {"shadows": True, "outputs": ["color"]}):
        with simulate(**view, **choice) as simulation:
            pictures.append({name: image[0, 0] for name, image in images(simulation).items()})
            ground = simulation.model.shape_label.index("ground_plane")
            color = simulation.model.shape_color.numpy()[ground]
    bright, dark = pictures
    is_shaded = (dark["color"] != bright["color"]).any(axis=-1) & (bright["segmentation"] == ground)

    assert 10 < is_shaded.sum() < (bright["segmentation"] == ground).sum() / 2
    wanted = np.broadcast_to(to_bytes(to_linear(color) * (SKY + 0.3 * LIGHT[2])), (is_shaded.sum(), 3))
    np.testing.assert_allclose(dark["color"][is_shaded][:, :3], wanted, atol=1.01)


def test_the_two_angles_of_view_are_those_of_the_edges(simulate, still):
    _, picture = still
    across = 2.0 * math.atan(math.tan(FOV / 2.0) * WIDTH / HEIGHT)
    with simulate(horizontal_fov=across, vertical_fov=None) as simulation:
        np.testing.assert_allclose(images(simulation)["depth"][0, 0], picture["depth"], rtol=1e-6)


def test_a_rotation_stands_for_what_it_turns_the_axes_to(still):
    """About x by the angle from the nadir: then the camera looks along +y and down, as `look_at` says in words."""
    tilt = 1.1
    target = (0.0, math.sin(tilt), 2.0 - math.cos(tilt))
    rotation = [math.sin(tilt / 2.0), 0.0, 0.0, math.cos(tilt / 2.0)]
    pictures = []
    for way in ({"look_at": target}, {"look_at": None, "rotation": rotation}):
        way = {key: value for key, value in way.items() if value is not None}
        settings = {"position": [0.0, 0.0, 2.0], **way}
        with simulate_exactly(**settings) as simulation:
            pictures.append(images(simulation)["depth"])

    np.testing.assert_allclose(*pictures, rtol=1e-5)


def simulate_exactly(**camera):
    tables = {
        "simulation": {"device": "cpu"},
        "scene": {"ground": True},
        "sensors": {
            "eye": {"type": "camera", "width": WIDTH, "height": HEIGHT, "vertical_fov": FOV, "outputs": EVERYTHING}
            | camera
        },
    }
    return pippin.Simulation(pippin.structure(tables), plugins=[XPBD()], prototype=bodies())


def test_looking_down_from_above_the_x_axis_is_up_in_the_image():
    """The box stands at x = 0.3, y = 0.4: above the middle and to the left of it. The ball is on the other side."""
    with simulate_exactly(position=[0.0, 0.0, 3.0], look_at=[0.0, 0.0, 0.0]) as simulation:
        labels = simulation.model.shape_label
        shapes = images(simulation)["segmentation"][0, 0]

    box, ball = (np.argwhere(shapes == labels.index(name)).mean(axis=0) for name in ("cuboid", "sphere"))
    assert box[0] < HEIGHT / 2 - 1
    assert box[1] < WIDTH / 2 - 1
    assert ball[0] > HEIGHT / 2 + 1
    assert ball[1] > WIDTH / 2 + 1


@pytest.mark.parametrize(("choice", "wanted"), [("max-distance", 2.0), ("zero", 0.0)])
def test_what_is_out_of_sight_reads_as_the_file_says(simulate, choice, wanted, traced):
    outputs = ["depth", "distance", "segmentation"]
    with simulate(no_hit=choice, max_distance=2.0, outputs=outputs) as simulation:
        picture = images(simulation)
    is_far = traced["distance"] > 2.0

    assert 0 < is_far.sum() < is_far.size
    np.testing.assert_array_equal(picture["depth"][0, 0][is_far], wanted)
    np.testing.assert_array_equal(picture["distance"][0, 0][is_far], wanted)
    assert (picture["distance"][0, 0][~is_far] <= 2.0).all()
    assert (picture["segmentation"][0, 0][is_far] == -1).all()


def test_a_scene_with_nothing_to_see_is_out_of_sight_everywhere(simulate):
    builder = newton.ModelBuilder()
    builder.add_body(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
    with simulate(builder, ground=False) as simulation:
        simulation.step(2)
        picture = images(simulation)

    assert (picture["depth"] == np.inf).all()
    assert (picture["segmentation"] == -1).all()
    assert not picture["color"].any()


def test_cameras_on_bodies_are_stacked_and_fall_with_them(simulate):
    """Each looks straight down from its body: the ground is as far as the body is high, g t (t + dt) / 2 less."""
    straight = {"position": [0.0, 0.0, 0.0], "look_at": [0.0, 0.0, -1.0], "vertical_fov": 0.2}
    with simulate(level(), worlds=3, body=["left", "right"], dt=0.01, **straight) as simulation:
        poses = simulation.state.body_q.numpy()
        poses[2:4, 2] += 0.5
        simulation.state.body_q.assign(poses)
        simulation.invalidate("bodies")
        simulation.step(20)
        picture, labels = images(simulation), simulation.sensors["eye"].outputs["depth"].labels

    assert labels == ("left/site", "right/site")
    heights = np.array([[1.0, 2.0], [1.5, 2.5], [1.0, 2.0]]) - 9.81 * 0.2 * 0.21 / 2.0
    assert picture["depth"].shape == (3, 2, HEIGHT, WIDTH)
    np.testing.assert_allclose(
        picture["depth"], np.broadcast_to(heights[:, :, None, None], (3, 2, HEIGHT, WIDTH)), rtol=1e-5
    )


def level():
    """Return two small bodies that do not see each other, 1 m and 2 m above the ground."""
    builder = newton.ModelBuilder()
    for label, x, height in (("left", -5.0, 1.0), ("right", 5.0, 2.0)):
        body = builder.add_body(label=label, xform=wp.transform(wp.vec3(x, 0.0, height), wp.quat_identity()))
        builder.add_shape_sphere(body, radius=0.01, cfg=newton.ModelBuilder.ShapeConfig(is_visible=False))
    return builder


def test_a_world_sees_nothing_of_its_neighbours(simulate):
    """The ball of the second world is moved into the view of all cameras; only that world's camera sees it."""
    with simulate(worlds=2) as simulation:
        first = images(simulation)
        poses = simulation.state.body_q.numpy()
        poses[3, :3] = EYE + 0.4 * (TARGET - EYE)
        simulation.state.body_q.assign(poses)
        simulation.invalidate("bodies")
        simulation.step()
        second = images(simulation)

    near = second["segmentation"][1] == simulation.model.shape_label.index("sphere") + 3
    assert near.sum() > 50
    np.testing.assert_allclose(second["depth"][0], first["depth"][0], atol=0.01)


@pytest.mark.alone
def test_a_replayed_image_has_the_bits_of_one_that_is_taken_step_by_step(simulate):
    pictures = []
    for capture in ("require", "off"):
        with simulate(worlds=2, capture=capture) as simulation:
            simulation.step(12)
            assert simulation.program.is_captured is (capture == "require")
            pictures.append(images(simulation))

    for name in EVERYTHING:
        assert pictures[0][name].tobytes() == pictures[1][name].tobytes()


def test_images_have_the_bits_of_newton_s_camera_in_a_loop_written_by_hand(simulate):
    with simulate(worlds=2) as simulation:
        simulation.step(5)
        ours, model, state = images(simulation), simulation.model, simulation.state
        camera = newton.sensors.SensorCamera(
            model, default_clear_data=newton.sensors.SensorCamera.ClearData(clear_depth=math.inf)
        )
        camera.create_default_light(enable_shadows=False)
        rays = camera.compute_camera_rays_pinhole(WIDTH, HEIGHT, camera_fov=FOV, device=simulation.device)
        sites = [index for index, label in enumerate(model.shape_label) if label.endswith("site")]
        poses = wp.array(model.shape_transform.numpy()[sites], dtype=wp.transform, device=simulation.device)
        theirs = {
            "depth": camera.allocate_image_depth_forward(2, WIDTH, HEIGHT),
            "distance": camera.allocate_image_depth(2, WIDTH, HEIGHT),
            "normal": camera.allocate_image_normal(2, WIDTH, HEIGHT),
            "segmentation": camera.allocate_image_shape_index(2, WIDTH, HEIGHT),
            "color": camera.allocate_image_color(2, WIDTH, HEIGHT),
            "albedo": camera.allocate_image_albedo(2, WIDTH, HEIGHT),
        }
        names = ("forward_depth", "depth", "normal", "shape_index", "color", "albedo")
        arguments = {f"{name}_image": image for name, image in zip(names, theirs.values(), strict=True)}
        model.bvh_refit_shapes(state)
        camera.update(state, poses, rays, **arguments)

    for name, image in theirs.items():
        assert ours[name].tobytes() == image.numpy().tobytes()


def test_a_reset_shows_the_worlds_it_is_about_as_they_are_now_and_leaves_the_others(simulate):
    with simulate(worlds=2) as simulation:
        first = images(simulation)
        simulation.step(15)
        late = images(simulation)
        simulation.reset([0])
        mixed = images(simulation)
        simulation.step(15)
        after = images(simulation)

    for name in EVERYTHING:
        assert first[name].tobytes() != late[name].tobytes(), "bodies fell"
        assert mixed[name][0].tobytes() == first[name][0].tobytes()
        assert mixed[name][1].tobytes() == late[name][1].tobytes()
        assert after[name][0].tobytes() == late[name][0].tobytes()


def test_between_two_readings_the_image_stays_and_a_reset_does_not_wait(simulate):
    with simulate(worlds=2, period=0.05) as simulation:
        first = images(simulation)["depth"]
        simulation.step(7)
        simulation.reset([1])
        depth, times = images(simulation)["depth"], simulation.sensors["eye"].times
        simulation.step(2)
        same = images(simulation)["depth"]

    assert (depth[0] != first[0]).any()
    assert depth[1].tobytes() == first[1].tobytes()
    assert depth.tobytes() == same.tobytes()
    np.testing.assert_allclose(times, [0.05, 0.07])


def test_stages_change_depth_and_leave_the_clean_image(simulate, traced):
    """Noise of 1 cm, then steps of 5 mm: a uniform error of 5 mm adds its 5² / 12 to the variance."""
    stages = [
        {"type": "noise", "output": "depth", "std": 0.01},
        {"type": "quantisation", "output": "depth", "step": 0.005},
    ]
    with simulate(worlds=4, gravity=0.0, stages=stages) as simulation:
        simulation.step(4)
        output = simulation.sensors["eye"].outputs["depth"]
        noisy, clean = output.numpy(), output.clean.numpy()
        hit = np.broadcast_to(traced["is_hit"], clean.shape)

    np.testing.assert_allclose(clean[0, 0], traced["depth"], rtol=2e-5)
    assert (noisy[~hit] == np.inf).all()
    np.testing.assert_allclose(noisy[hit] / 0.005, np.round(noisy[hit] / 0.005), atol=1e-3)
    error = noisy[hit] - clean[hit]
    assert np.std(error) == pytest.approx(math.sqrt(0.01**2 + 0.005**2 / 12.0), rel=0.05)


@pytest.mark.parametrize("name", ["segmentation", "color"])
def test_no_stage_acts_on_what_is_not_a_measured_number(simulate, name):
    stages = [{"type": "noise", "output": name, "std": 1.0}]
    with pytest.raises(pippin.ConfigError, match=rf"stages\.0\.output: '{name}' is not made of separate numbers"):
        simulate(stages=stages)


def test_only_the_worlds_that_have_the_body_have_a_camera(simulate):
    other = newton.ModelBuilder()
    ball = other.add_body(label="stone", xform=wp.transform(wp.vec3(0.0, 0.0, 1.0), wp.quat_identity()))
    other.add_shape_sphere(ball, radius=0.1)
    mixture = [(bodies(), 1), (other, 2), (bodies(), 1)]
    view = {"position": [0.0, 0.0, 0.5], "look_at": [0.0, 0.0, 0.0], "body": "ball"}
    with simulate(mixture, worlds=4, **view) as simulation:
        simulation.step(3)
        camera, model = simulation.sensors["eye"], simulation.model
        np.testing.assert_array_equal(camera.worlds, [0, 3])
        seen = camera["segmentation"].numpy()[:, 0]
        world_of_shape = model.shape_world.numpy()

    assert seen.shape == (2, HEIGHT, WIDTH)
    assert set(world_of_shape[seen[0]].ravel()) <= {0, -1}
    assert set(world_of_shape[seen[1]].ravel()) == {3, -1}


def test_particles_and_cloth_are_seen_and_cloth_is_not_recorded(simulate):
    """XPBD moves both; the grain hangs beside a square of cloth."""
    builder = newton.ModelBuilder()
    builder.add_particle(wp.vec3(-0.6, 0.0, 1.0), wp.vec3(0.0), mass=1.0, radius=0.2)
    outputs = ["depth", "segmentation"]
    view = {"position": [0.0, 0.0, 3.0], "look_at": [0.0, 0.0, 0.0], "outputs": outputs}
    with simulate(builder, **view) as simulation:
        simulation.step(10)
        assert simulation.program.is_captured
        grain = images(simulation)
        height = simulation.state.particle_q.numpy()[0, 2]
    assert grain["depth"][grain["segmentation"] == -2].min() == pytest.approx(3.0 - height - 0.2, abs=0.02)

    vertices = [
        builder.add_particle(wp.vec3(*corner, 1.0), wp.vec3(0.0), mass=1.0)
        for corner in ((0, -0.5), (1, -0.5), (0.5, 0.5))
    ]
    builder.add_triangle(*vertices)
    with simulate(builder, capture="auto", **view) as simulation:
        simulation.step(10)
        picture, program = images(simulation), str(simulation.program)
        height = simulation.state.particle_q.numpy()[vertices, 2].mean()
    assert ("the surface of a cloth is refitted" in program) == simulation.device.is_cpu
    np.testing.assert_allclose(picture["depth"][picture["segmentation"] == -3], 3.0 - height, rtol=1e-4)
    assert (picture["segmentation"] == -2).any()


@pytest.mark.slow
def test_a_checkpoint_continues_to_the_bit(simulate, tmp_path):
    mesh = newton.Mesh.create_box(0.1, 0.1, 0.1)

    def prototype():
        builder = bodies()
        builder.add_shape_mesh(0, mesh=mesh, xform=wp.transform(wp.vec3(0.0, 0.0, 0.2), wp.quat_identity()))
        return builder

    stages = [{"type": "noise", "output": "depth", "std": 0.01}]
    with simulate(prototype(), worlds=2, stages=stages) as simulation:
        simulation.step(3)
        simulation.save(tmp_path / "saved.npz")
        saved = images(simulation)
        simulation.step(3)
        wanted = images(simulation)
    with pippin.Simulation.load(tmp_path / "saved.npz", plugins=[XPBD()], prototype=prototype()) as simulation:
        assert images(simulation)["depth"].tobytes() == saved["depth"].tobytes()
        simulation.step(3)
        assert {name: image.tobytes() for name, image in images(simulation).items()} == {
            name: image.tobytes() for name, image in wanted.items()
        }


def test_images_are_one_piece_of_memory_and_say_unit_and_frame(still):
    simulation, _ = still
    outputs = simulation.sensors["eye"].outputs

    assert all(output.data.is_contiguous for output in outputs.values())
    assert {
        name: (output.unit, output.frame, output.shape[4:], output.numpy().dtype.name)
        for name, output in outputs.items()
    } == {
        "depth": ("m", "none", (), "float32"),
        "distance": ("m", "none", (), "float32"),
        "normal": ("1", "world", (3,), "float32"),
        "segmentation": ("1", "none", (), "int32"),
        "color": ("1", "none", (4,), "uint8"),
        "albedo": ("1", "none", (4,), "uint8"),
    }


def test_more_pixels_than_a_launch_has_threads_are_refused_before_any_is_allocated(simulate):
    with pytest.raises(
        pippin.ConfigError, match=r"sensors\.eye\.width: 3 cameras of 65536 × 16384 .* at most 2147483648;"
    ):
        simulate(worlds=3, width=2**16, height=2**14)


def test_a_body_that_does_not_exist_is_refused_with_the_nearest_one(simulate):
    with pytest.raises(pippin.ConfigError, match=r"sensors\.eye\.body: no body matches 'bal'.*'ball'"):
        simulate(body="bal")


@pytest.mark.parametrize(
    ("field", "options", "reason"),
    [
        ("width", {"width": 0}, ">= 1"),
        ("height", {"height": 2.5}, "int"),
        ("vertical_fov", {"vertical_fov": 3.2}, "between 0 and π"),
        ("vertical_fov", {"vertical_fov": float("nan")}, "finite"),
        ("horizontal_fov", {"horizontal_fov": 1.0}, "needs `vertical_fov` to be left out"),
        ("look_at", {"position": [0.0, 0.0, 1.0], "look_at": [0.0, 0.0, 1.0]}, "another point than 'position'"),
        ("look_at", {"rotation": [1.0, 0.0, 0.0, 0.0], "look_at": [0.0, 0.0, 1.0]}, "needs `rotation` to be left out"),
        ("outputs", {"outputs": []}, ">= 1|at least|not be empty"),
        ("outputs", {"outputs": ["depht"]}, "depth"),
        ("outputs", {"outputs": ["depth", "normal", "depth"]}, "'depth' is there twice"),
        ("max_distance", {"max_distance": float("inf")}, "finite"),
        ("max_distance", {"max_distance": 0.0}, "> 0"),
        ("no_hit", {"no_hit": "nan"}, "infinity"),
        ("shadows", {"shadows": True}, '"color"'),
        ("period", {"period": -0.1}, "> 0"),
        ("fov", {"fov": 1.0}, "unknown|key"),
    ],
)
def test_values_that_make_no_sense_are_refused_where_they_stand(field, options, reason):
    table = {"type": "camera", "width": 8, "height": 6, "vertical_fov": 1.0, **options}
    table = {key: value for key, value in table.items() if value is not None}
    with pytest.raises(pippin.ConfigError, match=rf"^sensors\.eye\.{field}\b.*: .*({reason})"):
        pippin.structure({"sensors": {"eye": table}})


def test_one_of_the_two_angles_of_view_is_needed():
    table = {"type": "camera", "width": 8, "height": 6}
    with pytest.raises(pippin.ConfigError, match=r"^sensors\.eye: .*; add 'vertical_fov' or 'horizontal_fov'"):
        pippin.structure({"sensors": {"eye": table}})


SIZE = {"width": 32, "height": 24, "vertical_fov": 1.0, "no_hit": "max-distance"}
CONFORMANCE = conformance.Conformance("sensor", "camera", config={"body": "link_1", **SIZE})


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()


# Cameras of the asset


WATCHED = """<mujoco><worldbody><body name="head" pos="0 0 2"><freejoint/><geom size=".1"/>
<camera name="{name}" pos="0 0 -.2" fovy="60"/><camera name="follower" mode="trackcom"/></body></worldbody></mujoco>"""


def watching(path, **camera):
    camera = {"type": "camera", "width": 3, "height": 3, "outputs": ["distance"], **camera}
    scene = {"ground": True, "assets": [{"path": str(path)}]}
    config = {"scene": scene, "solver": {"type": "xpbd"}, "sensors": {"eye": camera}, "simulation": {"device": "cpu"}}
    return pippin.Simulation(pippin.structure(config))


def test_a_camera_of_the_file_gives_pose_and_angle_of_view(tmp_path):
    path = tmp_path / "head.xml"
    path.write_text(WATCHED.format(name="down"))

    with watching(path, camera="down") as simulation:
        simulation.step()
        distances = simulation.sensors["eye"].outputs["distance"].data.numpy()[0, 0]

    corner = math.hypot(1.0, math.tan(math.pi / 6) * 2 / 3 * math.sqrt(2))  # the middle of the outermost pixels
    assert distances[1, 1] == pytest.approx(1.8, rel=1e-2)
    assert distances[0, 0] / distances[1, 1] == pytest.approx(corner, rel=1e-3)


def test_a_camera_that_is_not_in_the_file_is_an_error_with_the_names(tmp_path):
    path = tmp_path / "head.xml"
    path.write_text(WATCHED.format(name="down"))

    with pytest.raises(pippin.ConfigError, match=r"camera: no camera matches 'follower'; cameras: down"):
        watching(path, camera="follower")
