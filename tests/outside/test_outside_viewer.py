"""Viewers that somebody else wrote, installed like any package: a file of Rerun, and a server for Foxglove."""

import asyncio
import json
import struct

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
from pippin.catalog.entries import Catalog

TABLES = {
    "simulation": {"dt": 0.01, "device": "cpu"},
    "scene": {"worlds": 2, "spacing": [1.0, 1.0, 0.0]},
    "solver": {"type": "semi-implicit"},
}
START = ((0.0, 0.0, 2.0), (0.0, 0.0, 0.0, 1.0))


@pytest.fixture(scope="module", autouse=True)
def plugins(install_outside):
    """Install the viewers for the tests of this file, and for the processes that they start."""
    with (
        install_outside("pippin-viewer-rerun") as rerun,
        install_outside("pippin-viewer-foxglove") as foxglove,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("PYTHONPATH", f"{rerun}:{foxglove}")
        yield


@pytest.fixture
def watched(tmp_path):
    """Return a function that builds a simulation of falling boxes with a viewer."""

    def build(**table):
        builder = newton.ModelBuilder(up_axis="Z")
        body = builder.add_body(label="kite", mass=1.0, inertia=np.eye(3), xform=START)
        builder.add_shape_box(body, hx=0.1, hy=0.2, hz=0.3, label="sail")
        config = pippin.structure({**TABLES, "viewers": {"seen": table}})
        return pippin.Simulation(config, prototype=builder, folder=tmp_path)

    return build


@pytest.mark.slow
def test_rerun_has_the_poses_of_all_frames(watched, tmp_path):
    """Read back by Rerun's own reader of recordings."""
    pytest.importorskip("rerun", reason="`uv run --group rerun` installs it: 700 MB")
    from rerun.chunk import RrdReader

    with watched(type="rerun", rate=50.0) as simulation:
        simulation.step(10)
        height = simulation.state.body_q.numpy()[1, 2]
    chunks = RrdReader(tmp_path / "seen.rrd").stream().to_chunks()
    moving = [each.to_record_batch() for each in chunks if each.entity_path == "/world_1/kite" and not each.is_static]
    still = {each.entity_path for each in chunks if each.is_static}

    column = "Transform3D:translation"
    translations = np.array([row[0] for batch in moving for row in batch.column(column).to_pylist()])
    assert {"/world_0/kite/sail", "/world_1/kite/sail"} <= still
    assert len(translations) == 6  # the start, and every 20 ms
    np.testing.assert_allclose(translations[[0, -1], 2], [2.0, height], rtol=1e-6)


@pytest.mark.slow
def test_foxglove_gets_the_scene_and_the_poses(watched):
    """A client of the protocol: it lists the channels, subscribes, and then messages come in each frame."""
    pytest.importorskip("foxglove")
    from websockets.asyncio.client import connect

    async def received(simulation):
        port = simulation.viewers["seen"].port
        async with connect(f"ws://127.0.0.1:{port}", subprotocols=["foxglove.sdk.v1"], max_size=None) as client:
            channels = {}
            while set(channels) != {"/scene", "/tf"}:
                message = json.loads(await asyncio.wait_for(client.recv(), 20.0))
                channels |= {each["topic"]: each["id"] for each in message.get("channels", ())}
            wanted = [{"id": number, "channelId": number} for number in channels.values()]
            await client.send(json.dumps({"op": "subscribe", "subscriptions": wanted}))
            payloads = {}
            for _ in range(400):
                await asyncio.to_thread(simulation.step)
                try:
                    message = await asyncio.wait_for(client.recv(), 0.05)
                except TimeoutError:
                    continue
                if isinstance(message, bytes) and message[0] == 1:
                    payloads[struct.unpack("<I", message[1:5])[0]] = message[13:]
                if set(payloads) == set(channels.values()):
                    break
            return {topic: payloads.get(number, b"") for topic, number in channels.items()}

    with watched(type="foxglove", rate=1000.0) as simulation:
        payloads = asyncio.run(received(simulation))

    assert payloads["/tf"].count(b"world_0/kite") == payloads["/tf"].count(b"world_1/kite") == 1
    assert payloads["/scene"].count(b"world_1/kite") == 1
    corner = struct.pack("<d", np.float32(0.3))  # half of the height of the sail
    assert payloads["/scene"].count(corner) >= 2 * 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rerun", "foxglove"])
def test_it_keeps_the_contract(name):
    pytest.importorskip(name)
    results = conformance.Conformance("viewer", name).check()

    assert {result.outcome for result in results} == {"passed"}


def test_their_settings_are_read_without_their_libraries():
    configs = [Catalog.installed().find("viewer", name).load_config() for name in ("rerun", "foxglove")]

    assert [config().rate for config in configs] == [30.0, 30.0]
    with pytest.raises(ValueError, match=r"'path' must end with \.rrd"):
        configs[0](path="seen.mp4")
