from pippin.assets.urdf.adding import without_mesh

MESH = '<{0}><geometry><mesh filename="/{1}.stl" /></geometry></{0}>'


def robot(*parts: tuple[str, str]) -> str:
    return f'<robot><link name="a">{"".join(MESH.format(*part) for part in parts)}</link></robot>'


def test_the_visual_mesh_that_a_message_names_is_left_out():
    text, note = without_mesh(robot(("visual", "hand"), ("visual", "foot")), "Mesh file '/foot.stl' is empty")

    assert text == robot(("visual", "hand"))
    assert note == "visual mesh '/foot.stl' is not drawn: Mesh file '/foot.stl' is empty"


def test_a_mesh_that_also_collides_is_kept():
    assert without_mesh(robot(("visual", "foot"), ("collision", "foot")), "Mesh file '/foot.stl' is empty") is None


def test_a_message_about_something_else_changes_nothing():
    assert without_mesh(robot(("visual", "foot")), "could not convert string to float: 'q'") is None
