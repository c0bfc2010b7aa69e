"""Videos of a run, read back by PyAV: size, length and motion; cameras that follow; faults that are reported."""

import av
import numpy as np
import pippin
import pytest
from pippin import Simulation

MODEL = """
<mujoco><worldbody>
  <body name="crate" pos="0 0 0.3"><freejoint/>
    <geom type="box" size=".1 .1 .1" rgba="1 0 0 1"/><camera name="up" pos="0 0 2" fovy="60"/></body>
</worldbody></mujoco>
"""
SIZE = (64, 48)
RATE = 50.0
STEPS = 10
DT = 0.01


def tables(folder, viewers, **scene):
    model = folder / "crate.xml"
    model.write_text(MODEL)
    return {
        "simulation": {"device": "cpu", "dt": DT},
        "scene": {"worlds": 2, "ground": True, "assets": [{"path": str(model)}], **scene},
        "solver": {"type": "xpbd"},
        "viewers": {label: {"type": "video", "size": SIZE, "rate": RATE, **each} for label, each in viewers.items()},
    }


def frames_of(path):
    """Return the frames of a file, shape [frames, height, width, 3], and their times [s]."""
    with av.open(str(path)) as container:
        frames = list(container.decode(video=0))
    return np.stack([frame.to_ndarray(format="rgb24") for frame in frames]), [float(frame.time) for frame in frames]


def is_red(image):
    image = image.astype(int)
    return (image[..., 0] > 60) & (image[..., 1:].max(axis=-1) < 0.6 * image[..., 0])


def redness(image):
    """Return how many pixels are red."""
    return int(is_red(image).sum())


