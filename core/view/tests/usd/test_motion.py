"""Motion that is written now and then: every file is whole, and a file that cannot be written is reported."""

import numpy as np
import pytest
from pippin.errors import SimulationError
from pippin_view.usd.motion import UsdMotion
from pxr import Sdf, Usd, UsdGeom


@pytest.fixture
def motion(tmp_path):
    layer = Sdf.Layer.CreateAnonymous(".usdc")
    stage = Usd.Stage.Open(layer)
    body = UsdGeom.Xform.Define(stage, "/body")
    body.AddTranslateOp()
    body.AddOrientOp()
    bodies, offsets = np.zeros(1, dtype=int), np.zeros((1, 3))
    return UsdMotion(layer=layer, path=tmp_path / "new" / "a.usdc", prims=["/body"], bodies=bodies, offsets=offsets)


def samples(motion):
    """Return how many poses the file has."""
    layer = Sdf.Layer.OpenAsAnonymous(str(motion.path))
    return len(layer.ListTimeSamplesForPath("/body.xformOp:translate"))


def test_the_file_is_written_after_1_2_and_4_seconds(motion):
    written = {}
    for code in range(50):
        motion.add(code, np.array([[code, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]))
        motion.save_if_due(0.1 * code)
        if motion.path.exists():
            written.setdefault(samples(motion), code)

    assert list(written) == [11, 21, 41]
    assert [path.name for path in motion.path.parent.iterdir()] == ["a.usdc"]


def test_a_file_that_cannot_be_written_leaves_the_one_before(motion):
    motion.add(0, np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]))
    motion.save()
    (motion.path.parent / ".a.part.usdc").mkdir()

    motion.add(1, np.array([[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]))
    with pytest.raises(SimulationError, match=r"a\.usdc' cannot be written .*; free some space"):
        motion.save()

    assert samples(motion) == 1


def test_a_long_motion_is_in_clips_and_one_of_them_in_memory(motion):
    """Poses at whole codes and between them, also between two clips, are those of a motion in one file."""
    motion.clip_size = 7
    for code in range(20):
        turn = 0.1 * code
        motion.add(code, np.array([[code**2, 0.0, 0.0, np.sin(turn), 0.0, 0.0, np.cos(turn)]]))
        assert sum(len(layer.ListTimeSamplesForPath("/body.xformOp:translate")) for layer in motion.layers) <= 8
    motion.save()

    stage = Usd.Stage.Open(str(motion.path))
    body = UsdGeom.Xformable(stage.GetPrimAtPath("/body"))
    found = {code: body.ComputeLocalToWorldTransform(code) for code in np.arange(0.0, 19.5, 0.5).tolist()}
    for code, matrix in found.items():
        below, above = np.floor(code), np.ceil(code)
        assert matrix[3][0] == pytest.approx((below**2 + above**2) / 2.0)
        assert matrix[1][2] == pytest.approx(np.sin(0.2 * code), abs=1e-3)
    assert stage.GetEndTimeCode() == 19.0
    assert motion.notes == ["the motion of 'a.usdc' is in the folder 'a.clips'; keep both together"]
    assert [path.name for path in sorted((motion.path.parent / "a.clips").iterdir())] == [
        "0001.usdc", "0002.usdc", "0003.usdc", "manifest.usdc"
    ]  # fmt: skip
