"""Meshes of a stage whose faces name points that are not there: they are refused before native code reads them."""

import pippin
import pytest

MESH = """#usda 1.0
( defaultPrim = "w" )
def Xform "w" {{
    def Mesh "m" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) {{
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        int[] faceVertexCounts = {counts}
        int[] faceVertexIndices = {indices}
    }}
}}
"""


def load(folder, counts, indices):
    (folder / "mesh.usda").write_text(MESH.format(counts=counts, indices=indices))
    scene = {"assets": [{"path": str(folder / "mesh.usda")}]}
    return pippin.Simulation({"simulation": {"device": "cpu"}, "scene": scene, "solver": {"type": "xpbd"}})


@pytest.mark.parametrize(
    ("counts", "indices"),
    [
        ([3, 3], [0, 1, 2, 0, 1, -5]),
        ([3, 3], [0, 1, 2, 0, 1, 99999]),
        ([3, 300], [0, 1, 2, 0, 1, 3]),
        ([6, -3], [0, 1, 2, 0, 1, 3]),
    ],
)
def test_a_mesh_with_broken_faces_is_refused(tmp_path, counts, indices):
    with pytest.raises(pippin.ConfigError, match=r"mesh /w/m has faces of points that it lacks \(4 points, 2 faces"):
        load(tmp_path, counts, indices)


def test_a_whole_mesh_is_a_body(tmp_path):
    with load(tmp_path, [3, 3, 3, 3], [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]) as simulation:
        assert simulation.model.body_count == 1
