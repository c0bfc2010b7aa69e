"""Runs in Rerun: each body is an entity that moves, with its shapes below it."""

import numpy as np
import rerun as rr
from pippin.matter import render_matter, render_shapes
from pippin.viewing import FileViewer


class RerunViewer(FileViewer):
    """Logs the shapes once, and poses and particles after every `1 / rate` of simulated time."""

    def prepare(self, simulation):
        """Open the recording, and log what does not change."""
        model = simulation.model
        self._stream = rr.RecordingStream("pippin")
        if self.config.url:
            self._stream.connect_grpc(self.config.url)
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._stream.save(self.path)
        self._stream.log("/", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        for world in self.worlds.tolist():
            offset = rr.Transform3D(translation=simulation.world_offsets[world])
            self._stream.log(f"world_{world}", offset, static=True)
        worlds = model.body_world.numpy() if model.body_count else []
        self._bodies = [
            (body, _place(model, int(worlds[body]), body)) for body in np.flatnonzero(np.isin(worlds, self.worlds))
        ]
        for shape in render_shapes(model, self.worlds):
            place = f"{_place(model, shape.world, shape.body)}/{shape.label}"
            points, faces = shape.triangles()
            self._stream.log(place, _transform(shape.pose), static=True)
            self._stream.log(
                place,
                rr.Mesh3D(vertex_positions=points, triangle_indices=faces, albedo_factor=shape.color),
                static=True,
            )
        self._matter = [each for each in render_matter(model, self.worlds) if len(each.particles)]

    def write(self, simulation, index):
        """Log the poses of the bodies, and the particles."""
        self._stream.set_time("time", duration=index / self.config.rate)
        if self._bodies:
            poses = simulation.state.body_q.numpy().copy()  # Rerun reads later what it is given
            for body, place in self._bodies:
                self._stream.log(place, _transform(poses[body]))
        for each in self._matter:
            points, place = each.of(simulation.state.particle_q.numpy()).copy(), f"world_{each.world}/{each.label}"
            if len(each.faces):
                surface = rr.Mesh3D(vertex_positions=points, triangle_indices=each.faces, albedo_factor=each.color)
                self._stream.log(place, surface)
            else:
                self._stream.log(place, rr.Points3D(points, radii=each.radius, colors=each.color))

    def finish(self):
        """Write what is left, and complete the file."""
        self._stream.flush()
        self._stream.disconnect()


def _place(model, world, body):
    above = f"world_{world}" if world >= 0 else "all_worlds"
    return above if body < 0 else f"{above}/{model.body_label[body]}"


def _transform(pose):
    return rr.Transform3D(translation=pose[:3], quaternion=pose[3:])
