"""Running simulations in Foxglove: a scene of triangles in the frames of the bodies, and the poses of these frames."""

import threading

import foxglove
import numpy as np
import pippin
from foxglove.channels import FrameTransformsChannel, SceneUpdateChannel
from foxglove.messages import (
    Color,
    FrameTransform,
    FrameTransforms,
    Point3,
    Pose,
    Quaternion,
    SceneEntity,
    SceneUpdate,
    TriangleListPrimitive,
    Vector3,
)
from pippin.matter import render_shapes


class FoxgloveViewer:
    """Serves `/scene` to each client that subscribes, and `/tf` in every frame."""

    def __init__(self, config):
        self.config = config
        self.frame_rate = config.rate
        self._server = None

    @pippin.hookimpl
    def bind(self, simulation):
        """Start the server, and make the scene."""
        model, worlds = simulation.model, self.config.worlds_of(simulation.world_count)
        of_bodies = model.body_world.numpy() if model.body_count else np.zeros(0, dtype=int)
        self._bodies = np.flatnonzero(np.isin(of_bodies, worlds))
        self._offsets = simulation.world_offsets[of_bodies[self._bodies]]
        self._frames = [f"world_{of_bodies[body]}/{model.body_label[body]}" for body in self._bodies]
        frames = dict(zip(self._bodies.tolist(), self._frames, strict=True))
        self._scene = SceneUpdate(
            entities=[_entity(shape, frames, simulation.world_offsets) for shape in render_shapes(model, worlds)]
        )
        context = self._context = foxglove.Context()  # it lives as long as its channels
        self._scenes = SceneUpdateChannel("/scene", context=context)
        self._poses = FrameTransformsChannel("/tf", context=context)
        self._is_asked = threading.Event()
        self._server = foxglove.start_server(
            name="pippin",
            host="127.0.0.1",
            port=self.config.port,
            context=context,
            server_listener=_Listener(self._is_asked),
        )
        #: The port that clients connect to.
        self.port = self._server.port

    @pippin.hookimpl
    def frame(self, simulation, time):
        """Send the scene to new clients, and the poses of the bodies."""
        if self._is_asked.is_set():  # by a thread of the server, which leaves the simulation alone
            self._is_asked.clear()
            self._scenes.log(self._scene)
        if len(self._bodies):
            poses = simulation.state.body_q.numpy()[self._bodies].astype(float)
            poses[:, :3] += self._offsets
            transforms = [
                FrameTransform(
                    parent_frame_id="world", child_frame_id=frame, translation=_vector(pose), rotation=_rotation(pose)
                )
                for frame, pose in zip(self._frames, poses.tolist(), strict=True)
            ]
            self._poses.log(FrameTransforms(transforms=transforms))

    @pippin.hookimpl
    def close(self):
        """Stop the server."""
        if self._server is not None:
            self._server.stop()


class _Listener(foxglove.websocket.ServerListener):
    """Notes that a client has subscribed."""

    def __init__(self, is_asked):
        self._is_asked = is_asked

    def on_subscribe(self, client, channel):
        self._is_asked.set()


def _entity(shape, frames, offsets):
    pose = shape.pose.copy()
    if shape.body < 0 <= shape.world:
        pose[:3] += offsets[shape.world]
    pose = pose.tolist()
    points, faces = shape.triangles()
    red, green, blue = shape.color
    surface = TriangleListPrimitive(
        pose=Pose(position=_vector(pose), orientation=_rotation(pose)),
        points=[Point3(x=x, y=y, z=z) for x, y, z in points.tolist()],
        indices=faces.ravel().tolist(),
        color=Color(r=red, g=green, b=blue, a=1.0),
    )
    frame = frames.get(shape.body, "world")
    return SceneEntity(frame_id=frame, id=f"{shape.index}", frame_locked=True, triangles=[surface])


def _vector(pose):
    return Vector3(x=pose[0], y=pose[1], z=pose[2])


def _rotation(pose):
    return Quaternion(x=pose[3], y=pose[4], z=pose[5], w=pose[6])
