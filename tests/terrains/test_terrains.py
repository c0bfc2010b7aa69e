"""Terrain of patches: its heights by rays and by bodies at rest, and the patches on which worlds start."""

import warnings

import numpy as np
import pippin
import pytest
from pippin.catalog.entries import Catalog
from pippin.terrains.grid import TerrainGrid

BOX = {
    "type": "body",
    "label": "box",
    "position": [0.0, 0.0, 0.12],
    "shapes": [{"type": "box", "size": [0.3, 0.3, 0.2]}],
}
PATCHES = {
    "flat": {"type": "flat"},
    "up": {"type": "stairs", "border": 0.45},
    "down": {"type": "stairs-down", "border": 0.45},
    "hill": {"type": "slope"},
    "pit": {"type": "slope-down"},
    "rough": {"type": "rough"},
    "boxes": {"type": "boxes"},
    "waves": {"type": "waves"},
    "stones": {"type": "stepping-stones", "rise": [0.0, 0.0], "platform": 2.1, "stone": [0.83, 0.43]},
    "ditch": {"type": "gap", "platform": 2.1},
}
DRONE = {"type": "body", "label": "drone", "motion": "kinematic", "shapes": [{"type": "sphere", "radius": 0.1}]}


def tables(terrain, solver="mujoco-native", objects=(BOX,), **keys):
    """Return a file with a terrain of three levels, unless it says otherwise."""
    return {
        "simulation": {"device": "cpu", "dt": 0.005},
        "scene": {"terrain": {"levels": 3, "border": 1.0, **terrain}, "objects": list(objects), **keys},
        "solver": {"type": solver},
    }


def simulate(terrain, **keys):
    return pippin.Simulation(pippin.structure(tables(terrain, **keys)))


def grid(terrain, seed=0):
    scene = pippin.structure(tables(terrain)).scene
    return TerrainGrid.of(scene, seed, Catalog.installed())


def steps(x, y, width, border, count):
    """Return the number of steps below a point of stairs of 8 × 8 m."""
    inside = 4.0 - np.maximum(abs(x), abs(y)) - border
    return np.clip(np.floor(inside / width) + 1, 0, count)


def ramp(x, y):
    """Return the distance that a slope of 8 × 8 m has risen for at a point [m]."""
    return np.clip(4.0 - np.maximum(abs(x), abs(y)) - 0.25, 0.0, 2.75)


def stones(x, y, stone, distance):
    """Return the height of the ground between stones and on them."""
    count = round(8.0 / (stone + distance))
    pitch = 8.0 / count
    away = [abs((each + 4.0) % pitch - pitch / 2.0) for each in (x, y)]
    is_up = (np.maximum(*away) <= stone / 2.0) | (np.maximum(abs(x), abs(y)) <= 1.05)
    return np.where(is_up, 0.0, -1.0)


def ditch(x, y, width):
    far = np.maximum(abs(x), abs(y))
    return np.where((far > 1.05) & (far < 1.05 + width), -1.0, 0.0)


FORMULAS = {
    "flat": lambda x, y, d: 0.0 * x,
    "up": lambda x, y, d: (0.05 + 0.15 * d) * steps(x, y, 0.3, 0.45, 7),
    "down": lambda x, y, d: -(0.05 + 0.15 * d) * steps(x, y, 0.3, 0.45, 7),
    "hill": lambda x, y, d: 0.4 * d * ramp(x, y),
    "pit": lambda x, y, d: -0.4 * d * ramp(x, y),
    "waves": lambda x, y, d: 0.1 * d * (np.sin(np.pi * x) + np.sin(np.pi * y)),
    "stones": lambda x, y, d: stones(x, y, 0.83 - 0.4 * d, 0.05 + 0.25 * d),
    "ditch": lambda x, y, d: ditch(x, y, 0.1 + 0.7 * d),
}


@pytest.fixture(scope="module")
def scanned():
    """Points on the ground of each patch, in its frame; and their levels, columns, heights by rays and by the host."""
    scan = {"type": "ray-caster", "body": "drone", "targets": ["terrain/.*"], "align": "world"}
    scan["grid"] = {"size": [7.6, 7.6], "resolution": 0.4, "start_height": 5.0}
    count = 2 * len(PATCHES)
    config = tables({"levels": 2, "patches": PATCHES}, "xpbd", [DRONE], worlds=count) | {"sensors": {"scan": scan}}
    with pippin.Simulation(pippin.structure(config)) as simulation:
        simulation.step()
        met = simulation.sensors["scan"]["position"].numpy()[:, 0].reshape(count, -1, 3).astype(float)
        places = simulation.services.places
        levels, columns = places.levels.numpy(), places.columns.numpy()
        host = grid({"levels": 2, "patches": PATCHES})
        by_host = host.height(met[..., 0], met[..., 1])
    centres = np.array([8.0 * (levels - 0.5), 8.0 * (columns - 4.5)]).T
    return met[..., :2] - centres[:, None], levels, columns, met[..., 2], by_host


