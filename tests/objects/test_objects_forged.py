"""Files of objects that are damaged, or made to do harm: each is refused at its key, before memory is taken for it."""

import io
import zipfile

import numpy as np
import pippin
import pytest

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)
FACES = np.array([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3], dtype=np.int32)
SOFT = {"type": "soft-mesh", "density": 1e3, "k_mu": 1e4, "k_lambda": 1e4, "particle_radius": 0.02}


def header(shape, dtype="<f4"):
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(text, {"descr": dtype, "fortran_order": False, "shape": shape})
    return text.getvalue()


def refused(table, path, where):
    solver = {"type": "vbd" if table["type"] == "soft-mesh" else "xpbd"}
    objects = [{"label": "it", **table}]
    with pytest.raises(pippin.ConfigError) as caught:
        pippin.Simulation({"simulation": {"device": "cpu"}, "scene": {"objects": objects}, "solver": solver})
    [fault] = caught.value.faults
    assert fault.startswith(f"scene.objects[0].{where}path: '{path}'")
    return fault


def body(shape):
    return {"type": "body", "motion": "static", "shapes": [shape]}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"vertices": header((2**40, 3))}, "does not have the size that it states"),
        ({"vertices": header((1,), "|O") + b"cos\nsystem\n(S'true'\ntR."}, "it holds Python objects"),
        ({"vertices": CORNERS * np.nan}, "a vertex is not finite"),
        ({"vertices": CORNERS[:0], "indices": FACES[:0]}, "it has no triangles"),
        ({"indices": FACES + 99}, "exceeds vertex count 4"),
        ({"indices": FACES - 9}, "negative index"),
        ({"indices": FACES + 0.5}, "must contain integer indices"),
    ],
)
def test_a_forged_mesh_is_refused(tmp_path, changes, fault):
    path = tmp_path / "forged.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in ({"vertices": CORNERS, "indices": FACES} | changes).items():
            data = io.BytesIO()
            data.write(content) if isinstance(content, bytes) else np.save(data, content)
            archive.writestr(f"{name}.npy", data.getvalue())

    assert fault in refused(body({"type": "mesh", "path": str(path)}), path, "shapes[0].")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("forged.stl", b"\0" * 80 + np.uint32(4_000_000_000).tobytes() + b"\0" * 50),
        ("forged.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999\n"),
        ("forged.gltf", b'{"asset":{"version":"2.0"},"buffers":[{"uri":"../../etc/passwd","byteLength":100}]}'),
        (
            "forged.ply",
            b"ply\nformat ascii 1.0\nelement vertex 3000000000\nproperty float x\nproperty float y\nproperty float z\n"
            b"element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n",
        ),
    ],
)
def test_a_forged_file_of_another_format_is_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)

    assert "is no mesh" in refused(body({"type": "mesh", "path": str(tmp_path / name)}), tmp_path / name, "shapes[0].")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (header((2**40, 4)), "does not have the size that it states"),
        (np.array([["a", "b"], ["c", "d"]]), "it is of type <U1"),
        (np.ones((4, 4), dtype=complex), "it is of type complex128"),
        (b"hello", "magic string"),
    ],
)
def test_a_forged_table_is_refused(tmp_path, content, fault):
    path, data = tmp_path / "forged.npy", io.BytesIO()
    data.write(content) if isinstance(content, bytes) else np.save(data, content)
    path.write_bytes(data.getvalue())

    shape = {"type": "heightfield", "path": str(path), "size": [1.0, 1.0]}
    assert fault in refused(body(shape), path, "shapes[0].")


def test_a_forged_soft_body_is_refused(tmp_path):
    path = tmp_path / "forged.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vertices.npy", header((2**40, 3)))

    assert "does not have the size that it states" in refused({**SOFT, "path": str(path)}, path, "")
