"""The mcap recorder, read by the reference reader and by protobuf."""

import foxglove.messages
import newton
import numpy as np
import pippin
import pippin.files
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from mcap.reader import make_reader
from pippin_conformance import scenes
from pippin_record.mcap.file import McapFile


@pytest.fixture(scope="module")
def messages(recorded):
    return read_messages(recorded.folder / "mcap.mcap")


def read_messages(path):
    """Return messages by topic, decoded by the schemas in the file, each with its schema, channel and log time."""
    found = {}
    with path.open("rb") as file:
        for schema, channel, message in make_reader(file, validate_crcs=True).iter_messages():
            decoded = type_of(schema).FromString(message.data)
            found.setdefault(channel.topic, []).append((schema, channel, message.log_time, decoded))
    return found


def type_of(schema):
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(schema.data).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(schema.name))


def test_joint_states_are_those_of_the_run(recorded, messages):
    for place, world in enumerate((0, 2, 3)):
        states = messages[f"/world_{world}/joint_states"]

        assert states[0][0].name == "foxglove.JointStates"
        assert [joint.name for joint in states[0][3].joints] == ["hinge_0", "hinge_1"]
        positions = [[joint.position for joint in state[3].joints] for state in states]
        np.testing.assert_array_equal(positions, recorded.joint_q[:, place, :2])
        assert [state[2] for state in states] == [round(time * 1e9) for time in recorded.times]  # [ns]
        assert any(joint.effort for joint in states[-1][3].joints)


def test_sensors_have_a_message_with_units_and_labels(messages):
    schema, channel, _, message = messages["/world_2/sensors/imu"][5]

    assert schema.name == "pippin.SensorsImu"
    assert channel.metadata["unit:angular_velocity"] == "rad/s"
    assert channel.metadata["frame:angular_velocity"] == "site"
    assert len(message.angular_velocity) == 3 * 3
    assert message.timestamp.ToNanoseconds() == 12_000_000
    assert message.time == pytest.approx(0.012)


def test_transforms_name_a_frame_for_each_body(recorded, messages):
    schema, _, _, last = messages["/tf"][-1]
    frames = [transform.child_frame_id for transform in last.transforms]

    assert schema.name == "foxglove.FrameTransforms"
    assert len(set(frames)) == 9
    assert all(frame.startswith(("world_0/", "world_2/", "world_3/")) for frame in frames)
    balls = [transform.translation for transform in last.transforms][2::3]
    np.testing.assert_allclose([ball.z for ball in balls], 0.1, atol=2e-3)  # [m]: they lie on the ground
    assert len({(round(ball.x, 3), round(ball.y, 3)) for ball in balls}) == 3  # worlds are drawn beside each other


def test_the_scene_has_the_shapes_of_each_body_in_its_frame(messages):
    ((schema, _, time, scene),) = messages["/scene"]
    frames = {transform.child_frame_id for transform in messages["/tf"][0][3].transforms}
    by_frame = {entity.frame_id: entity for entity in scene.entities}

    assert (schema.name, time) == ("foxglove.SceneUpdate", 0)
    assert set(by_frame) - {"world"} <= frames
    assert all(entity.frame_locked for entity in scene.entities)
    ball = next(entity for entity in scene.entities if entity.spheres)
    assert ball.spheres[0].size.x == pytest.approx(0.2)  # [m], the diameter


