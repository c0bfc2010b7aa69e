"""Statements of a stage: units that are refused, what is repaired before the importer reads it, and what is told."""

import warnings

import newton
import numpy as np
import pippin
import pytest
from newton import usd
from pippin.assets.asset import find_asset
from pippin.assets.importing import NOTE, import_asset
from pippin.assets.usd import meanings
from pippin.config.model import AssetConfig
from pxr import Usd

BODY = """
    def Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
        float physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
        {body}
    }}
"""
JOINT = """
    def PhysicsRevoluteJoint "{name}" (prepend apiSchemas = ["PhysicsDriveAPI:angular"{api}]) {{
        uniform token physics:axis = "Z"
        rel physics:body1 = </w/{child}>
        {joint}
    }}
"""


def read(folder, *, units="metersPerUnit = 1", body="", joint="", extra="", is_for_mujoco=False, **config):
    """Return the asset of a file with two hinges on the world and a free body, and the builder with it."""
    text = f'#usda 1.0\n(\nupAxis = "Z"\n{units}\n)\ndef Xform "w" {{\n'
    text += BODY.format(name="free", body="") + BODY.format(name="a", body=body) + BODY.format(name="b", body="")
    text += JOINT.format(name="first", child="a", api="", joint="")
    text += JOINT.format(name="second", child="b", api=', "PhysxMimicJointAPI:rotZ"', joint=joint)
    (folder / "robot.usda").write_text(f"{text}{extra}\n}}\n")
    asset = find_asset(AssetConfig(path=str(folder / "robot.usda"), **config), "scene.assets[0]")
    builder = newton.ModelBuilder()
    if is_for_mujoco:
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    import_asset(builder, asset)
    return asset, builder


def notes(folder, **parts):
    return meanings.lost(*read(folder, **parts))


@pytest.mark.parametrize(
    ("units", "named"),
    [
        ("metersPerUnit = 0.01", "metersPerUnit = 0.01"),
        ("metersPerUnit = 1\nkilogramsPerUnit = 0.001", "kilogramsPerUnit = 0.001"),
        ("metersPerUnit = 0.01\nkilogramsPerUnit = 2", "metersPerUnit = 0.01 and kilogramsPerUnit = 2"),
    ],
)
def test_units_other_than_metres_and_kilograms_are_refused(tmp_path, units, named):
    with pytest.raises(pippin.ConfigError, match=rf"scene.assets\[0\].path: .*robot.usda': the stage has {named}, and"):
        read(tmp_path, units=units)


def test_grains_have_units_of_their_own():
    text = '#usda 1.0\n(\nmetersPerUnit = 0.1\n)\ndef Points "sand" {\n}\n'
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString(text)

    meanings.refuse_units(stage, "scene.assets[0].path")


def test_offsets_of_mimic_joints_of_physx_are_in_degrees(tmp_path):
    joint = "rel physxMimicJoint:rotZ:referenceJoint = </w/first>\nfloat physxMimicJoint:rotZ:gearing = 2\n"
    _, builder = read(tmp_path, joint=f"{joint}float physxMimicJoint:rotZ:offset = -10")

    follower = builder.joint_label.index("/w/second")
    assert builder.joint_mimic_coeffs[follower] == pytest.approx((np.radians(10.0), -2.0))


def test_each_joint_that_alone_holds_a_body_to_the_world_is_an_articulation(tmp_path):
    _, builder = read(tmp_path)

    assert min(builder.joint_articulation) == 0
    assert builder.articulation_count == builder.joint_count == 3


def test_articulations_have_the_order_of_their_joints(tmp_path):
    _, builder = read(tmp_path)

    assert builder.articulation_start == [0, 1, 2]
    assert [builder.articulation_label[of] for of in builder.joint_articulation] == ["/w/first", "/w/second", "/w/free"]


def test_a_file_that_was_corrected_is_read_again(tmp_path):
    with pytest.raises(pippin.ConfigError) as held:
        read(tmp_path, units="metersPerUnit = 2")
    kept = Usd.Stage.Open(str(tmp_path / "robot.usda"))  # as an error that somebody holds keeps the stage

    _, builder = read(tmp_path, units="metersPerUnit = 1")

    assert builder.body_count == 3, (held, kept)


