"""Towers of boxes from JSON, as an importer of Pippin."""

import json

import newton
import pippin
import warp as wp
from pippin.assets import Importer


class ImporterDemo(Importer):
    """The importer `demo`: reader of files with the suffix `.demo`."""

    suffixes = (".demo",)

    def add_asset(self, builder, file, asset):
        """Add the boxes, the lowest with its lower side at the origin."""
        height, shape = 0.0, newton.ModelBuilder.ShapeConfig(density=0.0)
        for name, size, mass in self._boxes(file):
            pose = wp.transform(wp.vec3(0.0, 0.0, height + size / 2), wp.quat_identity())
            moment = mass * size**2 / 6
            body = builder.add_body(xform=pose, mass=mass, inertia=wp.diag(wp.vec3(moment, moment, moment)), label=name)
            builder.add_shape_box(body, hx=size / 2, hy=size / 2, hz=size / 2, cfg=shape, label=name)
            height += size + self.config.gap

    def _boxes(self, file):
        try:
            boxes = json.loads(file.read_text(encoding="utf-8"))["boxes"]
            return [(str(box["name"]), float(box["size"]), float(box["mass"])) for box in boxes]
        except (KeyError, TypeError, ValueError) as error:
            told = f"{type(error).__name__}: {error}"
            raise pippin.ConfigError(
                f"path: '{file}' has no boxes with name, size and mass ({told}); correct it"
            ) from error