def test_an_arrow_is_drawn_for_each_contact_force(tmp_path):
    """A ball of 2 kg lies on the ground, 5 m aside in the second world: its arrow points up, as long as its weight."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_ball(builder, 0.0999, mass=2.0, radius=0.1)
    tables = {
        "simulation": {"device": "cpu", "dt": 0.002, "observables": ["contact_f"]},
        "scene": {"worlds": 2, "ground": True, "spacing": [5.0, 0.0, 0.0]},
        "solver": {"type": "xpbd"},
        "recorders": {"log": {"type": "mcap", "worlds": [0, 1], "series": ["contacts/.*"]}},
    }
    with pippin.Simulation(pippin.structure(tables), prototype=builder, folder=tmp_path) as simulation:
        simulation.step(200)
        places = simulation.state.body_q.numpy()[:, :3] + simulation.world_offsets
    found = read_messages(tmp_path / "log.mcap")

    for world in (0, 1):
        _, channel, _, update = found[f"/world_{world}/contact_forces"][-1]
        ((arrow,),) = [entity.arrows for entity in update.entities]
        scale = float(channel.metadata["scale"].split()[0])
        assert arrow.shaft_length + arrow.head_length == pytest.approx(scale * 2.0 * 9.81, rel=0.02)
        x, y, z, w = (getattr(arrow.pose.orientation, name) for name in "xyzw")
        np.testing.assert_allclose(
            [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], [0, 0, 1], atol=1e-3
        )
        at = arrow.pose.position
        np.testing.assert_allclose([at.x, at.y, at.z], places[world] - [0, 0, 0.1], atol=2e-3)


def test_a_reader_finds_versions_and_configuration(recorded):
    with (recorded.folder / "mcap.mcap").open("rb") as file:
        reader = make_reader(file)
        (metadata,) = reader.iter_metadata()
        (attachment,) = reader.iter_attachments()

    assert {"header", "pippin", "newton", "warp"} <= set(metadata.metadata)
    assert (attachment.name, b'type = "xpbd"' in attachment.data) == ("config.toml", True)


def test_the_schemas_of_foxglove_are_the_sdks(messages):
    schema = messages["/tf"][0][0]

    assert schema.data == foxglove.messages.FrameTransforms.get_schema().data


def test_a_recording_without_a_scene_has_no_transforms(simulate, tmp_path):
    with simulate(tmp_path, {"log": {"type": "mcap", "scene": False, "compression": "lz4"}}, worlds=1) as simulation:
        simulation.step(2)

    with (tmp_path / "log.mcap").open("rb") as file:
        topics = {channel.topic for _, channel, _ in make_reader(file).iter_messages()}
    assert topics == {f"/world_0/{name}" for name in ("state", "joint_states", "actuators/hinges", "sensors/imu")}


@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_a_file_that_is_cut_off_is_repaired(recorded, tmp_path, share):
    data, path = (recorded.folder / "mcap.mcap").read_bytes(), tmp_path / "cut.mcap"
    path.write_bytes(data[: int(share * len(data))])
    before = McapFile(path).column("joint_q")

    target, count = McapFile.repair(path)

    assert (target, count) == (path, len(before))
    with path.open("rb") as file:
        topics = [channel.topic for _, channel, _ in make_reader(file, validate_crcs=True).iter_messages()]
    assert topics.count("/world_0/state") >= count
    np.testing.assert_array_equal(McapFile(path).column("joint_q"), recorded.joint_q[:count])


LOAD = {"type": "body", "label": "load", "position": [0.0, 0.0, 1.0], "mass": 1.0}
LOAD |= {"shapes": [{"type": "sphere", "radius": 0.05}]}
FLAG = {"type": "cloth-grid", "label": "flag", "cells": [2, 1], "cell": [0.1, 0.1], "density": 0.5}
FLAG |= {"position": [0.0, 1.0, 1.0], "particle_radius": 0.02, "spring_ke": 10.0, "color": [0.8, 0.2, 0.2]}
SAND = {"type": "granular", "label": "sand", "size": [0.1, 0.1, 0.1], "spacing": 0.05, "density": 2000.0}
SAND |= {"position": [0.0, 2.0, 1.0], "color": [1.0, 0.8, 0.4]}
ROPE = {"label": "rope", "compliance": 1e-4, "guides": [{"position": [0.0, 0.0, 2.0]}, {"body": "load"}]}


@pytest.fixture(scope="module")
def matter(tmp_path_factory):
    """Messages by topic of two worlds with cloth, sand and a tendon, and their particles and bodies by row."""
    folder = tmp_path_factory.mktemp("matter")
    tables = {
        "simulation": {"device": "cpu", "dt": 0.002, "accept_unsupported": ["triangles", "bending"]},
        "scene": {"objects": [LOAD, SAND, FLAG], "tendons": [ROPE], "worlds": 3, "spacing": [5.0, 0.0, 0.0]},
        "solver": {"type": "xpbd", "disable_particle_contacts": True},
        "recorders": {"log": {"type": "mcap", "worlds": [0, 2]}},
    }
    with pippin.Simulation(pippin.structure(tables), folder=folder) as simulation:
        simulation.step(3)
        particles = simulation.state.particle_q.numpy().reshape(3, -1, 3) + simulation.world_offsets[:, None]
        load = simulation.state.body_q.numpy()[:, :3] + simulation.world_offsets
    found = {}
    with (folder / "log.mcap").open("rb") as file:
        for schema, channel, message in make_reader(file, validate_crcs=True).iter_messages():
            found.setdefault(channel.topic, []).append(type_of(schema).FromString(message.data))
    return found, particles, load


@pytest.mark.parametrize("world", [0, 2])
def test_cloth_sand_and_tendons_are_messages_where_they_are_drawn(matter, world):
    found, particles, load = matter
    last, grains = found[f"/world_{world}/matter"][-1], found[f"/world_{world}/points/sand"][-1]

    entities = {entity.id: entity for entity in last.entities}
    [mesh] = entities[f"world_{world}/flag"].triangles
    corners = np.array([[point.x, point.y, point.z] for point in mesh.points])
    np.testing.assert_allclose(corners, particles[world, 27:], atol=1e-5)
    assert (len(mesh.indices), mesh.color.r) == (3 * 4, pytest.approx(0.8))
    [line] = entities[f"world_{world}/rope"].lines
    offset = load[world] - load[0] * [1.0, 1.0, 1.0]
    np.testing.assert_allclose([line.points[0].x, line.points[0].z], [offset[0] + load[0, 0], 2.0], atol=1e-5)
    end = line.points[-1]
    np.testing.assert_allclose([end.x, end.y, end.z], load[world], atol=1e-5)
    points = np.frombuffer(grains.data, dtype=[("place", "<f4", 3), ("color", "u1", 4)])
    np.testing.assert_allclose(points["place"], particles[world, :27], atol=1e-5)
    assert points["color"][0].tolist() == [255, 204, 102, 255]
    assert [(field.name, field.offset) for field in grains.fields[:4]] == [("x", 0), ("y", 4), ("z", 8), ("red", 12)]


def test_each_row_has_matter_and_worlds_that_are_not_recorded_have_none(matter):
    found, _, _ = matter

    assert {len(messages) for topic, messages in found.items() if "matter" in topic or "points" in topic} == {
        len(found["/tf"])
    }
    assert not [topic for topic in found if topic.startswith("/world_1/")]


def test_messages_that_unpack_to_more_than_the_memory_are_refused(recorded, monkeypatch):
    """Its header is read all the same: it is in no chunk."""
    monkeypatch.setattr(pippin.files, "physical_memory", lambda: 100)

    found = McapFile(recorded.folder / "mcap.mcap")
    assert found.header.columns
    with pytest.raises(pippin.ConfigError, match=r"it unpacks to .* GiB, and this machine has"):
        found.column("joint_q")