@pytest.mark.parametrize(("place", "is_told"), [("(0, 0, 0)", False), ("(0, 0, 0.02)", True)])
def test_a_joint_that_holds_its_body_elsewhere_is_told(tmp_path, caplog, place, is_told):
    body = f'double3 xformOp:translate = {place}\nuniform token[] xformOpOrder = ["xformOp:translate"]'
    weld = "rel physics:body0 = </w/a>\nrel physics:body1 = </w/c>"
    with caplog.at_level(NOTE):
        read(tmp_path, extra=BODY.format(name="c", body=body) + f'def PhysicsFixedJoint "weld" {{\n{weld}\n}}')

    told = "bodies do not start where the stage has them, as joints hold them elsewhere: /w/weld"
    assert (told in caplog.text) == is_told


def test_a_joint_of_several_axes_has_the_world_first(tmp_path):
    with pytest.raises(pippin.ConfigError, match="/w/j leads from a body to what carries it; exchange"):
        read(tmp_path, extra='def PhysicsJoint "j" {\nrel physics:body0 = </w/free>\n}')


def test_a_joint_of_no_body_that_moves_is_refused_by_name(tmp_path):
    with pytest.raises(pippin.ConfigError, match="/w/j joins no body that moves; remove it, or name one"):
        read(tmp_path, extra='def PhysicsFixedJoint "j" {\nrel physics:body0 = </w>\n}')


def test_a_body_that_is_not_enabled_is_static(tmp_path):
    _, builder = read(tmp_path, extra=BODY.format(name="c", body="bool physics:rigidBodyEnabled = 0"))

    assert "/w/c" not in builder.body_label


@pytest.mark.parametrize("is_instance", [False, True])
def test_a_body_without_gravity_is_one_where_the_solver_can_leave_it_out(tmp_path, is_instance):
    proto = BODY.format(name="c", body="bool physxRigidBody:disableGravity = 1")
    instance = f'def Xform "i" (\ninstanceable = {str(is_instance).lower()}\nreferences = </w/p>\n) {{}}'
    asset, builder = read(tmp_path, extra=f'def Xform "p" {{\n{proto}}}\n{instance}', is_for_mujoco=True)

    rows = builder.custom_attributes["mujoco:gravcomp"].values
    assert [rows.get(index, 0.0) for index, label in enumerate(builder.body_label) if label == "/w/i/c"] == [1.0]
    assert not meanings.lost(asset, builder)


@pytest.mark.parametrize(
    ("where", "statement", "note"),
    [
        ("joint", "float physxJoint:jointFriction = 0.3", "physxJoint:jointFriction = 0.3 of /w/second does not act"),
        ("joint", "float physxJoint:jointFriction = 0", None),
        ("joint", "float physics:breakForce = 9", "physics:breakForce = 9 of /w/second does not act: joints do not"),
        ("joint", "float physics:breakForce = inf", None),
        ("joint", 'uniform token drive:angular:physics:type = "acceleration"', None),
        ("joint", "float physxJoint:wobble = 3", "physxJoint:wobble = 3 of /w/second does not act: nothing reads it"),
        ("joint", "rel physxJoint:other = </w/first>", "physxJoint:other = ['/w/first'] of /w/second does not act"),
        ("joint", "quatf physxJoint:turn = (1, 0, 0, 0)", "physxJoint:turn = (1, 0, 0, 0) of /w/second does not act"),
        ("joint", 'token[] physxJoint:kinds = ["a"]', "physxJoint:kinds = [a] of /w/second does not act"),
        ("joint", "asset physxJoint:file = @a.usd@", "physxJoint:file = @a.usd@ of /w/second does not act"),
        ("body", "vector3f physics:linearVelocity = (0, 0, 0)", None),
        ("joint", "float vendor:wobble = 3", None),
        ("joint", "double mjc:armature = 0.1", None),
        ("joint", "double mjc:margin = 0.1", "mjc:margin = 0.1 of /w/second does not act"),
        ("body", "bool physxRigidBody:disableGravity = 1", "physxRigidBody:disableGravity = True of /w/a does not"),
        ("body", "float physxRigidBody:angularDamping = 0.05", None),
        (
            "body",
            "double3 xformOp:translate.timeSamples = { 0: (0, 0, 1) }",
            "time samples = xformOp:translate of /w/a",
        ),
        ("extra", 'def PhysxPhysicsGearJoint "gear" {}', "PhysxPhysicsGearJoint of /w/gear does not act"),
    ],
)
def test_what_nothing_does_is_told_by_name(tmp_path, where, statement, note):
    found = notes(tmp_path, **{where: statement})

    assert not found if note is None else (len(found) == 1 and note in found[0])