@pytest.mark.parametrize("label", FORMULAS)
def test_a_ray_meets_the_ground_at_the_height_of_the_formula(scanned, label):
    points, levels, columns, heights, _ = scanned

    rows = np.flatnonzero(columns == list(PATCHES).index(label))
    assert sorted(levels[rows]) == [0, 1]
    for row in rows:
        x, y = points[row].T
        expected = FORMULAS[label](x, y, float(levels[row]))
        assert np.abs(heights[row] - expected).max() < 2e-5, levels[row]


@pytest.mark.parametrize("label", ["rough", "boxes"])
def test_a_ray_meets_random_ground_at_the_height_that_the_host_knows(scanned, label):
    _, levels, columns, heights, by_host = scanned

    rows = columns == list(PATCHES).index(label)
    assert np.abs(heights[rows] - by_host[rows]).max() < 2e-5
    assert (heights[rows] > -1e-5).all()
    hardest = heights[rows & (levels == 1)]
    assert 0.05 < hardest.max() <= (0.1 if label == "rough" else 0.2) + 1e-6
    if label == "rough":
        assert np.abs(hardest / 0.005 - np.round(hardest / 0.005)).max() < 1e-3


@pytest.mark.slow
def test_a_camera_sees_the_ground_of_each_patch():
    """Each pixel of a camera that looks down is at a height that the host knows, to a centimetre in every direction."""
    count, size, fov, above = 2 * len(PATCHES), 31, 0.9, 4.0
    eye = {"type": "camera", "body": "drone", "position": [0.0, 0.0, above], "outputs": ["depth"], "vertical_fov": fov}
    config = tables({"levels": 2, "patches": PATCHES}, "xpbd", [DRONE], worlds=count)
    config["sensors"] = {"eye": {**eye, "width": size, "height": size}}
    with pippin.Simulation(pippin.structure(config)) as simulation:
        depth = simulation.sensors["eye"]["depth"].numpy()[:, 0].astype(float)
        eyes = simulation.state.body_q.numpy()[:, :3] + [0.0, 0.0, above]
    slopes = (np.arange(size) + 0.5 - size / 2) / (size / 2) * np.tan(fov / 2)
    x = eyes[:, 0, None, None] + depth * slopes[None, None, :]
    y = eyes[:, 1, None, None] - depth * slopes[None, :, None]
    heights, terrain = eyes[:, 2, None, None] - depth, grid({"levels": 2, "patches": PATCHES})
    beside = [terrain.height(x + dx, y + dy) for dx in (-0.01, 0.0, 0.01) for dy in (-0.01, 0.0, 0.01)]
    wrong = (heights < np.min(beside, axis=0) - 0.01) | (heights > np.max(beside, axis=0) + 0.01)  # a wall is between

    sphere = np.hypot(np.arange(size) - size // 2, (np.arange(size) - size // 2)[:, None]) < 4  # the drone itself
    assert wrong[:, ~sphere].mean() < 2e-3  # some of those that graze an edge
    assert np.ptp(heights[:, ~sphere]) > 1.0


def rest(solver, labels, tolerance, count=200, **keys):
    """Let a box fall on the start of each patch, and compare its height with that of the formula."""
    patches = {label: PATCHES[label] for label in labels}
    with simulate({"patches": patches}, solver=solver, worlds=3 * len(labels), **keys) as simulation:
        simulation.step(count)
        simulation.raise_errors()
        places = simulation.services.places
        levels, columns, starts = (each.numpy() for each in (places.levels, places.columns, places.places))
        reached = simulation.state.body_q.numpy()
    for level, column, start, pose in zip(levels, columns, starts, reached, strict=True):
        expected = FORMULAS[labels[column]](np.zeros(1), np.zeros(1), level / 2.0)[0]
        assert abs(pose[2] - 0.1 - expected) < tolerance, (labels[column], level)
        assert start[2] == pytest.approx(expected, abs=1e-6)


LEVEL = ["flat", "up", "down", "hill", "pit", "stones", "ditch"]
"""Patches that are level around their start."""


def test_a_box_rests_at_the_height_of_the_start_of_each_patch():
    rest("mujoco-native", LEVEL, 5e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "tolerance"),
    [
        ("mujoco", 2e-3),
        ("xpbd", 1e-3),
        ("steel", 1e-3),
        ("kamino", 1e-3),
        ("featherstone", 0.03),  # contacts of 2500 N/m carry 18 kg
        ("semi-implicit", 0.03),
        ("vbd", 0.03),
    ],
)
def test_every_solver_with_bodies_carries_a_box_on_each_patch(solver, tolerance):
    # MuJoCo Warp rocks a box on the triangles of a field: it is up to 5 cm too high after two seconds.
    fields = [] if solver == "mujoco" else ["hill", "pit"]
    rest(solver, ["up", "stones", *fields], tolerance, count=150)


