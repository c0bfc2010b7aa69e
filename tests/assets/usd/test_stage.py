"""Meshes of a stage whose faces name points that are not there: they are refused before native code reads them."""

import numpy as np
import pippin
import pytest
from pippin.assets.importing import NOTE

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


WHOLE = [3, 3, 3, 3], [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
"""Counts and indices of the faces of a tetrahedron."""


def load(folder, counts, indices, changes=()):
    text = MESH.format(counts=counts, indices=indices)
    for change in changes:
        text = text.replace(*change)
    (folder / "mesh.usda").write_text(text)
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


def test_a_point_that_is_not_finite_is_refused(tmp_path):
    with pytest.raises(pippin.ConfigError, match="mesh /w/m has a point that is not finite; correct the file"):
        load(tmp_path, [3], [0, 1, 2], changes=[("(1, 0, 0)", "(nan, 0, 0)")])


MATERIAL = """
    def Material "paint" {
        token outputs:surface.connect = </w/paint/s.outputs:surface>
        def Shader "s" {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </w/paint/t.outputs:rgb>
            token outputs:surface
        }
        def Shader "t" {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @https://localhost:9/paint.png@
            float3 outputs:rgb
        }
    }
"""
BINDING = """        rel material:binding = </w/paint>
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 1), (1, 1)] ( interpolation = "vertex" )
"""


def test_no_texture_is_fetched_from_the_network(tmp_path, caplog):
    """Newton fetches it when a viewer draws the mesh first."""
    caplog.set_level(NOTE)
    bound = ("] ) {\n", f', "MaterialBindingAPI"] ) {{\n{BINDING}')
    with load(tmp_path, *WHOLE, changes=[bound, ('    def Mesh "m"', f'{MATERIAL}    def Mesh "m"')]) as simulation:
        [mesh] = [each for each in simulation.model.shape_source if each is not None]

    assert mesh.texture is None
    assert "texture 'https://localhost:9/paint.png' is not drawn: Pippin downloads nothing" in caplog.text


def test_a_whole_mesh_is_a_body(tmp_path):
    with load(tmp_path, *WHOLE) as simulation:
        assert simulation.model.body_count == 1


def test_a_reference_to_a_file_that_is_not_there_is_refused_in_one_line(tmp_path, capfd):
    """OpenUSD would print its own line each time that the stage is opened."""
    missing = ('def Mesh "m" (', 'def Xform "other" ( references = @missing.usda@ ) {}\n    def Mesh "m" (')

    with pytest.raises(
        pippin.ConfigError, match=r"Could not open asset @missing\.usda@ for reference .*; correct the file"
    ):
        load(tmp_path, *WHOLE, [missing])
    assert "missing.usda" not in capfd.readouterr().err


SCALED = """#usda 1.0
( metersPerUnit = 1
kilogramsPerUnit = 1
upAxis = "Z" )
def Xform "w" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
    float physics:mass = 1
    float3 physics:diagonalInertia = (0.02, 0.02, 0.02)
    double3 xformOp:translate = (0, 0, 0.1)
    quatd xformOp:orient = (0.9, 0.3, 0.3, 0.1)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
    def Mesh "m" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]) {{
        uniform token physics:approximation = "convexHull"
        point3f[] points = [(0, 0, 0), ({x}, 0, 0), (0, 0.2, 0), (0, 0, 0.3)]
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
        double3 xformOp:scale = ({scale}, 1, 1)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }}
}}
"""


@pytest.mark.parametrize("solver", ["mujoco-native", "xpbd"])
def test_a_mirrored_mesh_falls_as_one_whose_points_are_mirrored(solver, tmp_path):
    ends = []
    for x, scale in ((0.1, -1), (-0.1, 1)):
        (tmp_path / "m.usda").write_text(SCALED.format(x=x, scale=scale))
        scene = {"assets": [{"path": str(tmp_path / "m.usda")}], "ground": True}
        config = {"simulation": {"device": "cpu", "dt": 0.002}, "scene": scene, "solver": {"type": solver}}
        with pippin.Simulation(pippin.structure(config)) as simulation:
            simulation.step(150)
            ends.append(simulation.state.body_q.numpy()[0])

    assert abs(ends[0][4] - 0.3) > 0.01  # it has turned over
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-3)