def middle(image):
    """Return the mean column of the red pixels, from 0 to 1."""
    return np.nonzero(is_red(image))[1].mean() / image.shape[1]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the folder and the notes of a run of a crate that falls, in world 1 also along x; recorded six times."""
    folder = tmp_path_factory.mktemp("run")
    fixed = {"eye": (0.0, -2.0, 0.5), "target": (0.0, 0.0, 0.3), "worlds": (1,)}
    viewers = {
        "video": {},
        "both": {"worlds": "0:2", "path": "tiles/both.mp4"},
        "loop": {"path": "loop.gif", "quality": "low"},
        "slow": {"path": "slow.mp4", "speed": 0.5},
        "above": {"path": "above.mp4", "camera": "up"},
        "fixed": {"path": "fixed.mp4", **fixed},
        "behind": {"path": "behind.mp4", **fixed, "follow": "crate"},
    }
    notes, _ = fall(tables(folder, viewers), folder / "files")
    return folder / "files", notes


def fall(given, folder=None):
    """Return the notes and the last poses of a run in which the crate of world 1 is thrown."""
    with Simulation(pippin.structure(given), folder=folder) as simulation:
        crates = simulation.view.rigid_bodies("**/crate")
        crates.set_velocities(np.array([[0, 0, 0, 0, 0, 0], [5, 0, 0, 0, 0, 0]], dtype=np.float32))
        simulation.step(STEPS)
        return simulation.notes, simulation.state.body_q.numpy().copy()


@pytest.mark.slow
@pytest.mark.slow
def test_a_video_has_a_frame_of_each_period(run):
    folder, notes = run
    images, times = frames_of(folder / "video.mp4")

    assert images.shape == (6, SIZE[1], SIZE[0], 3)
    assert times == pytest.approx(np.arange(6) / RATE)
    [note] = notes["viewers:video"]
    assert note.startswith(f"'{folder / 'video.mp4'}': 64×48 pixels, 50 frames/s, 6 frames, yuv420p")


@pytest.mark.slow
def test_a_video_shows_the_colours_of_the_asset_in_the_middle(run):
    [first, *_], _ = frames_of(run[0] / "video.mp4")

    assert 0.03 < redness(first) / first[..., 0].size < 0.5
    assert middle(first) == pytest.approx(0.5, abs=0.04)


@pytest.mark.slow
def test_worlds_are_tiles_of_one_image(run):
    images, _ = frames_of(run[0] / "tiles" / "both.mp4")

    assert all(redness(half) > 20 for half in np.array_split(images[0], 2, axis=1))


def hill(patches):
    """Return a scene whose only ground is a terrain of one patch about the origin."""
    return {"ground": False, "terrain": {"levels": 1, "border": 1.0, "patches": {"only": patches}}}


@pytest.mark.slow
def test_a_video_shows_the_terrain(tmp_path):
    """Seen from the side, stairs rise before the sky, and flat ground leaves it free."""
    stairs = {"type": "stairs", "step_height": [0.2, 0.2], "border": 0.45}
    seen = {"eye": (0.0, -9.0, 0.6), "target": (0.0, 0.0, 0.6), "worlds": (1,)}
    found = {}
    for name, patch in {"hill": stairs, "flat": {"type": "flat"}}.items():
        given = tables(tmp_path, {"video": {**seen, "path": f"{name}.mp4"}}, **hill(patch))
        fall(given, tmp_path / "files")
        found[name] = frames_of(tmp_path / "files" / f"{name}.mp4")[0][0].astype(int)

    changed = np.abs(found["hill"] - found["flat"]).max(axis=-1) > 40
    low, high = changed[SIZE[1] // 2 - 2 : SIZE[1] // 2 + 2], changed[:10]
    assert low[:, 28:36].all(), "the hill hides the sky in the middle"
    assert not high.any(), "nothing is above it"


@pytest.mark.slow
def test_a_gif_has_as_many_frames(run):
    images, times = frames_of(run[0] / "loop.gif")

    assert len(images) == 6
    assert times[-1] == pytest.approx(0.1, abs=0.011)
    assert all(redness(image) > 20 for image in images)
    assert np.abs(images[:, :4].astype(int) - images[0, :4]).max() < 25, "the sky keeps its colours"


def test_slow_motion_has_more_frames_of_the_same_rate(run):
    _, times = frames_of(run[0] / "slow.mp4")

    assert times == pytest.approx(np.arange(11) / RATE)


def test_a_camera_of_the_asset_moves_with_its_body(run):
    images, _ = frames_of(run[0] / "above.mp4")

    assert redness(images[0]) > 10
    assert abs(redness(images[0]) - redness(images[-1])) <= 4, "it falls with the crate"


def test_a_camera_moves_with_the_body_that_it_follows(run):
    fixed, _ = frames_of(run[0] / "fixed.mp4")
    behind, _ = frames_of(run[0] / "behind.mp4")

    assert middle(fixed[0]) == pytest.approx(middle(behind[0]), abs=0.01)
    assert 0.5 < middle(behind[-1]) < middle(fixed[-1]) - 0.03


@pytest.mark.parametrize(
    ("viewer", "fault"),
    [
        ({"camera": "down"}, r"viewers\.video\.camera: no camera matches 'down'.*up"),
        ({"follow": "crane"}, r"viewers\.video\.follow: no body matches 'crane'.*crate"),
        ({"worlds": (7,)}, r"viewers\.video\.worlds: 7 is not a world; there are 2"),
        ({"path": "video.avi"}, r"viewers\.video\.path: must end with \.mp4 or \.gif.*'video\.avi'"),
        ({"size": (641, 480)}, r"viewers\.video\.size: must be two even numbers of at least 16.*641"),
        ({"camera": "up", "eye": (1.0, 0.0, 0.0)}, r"viewers\.video\.eye: needs `camera` to be left out"),
        ({"eye": (1.0, 0.0, 0.0), "target": (1.0, 0.0, 0.0)}, r"viewers\.video\.eye: must be another point"),
        ({"path": "crate.xml/video.mp4"}, r"viewers\.video\.path: '.*' cannot be created, as '.*crate\.xml' is a file"),
    ],
)
def test_a_video_that_cannot_be_made_is_refused(tmp_path, viewer, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        Simulation(pippin.structure(tables(tmp_path, {"video": viewer})), folder=tmp_path)


def test_a_video_changes_no_bit(tmp_path):
    recorded = tables(tmp_path, {"video": {"worlds": "0:2", "rate": 100.0}})

    _, poses = fall(recorded, tmp_path)
    _, expected = fall(recorded | {"viewers": {}})

    assert (poses == expected).all()