def test_a_motor_by_acceleration_is_told_where_it_acts(tmp_path):
    motor = 'uniform token drive:angular:physics:type = "acceleration"\nfloat drive:angular:physics:stiffness = 2'

    assert "drive:angular:physics:type = acceleration of /w/second does not act" in notes(tmp_path, joint=motor)[0]


def test_what_is_ignored_is_not_told(tmp_path):
    assert not notes(tmp_path, extra='def PhysxPhysicsGearJoint "gear" {}', ignore=["/w/gear"])


def names_of_newton():
    """Yield the attributes that Newton's resolvers know."""
    for resolver in (usd.SchemaResolverNewton, usd.SchemaResolverPhysx, usd.SchemaResolverMjc):
        for attributes in resolver.mapping.values():
            for attribute in attributes.values():
                yield from (attribute.attribute_names or (attribute.name,))


UNREAD = {
    *("mjc:margin", "mjc:gap", "mjc:solref", "mjc:priority", "mjc:solmix"),
    *("mjc:torsionalfriction", "mjc:rollingfriction", "mjc:dynPrm", "mjc:dynType", "mjc:gainPrm", "mjc:gainType"),
    *("mjc:biasPrm", "mjc:biasType", "mjc:gear"),
}
"""Attributes of MuJoCo that act if a solver registers them."""


def test_each_name_that_newton_resolves_has_a_meaning():
    unknown = {name for name in names_of_newton() if (meanings._row(name) or {}).get("why") == "nothing reads it"}

    assert unknown <= UNREAD


@pytest.fixture(scope="module", params=["ant", "humanoid"])
def pair(request):
    """Return the name of a robot, and the builders of its stage and of its MJCF file."""
    stage = {"ant": "examples/assets/ant.usda", "humanoid": "tests/assets/humanoid_mjc.usda"}[request.param]
    builders = []
    for path in (stage, f"examples/assets/nv_{request.param}.xml"):
        builder = newton.ModelBuilder()
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import_asset(builder, find_asset(AssetConfig(path=f"pkg:newton/{path}"), "scene.assets[0]"))
        builders.append(builder)
    return request.param, *builders


def by_body(builder):
    """Return the mass and the principal moments of each body, by its name."""
    labels = (label.rpartition("/")[2] for label in builder.body_label)
    moments = (np.linalg.eigvalsh(np.array(each).reshape(3, 3)) for each in builder.body_inertia)
    return {name: np.array([mass, *each]) for name, mass, each in zip(labels, builder.body_mass, moments, strict=True)}


def test_bodies_are_the_same(pair):
    name, stage, mjcf = pair
    density = {"ant": 5.0, "humanoid": 1.0}[name]  # the stage of the ant states 1 kg/m³, its MJCF file 5

    ours, theirs = by_body(stage), by_body(mjcf)

    assert ours.keys() == theirs.keys()
    for body, row in theirs.items():
        np.testing.assert_allclose(density * ours[body], row, rtol=1e-3, err_msg=body)


def test_joints_have_the_same_limits_and_rotors(pair):
    _, *builders = pair
    ours, theirs = (
        sorted(
            zip(
                np.round(builder.joint_limit_lower, 4),
                np.round(builder.joint_limit_upper, 4),
                np.round(builder.joint_armature, 5),
                strict=True,
            )
        )
        for builder in builders
    )

    np.testing.assert_allclose(ours, theirs, atol=2e-4)