def test_two_fields_of_one_scale_have_bounds_of_their_own():
    """Newton gives both those of the first, so that nothing touches the top of the higher one."""
    with simulate({"patches": {"hill": PATCHES["hill"]}}, solver="xpbd") as simulation:
        tops = simulation.model.shape_collision_aabb_upper.numpy()
        labels = simulation.model.shape_label

    found = [tops[labels.index(f"terrain/hill/{level}/field")][2] for level in (1, 2)]
    assert found == pytest.approx([0.2 * 2.75, 0.4 * 2.75])


def test_worlds_start_by_shares_and_take_levels_in_turn():
    terrain = {"patches": {"flat": {"type": "flat", "share": 1.0}, "up": {"type": "stairs", "share": 3.0}}}

    whole = grid(terrain).start_patches(pippin.structure(tables(terrain, worlds=8)).scene)
    part = pippin.structure(tables(terrain, worlds=3, first_world=4, total_worlds=8)).scene

    assert whole[1].tolist() == [0, 0, 1, 1, 1, 1, 1, 1]
    assert whole[0].tolist() == [0, 1, 0, 1, 2, 0, 1, 2]
    assert [each.tolist() for each in grid(terrain).start_patches(part)] == [[2, 0, 1], [1, 1, 1]]


def test_a_reset_puts_bodies_and_particles_back_on_their_patch():
    sand = {"type": "particles", "label": "dust", "particle_mass": 0.1, "position": [0.0, 0.0, 1.0]}
    config = tables({"patches": {"up": PATCHES["up"]}}, "xpbd", [BOX, sand], worlds=3)
    config["solver"]["disable_particle_contacts"] = True
    with pippin.Simulation(pippin.structure(config)) as simulation:
        places = simulation.services.places.places.numpy()
        start = simulation.state.body_q.numpy()[:, :3].copy(), simulation.state.particle_q.numpy().copy()
        simulation.step(10)
        simulation.reset([1])
        again = simulation.state.body_q.numpy()[1, :3], simulation.state.particle_q.numpy()[1]

    assert start[0] == pytest.approx(places + np.array([0.0, 0.0, 0.12]), abs=1e-6)
    assert start[1] == pytest.approx(places + np.array([0.0, 0.0, 1.0]), abs=1e-6)
    assert len({round(float(each), 3) for each in places[:, 2]}) == 3
    assert [each.tolist() for each in again] == [each[1].tolist() for each in start]


def test_the_ground_of_a_patch_depends_on_the_seed_its_label_and_its_level_alone():
    rough = {"rough": PATCHES["rough"]}

    def heights(patches, own_seed, **keys):
        return [row[-1].heights.tolist() for row in grid({"patches": patches, **keys}, own_seed).grounds]

    first = heights(rough, 1)

    assert heights({"flat": PATCHES["flat"], **rough}, 1) == first
    assert heights(rough, 7, seed=1) == first
    assert heights(rough, 2)[2] != first[2]


@pytest.mark.parametrize(
    ("terrain", "keys", "message"),
    [
        ({"patches": {}}, {}, r"scene\.terrain\.patches: .*>= 1"),
        ({"patches": {"a/b": {"type": "flat"}}}, {}, r'patches."a/b": a label names files'),
        ({"patches": PATCHES}, {"ground": True}, r"terrain: is given beside 'ground'; leave one of the two out"),
        ({"patches": PATCHES}, {"spacing": [1.0, 0.0, 0.0]}, r"terrain: is one ground for all worlds, and 'spacing'"),
        ({"patches": {"a": {"type": "flat", "share": 0.0}}}, {}, r"scene\.terrain\.patches: every share is 0"),
        ({"patches": PATCHES, "material": "ice"}, {}, r"scene\.terrain\.material: no material 'ice'"),
        ({"patches": PATCHES, "size": [2.0, 2.0]}, {}, r"patches\.up\.platform: .* the patch has 2 m"),
        ({"patches": {"a": {"type": "stares"}}}, {}, r"terrain 'stares': not installed.* did you mean 'stairs'"),
        (
            {"patches": {"a": {"type": "gap", "width": [0.1, 4.0]}}},
            {},
            r"a\.platform: with a ditch of .* twice",
        ),
    ],
)
def test_a_wrong_terrain_is_refused_by_name(terrain, keys, message):
    with pytest.raises(pippin.PippinError, match=message):
        simulate(terrain, **keys)


def test_fields_give_no_warning():
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        simulate({"patches": {"hill": PATCHES["hill"]}}, solver="xpbd").close()

    assert not [str(each.message) for each in noted if "eightfield" in str(each.message)]
